/**
 * The indexer's side of hosted search. A shard adds a segment over the contents it has parsed; the finish of a run completes what
 * is missing, merges small segments and writes the revision's table, which the statement that switches the revision records.
 * Objects are named by the hash of their bytes, and updates of rows are idempotent, so each step may run any number of times.
 */
import { sql } from "drizzle-orm";
import { arrayOf } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import { pages } from "../../lib/pages.ts";
import { filesOf } from "../revisions/files.ts";
import { analyzeContent } from "../../engines/search/analyze.ts";
import { mergeSegments } from "../../engines/search/segment-merge.ts";
import { buildSegment } from "../../engines/search/segment-writer.ts";
import { Segment } from "../../engines/search/segment.ts";
import { buildTable } from "../../engines/search/table.ts";
import { type RevisionFile, SearchFormatError } from "../../engines/search/types.ts";
import type { CodeParser } from "../../engines/parsing/parser.ts";
import { loadContents, type StoredContent } from "./contents.ts";
import { planMerges, type SegmentSize } from "./merge-plan.ts";
import { openObject, RangeCache } from "./read.ts";
import { usesKey, usesOfContents } from "./stored-uses.ts";
import { type VectorContent, writeVectorSections } from "./vector-writer.ts";
import { objectId, type SearchBucket, segmentKey, SEGMENT_ID_PREFIX, tableId, tableKey } from "./store.ts";

export interface SearchWriter {
  db: Db;
  bucket: SearchBucket;
  /** Fingerprint of the model whose vectors take part in search; null if none is configured. */
  model: string | null;
  /** Reads the uses of contents whose segment is made again. */
  parser: () => Promise<CodeParser>;
  /** Called after each piece of work; throws when the run's attempt no longer counts. */
  beat: () => Promise<void>;
}

/** Source bytes that are read back and analysed at a time. */
const BATCH_BYTES = 2 * 1024 * 1024;
const BATCH_CONTENTS = 500;
/** A merge reads everything once: only what opening a segment has read is kept, and not for long. */
const WRITER_CACHE_BYTES = 2 * 1024 * 1024;
/** Segments that are opened together. A first index of 250,000 chunks has 400 before they are merged. */
const OPENED_AT_ONCE = 6;
/** Rounds of completing a revision whose segments turn out to be damaged. */
const REPAIRS = 2;

/** Collects the contents that a shard parses; only their analyses are kept, a tenth of what the parser made of them. */
export class SegmentBuilder {
  readonly #analyses: Uint8Array[] = [];
  readonly #ids: string[] = [];

  add(content: StoredContent): void {
    this.#analyses.push(analyzeContent(content));
    this.#ids.push(content.id);
  }

