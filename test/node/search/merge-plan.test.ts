import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_MERGED_BYTES, planMerges, type SegmentSize } from "../../../src/service/hosted-index/merge-plan.ts";

const sizes = fc
  .array(fc.record({ liveChunks: fc.integer({ min: 0, max: 80_000 }), perChunk: fc.integer({ min: 100, max: 800 }) }), {
    maxLength: 120,
  })
  .map((all) => all.map(({ liveChunks, perChunk }, i) => segment(`s${i}`, liveChunks, perChunk)));

function segment(id: string, liveChunks: number, bytesPerChunk = 300): SegmentSize {
  return { id, liveChunks, liveBytes: liveChunks * bytesPerChunk };
}

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
          const bytes = segments.reduce((sum, { id, liveBytes }) => sum + (group.includes(id) ? liveBytes : 0), 0);
          expect(bytes).toBeLessThanOrEqual(MAX_MERGED_BYTES);
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
    let segments: SegmentSize[] = [segment("base", 50_000)];
    let most = 0;
    let rewritten = 0;
    for (let push = 0; push < 1_000; push++) {
      segments.push(segment(`push-${push}`, 3));
      for (const group of planMerges(segments, 3)) {
        const liveChunks = chunksOf(segments, group);
        rewritten += liveChunks;
        segments = [...segments.filter(({ id }) => !group.includes(id)), segment(`merged-${push}`, liveChunks)];
      }
      most = Math.max(most, segments.length);
    }
    expect(most).toBeLessThanOrEqual(24);
    // Every chunk is rewritten a bounded number of times.
    expect(rewritten / 3_000).toBeLessThan(60);
  });

  it("leaves a first index of many shards with few segments", () => {
    const shards = Array.from({ length: 400 }, (_, i) => segment(`s${i}`, 600));
    const groups = planMerges(shards, 240_000);
    expect(shards.length - groups.flat().length + groups.length).toBeLessThanOrEqual(4);
  });
});
