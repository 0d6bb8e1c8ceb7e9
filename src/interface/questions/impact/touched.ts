/** Which definitions of a file its changed lines touch. */
import type { HunkLine } from "../../../engines/impact/patch.ts";
import type { DefinedSymbol } from "../../../engines/relations/question-files.ts";
import { innermostCallable } from "../relations/callers.ts";
import { TYPES } from "../relations/found.ts";
import { declaredNames, isComment } from "./interfaces.ts";

/** A line that belongs to the definition below it: `@Override`, `@app.route("/")`, `#[inline]`. */
const ANNOTATION = /^\s{0,100}(?:@[\p{L}_][\p{L}\p{N}_.]{0,100}\s{0,10}(?:\(|$)|#\[)/u;

export interface Touched {
  /** Definitions that change themselves. */
  own: DefinedSymbol[];
  /** Classes that only gain or lose functions: what constructs them stays the same. */
  around: DefinedSymbol[];
}

/**
 * The definitions that the lines of hunks touch, of a file as it is on one side of them: the innermost function or class at each line of that
 * side. Lines of the other side tell only where nothing stands in their place.
 */
export function touchedBy(
  symbols: readonly DefinedSymbol[],
  hunks: readonly (readonly HunkLine[])[],
  side: "old" | "new",
): Touched {
  const own = new Set<DefinedSymbol>();
  const around = new Set<DefinedSymbol>();
  const kind = side === "new" ? "added" : "removed";
  const lineOf = (line: HunkLine) => (side === "new" ? line.newLine : line.oldLine);
  for (const run of hunks.flatMap(runsOf)) {
    const standing = run.filter((line) => line.kind === kind);
    for (const line of standing) {
      const symbol = touchedAt(symbols, lineOf(line), line.text);
      if (symbol) own.add(symbol);
    }
    const [first] = run;
    if (standing.length > 0 || !first) continue;
    const symbol = aroundGap(symbols, lineOf(first));
    if (!symbol || (TYPES.has(symbol.kind) && !run.some(({ text }) => isCode(text)))) continue;
    const hasFunctions = TYPES.has(symbol.kind) && run.some(({ text }) => declaredNames(text).length > 0);
    (hasFunctions ? around : own).add(symbol);
  }
  return { own: [...own], around: [...around].filter((each) => !own.has(each)) };
}

/** The lines that change between two that do not. */
function runsOf(lines: readonly HunkLine[]): HunkLine[][] {
  const runs: HunkLine[][] = [];
  let isOpen = false;
  for (const line of lines) {
    if (line.kind !== "same") {
      if (isOpen) runs.at(-1)?.push(line);
      else runs.push([line]);
    }
    isOpen = line.kind !== "same";
  }
  return runs;
}

/** The definition that a line is of. In a class, comments and blank lines stand between members and are of none. */
function touchedAt(symbols: readonly DefinedSymbol[], at: number, text: string): DefinedSymbol | undefined {
  const innermost = innermostCallable(symbols, at);
  if (innermost && !TYPES.has(innermost.kind)) return innermost;
  const starting = symbols.find(({ startLine }) => startLine === at);
  if (starting) return innermost ?? starting;
  if (ANNOTATION.test(text)) return annotated(symbols, at, innermost);
  return isCode(text) ? innermost : undefined;
}

/** The function or class that an annotation is of; that of a field is of the class around it. */
function annotated(
  symbols: readonly DefinedSymbol[],
  at: number,
  around: DefinedSymbol | undefined,
): DefinedSymbol | undefined {
  const end = around?.endLine ?? Number.POSITIVE_INFINITY;
  const below = symbols
    .filter(({ startLine }) => startLine > at && startLine <= end)
    .reduce<DefinedSymbol | undefined>((a, b) => (a && a.startLine <= b.startLine ? a : b), undefined);
  return (below && innermostCallable(symbols, below.startLine)) ?? around;
}

/** The function or class around a place between two lines, where something was taken out or is put in. */
function aroundGap(symbols: readonly DefinedSymbol[], line: number): DefinedSymbol | undefined {
  return innermostCallable(
    symbols.filter(({ startLine }) => startLine < line),
    line,
  );
}

/** Whether a line is more than a comment, a brace or nothing. */
const isCode = (text: string): boolean => /[\p{L}\p{N}]/u.test(text) && !isComment(text);
