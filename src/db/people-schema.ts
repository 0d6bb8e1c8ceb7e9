/**
 * The tables of people and of what they set up in the dashboard: users, their memberships and sessions, sign-in codes,
 * invitations, how a workspace's repository is read, and the hooks that start its runs.
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
import { bytea } from "./columns.ts";
import { tenants, workspaces } from "./schema.ts";

const instant = (name: string) => timestamp(name, { withTimezone: true });
const createdAt = () => instant("created_at").notNull().defaultNow();
const tenantId = () =>
  uuid("tenant_id")
    .notNull()
    .references(() => tenants.id, { onDelete: "cascade" });

/** Ways to sign in refer to a user by its id, so that others (passkeys, GitHub) can stand beside e-mailed codes. */
export const users = pgTable(
  "users",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    /** In lower case, without surrounding space. */
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

/** A code that was e-mailed. It belongs to the browser that asked for it: the row is found by that browser's cookie alone. */
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

export const sessions = pgTable(
  "sessions",
  {
    /** Public: names the session in lists. */
    id: uuid("id").primaryKey().defaultRandom(),
    /** SHA-256 of the session cookie. */
    tokenHash: bytea("token_hash").notNull().unique(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** The browser as it describes itself. */
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
    // One open invitation an address and tenant; sending it again replaces its token.
    uniqueIndex("invitations_open")
      .on(t.tenantId, t.email)
      .where(sql`${t.acceptedAt} is null and ${t.revokedAt} is null`),
    check("invitations_role", sql`${t.role} in ('owner', 'admin', 'member')`),
  ],
);

/** Where a workspace's repository is and how it is read when a run starts without a request that says so. */
export const repositorySources = pgTable("repository_sources", {
  workspaceId: uuid("workspace_id")
    .primaryKey()
    .references(() => workspaces.id, { onDelete: "cascade" }),
  cloneUrl: text("clone_url").notNull(),
  /** Read token, sealed with a key derived from ENCRYPTION_KEY for this workspace alone; null for public repositories. */
  sealedToken: text("sealed_token"),
  tokenUsername: text("token_username"),
  /** Globs of branches that are indexed when they are pushed, besides the default branch. */
  branches: jsonb("branches").$type<string[]>().notNull().default([]),
  updatedAt: instant("updated_at").notNull().defaultNow(),
});

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
    /** The secret that signs deliveries, sealed like a read token: checking a signature needs the secret itself. */
    sealedSecret: text("sealed_secret").notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex("hooks_workspace").on(t.workspaceId, t.provider),
    index("hooks_tenant").on(t.tenantId),
    check("hooks_provider", sql`${t.provider} in ('github', 'gitlab', 'gitea')`),
  ],
);

/** What came in on a hook and what became of it. */
export const hookDeliveries = pgTable(
  "hook_deliveries",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    hookId: text("hook_id")
      .notNull()
      .references(() => hooks.id, { onDelete: "cascade" }),
    at: instant("at").notNull().defaultNow(),
    /** The provider's own id of the delivery; the same one again is answered without a second run. */
    deliveryId: text("delivery_id"),
    event: text("event").notNull(),
    branch: text("branch"),
    gitSha: text("git_sha"),
    /** What was done: started, ignored, deleted, failed. */
    outcome: text("outcome").notNull(),
    /** Why, for people. */
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

/** Metered use of a credential on one UTC day: absolute figures, mirrored by the tenant's gate. */
export const usageDays = pgTable(
  "usage_days",
  {
    tenantId: tenantId(),
    day: date("day").notNull(),
    /** Public id of the credential; "index" for what hosted indexing embedded. */
    credentialId: text("credential_id").notNull(),
    /** Counts up with every flush; an older flush never overwrites a newer one. */
    flushSeq: bigint("flush_seq", { mode: "number" }).notNull(),
    credits: bigint("credits", { mode: "number" }).notNull(),
    tokens: bigint("tokens", { mode: "number" }).notNull(),
    calls: integer("calls").notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.day, t.credentialId] })],
);
