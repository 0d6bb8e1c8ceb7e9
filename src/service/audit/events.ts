import type { Restrictions } from "../../contract/credentials.ts";

/** The audit events and their details. Details hold ids and figures, never secrets or content. */
export interface AuditDetails {
  /** Requests rejected in one window of one bucket. */
  RATE_LIMITED: {
    /** A surface, or `credential:<public id>` for the own rate of a narrow credential. */
    surface: string;
    windowStart: string;
    windowEnd: string;
    rejected: number;
    /** Owner of the bucket, if it is not the tenant: `user:<id>`. */
    subject?: string;
  };
  INDEX_RUN_FAILED: { runId: string; workspaceId: string; code: string };
  SNAPSHOT_PUBLISHED: { snapshotId: string; workspaceId: string; gitSha: string; sizeBytes: number };
  SNAPSHOT_FAILED: { runId: string; workspaceId: string; code: string };
  MEMBER_JOINED: { invitationId: string; userId: string; role: string };
  MEMBER_ROLE_CHANGED: { changeId: string; userId: string; role: string };
  MEMBER_REMOVED: { changeId: string; userId: string };
  /** Sent for the first time or resent. */
  INVITATION_SENT: { sendId: string; invitationId: string; email: string; role: string };
  INVITATION_REVOKED: { invitationId: string };
  WORKSPACE_DELETED: { workspaceId: string; repo: string | null };
  /**
   * A workspace's source was changed, `from` and `to` a clone address. `hasToken`: whether a read token is stored; `tokenRemoved`: whether
   * one was removed because the origin has changed. Events of earlier versions have neither addresses nor `tokenRemoved`.
   */
  SOURCE_CHANGED: {
    changeId: string;
    workspaceId: string;
    from?: string | null;
    to?: string;
    hasToken: boolean;
    tokenRemoved?: boolean;
    /** Name of the GitHub App that reads it from now on. */
    app?: string;
  };
  /** `appId` is the id of this service, `origin` that of the GitHub that has the App. */
  GITHUB_APP_CREATED: { appId: string; name: string; owner: string; origin: string };
  GITHUB_APP_REMOVED: { appId: string; name: string };
  HOOK_CREATED: { hookId: string; workspaceId: string; provider: string };
  /** `isUndone`: its counterpart could not be made at the host, so it was removed at once. */
  HOOK_DELETED: { hookId: string; workspaceId: string; provider: string; isUndone?: true };
  KEY_CREATED: {
    credentialId: string;
    kind: "api_key" | "worker_token";
    name: string;
    expiresAt?: string;
    restrictions?: Restrictions;
    /** Whose it is, unless it is the team's. */
    userId?: string;
    /** For an agent that signed in: its OAuth client id. */
    clientId?: string;
    /** The credentials that it was made from, the first one first. */
    madeFrom?: string[];
  };
  /** New values; null: not limited. */
  KEY_BUDGET_CHANGED: {
    changeId: string;
    credentialId: string;
    monthlyCredits: number | null;
    ratePerMinute: number | null;
  };
  KEY_REVOKED: { credentialId: string; kind: "api_key" | "worker_token" };
  TENANT_CREATED: { name: string };
  /** New values of the changed fields. */
  TENANT_CHANGED: {
    changeId: string;
    monthlyCredits?: number;
    sharedIndex?: boolean;
    name?: string;
    mailQuota?: boolean;
    mailRuns?: boolean;
    runDays?: number;
    auditDays?: number;
  };
  WORKSPACE_CREATED: { workspaceId: string; repo: string | null };
}

export type AuditEventName = keyof AuditDetails;

export type AuditEvent = {
  [Name in AuditEventName]: {
    event: Name;
    tenantId: string;
    /** Public id of the acting credential, `user:<id>` for a dashboard user, or `admin` / `system`. */
    actor: string;
    /** When it happened; default: now. */
    at?: Date;
    details: AuditDetails[Name];
  };
}[AuditEventName];

/** The part of an event's details that identifies it when it is recorded again. */
const IDENTITY: { [Name in AuditEventName]: (details: AuditDetails[Name]) => string } = {
  RATE_LIMITED: ({ surface, windowStart, subject }) =>
    `${surface}:${windowStart}${subject === undefined ? "" : `:${subject}`}`,
  INDEX_RUN_FAILED: (details) => details.runId,
  SNAPSHOT_PUBLISHED: (details) => details.snapshotId,
  SNAPSHOT_FAILED: (details) => details.runId,
  MEMBER_JOINED: (details) => details.invitationId,
  MEMBER_ROLE_CHANGED: (details) => details.changeId,
  MEMBER_REMOVED: (details) => details.changeId,
  INVITATION_SENT: (details) => details.sendId,
  INVITATION_REVOKED: (details) => details.invitationId,
  WORKSPACE_DELETED: (details) => details.workspaceId,
  SOURCE_CHANGED: (details) => details.changeId,
  GITHUB_APP_CREATED: (details) => details.appId,
  GITHUB_APP_REMOVED: (details) => details.appId,
  HOOK_CREATED: (details) => details.hookId,
  // A form that is sent again after that makes the same hook, which may be deleted later.
  HOOK_DELETED: ({ hookId, isUndone }) => (isUndone ? `${hookId}:undone` : hookId),
  KEY_CREATED: (details) => details.credentialId,
  KEY_BUDGET_CHANGED: (details) => details.changeId,
  KEY_REVOKED: (details) => details.credentialId,
  TENANT_CREATED: () => "",
  TENANT_CHANGED: (details) => details.changeId,
  WORKSPACE_CREATED: (details) => details.workspaceId,
};

/** Deduplication key of an event; unique within its tenant. */
export function dedupeKeyOf<Name extends AuditEventName>(event: { event: Name; details: AuditDetails[Name] }): string {
  return `${event.event}:${IDENTITY[event.event](event.details)}`;
}

/** The names of all events. */
export const AUDIT_EVENTS = Object.keys(IDENTITY) as AuditEventName[];
