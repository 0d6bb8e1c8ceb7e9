import * as fc from "fast-check";
import { expect, it } from "vitest";
import { encodeFilters, FilterFile } from "../../../src/engines/exact/filter-file.ts";
import { ngramFilter } from "../../../src/engines/exact/ngram-filter.ts";
import { queryOfBytes } from "../../../src/engines/exact/ngrams.ts";
import { SearchFormatError } from "../../../src/engines/search/types.ts";

const open = (bytes: Uint8Array, version?: number) => {
  const read = (offset: number, length: number) => bytes.subarray(offset, offset + length);
  return FilterFile.open({ name: "filters", size: bytes.length, read }, version);
};

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

it("reads filters of the first version, which hold no n-grams of four bytes", async () => {
  // As 5bb16cc8 has written them.
  const bytes = Buffer.from("Q0NORgEAAAAcAAAA4/5pvAMICAjgDAi5AEmeUUGAgMhCECAYAAAAAAAAAAA=", "base64");
  const filters = await open(bytes, 1);
  const mayHold = (text: string) =>
    [0, 1, 2].map((ordinal) => filters.mayHold(ordinal, queryOfBytes(Buffer.from(text))));
  expect(mayHold("function alpha")).toEqual([true, false, false]);
  expect(mayHold("RETURN")).toEqual([true, false, false]);
  expect(mayHold("needle in hay")).toEqual([false, true, false]);
  expect(mayHold("nowhere at all")).toEqual([false, false, false]);
  await expect(open(bytes)).rejects.toThrow(SearchFormatError);
});

it("leaves out texts that hold all of a pattern's n-grams of three bytes, but none of four", async () => {
  const words = Array.from({ length: 200 }, (_, i) => (36 ** 3 + 101 * i).toString(36));
  const text = words.map((word) => `${word.slice(0, 3)} ${word.slice(1)}`).join(" ");
  const filters = await open(encodeFilters([ngramFilter(Buffer.from(text))]));
  const passing = words.filter((word) => filters.mayHold(0, queryOfBytes(Buffer.from(word))));
  expect(passing.length).toBeLessThan(150);
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
