import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_MERGED_CHUNKS, planMerges, type SegmentSize } from "../../../src/search/merge-plan.ts";

const sizes = fc
  .array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 120 })
  .map((all): SegmentSize[] => all.map((liveChunks, i) => ({ id: `s${i}`, liveChunks })));

function chunksOf(segments: readonly SegmentSize[], group: readonly string[]): number {
  return segments.reduce((sum, { id, liveChunks }) => sum + (group.includes(id) ? liveChunks : 0), 0);
}

describe("planMerges", () => {
  it("takes each segment once, in groups that fit into memory", () => {
    fc.assert(
      fc.property(sizes, fc.nat(200_000), (segments, fresh) => {
        const groups = planMerges(segments, fresh);
        const taken = groups.flat();
        expect(new Set(taken).size).toBe(taken.length);
        for (const group of groups) {
          expect(group.length).toBeGreaterThanOrEqual(8);
          expect(chunksOf(segments, group)).toBeLessThanOrEqual(MAX_MERGED_CHUNKS);
        }
      }),
    );
  });

  it("lets a push rewrite no more than 800 chunks while there are few segments", () => {
    fc.assert(
      fc.property(sizes, (segments) => {
        const few = segments.slice(0, 64);
        expect(chunksOf(few, planMerges(few, 3).flat())).toBeLessThanOrEqual(800);
      }),
    );
  });

  it("keeps the number of segments small over a thousand pushes of three chunks", () => {
    let segments: SegmentSize[] = [{ id: "base", liveChunks: 50_000 }];
    let most = 0;
    let rewritten = 0;
    for (let push = 0; push < 1_000; push++) {
      segments.push({ id: `push-${push}`, liveChunks: 3 });
      for (const group of planMerges(segments, 3)) {
        const liveChunks = chunksOf(segments, group);
        rewritten += liveChunks;
        segments = [...segments.filter(({ id }) => !group.includes(id)), { id: `merged-${push}`, liveChunks }];
      }
      most = Math.max(most, segments.length);
    }
    expect(most).toBeLessThanOrEqual(24);
    // Every chunk is rewritten a bounded number of times.
    expect(rewritten / 3_000).toBeLessThan(60);
  });

  it("leaves a first index of many shards with few segments", () => {
    const shards = Array.from({ length: 88 }, (_, i) => ({ id: `s${i}`, liveChunks: 570 }));
    const groups = planMerges(shards, 50_160);
    expect(88 - groups.flat().length + groups.length).toBeLessThanOrEqual(12);
  });
});
