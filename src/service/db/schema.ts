/** The tables of tenants, workspaces, revisions, runs and snapshots. A tenant owns everything that refers to it. */
import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import type { RunSpec } from "./run-spec.ts";
import { createdAt } from "./columns.ts";

export const tenants = pgTable(
  "tenants",
  {
    id: uuid("id").primaryKey(),
    name: text("name").notNull(),
    /** Short name for the dashboard's URLs. */
    slug: text("slug")
      .notNull()
      .unique()
      .default(sql`('t-' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 12))`),
    /** Monthly quota in credits. */
    monthlyCredits: integer("monthly_credits").notNull().default(10_000),
    sharedIndex: boolean("shared_index").notNull().default(false),
    /** Whether its owners get a mail when the quota runs out, and when runs that nobody watches fail or succeed again. */
    mailQuota: boolean("mail_quota").notNull().default(true),
    mailRuns: boolean("mail_runs").notNull().default(true),
    /** Days for which finished runs and audit events are kept; see `RETENTION_DAYS`. */
    runDays: integer("run_days").notNull().default(90),
    auditDays: integer("audit_days").notNull().default(365),
    /** User on whose account the quota is; null if the administrator made the tenant, or if it is older than this column. */
    createdBy: uuid("created_by"),
    createdAt: createdAt(),
  },
  (t) => [
    check("tenants_monthly_credits", sql`${t.monthlyCredits} >= 0`),
    // For the sweep, which looks at these by themselves.
    index("tenants_short_retention")
      .on(t.id)
      .where(sql`${t.runDays} < 90 or ${t.auditDays} < 365`),
    index("tenants_created_by")
      .on(t.createdBy)
      .where(sql`${t.createdBy} is not null`),
  ],
);

/** Settings of the deployment, by name. */
export const serviceSettings = pgTable("service_settings", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

export const workspaces = pgTable(
  "workspaces",
  {
    id: uuid("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** Normalised identity, host/owner/name; null until one is known. */
    repo: text("repo"),
    defaultBranch: text("default_branch"),
    /** Sequence number of the revision that readers see; null before the first run. */
    currentSeq: integer("current_seq"),
    currentSnapshotId: uuid("current_snapshot_id"),
    createdAt: createdAt(),
  },
  (t) => [
    unique("workspaces_tenant_repo").on(t.tenantId, t.repo),
    foreignKey({
      name: "workspaces_current_revision",
      columns: [t.id, t.currentSeq],
      foreignColumns: [revisions.workspaceId, revisions.seq],
    }),
    foreignKey({ name: "workspaces_current_snapshot", columns: [t.currentSnapshotId], foreignColumns: [snapshots.id] }),
  ],
);

/** Indexed states of a workspace. `seq` increases with every revision. See `src/service/revisions/files.ts`. */
export const revisions = pgTable(
  "revisions",
  {
    workspaceId: uuid("workspace_id")
      .notNull()
      .references((): AnyPgColumn => workspaces.id, { onDelete: "cascade" }),
    /** Below zero: the revision of an overlay. */
    seq: integer("seq").notNull(),
    /**
     * Null for revisions of the main line; else the main-line revision that this one's overlay is relative to (0: an empty one).
     */
    baseSeq: integer("base_seq"),
    runId: uuid("run_id").notNull(),
    gitSha: text("git_sha").notNull(),
    /** Root tree id: equal for two commits with the same files. */
    rootTree: text("root_tree").notNull(),
    /** Hash of everything except the commit that determines the index: options, parser version. */
    planKey: text("plan_key").notNull(),
    fingerprint: text("fingerprint").notNull(),
    dimension: integer("dimension").notNull(),
    fileCount: integer("file_count").notNull(),
    symbolCount: integer("symbol_count").notNull(),
    chunkCount: integer("chunk_count").notNull(),
    /** Counters of the run result that describe the whole revision (skips by reason, fallbacks, redactions). */
    stats: jsonb("stats").$type<Record<string, number>>().notNull(),
    /** Id of its search table in R2; null if it was indexed before search existed, or if the table must be rebuilt. */
    searchTable: text("search_table"),
    /** Ids of the search segments that the table uses; the sweep keeps them. */
    searchSegments: text("search_segments").array(),
    /** Ids of the segments' vector sections, in the order of the segments; null if no model takes part in search. */
    searchVectors: text("search_vectors").array(),
    /** Id of its file list in R2; null if it was indexed before whole texts were stored. */
    textList: text("text_list"),
    /** Ids of the packs that the list names; the sweep keeps them. */
    textPacks: text("text_packs").array(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.seq] }),
    index("revisions_sha").on(t.workspaceId, t.gitSha),
    index("revisions_base").on(t.workspaceId, t.baseSeq),
    index("revisions_run").on(t.runId),
  ],
);

