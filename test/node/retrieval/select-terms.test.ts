import * as fc from "fast-check";
import { expect, it } from "vitest";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { parseQuery, type QueryTerm } from "../../../src/engines/search/query.ts";
import { queryPostingBytes, readQueryPostings, scoreDocuments } from "../../../src/engines/search/score.ts";
import type { SearchIndex } from "../../../src/engines/search/search-index.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { selectTerms } from "../../../src/engines/search/select-terms.ts";
import { contentOf, openFiles, segmentOf, type TestFile } from "./support.ts";

const WORDS = Array.from(
  { length: 240 },
  (_, i) => `w${String(i).replaceAll(/\d/g, (digit) => `${"bcdfghklmn"[Number(digit)] ?? ""}o`)}`,
);

/** Numbers from 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

const FREQUENT = 20;

/** Files of 60 chunks, a line each. The first words are in most chunks, the others in few. */
function filesOf(random: () => number, folder: string, fileCount: number): TestFile[] {
  const line = () => WORDS.filter((_, n) => random() < (n < FREQUENT ? 0.9 - n / 30 : 0.012)).join(" ");
  return Array.from({ length: fileCount }, (_, i) => ({
    path: `${folder}/${WORDS[Math.floor(random() * WORDS.length)] ?? ""}/${i}.txt`,
    language: "text",
    text: Array.from({ length: 60 }, line).join("\n"),
  }));
}

async function indexOf(seed: number): Promise<SearchIndex> {
  const random = randomOf(seed);
  const [first, second] = [filesOf(random, "a", 50), filesOf(random, "b", 50)];
  const build = (files: readonly TestFile[]) =>
    segmentOf(buildSegment(files.map((file) => analyzeContent(contentOf(file, 1)))));
  const segments = [await build(first), await build(second)];
  const live = [...first, ...second].filter(() => random() < 0.9);
  const copies: TestFile[] = [];
  for (const file of live)
    if (random() < 0.05) for (const n of [1, 2]) copies.push({ ...file, path: `copy${n}/${file.path}` });
  return openFiles([...live, ...copies], segments);
}

async function scored(index: SearchIndex, terms: readonly QueryTerm[]) {
  const {
    evidence,
    total,
    pathShare,
    terms: strongest,
  } = scoreDocuments(index, terms, await readQueryPostings(index, terms));
  return { evidence, total, pathShare, strongest };
}

it("leaves out terms that are not among the strongest, and no other", async () => {
  let [left, bytes, allBytes] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.shuffledSubarray(WORDS, { minLength: 150 }),
      fc.array(fc.constantFrom(0.25, 0.5, 0.7, 1, 1.3), { minLength: 1, maxLength: 40 }),
      async (seed, words, weights) => {
        const index = await indexOf(seed);
        const { terms } = parseQuery({ query: words.join(" ") });
        for (const [i, term] of terms.entries()) term.weight = weights[i % weights.length] as number;
        const selected = selectTerms(index, terms);
        expect(await scored(index, selected)).toEqual(await scored(index, terms));
        left += terms.length - selected.length;
        bytes += queryPostingBytes(index, selected);
        allBytes += queryPostingBytes(index, terms);
      },
    ),
    { numRuns: 4 },
  );
  expect(left).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(allBytes);
});
