import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMatcher } from "../../../src/engines/exact/compile.ts";
import { HASHES_PER_BYTE, type NgramQuery, readNgrams } from "../../../src/engines/exact/ngrams.ts";
import { RegexEngine } from "../../../src/engines/exact/rust-regex.ts";
import type { GrepRequest } from "../../../src/engines/exact/types.ts";
import { grepUntimed, inMemory, regexModule, request } from "./in-memory.ts";

/** Lines of a text that match. */
async function linesOf(bytes: string, pattern: string): Promise<number[]> {
  const { matches } = await grepUntimed(inMemory([{ path: "a", bytes }]), request(pattern));
  return matches.map(({ line }) => line);
}

describe("n-grams", () => {
  const holds = (query: NgramQuery, ngrams: ReadonlySet<string>): boolean =>
    query.kind === "ngram"
      ? ngrams.has(`${query.isLong} ${query.hash}`)
      : query.kind === "all"
        ? query.parts.every((part) => holds(part, ngrams))
        : query.parts.some((part) => holds(part, ngrams));
  const ngramsOf = (text: string) => {
    const ngrams = new Set<string>();
    const bytes = Buffer.from(text);
    const hashes = new Uint32Array(HASHES_PER_BYTE * bytes.length);
    const isLong = new Uint8Array(hashes.length);
    const count = readNgrams(bytes, { from: 0, to: bytes.length }, hashes, isLong);
    for (let i = 0; i < count; i++) ngrams.add(`${isLong[i] === 1} ${hashes[i]}`);
    return ngrams;
  };
  const engine = new RegexEngine(regexModule);
  const matcherOf = (pattern: string, options: Partial<GrepRequest> = {}) =>
    createMatcher(request(pattern, options), () => Promise.resolve(engine));

  const atom = fc.constantFrom(
    "a",
    "b",
    "k",
    "S",
    "é",
    ".",
    "[ab]",
    "[^a]",
    String.raw`\w`,
    "foo",
    String.raw`\.`,
    "(?i:k)",
  );
  const pattern = fc.letrec<{ pattern: string; part: string }>((tie) => ({
    part: fc.oneof(
      { maxDepth: 2 },
      atom,
      fc
        .tuple(tie("pattern"), fc.constantFrom("", "*", "+", "?", "{2}", "{0,2}"))
        .map(([inner, times]) => `(${inner})${times}`),
    ),
    pattern: fc.oneof(
      { maxDepth: 2 },
      fc.array(tie("part"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `${a}|${b}`),
    ),
  })).pattern;
  const line = fc
    .array(fc.constantFrom("a", "b", "k", "K", "\u212a", "s", "S", "\u017f", "é", ".", "foo", "FOO"), { maxLength: 12 })
    .map((parts) => parts.join(""));

  it("never exclude a text that matches", async () => {
    await fc.assert(
      fc.asyncProperty(pattern, fc.array(line, { maxLength: 4 }), fc.boolean(), async (source, lines, ignoreCase) => {
        const matcher = await matcherOf(source, { ignoreCase });
        const text = lines.join("\n");
        if (matcher.matches(Buffer.from(text)).length > 0) expect(holds(matcher.query, ngramsOf(text))).toBe(true);
        matcher.free();
      }),
      { numRuns: 60 },
    );
  });

  it.each<[pattern: string, text: string, options?: Partial<GrepRequest>]>([
    ["needle", "needles"],
    ["fo+bar|quux", "foobaz qux"],
    ["[ab]cde", "xcde"],
    ["NEEDLE.*", "hay", { ignoreCase: true }],
    ["(?:get|set)Name", "getAge"],
  ])("of %s are selective", async (source, text, options) => {
    const { query } = await matcherOf(source, options);
    expect(holds(query, ngramsOf("nothing alike"))).toBe(false);
    if (source === "needle") expect(holds(query, ngramsOf(text))).toBe(true);
    else expect(holds(query, ngramsOf(text))).toBe(false);
  });

  it("finds with rewritten patterns what V8 finds line by line", async () => {
    await fc.assert(
      fc.asyncProperty(pattern, fc.array(line, { maxLength: 5 }), async (source, lines) => {
        const found = await linesOf(lines.map((each) => `${each}\n`).join(""), source);
        const plain = source.replaceAll("(?i:k)", "[kK\u212a]").replaceAll(String.raw`\w`, String.raw`[\p{L}\p{N}_]`);
        const expected = lines.flatMap((each, i) => (new RegExp(plain, "u").test(each) ? [i + 1] : []));
        expect(found).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });
});
