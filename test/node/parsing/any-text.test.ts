import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LanguageId, LANGUAGES } from "../../../src/engines/parsing/languages.ts";
import { parsingCases } from "../../support/parsing-cases.ts";
import { encode, parseText, sharedParser, violations } from "./support.ts";

describe("whatever the input", () => {
  // Of several cases of a language, the last one's.
  const sources = new Map(parsingCases().map(({ language, source }) => [language, source]));
  const languages = LANGUAGES.map(({ id }) => id);
  const structured = LANGUAGES.filter(({ mode }) => mode === "syntax" || mode === "structure").map(({ id }) => id);

  async function holds(language: LanguageId, text: string): Promise<void> {
    const first = await parseText(language, text);
    expect(violations(first, encode(text))).toEqual([]);
    const { chunks, symbols } = await parseText(language, text);
    expect({ chunks, symbols }).toEqual({ chunks: first.chunks, symbols: first.symbols });
  }

  it("arbitrary text is covered once, in order, and alike each time", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.array(fc.string(), { maxLength: 40 }).map((lines) => lines.join("\n")),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...languages), text, (language, value) => holds(language, value.toWellFormed())),
      { numRuns: 120 },
    );
  });

  it("so is mutated source in every language", async () => {
    const junk = fc.constantFrom(
      "{",
      "}",
      "(",
      '"',
      "'",
      "`",
      "/*",
      "*/",
      "#",
      "\n\n",
      "\r\n",
      "\t",
      "😀",
      "end",
      "\\",
      "${",
      "<",
      "@",
      "\f",
    );
    for (const language of structured) {
      const source = sources.get(language)!;
      const edits = fc.array(fc.tuple(fc.nat(source.length), fc.nat(40), junk), { maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(edits, fc.integer({ min: 1, max: 6 }), (changes, repeat) => {
          let text = source;
          for (const [at, gone, put] of changes) text = text.slice(0, at) + put + text.slice(at + gone);
          return holds(language, text.repeat(repeat).toWellFormed());
        }),
        { numRuns: 4 },
      );
    }
  });

  it("arbitrary bytes do not throw", async () => {
    const parser = await sharedParser();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.constantFrom(...languages), async (bytes, language) => {
        expect(violations(await parser.parse({ bytes, language }), bytes)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
