/**
 * Tables of users and of what they set up in the dashboard: memberships, sessions, sign-in codes, invitations, the sources of
 * workspaces, and hooks.
 */
import { sql } from "drizzle-orm";
import {
  check,
  date,
  bigint,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea, createdAt } from "./columns.ts";
import { githubApps } from "./github-schema.ts";
import { runs, tenants, workspaces } from "./schema.ts";

const instant = (name: string) => timestamp(name, { withTimezone: true });
const tenantId = () =>
  uuid("tenant_id")
    .notNull()
    .references(() => tenants.id, { onDelete: "cascade" });

/** Sign-in methods refer to users by id, so that others (passkeys, GitHub) can be added beside e-mailed codes. */
export const users = pgTable(
  "users",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    /** Lower case, without surrounding space. */
    email: text("email").notNull().unique(),
    name: text("name"),
    createdAt: createdAt(),
  },
  (t) => [check("users_email", sql`${t.email} = lower(${t.email})`)],
);

export const ROLES = ["owner", "admin", "member"] as const;
export type Role = (typeof ROLES)[number];

export const memberships = pgTable(
  "memberships",
  {
    tenantId: tenantId(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    role: text("role", { enum: ROLES }).notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.userId] }),
    index("memberships_user").on(t.userId),
    check("memberships_role", sql`${t.role} in ('owner', 'admin', 'member')`),
  ],
);

/** E-mailed codes. A code belongs to the browser that requested it: its row is found only by that browser's cookie. */
export const signInCodes = pgTable(
  "sign_in_codes",
  {
    /** SHA-256 of the browser's pending-sign-in cookie. */
    pendingHash: bytea("pending_hash").primaryKey(),
    email: text("email").notNull(),
    /** HMAC-SHA-256 of the code, keyed with a secret that is not in the database. */
    codeHmac: bytea("code_hmac").notNull(),
    attempts: smallint("attempts").notNull().default(0),
    createdAt: createdAt(),
    expiresAt: instant("expires_at").notNull(),
    usedAt: instant("used_at"),
  },
  (t) => [index("sign_in_codes_expiry").on(t.expiresAt)],
);

/** Wrong codes of one UTC day. */
export const signInGuesses = pgTable(
  "sign_in_guesses",
  {
    /** `email:<address>`, or `browser:<id>` for a browser that has signed in as this address before. */
    subject: text("subject").notNull(),
    day: date("day").notNull(),
    wrong: smallint("wrong").notNull(),
  },
  (t) => [primaryKey({ columns: [t.subject, t.day] })],
);

/**
 * The outbox of mail. A row is inserted in the transaction that makes its message necessary, so that no crash in between loses the
 * message.
 */
export const mails = pgTable(
  "mails",
  {
    /** Also the provider's idempotency key. */
    id: uuid("id").primaryKey(),
    /** The tenant whose erasure deletes the message; null for sign-in codes. */
    tenantId: uuid("tenant_id").references(() => tenants.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: ["sign_in_code", "invitation", "quota", "run"] }).notNull(),
    /** What the message is about, such as `invitation:<id>`: a newer message replaces one that was not sent yet. */
    about: text("about"),
    /** Recipient and content, sealed for this row alone (see `src/service/mail/outbox.ts`); null once sent or given up. */
    sealed: text("sealed"),
    attempts: smallint("attempts").notNull().default(0),
    createdAt: createdAt(),
    /** Time of the next attempt. An attempt under way moves it to the end of its lease. */
    dueAt: instant("due_at").notNull().defaultNow(),
    /** When the message becomes useless, such as a code that is no longer valid; it is not sent afterwards. */
    expiresAt: instant("expires_at").notNull(),
    sentAt: instant("sent_at"),
    /** Reason of the last failed attempt. */
    error: text("error"),
  },
  (t) => [
    index("mails_due")
      .on(t.dueAt)
      .where(sql`${t.sealed} is not null`),
    index("mails_about")
      .on(t.about)
      .where(sql`${t.sealed} is not null`),
    index("mails_tenant").on(t.tenantId),
  ],
);

/** What the owners of a team have been told by mail, so that they are told once. */
export const notices = pgTable(
  "notices",
  {
    tenantId: tenantId(),
    /** `quota:<month>:<percent>`, or `run:<workspace>:<MD5 of the branch>` while the branch's runs fail. */
    subject: text("subject").notNull(),
    /** The failed run. */
    runId: uuid("run_id").references(() => runs.id, { onDelete: "cascade" }),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.subject] }),
    index("notices_run")
      .on(t.runId)
      .where(sql`${t.runId} is not null`),
  ],
);

