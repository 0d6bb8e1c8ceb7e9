/**
 * The tables of tenants and indexes. A tenant owns everything below it. Its workspaces share content-addressed rows:
 *
 *   contents (tenant, SHA-256, language, parser version) ─┬─ symbols
 *                                                         └─ chunks ── (tenant, fingerprint, chunk hash) ─ vectors
 *   revisions (workspace, seq) ─ revision_files: valid from `from_seq` until before `to_seq`
 *                              ─ revision_overlays: differences of revisions beside the main line
 *
 * A file row is written only when the file changes, so the cost of a run depends on what changed. Readers start from
 * `workspaces.current_seq` or a ref, so they never see the rows of an unfinished run.
 */
import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea, byteText } from "./columns.ts";

const createdAt = () => timestamp("created_at", { withTimezone: true }).notNull().defaultNow();

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
    createdAt: createdAt(),
  },
  (t) => [check("tenants_monthly_credits", sql`${t.monthlyCredits} >= 0`)],
);

/** API keys and worker tokens. Only the SHA-256 of the secret part is kept. */
export const credentials = pgTable(
  "credentials",
  {
    id: text("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: ["api_key", "worker_token"] }).notNull(),
    name: text("name").notNull(),
    secretHash: bytea("secret_hash").notNull(),
    createdAt: createdAt(),
    revokedAt: timestamp("revoked_at", { withTimezone: true }),
    /** When it expires; null: never. */
    expiresAt: timestamp("expires_at", { withTimezone: true }),
    /** Mirrored by the tenant's gate with some seconds of delay. */
    lastUsedAt: timestamp("last_used_at", { withTimezone: true }),
  },
  (t) => [
    index("credentials_tenant").on(t.tenantId),
    check("credentials_kind", sql`${t.kind} in ('api_key', 'worker_token')`),
    check("credentials_secret_hash", sql`octet_length(${t.secretHash}) = 32`),
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

/** Indexed states of a workspace. `seq` increases with every revision. See `src/indexing/revision-files.ts`. */
export const revisions = pgTable(
  "revisions",
  {
    workspaceId: uuid("workspace_id")
      .notNull()
      .references((): AnyPgColumn => workspaces.id, { onDelete: "cascade" }),
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
    /** Ids of the segments' vector sections, in the order of the segments; null where no model takes part in search. */
    searchVectors: text("search_vectors").array(),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.seq] }),
    index("revisions_sha").on(t.workspaceId, t.gitSha),
    index("revisions_base").on(t.workspaceId, t.baseSeq),
    index("revisions_run").on(t.runId),
  ],
);

export const contents = pgTable(
  "contents",
  {
    /** Name-based: the first 16 bytes of SHA-256 over (tenant, sha256, language, parser version). */
    id: uuid("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    sha256: bytea("sha256").notNull(),
    language: text("language").notNull(),
    parserVersion: smallint("parser_version").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    lineCount: integer("line_count").notNull(),
    symbolCount: integer("symbol_count").notNull(),
    chunkCount: integer("chunk_count").notNull(),
    /** Chunks withheld because they may hold a secret. */
    redactedCount: integer("redacted_count").notNull(),
    /** syntax, partial, structure, plain, or fallback:<reason>. */
    outcome: text("outcome").notNull(),
    /** Id of the search segment that contains it; null if none does yet. */
    segment: text("segment"),
    createdAt: createdAt(),
  },
  (t) => [unique("contents_key").on(t.tenantId, t.sha256, t.language, t.parserVersion)],
);

/** What is known about git blobs, so that known ones need not be downloaded again. */
export const gitBlobs = pgTable(
  "git_blobs",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    oid: bytea("oid").notNull(),
    sha256: bytea("sha256"),
    sizeBytes: bigint("size_bytes", { mode: "number" }).notNull(),
    /** Why it is not indexed (binary, lfs, minified, …); null if it is. */
    skip: text("skip"),
    /** Language of its `#!` line, for files without a known extension. */
    interpreter: text("interpreter"),
    /** Version of the rules that decided this. */
    parserVersion: smallint("parser_version").notNull(),
    /** Day on which the row was written; old rows are pruned and determined again if needed. */
    seenOn: date("seen_on")
      .notNull()
      .default(sql`current_date`),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.oid] }),
    index("git_blobs_seen").on(t.seenOn),
    check("git_blobs_known", sql`(${t.sha256} is null) = (${t.skip} is not null)`),
  ],
);

