/**
 * The content-addressed half of the index in SQL. Rows are sent as column arrays through `unnest`, so that one statement takes
 * any number of rows. Binary values are sent as base64, the fastest way into Postgres over HTTP.
 */
import { sql, type SQL } from "drizzle-orm";
import { arrayOf, unnest } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { isLanguageId } from "../../engines/parsing/detect.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import type { ParsedFile } from "../../engines/parsing/types.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";

export interface IndexedContent {
  id: string;
  sha256: string;
  language: string;
  sizeBytes: number;
  parsed: ParsedFile;
}

export interface StoredVector {
  /** Chunk hash, hex. */
  hash: string;
  /** Half floats, little-endian. */
  bytes: Uint8Array;
}

/** Known facts about a git blob. `skip`: why its bytes are never indexed; with a `sha256`, their text is stored all the same. */
export interface KnownBlob {
  oid: string;
  sha256: string | null;
  sizeBytes: number;
  skip: string | null;
  /** Language found in its content, see `BlobTable.setContentLanguage`. */
  interpreter: LanguageId | null;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** Postgres text cannot hold U+0000. */
const clean = (text: string) => (text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text);

/**
 * Returns the given chunk hashes that already have a vector, and claims those vectors: the sweep keeps them for the rest of
 * the day even if no chunk of a kept revision refers to them yet.
 */
export async function claimVectors(
  db: Db,
  tenantId: string,
  fingerprint: string,
  hashes: readonly string[],
): Promise<Set<string>> {
  if (hashes.length === 0) return new Set();
  // A row that the sweep is deleting concurrently is in neither branch: the update does not find it, and it is not of today. Arrays
  // rather than subqueries: each is a look-up by key even if the planner knows nothing of the tenant.
  const given = sql`array(select decode(h, 'hex') from unnest(${arrayOf(hashes, "text")}) as h)`;
  const rows = await rowsOf<{ hash: string }>(
    db,
    sql`with found as materialized (
          select chunk_hash, used_on >= current_date as fresh from vectors where tenant_id = ${tenantId} and fingerprint = ${fingerprint}
            and chunk_hash = any(${given})
        ), locked as materialized (
          select chunk_hash from vectors where tenant_id = ${tenantId} and fingerprint = ${fingerprint}
            and chunk_hash = any(array(select chunk_hash from found where not fresh)) order by chunk_hash for update
        ), claimed as (
          update vectors set used_on = current_date where tenant_id = ${tenantId} and fingerprint = ${fingerprint}
            and chunk_hash = any(array(select chunk_hash from locked)) returning chunk_hash
        )
        select encode(chunk_hash, 'hex') as hash from found where fresh union all select encode(chunk_hash, 'hex') from claimed`,
  );
  return new Set(rows.map((row) => row.hash));
}

/** Writes contents with all their symbols and chunks, and the vectors given, in one transaction. Repeating it changes nothing. */
export async function writeContents(
  db: Db,
  tenantId: string,
  fingerprint: string,
  contents: readonly IndexedContent[],
  vectors: readonly StoredVector[],
): Promise<void> {
  // A fixed order prevents deadlocks between concurrent writers of the same rows.
  const ordered = contents.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const statements = [
    ...(vectors.length > 0 ? [insertVectors(tenantId, fingerprint, vectors)] : []),
    ...(ordered.length > 0 ? [keepContents(ordered), insertContents(tenantId, ordered)] : []),
    ...insertSymbols(ordered),
    ...insertChunks(ordered),
  ].map((statement) => db.execute(statement));
  const [first, ...rest] = statements;
  if (first) await db.batch([first, ...rest]);
}

/** Writes vectors alone, for contents that are stored already. */
export async function writeVectors(
  db: Db,
  tenantId: string,
  fingerprint: string,
  vectors: readonly StoredVector[],
): Promise<void> {
  if (vectors.length > 0) await db.execute(insertVectors(tenantId, fingerprint, vectors));
}

function insertVectors(tenantId: string, fingerprint: string, vectors: readonly StoredVector[]): SQL {
  const ordered = vectors.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
  return sql`insert into vectors (tenant_id, fingerprint, chunk_hash, vector)
    select ${tenantId}::uuid, ${fingerprint}, decode(h, 'hex'), decode(v, 'base64')
    from ${unnest(ordered, [
      ["text", (v) => v.hash],
      ["text", (v) => base64(v.bytes)],
    ])} as t(h, v)
    on conflict do nothing`;
}

/** Keeps a sweep from deleting those that are stored already, before their symbols and chunks are written. */
function keepContents(contents: readonly IndexedContent[]): SQL {
  const ids = contents.map(({ id }) => id);
  return sql`select 1 from contents where id = any(${arrayOf(ids, "uuid")}) order by id for key share`;
}

function insertContents(tenantId: string, contents: readonly IndexedContent[]): SQL {
  return sql`insert into contents (id, tenant_id, sha256, language, parser_version, size_bytes, line_count, symbol_count, chunk_count, redacted_count, outcome)
    select id, ${tenantId}::uuid, decode(sha, 'hex'), lang, ${PARSER_VERSION}::smallint, size, lines, syms, chunks, redacted, outcome
    from ${unnest(contents, [
      ["uuid", (c) => c.id],
      ["text", (c) => c.sha256],
      ["text", (c) => c.language],
      ["int", (c) => c.sizeBytes],
      ["int", (c) => c.parsed.lineCount],
      ["int", (c) => c.parsed.symbols.length],
      ["int", (c) => c.parsed.chunks.length],
      ["int", (c) => c.parsed.chunks.filter((chunk) => chunk.withheld).length],
      ["text", ({ parsed }) => (parsed.fallbackReason ? `fallback:${parsed.fallbackReason}` : parsed.outcome)],
    ])} as t(id, sha, lang, size, lines, syms, chunks, redacted, outcome)
    on conflict do nothing`;
}

function insertSymbols(contents: readonly IndexedContent[]): SQL[] {
  const rows = contents.flatMap((content) =>
    content.parsed.symbols.map((symbol, ordinal) => ({ id: content.id, ordinal, symbol })),
  );
  if (rows.length === 0) return [];
  return [
    sql`insert into symbols (content_id, ordinal, kind, name, qualified_name, signature, doc, parent, start_line, end_line, start_byte, end_byte)
      select * from ${unnest(rows, [
        ["uuid", (r) => r.id],
        ["int", (r) => r.ordinal],
        ["text", (r) => r.symbol.kind],
        ["text", (r) => clean(r.symbol.name)],
        ["text", (r) => clean(r.symbol.qualifiedName)],
        ["text", (r) => clean(r.symbol.signature)],
        ["text", (r) => (r.symbol.doc === null ? null : clean(r.symbol.doc))],
        ["int", (r) => r.symbol.parent],
        ["int", (r) => r.symbol.startLine],
        ["int", (r) => r.symbol.endLine],
        ["int", (r) => r.symbol.startByte],
        ["int", (r) => r.symbol.endByte],
      ])}
      on conflict do nothing`,
  ];
}

function insertChunks(contents: readonly IndexedContent[]): SQL[] {
  const rows = contents.flatMap((content) =>
    content.parsed.chunks.map((chunk, ordinal) => ({ id: content.id, ordinal, chunk })),
  );
  if (rows.length === 0) return [];
  return [
    sql`insert into chunks (content_id, ordinal, hash, context, text, symbol, start_line, end_line, start_byte, end_byte, withheld)
      select id, ordinal, decode(hash, 'hex'), context, body, symbol, sl, el, sb, eb, withheld
      from ${unnest(rows, [
        ["uuid", (r) => r.id],
        ["int", (r) => r.ordinal],
        ["text", (r) => r.chunk.hash],
        ["text", (r) => clean(r.chunk.context)],
        ["text", (r) => clean(r.chunk.text)],
        ["int", (r) => r.chunk.symbol],
        ["int", (r) => r.chunk.startLine],
        ["int", (r) => r.chunk.endLine],
        ["int", (r) => r.chunk.startByte],
        ["int", (r) => r.chunk.endByte],
        ["boolean", (r) => r.chunk.withheld],
      ])} as t(id, ordinal, hash, context, body, symbol, sl, el, sb, eb, withheld)
      on conflict do nothing`,
  ];
}

/** Known facts about git blobs, by object id. */
export async function findBlobs(db: Db, tenantId: string, oids: readonly string[]): Promise<Map<string, KnownBlob>> {
  if (oids.length === 0) return new Map();
  const rows = await rowsOf<{
    oid: string;
    sha256: string | null;
    size: string;
    skip: string | null;
    interpreter: string | null;
  }>(
    db,
    sql`select encode(oid, 'hex') as oid, encode(sha256, 'hex') as sha256, size_bytes as size, skip, interpreter from git_blobs
        where tenant_id = ${tenantId} and parser_version = ${PARSER_VERSION}
        and oid = any(array(select decode(o, 'hex') from unnest(${arrayOf(oids, "text")}) as o))`,
  );
  return new Map(
    rows.map(({ oid, sha256, size, skip, interpreter }) => {
      const language = interpreter !== null && isLanguageId(interpreter) ? interpreter : null;
      return [oid, { oid, sha256, sizeBytes: Number(size), skip, interpreter: language }];
    }),
  );
}

/** Records facts about git blobs. */
export async function writeBlobs(db: Db, tenantId: string, blobs: readonly KnownBlob[]): Promise<void> {
  if (blobs.length === 0) return;
  const ordered = blobs.toSorted((a, b) => (a.oid < b.oid ? -1 : 1));
  await db.execute(sql`insert into git_blobs (tenant_id, oid, sha256, size_bytes, skip, interpreter, parser_version)
    select ${tenantId}::uuid, decode(o, 'hex'), decode(s, 'hex'), size, skip, interpreter, ${PARSER_VERSION}::smallint
    from ${unnest(ordered, [
      ["text", (b) => b.oid],
      ["text", (b) => b.sha256],
      ["bigint", (b) => b.sizeBytes],
      ["text", (b) => b.skip],
      ["text", (b) => b.interpreter],
    ])} as t(o, s, size, skip, interpreter)
    on conflict (tenant_id, oid) do update set sha256 = excluded.sha256, skip = excluded.skip, interpreter = excluded.interpreter,
      parser_version = excluded.parser_version, seen_on = current_date
    where git_blobs.parser_version <> excluded.parser_version or (git_blobs.interpreter is null and excluded.interpreter is not null)
      or (git_blobs.sha256 is null and excluded.sha256 is not null)`);
}

/** Returns the given contents that exist. */
export async function findContents(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await rowsOf<{ id: string }>(db, sql`select id from contents where id = any(${arrayOf(ids, "uuid")})`);
  return new Set(rows.map((row) => row.id));
}

/** True for a row `c` of chunks without a vector. A scalar subquery is a look-up for each chunk; `not exists` may read all vectors. */
const lacksVector = (tenantId: string, fingerprint: string): SQL =>
  sql`(select 1 from vectors v where v.tenant_id = ${tenantId} and v.fingerprint = ${fingerprint} and v.chunk_hash = c.hash) is null`;

/** Returns the given contents that have a chunk without a vector of this fingerprint. */
export async function findUnembedded(
  db: Db,
  tenantId: string,
  fingerprint: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`select distinct c.content_id as id from chunks c
        where c.content_id = any(${arrayOf(ids, "uuid")}) and not c.withheld
        and ${lacksVector(tenantId, fingerprint)}`,
  );
  return rows.map((row) => row.id);
}

/** Chunks of the given contents that lack a vector of this fingerprint, each hash once. */
export async function unembeddedChunks(
  db: Db,
  tenantId: string,
  fingerprint: string,
  ids: readonly string[],
): Promise<{ hash: string; context: string; text: string }[]> {
  return rowsOf(
    db,
    sql`select distinct on (c.hash) encode(c.hash, 'hex') as hash, c.context, c.text from chunks c
        where c.content_id = any(${arrayOf(ids, "uuid")}) and not c.withheld
        and ${lacksVector(tenantId, fingerprint)}`,
  );
}
