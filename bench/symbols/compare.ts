/** Compares the symbols of a file with ctags' tags. */
import type { CodeSymbol } from "../../src/engines/parsing/types.ts";
import type { Tag } from "./ctags.ts";

export interface Comparison {
  found: number;
  /** Found on another line than ctags reports. */
  wrongLine: { tag: Tag; line: number }[];
  missing: Tag[];
}

/** Normalises a name: ctags writes some as `self.f`, `A::f`, `M.f` or `operator  ==`, and whole selectors, `store:forKey:`. */
function plainName(name: string): string {
  if (/\w:(?:\w+:)*$/.test(name)) return name.slice(0, name.indexOf(":"));
  const bare = name.replace(/\s+/g, "").replace(/^["'`]|["'`]$/g, "");
  if (/^operator\W/.test(bare) && !bare.startsWith("operator.")) return bare;
  return (bare.split(/::|[.:#]/).findLast((part) => part !== "") ?? bare).replace(/[?!=]+$/, "");
}

/** Languages in which ctags tags each clause of a definition, or the end of its head. */
const CLAUSED: ReadonlySet<string> = new Set(["Elm", "Erlang", "Haskell", "ObjectiveC", "OCaml", "SML"]);

/** Whether a tag is within a symbol of the same name. */
const isClauseOf = (symbols: readonly CodeSymbol[] = [], { language, line }: Tag): boolean =>
  CLAUSED.has(language) && symbols.some(({ startLine, endLine }) => startLine <= line && line <= endLine);

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
    const same = byName.get(plainName(tag.name));
    const open = (same ?? []).filter((symbol) => !taken.has(symbol));
    // ctags reports `typedef struct T {…} T;` twice.
    if (isClauseOf(same, tag) || (tag.kind === "typedef" && isTypedefOf(same, tag))) {
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
