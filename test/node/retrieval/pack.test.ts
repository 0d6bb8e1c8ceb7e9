import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeLines } from "../../../src/engines/search/comment-lines.ts";
import { MAX_LINE_UNITS, type PackableFile, packExcerpts, type TextLine } from "../../../src/engines/search/pack.ts";

const line = fc.record({
  text: fc.oneof(
    { weight: 8, arbitrary: fc.string({ maxLength: 60 }) },
    { weight: 2, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.constant("x".repeat(MAX_LINE_UNITS + 1)) },
  ),
  strength: fc.constantFrom(0, 0, 0, 1, 2.5),
  isCode: fc.boolean(),
  gap: fc.constantFrom(1, 1, 1, 1, 1, 7),
});

const file: fc.Arbitrary<PackableFile> = fc
  .record({
    headCharacters: fc.integer({ min: 1, max: 120 }),
    lines: fc.array(line, { maxLength: 60 }),
    offers: fc.array(
      fc.record({
        startLine: fc.integer({ min: 1, max: 90 }),
        length: fc.integer({ min: 0, max: 40 }),
        worth: fc.constantFrom(0.2, 0.5, 1),
        core: fc.option(fc.tuple(fc.nat(20), fc.nat(20)), { nil: undefined }),
      }),
      { maxLength: 6 },
    ),
  })
  .map(({ headCharacters, lines, offers }) => {
    let number = 0;
    return {
      headCharacters,
      lines: lines.map(({ gap, text, strength, isCode }): TextLine => {
        number += gap;
        return { number, text, strength, isCode: isCode && text.trim() !== "", isHead: false };
      }),
      offers: offers.map(({ startLine, length, worth, core }) => {
        const [from, lasting] = core ?? [0, 0];
        const within = { startLine: startLine + from, endLine: startLine + from + lasting };
        return { startLine, endLine: startLine + length, worth, ...(core && { core: within }) };
      }),
    };
  });
const files = fc.array(file, { maxLength: 5 });
const budget = fc.integer({ min: 0, max: 1_500 });

const shownOf = ({ lines }: PackableFile, ranges: readonly { startLine: number; endLine: number }[]): TextLine[] =>
  lines.filter(({ number }) => ranges.some(({ startLine, endLine }) => number >= startLine && number <= endLine));