export const sessions = pgTable(
  "sessions",
  {
    /** Public id, for lists of sessions. */
    id: uuid("id").primaryKey().defaultRandom(),
    /** SHA-256 of the session cookie. */
    tokenHash: bytea("token_hash").notNull().unique(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** `User-Agent` of the browser. */
    userAgent: text("user_agent").notNull(),
    createdAt: createdAt(),
    lastSeenAt: instant("last_seen_at").notNull().defaultNow(),
    expiresAt: instant("expires_at").notNull(),
  },
  (t) => [index("sessions_user").on(t.userId), index("sessions_expiry").on(t.expiresAt)],
);

export const invitations = pgTable(
  "invitations",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    tenantId: tenantId(),
    email: text("email").notNull(),
    role: text("role", { enum: ROLES }).notNull(),
    /** SHA-256 of the token in the e-mailed link. */
    tokenHash: bytea("token_hash").notNull().unique(),
    invitedBy: uuid("invited_by").references(() => users.id, { onDelete: "set null" }),
    createdAt: createdAt(),
    expiresAt: instant("expires_at").notNull(),
    acceptedAt: instant("accepted_at"),
    revokedAt: instant("revoked_at"),
  },
  (t) => [
    index("invitations_tenant").on(t.tenantId, t.createdAt),
    // One open invitation per address and tenant; resending it replaces the token.
    uniqueIndex("invitations_open")
      .on(t.tenantId, t.email)
      .where(sql`${t.acceptedAt} is null and ${t.revokedAt} is null`),
    check("invitations_role", sql`${t.role} in ('owner', 'admin', 'member')`),
  ],
);

/** Why the GitHub App of a source can no longer read it: a person did this at GitHub, or removed the App here. */
export const ACCESS_LOST = ["suspended", "repository_removed", "uninstalled", "app_removed"] as const;
export type AccessLost = (typeof ACCESS_LOST)[number];

/** Sources of workspaces, for runs that are started by a hook or from the dashboard. */
export const repositorySources = pgTable(
  "repository_sources",
  {
    workspaceId: uuid("workspace_id")
      .primaryKey()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    cloneUrl: text("clone_url").notNull(),
    /** Read token, sealed for this workspace and the origin of the clone URL (see `src/service/sources/read-token.ts`); null for public ones. */
    sealedToken: text("sealed_token"),
    tokenUsername: text("token_username"),
    /** Globs of branches to index on push, besides the default branch. */
    branches: jsonb("branches").$type<string[]>().notNull().default([]),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    /** GitHub App that reads it, with its installation and GitHub's id of the repository; null for other sources. */
    appId: text("app_id").references(() => githubApps.id, { onDelete: "set null" }),
    installationId: bigint("installation_id", { mode: "number" }),
    repositoryId: bigint("repository_id", { mode: "number" }),
    /** Null while the App can read it, as far as is known. */
    accessLost: text("access_lost", { enum: ACCESS_LOST }),
  },
  (t) => [
    index("repository_sources_app")
      .on(t.appId, t.repositoryId)
      .where(sql`${t.appId} is not null`),
  ],
);

export const HOOK_PROVIDERS = ["github", "gitlab", "gitea"] as const;
export type HookProvider = (typeof HOOK_PROVIDERS)[number];

export const hooks = pgTable(
  "hooks",
  {
    /** Public id in the hook's address. */
    id: text("id").primaryKey(),
    tenantId: tenantId(),
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    provider: text("provider", { enum: HOOK_PROVIDERS }).notNull(),
    /** Secret that signs deliveries. Sealed, not hashed, because checking a signature needs the secret itself. */
    sealedSecret: text("sealed_secret").notNull(),
    /** GitHub App over whose webhook the deliveries come; null for a hook that is set up at the host. */
    appId: text("app_id").references(() => githubApps.id, { onDelete: "cascade" }),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex("hooks_workspace").on(t.workspaceId, t.provider),
    index("hooks_tenant").on(t.tenantId),
    index("hooks_app")
      .on(t.appId)
      .where(sql`${t.appId} is not null`),
    check("hooks_provider", sql`${t.provider} in ('github', 'gitlab', 'gitea')`),
  ],
);

/** Deliveries of hooks and their outcomes. */
export const hookDeliveries = pgTable(
  "hook_deliveries",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    hookId: text("hook_id")
      .notNull()
      .references(() => hooks.id, { onDelete: "cascade" }),
    at: instant("at").notNull().defaultNow(),
    /** `Delivery.deliveryId`; a repeated one starts no second run. Of rejected ones: the reason and the day, which share a row. */
    deliveryId: text("delivery_id"),
    event: text("event").notNull(),
    branch: text("branch"),
    gitSha: text("git_sha"),
    /** received, started, ignored, deleted, failed or rejected. */
    outcome: text("outcome").notNull(),
    /** Deliveries that the row represents; more than one only if they were rejected. `at` is the time of the last. */
    times: integer("times").notNull().default(1),
    /** Reason, shown in the dashboard. */
    detail: text("detail"),
    runId: uuid("run_id"),
  },
  (t) => [
    index("hook_deliveries_hook").on(t.hookId, t.at, t.id),
    uniqueIndex("hook_deliveries_once")
      .on(t.hookId, t.deliveryId)
      .where(sql`${t.deliveryId} is not null`),
  ],
);

/** Usage of a credential on one UTC day, mirrored by the tenant's gate as absolute figures. */
export const usageDays = pgTable(
  "usage_days",
  {
    tenantId: tenantId(),
    day: date("day").notNull(),
    /** Public id of the credential; "index" for embeddings of hosted indexing. */
    credentialId: text("credential_id").notNull(),
    /** Version of the figures; an older flush never overwrites a newer one. */
    flushSeq: bigint("flush_seq", { mode: "number" }).notNull(),
    credits: bigint("credits", { mode: "number" }).notNull(),
    tokens: bigint("tokens", { mode: "number" }).notNull(),
    calls: integer("calls").notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.day, t.credentialId] })],
);