  /** Writes one segment over the contents, whose rows must be there, and records it as theirs. */
  async write(writer: SearchWriter, tenantId: string): Promise<void> {
    if (this.#ids.length > 0) await putSegment(writer, tenantId, buildSegment(this.#analyses), this.#ids);
  }
}

async function putSegment(
  { db, bucket }: SearchWriter,
  tenantId: string,
  bytes: Uint8Array,
  contentIds: readonly string[],
): Promise<string> {
  const id = objectId(SEGMENT_ID_PREFIX, bytes);
  await bucket.put(segmentKey(tenantId, id), bytes);
  // Locked in a fixed order, because runs of a tenant write segments over the same contents.
  await db.execute(sql`with locked as materialized (
      select id from contents where id = any(${arrayOf(contentIds, "uuid")}) order by id for no key update
    ) update contents set segment = ${id} where id = any(array(select id from locked))`);
  return id;
}

/** A revision whose rows are there, whether readers see it already or not. */
export interface IndexedRevision {
  tenantId: string;
  workspaceId: string;
  seq: number;
  /** As in `src/service/revisions/files.ts`. */
  baseSeq: number | null;
}

/** What a revision's row records. */
export interface WrittenTable {
  table: string;
  segments: string[];
  /** Of each segment the vector section; null without a model. */
  vectors: string[] | null;
}

/**
 * Writes the table of a revision, after the segments it still lacks. `freshChunks` is how many chunks the run has added: merging
 * rewrites no more than about as many.
 */
export async function writeTable(
  writer: SearchWriter,
  revision: IndexedRevision,
  freshChunks: number,
  damaged: ReadonlySet<string> = new Set(),
): Promise<WrittenTable> {
  for (let repair = 0; ; repair++) {
    const completed = await completeSegments(writer, revision);
    try {
      return await mergeAndWrite(writer, revision, { freshChunks: Math.max(freshChunks, completed), damaged });
    } catch (error) {
      if (!(error instanceof DamagedSegmentError) || repair === REPAIRS) throw error;
      await releaseContents(writer.db, revision.tenantId, [error.id]);
    }
  }
}

/** Has the contents of damaged segments indexed again, from the database, by the next `writeTable` of a revision that has them. */
export async function releaseContents(db: Db, tenantId: string, segments: readonly string[]): Promise<void> {
  await db.execute(sql`with locked as materialized (
      select id from contents where tenant_id = ${tenantId} and segment = any(${arrayOf(segments, "text")}) order by id for no key update
    ) update contents set segment = null where id = any(array(select id from locked))`);
}

/** Writes and records the table of a revision that is visible already. `damaged` are ids of vector sections not to use again. */
export async function recordTable(
  writer: SearchWriter,
  revision: IndexedRevision,
  damaged: ReadonlySet<string> = new Set(),
): Promise<void> {
  const { table, segments, vectors } = await writeTable(writer, revision, 0, damaged);
  await writer.db
    .execute(sql`update revisions set search_table = ${table}, search_segments = ${arrayOf(segments, "text")},
      search_vectors = ${vectors === null ? sql`null` : arrayOf(vectors, "text")}
    where workspace_id = ${revision.workspaceId} and seq = ${revision.seq}`);
}

/** A segment cannot be read: missing, damaged, or of another version. */
export class DamagedSegmentError extends Error {
  override readonly name = "DamagedSegmentError";
  readonly id: string;

