import type { EmbedCheckResponse } from "../../contract/index.ts";
import { embeddingText } from "../../engines/parsing/chunks.ts";
import { EmbedQueue, type EmbedClient, type EmbedQueueOptions, type EmbedStats } from "./embed-queue.ts";
import type { StoredChunk } from "./packed-file.ts";
import { belongsTo, intact, rowParts } from "./schema.ts";
import type { IndexStore } from "./store.ts";
import { IndexDamagedError, verified } from "./verified.ts";

/** Chunk texts read from the index at a time. */
const PAGE_ROWS = 1_024;
/** Limit of rounds when the embedding space changes during a run. */
const MAX_ROUNDS = 3;

export interface Embedding {
  client: EmbedClient;
  /** The service's embedding space, from `GET /embed`. */
  space: EmbedCheckResponse;
}

/**
 * Returns one chunk row for each distinct text without a vector in this embedding space, of the contents in the temporary table
 * `wanted (content_id)`.
 */
function missingVectors(store: IndexStore, fingerprint: string): number[] {
  const fingerprintId = store.fingerprintId(fingerprint) ?? -1;
  const rows = store
    .prepare(
      // `cross join` fixes the join order: look up the chunks of each content, not the content of each chunk.
      `select min(c.id) as id from wanted w cross join chunks c on ${belongsTo("c", "w.content_id")}
       where c.withheld = 0 and not exists (select 1 from vectors v where v.fingerprint_id = ? and v.chunk_hash = c.hash)
       group by c.hash`,
    )
    .all(fingerprintId) as { id: number }[];
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** Sets the contents whose vectors are wanted. */
export function setWanted(store: IndexStore, contentIds: Iterable<number>): void {
  store.db.exec("create temp table if not exists wanted (content_id integer primary key); delete from wanted");
  const add = store.prepare("insert or ignore into wanted values (?)");
  for (const id of contentIds) add.run(id);
}

/** Hashes (SHA-256, hex) of chunks without a vector, of the contents set by {@link setWanted}. */
export function missingHashes(store: IndexStore, fingerprint: string): Set<string> {
  const find = store.prepare("select lower(hex(hash)) as hash from chunks where id = ?");
  return new Set(missingVectors(store, fingerprint).map((id) => (find.get(id) as { hash: string }).hash));
}

/** Chunks by ascending row, each with its hash (hex). */
function* readChunks(store: IndexStore, rows: readonly number[]): Generator<{ hash: string; chunk: StoredChunk }> {
  const find = store.prepare(`select hash, ${intact("chunks")} as intact from chunks where id = ?`);
  let open: { contentId: number; chunks: readonly StoredChunk[] } | undefined;
  for (const id of rows) {
    const { contentId, ordinal } = rowParts(id);
    if (open?.contentId !== contentId) open = { contentId, chunks: store.readParsed(contentId).chunks };
    const chunk = open.chunks[ordinal];
    if (!chunk) throw new IndexDamagedError("a chunk is missing");
    const { hash } = verified<{ hash: Uint8Array }>(find.get(id));
    yield { hash: Buffer.from(hash).toString("hex"), chunk };
  }
}

/**
 * Embeds the missing chunks of the wanted contents until none is missing under the service's fingerprint. Returns that fingerprint
 * and the statistics of all rounds, including `first`.
 */
export async function embedMissing(
  store: IndexStore,
  embedding: Embedding,
  first: EmbedQueue,
  options: EmbedQueueOptions & { onTotal?: (missing: number) => void },
): Promise<{ fingerprint: string; stats: EmbedStats }> {
  const stats: EmbedStats = { embeddedCount: 0, credits: 0, requests: 0, embedMs: 0 };
  let { fingerprint } = embedding.space;
  let queue = first;
  for (let round = 1; ; round++) {
    try {
      await queue.drain();
      const missing = missingVectors(store, fingerprint);
      options.onTotal?.(missing.length);
      for (let at = 0; at < missing.length; at += PAGE_ROWS) {
        const page = missing.slice(at, at + PAGE_ROWS);
        for (const { hash, chunk } of readChunks(store, page)) queue.push(hash, embeddingText(chunk));
        await queue.room();
      }
      await queue.drain();
    } finally {
      for (const key of ["embeddedCount", "credits", "requests", "embedMs"] as const) stats[key] += queue.stats[key];
    }
    const answered = queue.fingerprint ?? fingerprint;
    if (answered === fingerprint || round === MAX_ROUNDS) return { fingerprint, stats };
    fingerprint = answered;
    queue = new EmbedQueue(store, embedding.client, fingerprint, options);
  }
}
