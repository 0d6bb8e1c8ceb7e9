/**
 * Tables of a local index: one SQLite file for a repository, shared by all its worktrees and clones on this machine.
 *
 *   contents (SHA-256, language, parser version) ─┬─ parsed: symbols and chunks, compressed (packed-file.ts)
 *                                                 └─ chunks ── (fingerprint, chunk hash) ─ vectors
 *   worktrees ─ worktree_files: path → content, with the `lstat` result from when it was read
 *   blobs: git object id → content, so that known blobs need not be read to index a commit
 *   bases: pulled artifacts that hold the symbols, chunks and vectors of contents (see bases.ts)
 *
 * A chunk's rowid combines its content's id and its ordinal ({@link rowId}), so the rows of a content are adjacent and need no second
 * index.
 *
 * Every row has a checksum of its values in `row_sum`, computed on write and compared on read ({@link intact}).
 */
export const SCHEMA_VERSION = 7;

const ORDINAL_FACTOR = 2 ** 20;

/** More chunks than a file of 4 MiB can have. */
export const MAX_ORDINAL = ORDINAL_FACTOR - 1;

/** Rowid of chunk `ordinal` of a content. Content ids stay below 2^33, so it is a safe integer. */
export function rowId(contentId: number, ordinal: number): number {
  return contentId * ORDINAL_FACTOR + ordinal;
}

/** Content and ordinal of a rowid that {@link rowId} has made. */
export function rowParts(id: number): { contentId: number; ordinal: number } {
  return { contentId: Math.floor(id / ORDINAL_FACTOR), ordinal: id % ORDINAL_FACTOR };
}

/** SQL condition: the row belongs to the content named by the expression. */
export const belongsTo = (alias: string, contentId: string): string =>
  `${alias}.id between ${contentId} * ${ORDINAL_FACTOR} and ${contentId} * ${ORDINAL_FACTOR} + ${MAX_ORDINAL}`;

/** Columns that a row's checksum covers. */
const CHECKED = {
  meta: "key, value",
  contents:
    "id, sha256, language, parser_version, size_bytes, line_count, outcome, skip, symbol_count, chunk_count, redacted_count, base, base_row",
  parsed: "content_id, bytes",
  chunks: "id, hash, withheld",
  fingerprints: "id, fingerprint, dimension",
  vectors: "fingerprint_id, chunk_hash, vector",
  worktrees: "id, root, parser_version, head, totals, embedded_with, indexed_at",
  worktree_files: "worktree_id, path, content_id, stat",
  blobs: "oid, language, content_id",
  bases: "id, checksum, git_sha, fingerprint, dimension, parser_version, size_bytes",
} as const;

export type Table = keyof typeof CHECKED;

const rowSum = (table: Table): string => `row_sum integer generated always as (row_check(${CHECKED[table]})) stored`;

/** SQL condition: the row's checksum matches. */
export function intact(table: Table, alias: string = table): string {
  const columns = CHECKED[table].split(", ").map((column) => `${alias}.${column}`);
  return `(row_check(${columns.join(", ")}) = ${alias}.row_sum)`;
}

/** Symbols and chunks of each content that is not in a base layer. */
export const PARSED = `create table parsed (
  content_id integer primary key,
  bytes blob not null, -- see packed-file.ts
  ${rowSum("parsed")}
);`;

/** What of a chunk is looked up: the rest is in its content's row of `parsed`. */
export const CHUNKS = `create table chunks (
  id integer primary key,
  hash blob not null,
  withheld integer not null,
  ${rowSum("chunks")}
);`;

export const TABLES = `
create table meta (key text primary key, value text not null, ${rowSum("meta")}) without rowid;
create table contents (
  id integer primary key,
  sha256 blob not null,
  language text not null,
  parser_version integer not null,
  size_bytes integer not null,
  line_count integer, -- null where a base layer knows it
  outcome text not null,
  skip text,
  symbol_count integer not null,
  chunk_count integer not null,
  redacted_count integer not null,
  unused_since integer,
  base integer,
  base_row integer,
  ${rowSum("contents")}
);
${PARSED}
${CHUNKS}
create table fingerprints (id integer primary key, fingerprint text not null unique, dimension integer not null, ${rowSum("fingerprints")});
create table vectors (
  id integer primary key,
  fingerprint_id integer not null,
  chunk_hash blob not null,
  vector blob not null,
  ${rowSum("vectors")},
  unique (fingerprint_id, chunk_hash)
);
create table worktrees (
  id integer primary key,
  root text not null unique,
  parser_version integer not null,
  head text,
  totals text not null,
  embedded_with text,
  indexed_at integer not null,
  ${rowSum("worktrees")}
);
create table worktree_files (
  worktree_id integer not null,
  path text not null,
  content_id integer not null,
  stat text not null,
  ${rowSum("worktree_files")},
  primary key (worktree_id, path)
) without rowid;
create table blobs (
  oid text not null,
  language text not null,
  content_id integer not null,
  ${rowSum("blobs")},
  primary key (oid, language)
) without rowid;
create table bases (
  id integer primary key,
  checksum text not null unique,
  git_sha text not null,
  fingerprint text not null,
  dimension integer not null,
  parser_version integer not null,
  size_bytes integer not null,
  ${rowSum("bases")}
);
`;

/** The two unique indexes are created after a large import, because sorting once is cheaper. */
export const CONTENT_KEY = `create unique index if not exists contents_key on contents (sha256, language, parser_version);`;
export const INDEXES = `
create index contents_base on contents (base, base_row) where base is not null;
create index worktree_files_content on worktree_files (content_id, worktree_id);
`;
