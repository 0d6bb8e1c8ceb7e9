import type { MemoryBucket } from "./pipeline.ts";

/** Makes reads of a bucket take a moment. Returns what tells how many of them were under way at once, at most so far. */
export function readsAtOnce(bucket: MemoryBucket): () => number {
  let [now, most] = [0, 0];
  const get = bucket.get.bind(bucket);
  bucket.get = async (...given) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 1));
    now--;
    return get(...given);
  };
  return () => most;
}
