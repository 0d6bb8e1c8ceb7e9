import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { inMemory } from "../../../src/engines/search/bytes.ts";
import { checksum } from "../../../src/engines/search/bytes.ts";
import { checkSegment } from "../../../src/engines/search/check-segment.ts";
import { findSymbols, outlineOf } from "../../../src/engines/search/lookups.ts";
import { findReferences } from "../../../src/engines/search/references.ts";
import { search } from "../../../src/engines/search/search.ts";
import { openIndex } from "../../../src/engines/search/search-index.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { Segment } from "../../../src/engines/search/segment.ts";
import { buildTable } from "../../../src/engines/search/table.ts";
import type { SourceSymbol } from "../../../src/engines/search/types.ts";
import { contentOf, revisionFile, segmentOf, type TestFile, textsOf } from "./support.ts";

const files: TestFile[] = Array.from({ length: 9 }, (_, i) => ({
  path: `src/file${i}.ts`,
  language: i % 2 === 0 ? "typescript" : "python",
  text: Array.from({ length: 30 }, (_, k) => `const value${k} = compute${i}(session, token${(i * k) % 7});`).join("\n"),
  symbols: [
    { name: `Holder${i}`, kind: "class", startLine: 1, endLine: 30 },
    { name: `compute${i}`, qualifiedName: `Holder${i}.compute${i}`, parent: 0, startLine: 3, endLine: 20 },
    { name: "", startLine: 21, endLine: 21 },
  ],
}));

const build = (some: readonly TestFile[]) => buildSegment(some.map((file) => analyzeContent(contentOf(file))));
const check = async (bytes: Uint8Array) => checkSegment(await Segment.open(inMemory(bytes)));

const HEADER_BYTES = 16;
const CHECKSUM_AT = 12;

/** Makes every checksum of a segment right, so that only what it says can be wrong. Undefined where it cannot be opened. */
async function withRightChecksums(bytes: Uint8Array, directories: readonly Directory[]): Promise<Uint8Array> {
  const view = new DataView(bytes.buffer);
  for (const { at, count, bodyAt } of directories) {
    for (let block = 0, start = 0; block < count; block++) {
      const end = view.getUint32(at + 4 + 4 * (count + block), true);
      view.setUint32(at + 4 + 4 * (2 * count + block), checksum(bytes.subarray(bodyAt + start, bodyAt + end)), true);
      start = end;
    }
  }
  const hotBytes = view.getUint32(8, true);
  view.setUint32(CHECKSUM_AT, checksum(bytes.subarray(HEADER_BYTES, HEADER_BYTES + hotBytes)), true);
  return bytes;
}

interface Directory {
  /** Where the directory begins in the file, how many blocks it has, and where their body begins. */
  at: number;
  count: number;
  bodyAt: number;
}

/** The directories, found by what the bodies hold: each is the only place with its number of blocks and its ends. */
async function directoriesOf(bytes: Uint8Array): Promise<Directory[]> {
  const segment = await Segment.open(inMemory(bytes));
  const view = new DataView(bytes.buffer);
  const hotEnd = HEADER_BYTES + view.getUint32(8, true);
  let bodyAt = hotEnd;
  const found: Directory[] = [];
  for (const blocks of [segment.outlines, segment.symbols, segment.terms, segment.names]) {
    const lengths = await Promise.all(
      Array.from({ length: blocks.count }, async (_, i) => (await blocks.read(i)).length),
    );
    const wanted = new Uint8Array(4 + 8 * blocks.count);
    const write = new DataView(wanted.buffer);
    write.setUint32(0, blocks.count, true);
    let end = 0;
    for (const [i, length] of lengths.entries()) {
      write.setUint32(4 + 4 * i, blocks.keys[i] as number, true);
      write.setUint32(4 + 4 * (blocks.count + i), (end += length), true);
    }
    found.push({ at: Buffer.from(bytes.subarray(0, hotEnd)).indexOf(wanted), count: blocks.count, bodyAt });
    bodyAt += end;
  }
  return found;
}

describe("a segment from elsewhere", () => {
  it("passes when it is what a builder writes", async () => {
    const contents = await check(build(files));
    expect(contents).toHaveLength(files.length);
    for (const file of files) {
      const { sha256, language, chunks, symbols } = contentOf(file);
      expect(contents).toContainEqual({ sha256, language, chunkCount: chunks.length, symbolCount: symbols.length });
    }
    expect(await check(build([]))).toEqual([]);
  });

  it("is refused where parents go in circles, are missing or nest without end, and where lines are out of range", async () => {
    const symbol = { name: "f", kind: "function", startLine: 1, endLine: 1 };
    const refused: [string, (Partial<SourceSymbol> & typeof symbol)[]][] = [
      ["itself", [{ ...symbol, parent: 0 }]],
      [
        "a circle",
        [
          { ...symbol, parent: 1 },
          { ...symbol, parent: 0 },
        ],
      ],
      ["missing", [{ ...symbol, parent: 7 }]],
      ["too deep", Array.from({ length: 1_200 }, (_, i) => ({ ...symbol, parent: i === 0 ? null : i - 1 }))],
      [
        "too deep, inner ones first",
        Array.from({ length: 1_200 }, (_, i) => ({ ...symbol, parent: i === 1_199 ? null : i + 1 })),
      ],
      ["line 0", [{ ...symbol, startLine: 0 }]],
      ["a name without end", [{ ...symbol, name: "n".repeat(70_000) }]],
    ];
    for (const [what, symbols] of refused)
      await expect(
        check(build([{ path: "a.ts", language: "typescript", text: "a", symbols }])),
        what,
      ).rejects.toThrow();
    const nested = Array.from({ length: 500 }, (_, i) => ({ ...symbol, parent: i === 0 ? null : i - 1 }));
    expect(await check(build([{ path: "a.ts", language: "typescript", text: "a", symbols: nested }]))).toHaveLength(1);
  });

  it("is refused, or harmless, whatever its bytes say with right checksums", async () => {
    const good = build(files);
    const directories = await directoriesOf(good);
    expect(directories.every(({ at }) => at > 0)).toBe(true);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }), async (changes) => {
        const bytes = good.slice();
        for (const [at, value] of changes) bytes[HEADER_BYTES + (at % (bytes.length - HEADER_BYTES))] = value;
        try {
          await withRightChecksums(bytes, directories);
          await check(bytes);
        } catch {
          refused++;
          return;
        }
        // What has passed can be searched: right or wrong, there is an answer, and no error.
        const own = await segmentOf(bytes);
        const { table } = buildTable(files.map(revisionFile), [own]);
        const index = await openIndex([{ table: inMemory(table), segment: () => inMemory(bytes) }]);
        const texts = textsOf(files);
        for (const query of ["compute3 session", "Holder4", "token5 value1 src/file2.ts"])
          await search(index, { query }, texts);
        await findSymbols(index, { name: "compute", match: "prefix" }, texts);
        await findReferences(index, { name: "compute1" }, texts);
        for (const { path } of files) await outlineOf(index, 0, path, texts);
      }),
      { numRuns: 120 },
    );
    // The rest are counts of words, which only the maker of a segment can know.
    expect(refused).toBeGreaterThan(40);
  });
});
