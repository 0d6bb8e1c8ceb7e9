import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runGrep } from "../../../src/engines/exact/run-grep.ts";
import { inMemory, request } from "./in-memory.ts";

describe("lines that are counted and not shown", () => {
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
  ];
  const text = fc
    .array(fc.constantFrom("a", "b", "é", "😀", " ", "\t", "\n", "\n", "\r\n", "\r", "\0", "\x01", "\xff"), {
      maxLength: 40,
    })
    .map((parts) => parts.join(""));

  it.each(PATTERNS)("are as many as those that would be shown: %s", async (pattern) => {
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (written, isLatin1) => {
        const bytes = isLatin1 ? Buffer.from(written, "latin1") : written;
        const texts = inMemory([{ path: "a", bytes }]);
        const { matches } = await runGrep(texts, request(pattern));
        const { total } = await runGrep(texts, request(pattern, { count: true }));
        expect(total.lines).toBe(matches.length);
      }),
      { numRuns: 50 },
    );
  });
});
