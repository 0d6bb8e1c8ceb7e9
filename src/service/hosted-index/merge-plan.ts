/** Decides which segments of a revision are merged. Pure. */

/** Segments are merged in groups of at least this many, so that a chunk is rewritten about once for each power of it. */
const MERGE_FACTOR = 8;
/** Bytes of a merged segment at most, some 65,000 chunks: it is in memory while it is written. */
export const MAX_MERGED_BYTES = 20 * 1024 * 1024;
/** Chunks that a small push may rewrite: about 240 KB at 295 bytes a chunk. */
const PUSH_BUDGET_CHUNKS = 800;
/** With more segments than this the budget of a push does not hold: every query reads a block of each. */
const MANY_SEGMENTS = 64;

export interface SegmentSize {
  id: string;
  /** Chunks of contents that the revision has. */
  liveChunks: number;
  /** Their share of the segment's bytes. */
  liveBytes: number;
}

/**
 * Groups of segments to merge, smallest first. Rewrites about as much as the run wrote itself, so that the cost of a push is in
 * proportion to its change, and a first index has few segments.
 */
export function planMerges(segments: readonly SegmentSize[], freshChunks: number): string[][] {
  let budget = segments.length > MANY_SEGMENTS ? Number.POSITIVE_INFINITY : Math.max(PUSH_BUDGET_CHUNKS, freshChunks);
  const sorted = segments.toSorted((a, b) => a.liveChunks - b.liveChunks || (a.id < b.id ? -1 : 1));
  const groups: string[][] = [];
  let group: string[] = [];
  let bytes = 0;
  const close = () => {
    if (group.length >= MERGE_FACTOR) groups.push(group);
    group = [];
    bytes = 0;
  };
  for (const { id, liveChunks, liveBytes } of sorted) {
    if (liveChunks > budget) break;
    if (liveBytes > MAX_MERGED_BYTES / 2) continue;
    if (bytes + liveBytes > MAX_MERGED_BYTES) close();
    group.push(id);
    bytes += liveBytes;
    budget -= liveChunks;
  }
  close();
  return groups;
}
