import type { LineRange } from "./pack.ts";
import type { ContentRecord, SymbolPlace } from "./record.ts";

/** Tests that stand in the file of what they test, as is usual in Rust and Zig. */

const FUNCTION_KINDS: ReadonlySet<string> = new Set(["function", "method"]);

/**
 * Lines of tests within a source file, in order of line and apart from each other: modules named `tests`, Rust's functions named `test_…`, and
 * what the language itself calls a test. The record must have its symbols.
 */
export function inlineTests({ symbols }: Pick<ContentRecord, "symbols">, language: string): LineRange[] {
  const ranges: LineRange[] = [];
  for (const { startLine, endLine } of symbols.filter((symbol) => isTest(symbol, language))) {
    const last = ranges.at(-1);
    if (last === undefined || startLine > last.endLine) ranges.push({ startLine, endLine });
    else last.endLine = Math.max(last.endLine, endLine);
  }
  return ranges;
}

function isTest({ kind, name }: SymbolPlace, language: string): boolean {
  if (kind === "test") return true;
  if (kind === "module") return name === "tests" || name === "test";
  return language === "rust" && FUNCTION_KINDS.has(kind) && name.startsWith("test_");
}

/** How many of the lines from `startLine` to `endLine` the ranges have. */
export function linesWithin(ranges: readonly LineRange[], { startLine, endLine }: LineRange): number {
  return ranges.reduce(
    (sum, range) => sum + Math.max(0, Math.min(range.endLine, endLine) - Math.max(range.startLine, startLine) + 1),
    0,
  );
}
