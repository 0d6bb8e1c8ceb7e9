/** Writes the vector sections of a revision: sign bits of its chunks' vectors, one object for each of its segments. */
import { sql } from "drizzle-orm";
import { arrayOf } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import { decodeF16 } from "../../engines/embedding/f16.ts";
import type { Segment } from "../../engines/search/segment.ts";
import { SearchFormatError } from "../../engines/search/types.ts";
import { buildVectorSection, MAX_SIGN_BITS, signBits, VectorSection } from "../../engines/search/vector-section.ts";
import { openObject } from "./read.ts";
import { objectId, type SearchBucket, VECTOR_ID_PREFIX, vectorKey } from "./store.ts";

/** Revisions whose sections are looked at for one that can be used again. */
const EARLIER_REVISIONS = 8;
/** Chunks whose vectors are read at a time: at most 3 MB as base64. */
const BATCH_CHUNKS = 2_000;
/** Holds the hot part of a section over any merged segment. */
const HOT_BYTES = 16 * 1024;

/** A content of the revision. */
export interface VectorContent {
  id: string;
  sha256: string;
  language: string;
  /** Chunks that have a vector: all but the withheld ones. */
  embeddedChunks: number;
  chunkCount: number;
}

interface VectorRevision {
  tenantId: string;
  workspaceId: string;
  /** Of the model. */
  fingerprint: string;
}

interface VectorWriter {
  db: Db;
  bucket: SearchBucket;
  beat: () => Promise<void>;
}

/**
 * Ids of sections that cover all embedded chunks of the contents, in the order of the segments. Sections of earlier revisions of
 * the workspace are used again where they cover them, so a push writes those of its own segments; those in `damaged` are not.
 */
export async function writeVectorSections(
  writer: VectorWriter,
  revision: VectorRevision,
  segments: readonly { id: string; segment: Segment; contents: readonly VectorContent[] }[],
  damaged: ReadonlySet<string>,
): Promise<string[]> {
  const earlier = await earlierSections(writer.db, revision, damaged);
  const ids: string[] = [];
  for (const { id, segment, contents } of segments) {
    const known = await firstCovering(writer, revision, earlier.get(id) ?? new Set(), segment, contents);
    ids.push(known ?? (await writeSection(writer, revision, { id, segment, contents })));
    await writer.beat();
  }
  return ids;
}

/** Sections of the workspace's latest revisions under the same model, without the damaged ones, by segment. */
async function earlierSections(
  db: Db,
  { workspaceId, fingerprint }: VectorRevision,
  damaged: ReadonlySet<string>,
): Promise<Map<string, Set<string>>> {
  const rows = await rowsOf<{ segments: string[]; vectors: string[] }>(
    db,
    sql`select search_segments as segments, search_vectors as vectors from revisions
        where workspace_id = ${workspaceId} and fingerprint = ${fingerprint} and search_vectors is not null
        order by seq desc limit ${EARLIER_REVISIONS}`,
  );
  const sections = new Map<string, Set<string>>();
  for (const { segments, vectors } of rows) {
    for (const [i, segment] of segments.entries()) {
      const id = vectors[i];
      if (id?.startsWith(VECTOR_ID_PREFIX) !== true || damaged.has(id)) continue;
      sections.set(segment, (sections.get(segment) ?? new Set()).add(id));
    }
  }
  return sections;
}

async function firstCovering(
  { bucket }: VectorWriter,
  { tenantId }: VectorRevision,
  ids: ReadonlySet<string>,
  segment: Segment,
  contents: readonly VectorContent[],
): Promise<string | undefined> {
  for (const id of ids) {
    try {
      const section = await VectorSection.open(
        await openObject(bucket, vectorKey(tenantId, id), { firstBytes: HOT_BYTES }),
      );
      if (section.chunkCount === segment.chunkCount && contents.every((content) => covers(section, segment, content)))
        return id;
    } catch (error) {
      if (!(error instanceof SearchFormatError)) throw error;
    }
  }
  return undefined;
}

function covers(section: VectorSection, segment: Segment, content: VectorContent): boolean {
  const first = segment.firstChunks[segment.find(content)] ?? 0;
  return section.countVectors(first, content.chunkCount) >= content.embeddedChunks;
}

async function writeSection(
  writer: VectorWriter,
  { tenantId, fingerprint }: VectorRevision,
  { id, segment, contents }: { id: string; segment: Segment; contents: readonly VectorContent[] },
): Promise<string> {
  const signs = new Map<number, Uint32Array>();
  let dimension = 0;
  for (const batch of batches(contents)) {
    const rows = await rowsOf<{ content: string; ordinal: number; bytes: number; vector: string }>(
      writer.db,
      sql`select k.content_id as content, k.ordinal, octet_length(v.vector) as bytes,
            encode(substring(v.vector from 1 for ${2 * MAX_SIGN_BITS}), 'base64') as vector
          from chunks k
          ${lookUp(sql`select vector from vectors where tenant_id = ${tenantId} and fingerprint = ${fingerprint} and chunk_hash = k.hash`, "v")}
          where k.content_id = any(${arrayOf(
            batch.map((content) => content.id),
            "uuid",
          )}) and not k.withheld`,
    );
    const firstChunks = new Map(
      batch.map((content) => [content.id, segment.firstChunks[segment.find(content)] as number]),
    );
    for (const { content, ordinal, bytes, vector } of rows) {
      dimension = bytes / 2;
      signs.set((firstChunks.get(content) ?? 0) + ordinal, signBits(decodeF16(Buffer.from(vector, "base64"))));
    }
    await writer.beat();
  }
  const bytes = buildVectorSection({
    segment: id,
    chunkCount: segment.chunkCount,
    dimension,
    signsOf: (chunk) => signs.get(chunk),
  });
  const section = objectId(VECTOR_ID_PREFIX, bytes);
  await writer.bucket.put(vectorKey(tenantId, section), bytes);
  return section;
}

function* batches(contents: readonly VectorContent[]): Generator<VectorContent[]> {
  let batch: VectorContent[] = [];
  let chunks = 0;
  for (const content of contents) {
    if (batch.length > 0 && chunks + content.chunkCount > BATCH_CHUNKS) {
      yield batch;
      batch = [];
      chunks = 0;
    }
    batch.push(content);
    chunks += content.chunkCount;
  }
  if (batch.length > 0) yield batch;
}
