import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agesOf, coChanges } from "../../../src/engines/impact/co-change.ts";

describe("what changed together", () => {
  it("is counted by commit, with the file of which it is the largest share", () => {
    const history = [["a", "b"], ["a", "c"], ["a", "b"], ["d", "b"], ["x"]];
    const found = coChanges(history, ["a", "d"]);
    expect(found.map(({ path, times, of, with: beside }) => [path, times, of, beside])).toEqual([
      ["b", 1, 1, "d"],
      ["c", 1, 3, "a"],
    ]);
  });

  it("counts less the older it is, and not at all in commits of many files", () => {
    const filler = Array.from({ length: 900 }, (): string[] => []);
    const sweep = ["a", ...Array.from({ length: 200 }, (_, i) => `many${i}`)];
    const found = coChanges([["a", "new"], sweep, ...filler, ["a", "old"]], ["a"]);
    expect(found.map(({ path }) => path)).toEqual(["new", "old"]);
    expect(found[1]?.score).toBeLessThan((found[0]?.score ?? 0) / 3);
  });

  it("relates a file less that changes with everything", () => {
    const found = coChanges(
      [["a", "log"], ["a", "near", "log"], ["a", "near"], ...Array.from({ length: 20 }, () => ["log"])],
      ["a"],
    );
    const related = new Map(found.map((each) => [each.path, each.related]));
    expect(found.map(({ path }) => path)).toEqual(["log", "near"]);
    expect(related.get("near")).toBeGreaterThan(2 * (related.get("log") ?? 0));
  });

  it("says how many commits ago a file changed last, except in commits of many files", () => {
    const sweep = Array.from({ length: 200 }, (_, i) => `many${i}`);
    expect([...agesOf([["a"], sweep, ["b", "a"], [], ["c"]])]).toEqual([
      ["a", 0],
      ["b", 2],
      ["c", 4],
    ]);
  });

  it("never lists what was asked for, nor more times than commits", () => {
    const files = fc
      .array(fc.constantFrom("a", "b", "c", "d", "e"), { maxLength: 5 })
      .map((list) => Array.from(new Set(list)));
    fc.assert(
      fc.property(fc.array(files), files, (history, asked) => {
        for (const { path, times, of, score } of coChanges(history, asked)) {
          expect(asked).not.toContain(path);
          expect(times).toBeGreaterThan(0);
          expect(times).toBeLessThanOrEqual(of);
          expect(score).toBeLessThanOrEqual(asked.length);
        }
      }),
    );
  });
});
