import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Evidence, FileEvidence } from "../../../src/interface/questions/impact/evidence.ts";
import { rankFiles } from "../../../src/interface/questions/impact/rank.ts";

function file(path: string, known: Partial<FileEvidence> = {}): FileEvidence {
  return {
    path,
    isTest: false,
    traits: 0,
    words: { score: 0, rank: 0, shared: [] },
    removedLine: undefined,
    together: { score: 0, related: 0, found: undefined },
    age: undefined,
    uses: { score: 0, names: [] },
    mentions: { score: 0, names: [] },
    defines: { score: 0, names: [] },
    importedBy: undefined,
    namedLike: undefined,
    nearness: 0,
    nameShare: 0,
    ...known,
  };
}

const ranked = (files: FileEvidence[], change: Partial<Evidence> = {}): string[] =>
  rankFiles({ files, hasTest: true, isAside: false, together: undefined, ...change }).map(({ path }) => path);

const words = (score: number, rank: number) => ({ words: { score, rank, shared: [] } });

describe("the rank of files", () => {
  it("follows words before names, and names before imports", () => {
    const files = [
      file("imports", { importedBy: "a" }),
      file("names", { uses: { score: 1, names: ["x"] } }),
      file("words", words(1, 1)),
    ];
    expect(ranked(files)).toEqual(["words", "names", "imports"]);
  });

  it("heeds history where there is one", () => {
    const together = { score: 1, related: 1, found: undefined };
    const found = { path: "often", score: 1, related: 1, times: 2, of: 2, with: "a" };
    const files = [file("often", { together }), file("uses", { uses: { score: 1, names: ["x"] } })];
    expect(ranked(files, { together: [found] })).toEqual(["often", "uses"]);
    expect(ranked(files)).toEqual(["uses", "often"]);
  });

  it("counts a line that is edited, a name on the lines and a change of late", () => {
    const found = { path: "a", score: 1, related: 1, times: 1, of: 2, with: "a" };
    const line = { score: 1, share: 1, line: "open(socket)" };
    const files = [file("a"), file("old", { age: 200 }), file("recent", { age: 2 })];
    expect(ranked(files, { together: [found] })).toEqual(["recent", "old", "a"]);
    expect(ranked(files)).toEqual(["a", "old", "recent"]);
    const others = [file("a"), file("named", { nameShare: 1 }), file("same", { removedLine: line })];
    expect(ranked(others)).toEqual(["same", "named", "a"]);
  });

  it("wants a test for a change without one, and not only tests", () => {
    const tests = [1, 2, 3, 4, 5].map((n) => file(`test${n}`, { isTest: true, ...words(0.5, n) }));
    const sources = [file("source", words(0.5, 6))];
    expect(ranked([...tests, ...sources])[0]).toBe("source");
    const first = ranked([...tests, ...sources], { hasTest: false });
    expect(first[0]).toBe("test1");
    expect(first.indexOf("source")).toBeLessThan(5);
  });

  it("puts documents and data after sources with the same words", () => {
    const files = [file("docs", { traits: 4, ...words(1, 1) }), file("data", { traits: 8, ...words(0.9, 2) })];
    expect(ranked([...files, file("source", words(0.8, 3))])[0]).toBe("source");
  });

  it("has every file once, in an order that does not depend on theirs", () => {
    const value = fc.float({ min: 0, max: 1, noNaN: true });
    const any = fc.record({ score: value, uses: value, isTest: fc.boolean() });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 150 }), fc.boolean(), (given, hasTest) => {
        const files = given.map(({ score, uses, isTest }, n) =>
          file(`f${n}`, { isTest, ...words(score, n + 1), uses: { score: uses, names: [] } }),
        );
        const order = ranked(files, { hasTest });
        expect(order.toSorted()).toEqual(files.map(({ path }) => path).sort());
        expect(ranked(files.toReversed(), { hasTest })).toEqual(order);
      }),
      { numRuns: 30 },
    );
  });
});
