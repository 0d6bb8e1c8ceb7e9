import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { inMemory } from "../../../src/engines/search/bytes.ts";
import { findSymbols } from "../../../src/engines/search/lookups.ts";
import { search } from "../../../src/engines/search/search.ts";
import { openIndex } from "../../../src/engines/search/search-index.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { buildTable } from "../../../src/engines/search/table.ts";
import { SearchFormatError } from "../../../src/engines/search/types.ts";
import { contentOf, revisionFile, segmentOf, textsOf, type TestFile } from "./support.ts";

const files: TestFile[] = Array.from({ length: 12 }, (_, i) => ({
  path: `src/part${i % 3}/file${i}.ts`,
  language: "typescript",
  text: Array.from({ length: 45 }, (_, k) => `const value${(i * k) % 17} = compute${i}(session, token${k});`).join(
    "\n",
  ),
  symbols: [{ name: `compute${i}`, startLine: 3, endLine: 30 }],
}));
const queries = ["compute3 session", "value4 token", "src/part1/file4.ts"];

const segment = buildSegment(files.map((file) => analyzeContent(contentOf(file))));
const { table } = buildTable(files.map(revisionFile), [await segmentOf(segment)]);

async function answers(tableBytes: Uint8Array, segmentBytes: Uint8Array): Promise<unknown> {
  const index = await openIndex([{ table: inMemory(tableBytes), segment: () => inMemory(segmentBytes) }]);
  const found: unknown[] = [await findSymbols(index, { name: "compute", match: "prefix" }, textsOf(files))];
  for (const query of queries) found.push(await search(index, { query }, textsOf(files)));
  return found;
}

describe("a damaged index", () => {
  it("is noticed wherever a bit is flipped: an error, or the right answer from what was not touched", async () => {
    const right = await answers(table, segment);
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.nat(), fc.nat({ max: 7 }), async (inTable, at, bit) => {
        const damaged = (inTable ? table : segment).slice();
        const position = at % damaged.length;
        damaged[position] = (damaged[position] as number) ^ (1 << bit);
        try {
          expect(await answers(inTable ? damaged : table, inTable ? segment : damaged)).toEqual(right);
        } catch (error) {
          expect(error).toBeInstanceOf(SearchFormatError);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("is noticed wherever it is cut off", async () => {
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.nat(), async (inTable, at) => {
        const whole = inTable ? table : segment;
        const cut = whole.slice(0, at % whole.length);
        await expect(answers(inTable ? cut : table, inTable ? segment : cut)).rejects.toThrow(SearchFormatError);
      }),
      { numRuns: 100 },
    );
  });
});