  constructor(id: string, cause: unknown) {
    super(`search segment ${id} cannot be read`, { cause });
    this.id = id;
  }
}

/** Indexes the contents of a revision that have no segment of this version. Returns how many chunks they have. */
async function completeSegments(writer: SearchWriter, revision: IndexedRevision): Promise<number> {
  const missing = await rowsOf<{ id: string; size_bytes: number }>(
    writer.db,
    sql`select distinct c.id, c.size_bytes from ${filesOf(revision)} f ${lookUp(sql`select * from contents where id = f.content_id`, "c")}
        where (c.segment is null or c.segment not like ${`${SEGMENT_ID_PREFIX}%`}) order by c.id`,
  );
  let chunks = 0;
  for (const ids of batches(missing)) {
    const contents = await loadContents(writer.db, ids);
    const segment = new SegmentBuilder();
    const uses = await usesOfContents(writer, revision.tenantId, contents);
    for (const content of contents) {
      segment.add({ ...content, uses: uses.get(usesKey(content)) });
      chunks += content.chunks.length;
    }
    await segment.write(writer, revision.tenantId);
    await writer.beat();
  }
  return chunks;
}

function* batches(rows: readonly { id: string; size_bytes: number }[]): Generator<string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const { id, size_bytes: size } of rows) {
    if (batch.length > 0 && (bytes + size > BATCH_BYTES || batch.length === BATCH_CONTENTS)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(id);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

interface FileRow {
  path: string;
  sha256: string;
  language: string;
  content: string;
  chunks: number;
  redacted: number;
  segment: string;
}

async function mergeAndWrite(
  writer: SearchWriter,
  revision: IndexedRevision,
  { freshChunks, damaged }: { freshChunks: number; damaged: ReadonlySet<string> },
): Promise<WrittenTable> {
  const { db, bucket, model } = writer;
  const rows = await rowsOf<FileRow>(
    db,
    sql`select f.path, encode(c.sha256, 'hex') as sha256, c.language, c.id as content, c.chunk_count as chunks, c.redacted_count as redacted, c.segment
        from ${filesOf(revision)} f ${lookUp(sql`select * from contents where id = f.content_id`, "c")}`,
  );
  const segments = new Map<string, Segment>();
  const ranges = new RangeCache(WRITER_CACHE_BYTES);
  for (const ids of pages(new Set(rows.map(({ segment }) => segment)), OPENED_AT_ONCE)) {
    const opened = await Promise.all(ids.map((id) => openSegment(writer, revision.tenantId, id, ranges)));
    for (const [i, id] of ids.entries()) segments.set(id, opened[i] as Segment);
  }
  await writer.beat();
  for (const group of planMerges(liveSizes(rows, segments), freshChunks))
    await merge(writer, revision.tenantId, group, rows, segments, ranges);
  const files: RevisionFile[] = rows.map(({ path, sha256, language }) => ({ path, sha256, language }));
  const opened = [...segments].map(([id, segment]) => ({ id, segment }));
  const { missing, ...written } = buildTable(files, opened);
  const [lost] = missing;
  if (lost) {
    const row = rows.find(({ sha256, language }) => sha256 === lost.sha256 && language === lost.language);
    throw new DamagedSegmentError(row?.segment ?? "", undefined);
  }
  const id = tableId(written);
  await bucket.put(tableKey(revision.tenantId, id), written.table);
  await writer.beat();
  const ids = [...segments.keys()].toSorted();
  if (model === null) return { table: id, segments: ids, vectors: null };
  const contents = contentsBySegment(rows);
  const parts = ids.map((own) => ({
    id: own,
    segment: segments.get(own) as Segment,
    contents: contents.get(own) ?? [],
  }));
  const vectors = await writeVectorSections(writer, { ...revision, fingerprint: model }, parts, damaged);
  return { table: id, segments: ids, vectors };
}

/** The contents of a revision, each once, by segment. */
function contentsBySegment(rows: readonly FileRow[]): Map<string, VectorContent[]> {
  const once = new Map(rows.map((row) => [row.content, row]));
  const bySegment = new Map<string, VectorContent[]>();
  for (const { content, sha256, language, chunks, redacted, segment } of once.values()) {
    const own = bySegment.get(segment) ?? [];
    own.push({ id: content, sha256, language, chunkCount: chunks, embeddedChunks: chunks - redacted });
    bySegment.set(segment, own);
  }
  return bySegment;
}

function liveSizes(rows: readonly FileRow[], segments: ReadonlyMap<string, Segment>): SegmentSize[] {
  const contents = new Map(rows.map((row) => [row.content, row]));
  const sizes = new Map<string, number>();
  for (const { segment, chunks } of contents.values()) sizes.set(segment, (sizes.get(segment) ?? 0) + chunks);
  return [...sizes].map(([id, liveChunks]) => {
    const { byteLength = 0, chunkCount = 0 } = segments.get(id) ?? {};
    return { id, liveChunks, liveBytes: (byteLength * liveChunks) / Math.max(1, chunkCount) };
  });
}

/** Replaces a group of segments, in `segments` and in `rows`, by one with the contents that the revision has of them. */
async function merge(
  writer: SearchWriter,
  tenantId: string,
  group: readonly string[],
  rows: FileRow[],
  segments: Map<string, Segment>,
  ranges: RangeCache,
): Promise<void> {
  const own = group.flatMap((id) => {
    const segment = segments.get(id);
    return segment === undefined ? [] : [segment];
  });
  const moved = rows.filter(({ segment }) => group.includes(segment));
  const wanted = new Set(moved.map(({ sha256, language }) => `${sha256} ${language}`));
  const isWanted = (position: number, ordinal: number): boolean => {
    const key = own[position]?.contentKey(ordinal);
    return key !== undefined && wanted.has(`${key.sha256} ${key.language}`);
  };
  const bytes = await mergeSegments(own, isWanted).catch((error: unknown) => {
    // Which of them is damaged is not known here; the next round reads each by itself.
    throw error instanceof SearchFormatError ? new DamagedSegmentError(group[0] ?? "", error) : error;
  });
  const id = await putSegment(writer, tenantId, bytes, [...new Set(moved.map(({ content }) => content))]);
  for (const old of group) segments.delete(old);
  segments.set(id, await openSegment(writer, tenantId, id, ranges));
  for (const row of moved) row.segment = id;
  await writer.beat();
}

async function openSegment(
  { bucket }: SearchWriter,
  tenantId: string,
  id: string,
  cache: RangeCache,
): Promise<Segment> {
  try {
    return await Segment.open(await openObject(bucket, segmentKey(tenantId, id), { cache }));
  } catch (error) {
    if (error instanceof SearchFormatError) throw new DamagedSegmentError(id, error);
    throw error;
  }
}
