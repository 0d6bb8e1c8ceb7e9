/**
 * Reads a revision for the snapshot writer, in pages by path: from Postgres, and its uses from the search index. Memory does not depend on
 * the revision's size.
 */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { StoredUses, usesKey, type UsesSource } from "../hosted-index/stored-uses.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import { filesAfter, filesOf } from "../revisions/files.ts";
import type { CodeSymbol } from "../../engines/parsing/types.ts";
import type { EmbeddedChunk, SnapshotFile, SnapshotIdentity, SnapshotSource } from "../../engines/snapshot/types.ts";
import { rowsOfUses } from "../../engines/snapshot/uses-rows.ts";

export interface Revision {
  tenantId: string;
  workspaceId: string;
  seq: number;
  /** See `src/service/revisions/files.ts`. */
  baseSeq: number | null;
  gitSha: string;
  fingerprint: string;
  dimension: number;
  fileCount: number;
  symbolCount: number;
  chunkCount: number;
}

/** Files listed per query. The rows are small. */
const PAGE_FILES = 500;
/** Estimated bytes of symbols, chunks and vectors fetched per query. A single file may exceed it. */
const BATCH_BYTES = 3 * 1024 * 1024;
const ROW_OVERHEAD_BYTES = 400;

/** A revision of a workspace: the newest of this commit, or the one with this number. Undefined if there is none. */
export async function findRevision(
  db: Db,
  workspace: { tenantId: string; workspaceId: string },
  which: { seq: number } | { gitSha: string },
): Promise<Revision | undefined> {
  const condition = "seq" in which ? sql`r.seq = ${which.seq}` : sql`r.git_sha = ${which.gitSha} and r.seq > 0`;
  const [row] = await rowsOf<
    Record<"seq" | "dimension" | "file_count" | "symbol_count" | "chunk_count", number> & {
      base_seq: number | null;
      git_sha: string;
      fingerprint: string;
    }
  >(
    db,
    sql`select r.seq, r.base_seq, r.git_sha, r.fingerprint, r.dimension, r.file_count, r.symbol_count, r.chunk_count
        from revisions r join workspaces w on w.id = r.workspace_id
        where r.workspace_id = ${workspace.workspaceId}::uuid and w.tenant_id = ${workspace.tenantId}::uuid and ${condition}
        order by r.seq desc limit 1`,
  );
  if (row === undefined) return undefined;
  return {
    tenantId: workspace.tenantId,
    workspaceId: workspace.workspaceId,
    seq: row.seq,
    baseSeq: row.base_seq,
    gitSha: row.git_sha,
    fingerprint: row.fingerprint,
    dimension: row.dimension,
    fileCount: row.file_count,
    symbolCount: row.symbol_count,
    chunkCount: row.chunk_count,
  };
}

/** The files of a revision in path order. Calls `onFile` after each. */
export async function revisionSource(
  source: UsesSource,
  revision: Revision,
  onFile: () => Promise<void> | void,
): Promise<SnapshotSource> {
  const { db } = source;
  const { tenantId, gitSha, fingerprint, dimension } = revision;
  const [row] = await rowsOf<{ parser_version: number | null }>(
    db,
    sql`select max(c.parser_version) as parser_version from ${filesOf(revision)} f ${lookUp(sql`select * from contents where id = f.content_id`, "c")}`,
  );
  const header: SnapshotIdentity = { gitSha, fingerprint, dimension, parserVersion: row?.parser_version ?? 0 };
  return {
    header,
    async *files() {
      const uses = new StoredUses(source, tenantId);
      for await (const batch of readAhead(batches(db, revision), (files) => fetchBatch(db, uses, revision, files))) {
        for (const file of batch) {
          yield file;
          await onFile();
        }
      }
    },
  };
}

interface ListedFile {
  path: string;
  content_id: string;
  sha256: string;
  language: string;
  size_bytes: number;
  line_count: number;
  outcome: string;
  symbol_count: number;
  chunk_count: number;
  segment: string | null;
}

/** The revision's files in batches of about `BATCH_BYTES`. */
async function* batches(db: Db, revision: Revision): AsyncGenerator<ListedFile[]> {
  let batch: ListedFile[] = [];
  let bytes = 0;
  for (let after = ""; ;) {
    const page = await rowsOf<ListedFile>(
      db,
      sql`select f.path, f.content_id, encode(c.sha256, 'hex') as sha256, c.language, c.size_bytes, c.line_count, c.outcome, c.symbol_count, c.chunk_count, c.segment
          from ${filesAfter(revision, after, PAGE_FILES)} f ${lookUp(sql`select * from contents where id = f.content_id`, "c")}
          order by f.path`,
    );
    for (const file of page) {
      const weight =
        2 * file.size_bytes +
        file.chunk_count * (2 * revision.dimension + ROW_OVERHEAD_BYTES) +
        file.symbol_count * ROW_OVERHEAD_BYTES;
      if (batch.length > 0 && bytes + weight > BATCH_BYTES) {
        yield batch;
        batch = [];
        bytes = 0;
      }
      batch.push(file);
      bytes += weight;
    }
    if (page.length < PAGE_FILES) break;
    after = page.at(-1)?.path ?? after;
  }
  if (batch.length > 0) yield batch;
}

