import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMatcher } from "../../../src/engines/exact/compile.ts";
import type { Matcher } from "../../../src/engines/exact/matcher.ts";
import { lineEndAt, lineStartAt } from "../../../src/engines/exact/line-offsets.ts";
import { RegexEngine } from "../../../src/engines/exact/rust-regex.ts";
import { grepUntimed, inMemory, regexModule, request } from "./in-memory.ts";

const engine = new RegexEngine(regexModule);
const matcherOf = (pattern: string): Promise<Matcher> => createMatcher({ pattern }, () => Promise.resolve(engine));

/** Numbers of the lines with a match, of matches in their order. */
function linesOfMatches(bytes: Uint8Array, matches: readonly number[]): number[] {
  const lines = new Set<number>();
  let [line, at] = [0, 0];
  for (const [i, offset] of matches.entries()) {
    if (i % 2 === 1) continue;
    if (offset < at) throw new Error(`the match at ${offset} comes after one at ${at}`);
    for (; at < offset; at++) if (bytes[at] === 10) line++;
    lines.add(line);
  }
  return [...lines];
}

it("a line begins and ends at its line breaks, however long it is", () => {
  const text = Buffer.from([0, 1, 62, 63, 64, 65, 127, 128, 200, 0, 0].map((length) => "-".repeat(length)).join("\n"));
  for (let at = 0; at <= text.length; at++) {
    const start = at === 0 ? 0 : text.lastIndexOf(10, at - 1) + 1;
    const end = text.indexOf(10, at);
    expect([lineStartAt(text, at), lineEndAt(text, at)], `at ${at}`).toEqual([start, end < 0 ? text.length : end]);
  }
});

describe("lines with a match", () => {
  const PATTERNS = [
    "a",
    ".",
    "a*",
    "$",
    "^",
    "^$",
    String.raw`^\s*$`,
    "a$",
    "[^a]",
    "é",
    "b?$",
    String.raw`\w+\s*`,
    "a|$",
    "(?i)A",
    "b.*",
    String.raw`\bab?\b`,
    String.raw`b\W*\z`,
    "ab",
  ];
  const parts = fc.constantFrom("a", "b", "é", "😀", " ", "\t", "\n", "\n", "\r\n", "\r", "\0", "\x01", "\xff");
  const rare = fc.constantFrom("-".repeat(700), "-".repeat(127), "\n".repeat(40), "-\n".repeat(800));
  const text = fc
    .array(fc.oneof({ weight: 12, arbitrary: parts }, { weight: 1, arbitrary: rare }), { maxLength: 60 })
    .map((written) => written.join(""));

  it.each(PATTERNS)("are those of all matches: %s", async (pattern) => {
    const matcher = await matcherOf(pattern);
    fc.assert(
      fc.property(text, fc.boolean(), (written, isLatin1) => {
        const bytes = Buffer.from(written, isLatin1 ? "latin1" : "utf8");
        const lines = matcher.lines(bytes);
        expect(linesOfMatches(bytes, lines)).toEqual(linesOfMatches(bytes, matcher.matches(bytes)));
        const isEnd = (byte: number | undefined) => byte === undefined || byte === 10;
        const starts = lines.filter((_, i) => i % 2 === 0);
        const isWhole = (start: number, i: number) => {
          const end = lines[2 * i + 1] ?? -1;
          return !bytes.subarray(start, end).includes(10) && isEnd(bytes[start - 1]) && isEnd(bytes[end]);
        };
        expect(starts.filter((start, i) => !isWhole(start, i))).toEqual([]);
      }),
      { numRuns: 50 },
    );
    matcher.free();
  });

  it.each(["a$", String.raw`^\s*$`, "b?$"])("are as many as those that are shown: %s", async (pattern) => {
    await fc.assert(
      fc.asyncProperty(text, async (written) => {
        const texts = inMemory([{ path: "a", bytes: written }]);
        const { matches } = await grepUntimed(texts, request(pattern, { limit: 10_000 }));
        const { total } = await grepUntimed(texts, request(pattern, { count: true }));
        expect(matches.every(({ ranges }) => ranges.length > 0)).toBe(true);
        expect(total.lines).toBe(matches.length);
      }),
      { numRuns: 50 },
    );
  });

  it("take little memory, however much text there is", async () => {
    const own = new RegexEngine(regexModule);
    const matcher = await createMatcher({ pattern: String.raw`\w+\s+\w` }, () => Promise.resolve(own));
    const block = Buffer.from("let a = b;\n".repeat(20_000));
    for (let i = 0; i < 100; i++) {
      matcher.lines(block.subarray(0, block.length - 11 * i));
      matcher.lines(block.subarray(0, 11 * (i + 1)));
      if (i % 10 === 0) matcher.matches(block);
      expect(own.isSmall).toBe(true);
    }
    matcher.free();
  });
});
