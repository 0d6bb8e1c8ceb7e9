import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { planMerge } from "../../../src/engines/search/merge-policy.ts";
import { search } from "../../../src/engines/search/search.ts";
import { mergeSegments } from "../../../src/engines/search/segment-merge.ts";
import type { Segment } from "../../../src/engines/search/segment.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { findReferences } from "../../../src/engines/search/references.ts";
import { findSymbols } from "../../../src/engines/search/lookups.ts";
import type { ContentKey } from "../../../src/engines/search/types.ts";
import { coldIndex, contentOf, openFiles, segmentOf, textsOf, type TestFile } from "./support.ts";

const WORDS = "session close open token parse file HttpServer read_header queue retry lease user admin index".split(
  " ",
);

const line = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
const file: fc.Arbitrary<TestFile> = fc.record({
  path: fc.constantFrom(
    "src/a.ts",
    "src/session.ts",
    "lib/queue/index.ts",
    "test/a.test.ts",
    "docs/b.md",
    "src/c/user.py",
  ),
  language: fc.constantFrom("typescript", "python"),
  text: fc.array(line, { minLength: 1, maxLength: 50 }).map((lines) => lines.join("\n")),
  symbols: fc.array(
    fc.record({
      name: fc.constantFrom(...WORDS),
      startLine: fc.integer({ min: 1, max: 20 }),
      endLine: fc.integer({ min: 20, max: 50 }),
    }),
    { maxLength: 3 },
  ),
});
/** A commit writes some files; a file of the same path is replaced. Symbols follow from the text, as a parser's do. */
const history = fc.array(fc.array(file, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 });
const queries = [
  "session",
  "close the session",
  "HttpServer read_header",
  "lib/queue/index.ts",
  "user token retry lease admin",
];

function withKnownSymbols(commits: readonly (readonly TestFile[])[]): TestFile[][] {
  const known = new Map<string, TestFile["symbols"]>();
  return commits.map((commit) =>
    commit.map((one) => {
      const key = `${one.language} ${one.text}`;
      if (!known.has(key)) known.set(key, one.symbols);
      return { ...one, symbols: known.get(key) ?? [] };
    }),
  );
}

describe("answers", () => {
  it("are the same after one build and after any history of segments and merges", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.boolean(), async (commits, mergesAll) => {
        const files = new Map<string, TestFile>();
        let segments: Awaited<ReturnType<typeof segmentOf>>[] = [];
        for (const commit of withKnownSymbols(commits)) {
          for (const one of commit) files.set(one.path, one);
          segments.push(await segmentOf(buildSegment(commit.map((one) => analyzeContent(contentOf(one))))));
          const uses = segments.map(({ id, segment: { chunkCount } }) => ({
            id,
            chunkCount,
            liveChunkCount: chunkCount,
          }));
          const chosen = new Set(mergesAll ? segments.map(({ id }) => id) : planMerge(uses));
          if (chosen.size < 2) continue;
          const parts = segments.filter(({ id }) => chosen.has(id)).map(({ segment }) => segment);
          const merged = await segmentOf(await mergeSegments(parts));
          segments = [...segments.filter(({ id }) => !chosen.has(id)), merged];
        }
        const live = [...files.values()];
        const [grown, cold] = [await openFiles(live, segments), await coldIndex(live)];
        const texts = textsOf(live);
        for (const query of queries)
          expect(await search(grown, { query }, texts)).toEqual(await search(cold, { query }, texts));
        const name = { name: "HttpServer" };
        expect(await findReferences(grown, name, texts)).toEqual(await findReferences(cold, name, texts));
        expect(await findSymbols(grown, name, texts)).toEqual(await findSymbols(cold, name, texts));
      }),
      { numRuns: 25 },
    );
  });

  it("of a merged segment's bytes do not tell what it was merged from", async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.infiniteStream(fc.boolean()), async (commits, choices) => {
        const known = withKnownSymbols(commits);
        const parts = [];
        for (const commit of known)
          parts.push(await segmentOf(buildSegment(commit.map((one) => analyzeContent(contentOf(one))))));
        const segments = parts.map(({ segment }) => segment);
        const wanted = new Set<string>();
        for (const one of known.flat()) if (choices.next().value) wanted.add(keyOf(contentOf(one)));
        const merged = await mergeSegments(segments, (segment, ordinal) =>
          wanted.has(keyOf((segments[segment] as Segment).contentKey(ordinal))),
        );
        const contents = known.flat().map((one) => contentOf(one));
        const cold = buildSegment(contents.filter((one) => wanted.has(keyOf(one))).map(analyzeContent));
        expect(Buffer.from(merged).equals(Buffer.from(cold))).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});

const keyOf = ({ sha256, language }: ContentKey): string => `${sha256} ${language}`;

describe("the merge policy", () => {
  it("keeps the number of segments small, and the bytes it writes in proportion", () => {
    let segments: { id: string; chunkCount: number; liveChunkCount: number }[] = [
      { id: "first", chunkCount: 50_000, liveChunkCount: 50_000 },
    ];
    let written = 0;
    for (let push = 0; push < 1_000; push++) {
      segments.push({ id: `p${push}`, chunkCount: 5, liveChunkCount: 5 });
      const chosen = new Set(planMerge(segments));
      if (chosen.size > 0) {
        const size = segments
          .filter(({ id }) => chosen.has(id))
          .reduce((sum, { liveChunkCount }) => sum + liveChunkCount, 0);
        written += size;
        segments = [
          ...segments.filter(({ id }) => !chosen.has(id)),
          { id: `m${push}`, chunkCount: size, liveChunkCount: size },
        ];
      }
      expect(segments.length).toBeLessThanOrEqual(9);
    }
    expect(written).toBeLessThan(1_000 * 5 * 40);
  });

  it("rewrites a segment when most of it is unused", () => {
    expect(planMerge([{ id: "a", chunkCount: 100, liveChunkCount: 40 }])).toEqual(["a"]);
    expect(planMerge([{ id: "a", chunkCount: 100, liveChunkCount: 60 }])).toEqual([]);
  });
});
