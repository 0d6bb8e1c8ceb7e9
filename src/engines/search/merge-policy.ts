/**
 * Which segments to merge. A log-structured policy: small segments are merged often, which is cheap, large ones seldom, so that a
 * revision needs few segments and each content is written a few times in its life.
 */

/** More segments than this are merged. */
const MAX_SEGMENTS = 8;
/** A segment joins a merge if it is at most this many times as large as all smaller ones together. */
const SIZE_FACTOR = 4;
/** A segment with a lower share of live chunks is rewritten without the dead ones. */
const MIN_LIVE_SHARE = 0.5;

interface SegmentUse {
  id: string;
  chunkCount: number;
  /** Chunks of contents that the revision has. */
  liveChunkCount: number;
}

/** Ids of the segments of a revision that should be merged into one; empty if none should. */
export function planMerge(segments: readonly SegmentUse[]): string[] {
  const sparse = segments.filter(({ chunkCount, liveChunkCount }) => liveChunkCount < MIN_LIVE_SHARE * chunkCount);
  if (segments.length <= MAX_SEGMENTS) return sparse.map(({ id }) => id);
  const sorted = segments.toSorted((a, b) => a.liveChunkCount - b.liveChunkCount || (a.id < b.id ? -1 : 1));
  const chosen = new Set(sparse.map(({ id }) => id));
  let sum = 0;
  for (const [i, { id, liveChunkCount }] of sorted.entries()) {
    if (i >= 2 && liveChunkCount > SIZE_FACTOR * sum) break;
    sum += liveChunkCount;
    chosen.add(id);
  }
  return [...chosen];
}
