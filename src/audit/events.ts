import type { Surface } from "../contract/surfaces.ts";

/** What the audit log can hold: each event with its details. Details hold ids and figures, no secrets and no content. */
export interface AuditDetails {
  /** Requests turned away in one window of one bucket. */
  RATE_LIMITED: { surface: Surface; windowStart: string; windowEnd: string; rejected: number };
  INDEX_RUN_FAILED: { runId: string; workspaceId: string; code: string };
  SNAPSHOT_PUBLISHED: { snapshotId: string; workspaceId: string; gitSha: string; sizeBytes: number };
  SNAPSHOT_FAILED: { runId: string; workspaceId: string; code: string };
  KEY_CREATED: { credentialId: string; kind: "api_key" | "worker_token"; name: string };
  KEY_REVOKED: { credentialId: string; kind: "api_key" | "worker_token" };
  TENANT_CREATED: { name: string };
  /** New values of what was changed. */
  TENANT_CHANGED: { changeId: string; monthlyCredits?: number; sharedIndex?: boolean };
  WORKSPACE_CREATED: { workspaceId: string; repo: string | null };
}

export type AuditEventName = keyof AuditDetails;

export type AuditEvent = {
  [Name in AuditEventName]: {
    event: Name;
    tenantId: string;
    /** Public id of the credential that acted, or `admin` / `system`. */
    actor: string;
    /** When it happened; now when absent. */
    at?: Date;
    details: AuditDetails[Name];
  };
}[AuditEventName];

/** What makes an event the same event when it is recorded again, from its details. */
const IDENTITY: { [Name in AuditEventName]: (details: AuditDetails[Name]) => string } = {
  RATE_LIMITED: (details) => `${details.surface}:${details.windowStart}`,
  INDEX_RUN_FAILED: (details) => details.runId,
  SNAPSHOT_PUBLISHED: (details) => details.snapshotId,
  SNAPSHOT_FAILED: (details) => details.runId,
  KEY_CREATED: (details) => details.credentialId,
  KEY_REVOKED: (details) => details.credentialId,
  TENANT_CREATED: () => "",
  TENANT_CHANGED: (details) => details.changeId,
  WORKSPACE_CREATED: (details) => details.workspaceId,
};

/** Key under which an event is recorded at most once; unique within its tenant. */
export function dedupeKeyOf<Name extends AuditEventName>(event: { event: Name; details: AuditDetails[Name] }): string {
  return `${event.event}:${IDENTITY[event.event](event.details)}`;
}