export const symbols = pgTable(
  "symbols",
  {
    contentId: uuid("content_id")
      .notNull()
      .references(() => contents.id, { onDelete: "cascade" }),
    ordinal: integer("ordinal").notNull(),
    kind: text("kind").notNull(),
    name: text("name").notNull(),
    qualifiedName: text("qualified_name").notNull(),
    signature: text("signature").notNull(),
    doc: text("doc"),
    /** Ordinal of the enclosing symbol of the same content. */
    parent: integer("parent"),
    startLine: integer("start_line").notNull(),
    endLine: integer("end_line").notNull(),
    startByte: integer("start_byte").notNull(),
    endByte: integer("end_byte").notNull(),
  },
  (t) => [primaryKey({ columns: [t.contentId, t.ordinal] })],
);

export const chunks = pgTable(
  "chunks",
  {
    contentId: uuid("content_id")
      .notNull()
      .references(() => contents.id, { onDelete: "cascade" }),
    ordinal: integer("ordinal").notNull(),
    /** SHA-256 of what is embedded: scope and text. */
    hash: bytea("hash").notNull(),
    context: text("context").notNull(),
    text: text("text").notNull(),
    /** Ordinal of the innermost symbol it belongs to. */
    symbol: integer("symbol"),
    startLine: integer("start_line").notNull(),
    endLine: integer("end_line").notNull(),
    startByte: integer("start_byte").notNull(),
    endByte: integer("end_byte").notNull(),
    withheld: boolean("withheld").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.contentId, t.ordinal] }),
    index("chunks_hash").on(t.hash),
    check("chunks_withheld", sql`not ${t.withheld} or ${t.text} = ''`),
  ],
);

export const vectors = pgTable(
  "vectors",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    fingerprint: text("fingerprint").notNull(),
    chunkHash: bytea("chunk_hash").notNull(),
    /** IEEE half floats, little-endian. */
    vector: bytea("vector").notNull(),
    /** Day of last use by a run (UTC); the sweep keeps vectors used today. */
    usedOn: date("used_on")
      .notNull()
      .default(sql`current_date`),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.fingerprint, t.chunkHash] })],
);

export const revisionFiles = pgTable(
  "revision_files",
  {
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    /** The path in git; C-quoted (as git does) if it is not UTF-8 or contains control characters. */
    path: byteText("path").notNull(),
    fromSeq: integer("from_seq").notNull(),
    /** First revision without this row; null while the newest has it. */
    toSeq: integer("to_seq"),
    contentId: uuid("content_id")
      .notNull()
      .references(() => contents.id),
    gitOid: bytea("git_oid").notNull(),
    mode: integer("mode").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.path, t.fromSeq] }),
    uniqueIndex("revision_files_open")
      .on(t.workspaceId, t.path)
      .where(sql`${t.toSeq} is null`),
    index("revision_files_content").on(t.contentId),
    index("revision_files_from").on(t.workspaceId, t.fromSeq),
    index("revision_files_to")
      .on(t.workspaceId, t.toSeq)
      .where(sql`${t.toSeq} is not null`),
    check("revision_files_range", sql`${t.toSeq} is null or ${t.toSeq} > ${t.fromSeq}`),
  ],
);

/** The differences of a revision from its base. */
export const revisionOverlays = pgTable(
  "revision_overlays",
  {
    workspaceId: uuid("workspace_id")
      .notNull()
      .references(() => workspaces.id, { onDelete: "cascade" }),
    seq: integer("seq").notNull(),
    path: byteText("path").notNull(),
    /** Null if the revision does not have the file. */
    contentId: uuid("content_id").references(() => contents.id),
    gitOid: bytea("git_oid"),
    mode: integer("mode"),
  },
  (t) => [
    primaryKey({ columns: [t.workspaceId, t.seq, t.path] }),
    index("revision_overlays_content").on(t.contentId),
    check("revision_overlays_file", sql`(${t.contentId} is null) = (${t.mode} is null)`),
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
    createdAt: createdAt(),
    finishedAt: timestamp("finished_at", { withTimezone: true }),
  },
  (t) => [
    index("runs_workspace").on(t.workspaceId, t.createdAt),
    index("runs_unfinished")
      .on(t.createdAt)
      .where(sql`${t.state} in ('queued', 'running')`),
    index("runs_finished")
      .on(t.finishedAt)
      .where(sql`${t.finishedAt} is not null`),
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