/** The last revision of each branch and tag of a workspace. */
export const revisionRefs = pgTable(
  "revision_refs",
  {
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    /** Full name, `refs/heads/main`. */
    ref: text("ref").notNull(),
    seq: integer("seq").notNull(),
    updatedAt: timestamp("updated_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.ref] }),
    index("revision_refs_seq").on(t.workspaceId, t.seq),
    foreignKey({
      name: "revision_refs_revision",
      columns: [t.workspaceId, t.seq],
      foreignColumns: [revisions.workspaceId, revisions.seq],
    }),
  ],
);

/** Uncommitted edits on top of a revision, visible to one credential for a while. See `src/service/overlays`. */
export const overlays = pgTable(
  "overlays",
  {
    /** Names the edits, their base and their owner: the same request makes the same overlay. */
    id: uuid("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    /** Public id of the credential that may ask it. */
    credentialId: text("credential_id").notNull(),
    /** Its revision, below zero; it exists once `state` is `ready`. */
    seq: integer("seq").notNull(),
    /** Revision that the edits are relative to. */
    editedSeq: integer("edited_seq").notNull(),
    state: text("state", { enum: ["pending", "ready", "failed"] }).notNull(),
    createdAt: createdAt(),
    expiresAt: timestamp("expires_at", { withTimezone: true }).notNull(),
  },
  (t) => [
    unique("overlays_revision").on(t.workspaceId, t.seq),
    index("overlays_expiry").on(t.expiresAt),
    index("overlays_tenant").on(t.tenantId, t.expiresAt),
    check("overlays_state", sql`${t.state} in ('pending', 'ready', 'failed')`),
  ],
);

export const runs = pgTable(
  "runs",
  {
    id: uuid("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: ["index", "snapshot"] }).notNull(),
    state: text("state", { enum: ["queued", "running", "succeeded", "failed", "cancelled"] }).notNull(),
    /** The request without credentials. */
    request: jsonb("request").notNull(),
    result: jsonb("result"),
    error: jsonb("error"),
    /** The run as its coordinator must get it, its token sealed; null once the coordinator has it, or the run has ended. */
    submission: jsonb("submission").$type<RunSpec>(),
    /** Its phases and retries (`src/service/runs/history.ts`); null until it has ended, and for runs of earlier versions. */
    history: jsonb("history"),
    createdAt: createdAt(),
    finishedAt: timestamp("finished_at", { withTimezone: true }),
  },
  (t) => [
    index("runs_workspace").on(t.workspaceId, t.createdAt),
    index("runs_unfinished")
      .on(t.createdAt)
      .where(sql`${t.state} in ('queued', 'running')`),
    index("runs_unsubmitted")
      .on(t.createdAt)
      .where(sql`${t.submission} is not null`),
    index("runs_finished")
      .on(t.finishedAt)
      .where(sql`${t.finishedAt} is not null`),
    index("runs_failed")
      .on(t.finishedAt)
      .where(sql`${t.state} = 'failed'`),
    index("runs_tenant").on(t.tenantId, t.createdAt, t.id),
    // At most one snapshot job per tenant at a time.
    uniqueIndex("runs_one_snapshot_job")
      .on(t.tenantId)
      .where(sql`${t.kind} = 'snapshot' and ${t.state} in ('queued', 'running')`),
    check("runs_state", sql`${t.state} in ('queued', 'running', 'succeeded', 'failed', 'cancelled')`),
  ],
);

export const snapshots = pgTable(
  "snapshots",
  {
    id: uuid("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    workspaceId: uuid("workspace_id")
      .notNull()
      .references((): AnyPgColumn => workspaces.id, { onDelete: "cascade" }),
    state: text("state", { enum: ["pending", "committed", "deleted"] }).notNull(),
    gitSha: text("git_sha").notNull(),
    storagePath: text("storage_path").notNull().unique(),
    /** `sha256:<hex>` of the artifact. */
    checksum: text("checksum").notNull(),
    sizeBytes: bigint("size_bytes", { mode: "number" }),
    fingerprint: text("fingerprint").notNull(),
    manifest: jsonb("manifest").$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
    /** When its last signed URL (upload or download) expires. */
    urlExpiresAt: timestamp("url_expires_at", { withTimezone: true }),
    committedAt: timestamp("committed_at", { withTimezone: true }),
  },
  (t) => [
    index("snapshots_workspace").on(t.workspaceId, t.state, t.committedAt),
    check("snapshots_state", sql`${t.state} in ('pending', 'committed', 'deleted')`),
  ],
);
