import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DefinedSymbol } from "../../../src/engines/relations/question-files.ts";
import { innermostOf, innermostOfLines } from "../../../src/interface/questions/relations/found.ts";

const KINDS = new Set(["function", "class"]);
const LINES = 40;

/** Definitions that lie within each other or apart: of ranges that cross one that is there already, none is made. */
const nested = fc
  .array(fc.tuple(fc.integer({ min: 1, max: LINES }), fc.nat(12), fc.constantFrom("function", "class", "field")), {
    maxLength: 30,
  })
  .map((all) => {
    const symbols: DefinedSymbol[] = [];
    for (const [startLine, length, kind] of all) {
      const endLine = startLine + length;
      const crosses = symbols.some(
        (own) =>
          (own.startLine < startLine && startLine <= own.endLine && own.endLine < endLine) ||
          (startLine < own.startLine && own.startLine <= endLine && endLine < own.endLine),
      );
      const name = `n${symbols.length}`;
      if (!crosses) symbols.push({ path: "a.py", name, qualifiedName: name, kind, startLine, endLine });
    }
    return symbols;
  });

describe("the innermost definitions around lines", () => {
  it("are those that are found for each line alone", () => {
    fc.assert(
      fc.property(nested, fc.array(fc.nat(LINES + 12), { maxLength: 40 }), (symbols, lines) => {
        const found = innermostOfLines(symbols, lines, KINDS);
        for (const line of lines) expect(found.get(line)).toEqual(innermostOf(symbols, line, KINDS));
      }),
    );
  });
});
