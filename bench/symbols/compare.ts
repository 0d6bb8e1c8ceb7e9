/** Compares the symbols of a file with ctags' tags. */
import type { CodeSymbol } from "../../src/engines/parsing/types.ts";
import type { Tag } from "./ctags.ts";

export interface Comparison {
  found: number;
  /** Found on another line than ctags reports. */
  wrongLine: { tag: Tag; line: number }[];
  missing: Tag[];
}

/** Normalises a name: ctags writes some as `self.f`, `A::f`, `M.f` or `operator  ==`. */
function plainName(name: string): string {
  const bare = name.replace(/\s+/g, "").replace(/^["'`]|["'`]$/g, "");
  if (/^operator\W/.test(bare) && !bare.startsWith("operator.")) return bare;
  return (bare.split(/::|[.:#]/).findLast((part) => part !== "") ?? bare).replace(/[?!=]+$/, "");
}

function isTypedefOf(symbols: readonly CodeSymbol[] = [], { line }: Tag): boolean {
  return symbols.some(
    ({ kind, startLine, endLine }) => kind !== "function" && startLine <= line && line <= endLine + 1,
  );
}

/** Matches each tag to a symbol of the same name: first on the same line, then the nearest that contains it. */
export function compareFile(tags: readonly Tag[], symbols: readonly CodeSymbol[]): Comparison {
  const byName = new Map<string, CodeSymbol[]>();
  for (const symbol of symbols) {
    const name = plainName(symbol.name);
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [symbol]);
    else same.push(symbol);
  }
  const result: Comparison = { found: 0, wrongLine: [], missing: [] };
  const taken = new Set<CodeSymbol>();
  const rest: Tag[] = [];
  for (const tag of tags) {
    const onLine = ({ startLine }: CodeSymbol) => startLine === tag.line;
    // ctags ends the name of a test at its first " do".
    const exact =
      byName.get(plainName(tag.name))?.find(onLine) ??
      (tag.kind === "test" ? symbols.find((symbol) => onLine(symbol) && symbol.name.startsWith(tag.name)) : undefined);
    if (exact === undefined) rest.push(tag);
    else {
      taken.add(exact);
      result.found++;
    }
  }
  for (const tag of rest) {
    const open = (byName.get(plainName(tag.name)) ?? []).filter((symbol) => !taken.has(symbol));
    // ctags reports `typedef struct T {…} T;` twice.
    if (tag.kind === "typedef" && isTypedefOf(byName.get(plainName(tag.name)), tag)) {
      result.found++;
      continue;
    }
    const near = open
      .toSorted((a, b) => Math.abs(a.startLine - tag.line) - Math.abs(b.startLine - tag.line))
      .find(
        ({ startLine, endLine }) =>
          Math.abs(startLine - tag.line) <= 10 || (startLine < tag.line && tag.line <= endLine),
      );
    if (near === undefined) result.missing.push(tag);
    else {
      taken.add(near);
      result.found++;
      result.wrongLine.push({ tag, line: near.startLine });
    }
  }
  return result;
}
