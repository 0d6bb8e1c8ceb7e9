import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { Segment } from "../../../src/retrieval/segment.ts";
import { SearchFormatError } from "../../../src/retrieval/types.ts";
import { openObject } from "../../../src/search/read.ts";

const SIZE = 300_000;
/** Read when an object is opened. */
const FIRST_BYTES = 1_000;

describe("an object of the index in R2", () => {
  it("is read by range", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    await env.SNAPSHOTS.put("whole", bytes);
    const reader = await openObject(env.SNAPSHOTS, "whole", { firstBytes: FIRST_BYTES });
    expect(reader.size).toBe(bytes.length);
    expect(await reader.read(59_990, 10)).toEqual(bytes.subarray(59_990));
  });

  it("is damaged if it was made shorter while it is open, wherever it now ends", async () => {
    for (const left of [0, 1, FIRST_BYTES, 200_000, 250_000, SIZE - 1]) {
      await env.SNAPSHOTS.put("shortened", new Uint8Array(SIZE));
      const reader = await openObject(env.SNAPSHOTS, "shortened", { firstBytes: FIRST_BYTES });
      await env.SNAPSHOTS.put("shortened", new Uint8Array(left));
      const read = async () => reader.read(SIZE - 70_000, 70_000);
      await expect(read(), `${left} bytes left`).rejects.toThrow(SearchFormatError);
    }
  });

  it("is damaged if it is missing or empty", async () => {
    await expect(openObject(env.SNAPSHOTS, "nothing")).rejects.toThrow(SearchFormatError);
    await env.SNAPSHOTS.put("empty", new Uint8Array());
    await expect(Segment.open(await openObject(env.SNAPSHOTS, "empty"))).rejects.toThrow(SearchFormatError);
  });
});