/** Maps the values, starting each call before the previous result is used, so that queries run while rows are compressed. */
async function* readAhead<In, Out>(source: AsyncIterable<In>, map: (value: In) => Promise<Out>): AsyncGenerator<Out> {
  let ahead: Promise<Out> | undefined;
  for await (const value of source) {
    const next = map(value);
    // Awaited in the next round; until then a rejection must not be reported as unhandled.
    next.catch(() => undefined);
    if (ahead !== undefined) yield await ahead;
    ahead = next;
  }
  if (ahead !== undefined) yield await ahead;
}

/** The symbols of one content as JSON, in order. Thousands of small rows would take longer to transfer. */
interface SymbolsRow {
  content_id: string;
  symbols: string;
}

/** A symbol as the query below builds it. */
type SymbolTuple = [
  kind: string,
  name: string,
  qualifiedName: string,
  signature: string,
  doc: string | null,
  parent: number | null,
  startLine: number,
  endLine: number,
  startByte: number,
  endByte: number,
];

interface ChunkRow {
  content_id: string;
  hash: string;
  context: string;
  text: string;
  symbol: number | null;
  start_line: number;
  end_line: number;
  start_byte: number;
  end_byte: number;
  withheld: boolean;
  vector: string | null;
}

async function fetchBatch(db: Db, uses: StoredUses, revision: Revision, files: ListedFile[]): Promise<SnapshotFile[]> {
  const ids = [...new Set(files.map((file) => file.content_id))];
  const param = sql.param(ids);
  const [symbolRows, chunkRows] = await db.batch([
    db.execute(
      sql`select content_id, json_agg(json_build_array(kind, name, qualified_name, signature, doc, parent, start_line, end_line, start_byte, end_byte)
            order by ordinal)::text as symbols
          from symbols where content_id = any(${param}::uuid[]) group by content_id`,
    ),
    db.execute(
      sql`select c.content_id, encode(c.hash, 'hex') as hash, c.context, c.text, c.symbol, c.start_line, c.end_line, c.start_byte, c.end_byte,
            c.withheld, (select encode(v.vector, 'base64') from vectors v where v.tenant_id = ${revision.tenantId}::uuid
              and v.fingerprint = ${revision.fingerprint} and v.chunk_hash = c.hash and not c.withheld) as vector
          from chunks c
          where c.content_id = any(${param}::uuid[]) order by c.content_id, c.ordinal`,
    ),
  ]);
  const symbols = new Map(
    ((symbolRows as { rows: unknown[] }).rows as SymbolsRow[]).map((row) => [row.content_id, toSymbols(row)]),
  );
  const chunks = byContent((chunkRows as { rows: unknown[] }).rows as ChunkRow[]);
  const records = await uses.read([...new Map(files.map((file) => [file.content_id, file])).values()]);
  return files.map((file) => {
    const usesRecord = records.get(usesKey(file));
    return {
      path: file.path,
      contentHash: file.sha256,
      language: file.language,
      sizeBytes: file.size_bytes,
      lineCount: file.line_count,
      outcome: file.outcome,
      symbols: symbols.get(file.content_id) ?? [],
      chunks: chunks.get(file.content_id) ?? [],
      uses: rowsOfUses(usesRecord),
      usesRecord,
    };
  });
}

function byContent(rows: ChunkRow[]): Map<string, EmbeddedChunk[]> {
  const groups = new Map<string, EmbeddedChunk[]>();
  for (const row of rows) {
    const group = groups.get(row.content_id);
    if (group === undefined) groups.set(row.content_id, [toChunk(row)]);
    else group.push(toChunk(row));
  }
  return groups;
}

function toSymbols({ symbols }: SymbolsRow): CodeSymbol[] {
  return (JSON.parse(symbols) as SymbolTuple[]).map(
    ([kind, name, qualifiedName, signature, doc, parent, startLine, endLine, startByte, endByte]) => ({
      kind,
      name,
      qualifiedName,
      signature,
      doc,
      parent,
      startLine,
      endLine,
      startByte,
      endByte,
    }),
  );
}

function toChunk(row: ChunkRow): EmbeddedChunk {
  const { hash, context, text, symbol, withheld } = row;
  const vector = row.vector === null ? undefined : new Uint8Array(Buffer.from(row.vector, "base64"));
  return {
    hash,
    context,
    text,
    symbol,
    withheld,
    startLine: row.start_line,
    endLine: row.end_line,
    startByte: row.start_byte,
    endByte: row.end_byte,
    vector,
  };
}
