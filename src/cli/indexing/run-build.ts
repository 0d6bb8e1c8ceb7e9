import { listBases } from "./bases.ts";
import { ContentBuilder, type BuilderStats } from "./content-builder.ts";
import { EmbedQueue, type EmbedQueueOptions, type EmbedStats } from "./embed-queue.ts";
import { ParsePool } from "./parse-pool.ts";
import type { IndexStore } from "./store.ts";
import { embedMissing, missingHashes, setWanted, type Embedding } from "./vectors.ts";

export interface BuildOptions extends EmbedQueueOptions {
  /** Upper bound of files to parse. */
  expectedFiles?: number;
  /** Called with the analysis of every parsed content, for the search index. */
  onAnalysis?: ((analysis: Uint8Array) => void) | undefined;
  /** `total` is 0 until it is known. */
  onEmbedProgress?: (progress: { done: number; total: number }) => void;
}

export interface Built<T> {
  result: T;
  stats: BuilderStats;
  /** Embeds chunks of these contents that lack vectors; undefined if the build has no embedding. */
  embed(contentIds: Iterable<number>): Promise<{ fingerprint: string; stats: EmbedStats } | undefined>;
}

/** Runs `work` with a parser pool and an embedder. Parsed and paid-for results are stored even if it fails. */
export async function runBuild<T>(
  store: IndexStore,
  embedding: Embedding | undefined,
  options: BuildOptions,
  work: (builder: ContentBuilder) => Promise<T>,
): Promise<Built<T>> {
  let total = 0;
  // Vectors must survive an unfinished import.
  if (embedding) store.settle();
  const queueOptions: EmbedQueueOptions = {
    stop: options.stop,
    abort: options.abort,
    onProgress: ({ embeddedCount }) => options.onEmbedProgress?.({ done: embeddedCount, total }),
  };
  const queue = embedding && new EmbedQueue(store, embedding.client, embedding.space.fingerprint, queueOptions);
  const pool = new ParsePool(options.expectedFiles);
  // Base layers may have the vectors: look all of them up before sending anything.
  const layered = listBases(store).length > 0;
  const builder = new ContentBuilder(store, pool, layered ? undefined : queue, options.onAnalysis);
  try {
    const result = await work(builder);
    return {
      result,
      stats: builder.stats,
      embed: async (contentIds) => {
        if (!queue || !embedding) return undefined;
        setWanted(store, contentIds);
        const { fingerprint } = embedding.space;
        if (layered) {
          const { adoptVectors } = await import("./base.ts");
          await adoptVectors(store, fingerprint, missingHashes(store, fingerprint));
        }
        return embedMissing(store, embedding, queue, {
          ...queueOptions,
          onTotal: (missing) => {
            total = queue.stats.embeddedCount + missing;
          },
        });
      },
    };
  } catch (error) {
    await queue?.drain().catch(() => undefined);
    commitPartial(store);
    throw error;
  } finally {
    void pool.close();
  }
}

/** Commits what a failed build has written. Ignores errors, since the failure may be that nothing can be written. */
function commitPartial(store: IndexStore): void {
  try {
    store.commit();
  } catch {
    store.rollback();
  }
}
