import * as fc from "fast-check";
import { expect, it } from "vitest";
import { encodeFilters, FilterFile } from "../../../src/engines/exact/filter-file.ts";
import { ngramFilter } from "../../../src/engines/exact/ngram-filter.ts";
import { queryOfBytes } from "../../../src/engines/exact/ngrams.ts";
import { SearchFormatError } from "../../../src/engines/search/types.ts";

const open = (bytes: Uint8Array) =>
  FilterFile.open({
    name: "filters",
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  });

const texts = fc.array(
  fc.string({ maxLength: 300 }).map((text) => Buffer.from(text)),
  { maxLength: 20 },
);

it("never denies a text what it holds", async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (all) => {
      const filters = await open(encodeFilters(all.map(ngramFilter)));
      for (const [ordinal, text] of all.entries()) expect(filters.mayHold(ordinal, queryOfBytes(text))).toBe(true);
    }),
  );
});

it("passes what it has no filter of", async () => {
  const filters = await open(encodeFilters([ngramFilter(Buffer.from("one text"))]));
  const query = queryOfBytes(Buffer.from("another"));
  expect([filters.mayHold(0, query), filters.mayHold(1, query)]).toEqual([false, true]);
});

it("refuses damaged bytes", async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(), fc.integer({ min: 1, max: 255 }), async (all, at, flip) => {
      const bytes = encodeFilters(all.map(ngramFilter));
      const damaged = Uint8Array.from(bytes);
      damaged[at % damaged.length]! ^= flip;
      await expect(open(damaged)).rejects.toThrow(SearchFormatError);
      await expect(open(bytes.subarray(0, at % bytes.length))).rejects.toThrow(SearchFormatError);
    }),
  );
});
