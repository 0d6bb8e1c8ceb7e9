/**
 * The tables of indexed content. The workspaces of a tenant share content-addressed rows:
 *
 *   contents (tenant, SHA-256, language, parser version) ─┬─ symbols
 *                                                         └─ chunks ── (tenant, fingerprint, chunk hash) ─ vectors
 *   revisions (workspace, seq) ─ revision_files: valid from `from_seq` until before `to_seq`
 *                              ─ revision_overlays: differences of revisions beside the main line
 *
 *   texts (tenant, SHA-256): the whole text of each of these files, and of those that only `grep` searches
 *
 * A file row is written only when the file changes, so the cost of a run depends on what changed. Readers start from
 * `workspaces.current_seq` or a ref, so they never see the rows of an unfinished run.
 */
import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea, byteText, createdAt } from "./columns.ts";
import { tenants, workspaces } from "./schema.ts";

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

/** Where the whole text of a file is: in R2, in a pack of texts. By the file's bytes alone, so a new parser finds it too. */
export const texts = pgTable(
  "texts",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    sha256: bytea("sha256").notNull(),
    /** Id of the pack, and position in it. */
    pack: text("pack").notNull(),
    ordinal: integer("ordinal").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** Lines that may hold a secret, and are empty in the pack. */
    withheldLines: integer("withheld_lines").notNull(),
    createdAt: createdAt(),
  },
  // The second one must not begin with the tenant: without statistics the planner would take it for look-ups by hash, and read all texts.
  (t) => [primaryKey({ columns: [t.tenantId, t.sha256] }), index("texts_pack").on(t.pack)],
);

/** What is known about git blobs, so that known ones need not be downloaded again. */
export const gitBlobs = pgTable(
  "git_blobs",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    oid: bytea("oid").notNull(),
    /** Null if neither its text nor an index of it is kept. */
    sha256: bytea("sha256"),
    sizeBytes: bigint("size_bytes", { mode: "number" }).notNull(),
    /** Why it is not indexed (binary, lfs, minified, …); null if it is. With a `sha256`, its text is kept all the same. */
    skip: text("skip"),
    /** Language of its `#!` line, for files without a known extension; `cpp` for C++ in a file with a C name. */
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
    check("git_blobs_known", sql`${t.sha256} is not null or ${t.skip} is not null`),
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
    // For the sweep, which reads the two indexes alone.
    index("chunks_hash_content").on(t.hash, t.contentId),
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
  (t) => [
    primaryKey({ columns: [t.tenantId, t.fingerprint, t.chunkHash] }),
    // For the sweep, see `chunks_hash_content`.
    index("vectors_hash").on(t.chunkHash, t.tenantId, t.usedOn),
  ],
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
