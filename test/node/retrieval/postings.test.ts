import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../src/engines/search/bytes.ts";
import { eachPosting, termsOfBlock, writePostings } from "../../../src/engines/search/postings.ts";
import type { Segment } from "../../../src/engines/search/segment.ts";
import { mergeSegments } from "../../../src/engines/search/segment-merge.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { segmentOf } from "./support.ts";

/** A well-spread 32-bit hash of a number, different for each. */
function hashOf(n: number): number {
  const mixed = Math.imul(n ^ (n >>> 15), 0x2c1b3c6d);
  return Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
}

describe("writePostings", () => {
  it("writes the same bytes in any number of passes", () => {
    const write = (passes: number): Uint8Array[] => {
      const blocks = writePostings(passes, (postings) => {
        for (let n = 0; n < 20_000; n++) postings.add(hashOf(n % 7_000), n, n & 0xff);
        for (const hash of [0, 0x7fffffff, 0x80000000, 0xffffffff, -2]) postings.add(hash, 3, 1);
      });
      return [blocks.body(), blocks.directory()];
    };
    const once = write(1);
    for (const passes of [2, 3, 64]) expect(write(passes)).toEqual(once);
  });
});

describe("a segment whose postings are sorted in several passes", () => {
  const CONTENTS = 20;
  const TERMS = 27_000;

  /** An analysis with one chunk, whose terms are its own but for a few that all share. */
  function analysis(content: number): Uint8Array {
    const writer = new ByteWriter();
    writer.string("python");
    writer.bytes(new Uint8Array(32).fill(content));
    // The outline: no functions, a chunk in line 1. Then the symbols and the uses: none.
    writer.varint(4);
    for (const value of [0, 1, 2, 0]) writer.varint(value);
    writer.varint(1);
    writer.varint(0);
    writer.varint(0);
    writer.varint(TERMS);
    writer.varint(TERMS);
    for (let n = 0; n < TERMS; n++) {
      writer.u32(hashOf(n < 100 ? n : content * TERMS + n));
      writer.u8(content + 1);
    }
    return writer.finish();
  }

  async function countPostings({ terms }: Segment): Promise<{ postings: number; hashes: number }> {
    let [postings, hashes] = [0, 0];
    for (let i = 0; i < terms.count; i++) {
      for (const term of termsOfBlock(await terms.read(i))) {
        hashes++;
        eachPosting(term, () => postings++);
      }
    }
    return { postings, hashes };
  }

  it("holds every posting once, and is the same when it was merged", async () => {
    const analyses = Array.from({ length: CONTENTS }, (_, content) => analysis(content));
    const whole = buildSegment(analyses);
    const counts = await countPostings((await segmentOf(whole)).segment);
    expect(counts).toEqual({ postings: CONTENTS * TERMS, hashes: CONTENTS * (TERMS - 100) + 100 });
    const parts = [analyses.slice(0, 7), analyses.slice(7)].map((some) => segmentOf(buildSegment(some)));
    const merged = await mergeSegments((await Promise.all(parts)).map(({ segment }) => segment));
    expect(Buffer.compare(merged, whole)).toBe(0);
  });
});