describe("packExcerpts", () => {
  it("shows the core of an offer that does not fit, and what follows it, before lines that match better", () => {
    const lines = Array.from({ length: 60 }, (_, i): TextLine => {
      return { number: i + 1, text: "x".repeat(32), strength: i > 40 ? 5 : 1, isCode: true, isHead: false };
    });
    const offer = { startLine: 1, endLine: 60, worth: 1 };
    const shown = (core?: { startLine: number; endLine: number }) =>
      packExcerpts([{ headCharacters: 10, lines, offers: [{ ...offer, ...(core && { core }) }] }], 130).ranges;
    expect(shown()).toEqual([[{ startLine: 42, endLine: 53 }]]);
    expect(shown({ startLine: 11, endLine: 20 })).toEqual([[{ startLine: 11, endLine: 22 }]]);
    // A core that has no room itself is not begun.
    expect(shown({ startLine: 11, endLine: 30 })).toEqual([[{ startLine: 42, endLine: 53 }]]);
  });

  it("stays within the budget, and counts what it shows", () => {
    fc.assert(
      fc.property(files, budget, (given, maxTokens) => {
        const { ranges, tokens } = packExcerpts(given, maxTokens);
        expect(tokens).toBeLessThanOrEqual(maxTokens);
        const characters = given
          .flatMap((own, i) => shownOf(own, ranges[i] ?? []))
          .reduce((sum, { text, number }) => sum + text.length + String(number).length + 3, 0);
        expect(characters).toBeLessThanOrEqual(tokens * 4);
      }),
    );
  });

  it("shows whole lines that were read, sorted and apart from each other", () => {
    fc.assert(
      fc.property(files, budget, (given, maxTokens) => {
        const { ranges } = packExcerpts(given, maxTokens);
        expect(ranges).toHaveLength(given.length);
        for (const [i, own] of ranges.entries()) {
          let last = -1;
          const known = new Map((given[i] as PackableFile).lines.map((one) => [one.number, one]));
          for (const { startLine, endLine } of own) {
            expect(startLine).toBeGreaterThan(last + 1);
            expect(endLine).toBeGreaterThanOrEqual(startLine);
            for (let number = startLine; number <= endLine; number++)
              expect(known.get(number)?.text.length).toBeLessThanOrEqual(MAX_LINE_UNITS);
            expect(known.get(startLine)?.text.trim()).not.toBe("");
            expect(known.get(endLine)?.text.trim()).not.toBe("");
            last = endLine;
          }
        }
      }),
    );
  });

  it("shows no excerpt without code where the file has some", () => {
    fc.assert(
      fc.property(files, budget, (given, maxTokens) => {
        for (const [i, own] of packExcerpts(given, maxTokens).ranges.entries()) {
          const one = given[i] as PackableFile;
          if (!one.lines.some(({ isCode }) => isCode)) continue;
          for (const range of own) expect(shownOf(one, [range]).some(({ isCode }) => isCode)).toBe(true);
        }
      }),
    );
  });

  it("gives the same for the same, and lines for an offer that has room", () => {
    fc.assert(
      fc.property(files, (given) => {
        expect(packExcerpts(given, 500)).toEqual(packExcerpts(given, 500));
        const { ranges, isCut } = packExcerpts(given, 1_000_000);
        expect(isCut).toBe(false);
        for (const [i, { lines, offers }] of given.entries())
          for (const { startLine, endLine } of offers)
            for (const one of lines)
              if (one.isCode && one.text.length <= MAX_LINE_UNITS && one.number >= startLine && one.number <= endLine)
                expect(shownOf({ lines } as PackableFile, ranges[i] ?? [])).toContain(one);
      }),
    );
  });

  const lines = (count: number, strong: number): TextLine[] =>
    Array.from({ length: count }, (_, i) => ({
      number: i + 1,
      text: "x".repeat(30),
      strength: i + 1 === strong ? 5 : 0,
      isCode: true,
      isHead: false,
    }));

  it("takes the best offers first, and of one that does not fit the lines that match", () => {
    const offers = [
      { startLine: 1, endLine: 10, worth: 0.5 },
      { startLine: 40, endLine: 140, worth: 1 },
    ];
    const { ranges, isCut } = packExcerpts([{ headCharacters: 10, lines: lines(200, 100), offers }], 200);
    expect(isCut).toBe(true);
    expect(ranges[0]).toHaveLength(1);
    const [shown] = ranges[0] ?? [];
    expect(shown?.startLine).toBeGreaterThan(40);
    expect(shown?.startLine).toBeLessThanOrEqual(100);
    expect(shown?.endLine).toBeGreaterThanOrEqual(100);
  });

  it("begins a part with the definition whose lines match, unless that costs too much of what matches", () => {
    const offers = [{ startLine: 40, endLine: 140, worth: 1 }];
    const withHead = (head: number) =>
      lines(200, 100).map((line) => Object.assign(line, { isHead: line.number === head }));
    const shownWith = (head: number) =>
      packExcerpts([{ headCharacters: 10, lines: withHead(head), offers }], 200).ranges[0]?.[0]?.startLine;
    expect(shownWith(95)).toBe(95);
    expect(shownWith(60)).toBeGreaterThan(80);
  });

  it("shows the few lines between two excerpts", () => {
    const offers = [
      { startLine: 1, endLine: 10, worth: 1 },
      { startLine: 13, endLine: 20, worth: 0.5 },
      { startLine: 30, endLine: 32, worth: 0.5 },
    ];
    expect(packExcerpts([{ headCharacters: 10, lines: lines(50, 1), offers }], 2_000).ranges[0]).toEqual([
      { startLine: 1, endLine: 20 },
      { startLine: 30, endLine: 32 },
    ]);
  });

  it("is fast on a file of many lines and offers", () => {
    const offers = Array.from({ length: 200 }, (_, i) => ({ startLine: i * 50, endLine: i * 50 + 2_000, worth: 1 }));
    const startedAt = process.cpuUsage();
    packExcerpts([{ headCharacters: 10, lines: lines(20_000, 1), offers }], 32_000);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(2_000_000);
  });
});

describe("codeLines", () => {
  const codeOf = (text: string, language: string): number[] =>
    codeLines(text.split("\n"), language).flatMap((isCode, i) => (isCode ? [i + 1] : []));

  it("tells comments by the language's marks", () => {
    expect(codeOf("/**\n * @param a\n */\nfoo(a); // b\n// c\n}\n\n*p = 1;", "c")).toEqual([4, 8]);
    expect(codeOf("# a\nx = 1 # b\n'''\ndoc\n'''\ndef f():\n    '''one line'''\n    return 1", "python")).toEqual([
      2, 6, 8,
    ]);
    expect(codeOf('@doc """\nSays hello.\n"""\ndef hello, do: :ok', "elixir")).toEqual([4]);
    expect(codeOf("-- a\nlocal x = 1", "lua")).toEqual([2]);
    expect(codeOf("#include <a.h>\n/* a */ int b;\n/* c\n d */ int e;", "c")).toEqual([1, 2, 4]);
    expect(codeOf("# Title\n\ntext", "markdown")).toEqual([1, 3]);
  });

  it("is linear on hostile lines", () => {
    for (const text of ["/*".repeat(100_000), '"""'.repeat(100_000), "r".repeat(100_000), "/* */".repeat(50_000)]) {
      const startedAt = process.cpuUsage();
      for (const language of ["c", "python", "elixir"]) codeLines([text, text], language);
      expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
    }
  });
});
