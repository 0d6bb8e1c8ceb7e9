/** The vector space of a model in search: sections of the targets, vectors of candidates, and the vector of the query. */
import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { unnest } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import { decodeF16 } from "../../engines/embedding/f16.ts";
import type { QueryVector } from "../../engines/search/similarity.ts";
import type { ChunkKey } from "../../engines/search/types.ts";
import { VECTOR_SECTION_VERSION, VectorSection } from "../../engines/search/vector-section.ts";
import type { OpenIndex } from "./cache.ts";
import { contentsAt } from "../revisions/content-at.ts";
import { LruCache } from "./lru.ts";
import { openObject, type RangeCache } from "./read.ts";
import { type SearchBucket, vectorKey } from "./store.ts";
import type { Target } from "./targets.ts";

/** Sign bits that one query compares at most: 250,000 chunks of 512 bits. With more, the query is answered by its words. */
const MAX_ROW_BYTES = 16_000_000;
/** A query is embedded up to here: about 1,000 tokens, which is one credit. Titles of issues come first. */
export const MAX_EMBEDDED_CHARACTERS = 4_000;

/** The configured model, as a request uses it. */
export interface QueryModel {
  fingerprint: string;
  /** Embeds a query, metered. Undefined if the provider fails or the tenant's quota is used up. */
  embed: (query: string) => Promise<Float32Array | undefined>;
}

/** The targets that were indexed under the model and have vector sections. */
export function targetsOf(targets: readonly Target[], model: QueryModel | undefined): Target[] {
  return model === undefined
    ? []
    : targets.filter(({ hasVectors, fingerprint }) => hasVectors && fingerprint === model.fingerprint);
}

/** Digest of an answer in whose ranking the vectors of the revisions at these positions took part. */
export function digestWithVectors(digest: string, fingerprint: string, revisions: readonly number[]): string {
  const text = `${digest} ${VECTOR_SECTION_VERSION} ${fingerprint} ${revisions.join(" ")}`;
  return createHash("sha256").update(text).digest("hex").slice(0, digest.length);
}

interface SectionSource {
  db: Db;
  bucket: SearchBucket;
  ranges: RangeCache;
}

/**
 * Opens the vector sections of targets, once for an open index. Undefined if they are too large to be searched. Throws
 * `SearchFormatError` where one is missing or damaged.
 */
export async function openSections(
  source: SectionSource,
  open: OpenIndex,
  targets: readonly Target[],
): Promise<QueryVector["sections"] | undefined> {
  open.sections ??= await readSections(source, open, targets);
  let bytes = 0;
  for (const sections of open.sections.values()) for (const { rowBytes } of sections) bytes += rowBytes;
  return bytes <= MAX_ROW_BYTES ? open.sections : undefined;
}

async function readSections(
  { db, bucket, ranges }: SectionSource,
  { index }: OpenIndex,
  targets: readonly Target[],
): Promise<NonNullable<OpenIndex["sections"]>> {
  const rows = await rowsOf<{ tenant: string; segment: string; section: string }>(
    db,
    sql`select distinct t.tenant, s.segment, s.section from ${unnest(targets, [
      ["text", ({ tenantId }) => tenantId],
      ["uuid", ({ workspaceId }) => workspaceId],
      ["int", ({ seq }) => seq],
    ])} as t(tenant, workspace, seq)
      join revisions r on r.workspace_id = t.workspace and r.seq = t.seq,
      unnest(r.search_segments, r.search_vectors) as s(segment, section) order by s.segment, s.section`,
  );
  const opened = await Promise.all(
    rows.map(async ({ tenant, segment, section }) => ({
      segment: index.segmentIds.indexOf(segment),
      section: await VectorSection.open(await openObject(bucket, vectorKey(tenant, section), { cache: ranges })),
    })),
  );
  const sections = new Map<number, VectorSection[]>();
  for (const { segment, section } of opened) {
    // Segments that a later merge of the same run has emptied are named by the row, not by the table.
    if (segment >= 0) sections.set(segment, [...(sections.get(segment) ?? []), section]);
  }
  return sections;
}

/** Reads vectors of chunks of the targets' files. `targets` are the revisions given to `openIndex`. */
export function databaseVectors(db: Db, targets: readonly Target[], fingerprint: string): QueryVector["vectorsOf"] {
  return async (chunks: readonly ChunkKey[]) => {
    const wanted = chunks.flatMap(({ revision, path, ordinal }, at) => {
      const target = targets[revision];
      return target === undefined ? [] : [{ ...target, at, path, ordinal }];
    });
    if (wanted.length === 0) return chunks.map(() => undefined);
    const rows = await rowsOf<{ at: number; vector: string }>(
      db,
      sql`select w.at, encode(v.vector, 'base64') as vector from ${contentsAt(wanted, [
        ["at", "int", ({ at }) => at],
        ["tenant", "uuid", ({ tenantId }) => tenantId],
        ["ordinal", "int", ({ ordinal }) => ordinal],
      ])}
      ${lookUp(sql`select hash from chunks where content_id = f.content_id and ordinal = w.ordinal`, "k")}
      ${lookUp(sql`select vector from vectors where tenant_id = w.tenant and fingerprint = ${fingerprint} and chunk_hash = k.hash`, "v")}`,
    );
    const vectors: (Float32Array | undefined)[] = chunks.map(() => undefined);
    for (const { at, vector } of rows) vectors[at] = decodeF16(Buffer.from(vector, "base64"));
    return vectors;
  };
}

/** How long the vector of a query is kept. */
const QUERY_VECTOR_MS = 10 * 60_000;
/** About 500 vectors of 1,024 components. */
const QUERY_VECTOR_BYTES = 2 * 1024 * 1024;

/** Vectors of recent queries, in the memory of the isolate: asking again within ten minutes costs nothing. */
export class QueryVectorCache {
  readonly #vectors = new LruCache<{ vector: Float32Array; untilMs: number }>(
    QUERY_VECTOR_BYTES,
    ({ vector }) => vector.byteLength,
  );

  get(tenantId: string, fingerprint: string, query: string, nowMs: number): Float32Array | undefined {
    const entry = this.#vectors.get(keyOf(tenantId, fingerprint, query));
    return entry !== undefined && entry.untilMs > nowMs ? entry.vector : undefined;
  }

  set(tenantId: string, fingerprint: string, query: string, vector: Float32Array, nowMs: number): void {
    this.#vectors.set(keyOf(tenantId, fingerprint, query), { vector, untilMs: nowMs + QUERY_VECTOR_MS });
  }
}

function keyOf(tenantId: string, fingerprint: string, query: string): string {
  return createHash("sha256").update(`${tenantId}\0${fingerprint}\0${query}`).digest("base64");
}
