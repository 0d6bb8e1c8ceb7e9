/** What the relations of definitions share. */
import { CERTAINTIES, type RELATIONS } from "../../../contract/questions.ts";
import type { UseKind } from "../../../engines/relations/types.ts";
import type { DefinedSymbol } from "../../../engines/relations/question-files.ts";

export type Certainty = (typeof CERTAINTIES)[number];
export type Relation = (typeof RELATIONS)[number];

/** A definition as answers name it. */
export interface Target {
  path: string;
  line: number;
  qualifiedName: string;
}

/** A use that belongs to a relation. */
export interface FoundUse {
  path: string;
  line: number;
  certainty: Certainty;
  /** Steps from the definition that was asked for; 1 is a direct use. */
  distance: number;
  /** The definition that is used; absent where only the name is the same. */
  target?: Target;
  /** It names a class as a value: `component: Home`, `register("a", HomeView)`. */
  isNamed?: true;
}

/** A call in a definition. */
export interface Call extends FoundUse {
  /** The definition that is called, if that is known. */
  called: DefinedSymbol | undefined;
  /** Where only the name is the same, the definitions that have it. */
  named?: readonly DefinedSymbol[];
}

/** Kinds of use that make a relation. */
export const KINDS: Readonly<Record<Exclude<Relation, "importers">, ReadonlySet<UseKind>>> = {
  callers: new Set(["call", "construct", "decorator", "reference"]),
  callees: new Set(["call", "construct", "decorator", "reference"]),
  implementations: new Set(["inherit"]),
};

/** Whether a definition can be handed over to be called. A type is only named where it is. */
export const isFunction = ({ kind }: Pick<DefinedSymbol, "kind">): boolean =>
  /^(?:function|method|macro|component)$/.test(kind);

/** Kinds of definition that inherit and are implemented. */
export const TYPES: ReadonlySet<string> = new Set(["class", "struct", "interface", "trait", "enum", "object", "type"]);

/** The place of a certainty among them; the surest is 0. */
export const rankOf = (certainty: Certainty): number => CERTAINTIES.indexOf(certainty);

/** The less sure of two. */
export const lessSure = (a: Certainty, b: Certainty): Certainty => (rankOf(a) > rankOf(b) ? a : b);

/** Uses without those that only name a class that others construct. What is left are values that a framework constructs. */
export function withoutNamed(found: readonly FoundUse[]): FoundUse[] {
  const constructed = new Set(
    found.flatMap(({ isNamed, certainty, target }) =>
      target && !isNamed && certainty !== "name" ? [placeKey(target)] : [],
    ),
  );
  return found.flatMap((use) => {
    if (!use.isNamed) return [use];
    const { isNamed: _, ...named } = use;
    return named.target && constructed.has(placeKey(named.target)) ? [] : [named];
  });
}

export const targetOf = ({ path, startLine, qualifiedName }: DefinedSymbol): Target => ({
  path,
  line: startLine,
  qualifiedName,
});

/** Names a place. */
export const placeKey = ({ path, line }: { path: string; line: number }): string => `${line} ${path}`;

/** Names the place of a definition. */
export const symbolKey = (symbol: DefinedSymbol): string => placeKey(targetOf(symbol));

/** Each place and target once, as it was found first: with the surest certainty where that comes first. */
export function distinct(found: readonly FoundUse[]): FoundUse[] {
  const first = new Map<string, FoundUse>();
  for (const use of found) {
    const key = `${placeKey(use)}\n${use.target ? placeKey(use.target) : ""}`;
    const known = first.get(key);
    if (!known || rankOf(use.certainty) < rankOf(known.certainty)) first.set(key, use);
  }
  return [...first.values()];
}

/** The innermost definition of some kinds around a line. */
export function innermostOf(
  symbols: readonly DefinedSymbol[],
  line: number,
  kinds: ReadonlySet<string>,
): DefinedSymbol | undefined {
  const around = symbols.filter(
    ({ kind, startLine, endLine }) => kinds.has(kind) && startLine <= line && line <= endLine,
  );
  return around.toSorted((a, b) => a.endLine - a.startLine - (b.endLine - b.startLine))[0];
}

/** As `innermostOf`, for each of some lines. Takes linear time in files whose definitions lie within each other or apart. */
export function innermostOfLines(
  symbols: readonly DefinedSymbol[],
  lines: Iterable<number>,
  kinds: ReadonlySet<string>,
): Map<number, DefinedSymbol> {
  const starting = symbols
    .filter(({ kind }) => kinds.has(kind))
    .toSorted((a, b) => a.startLine - b.startLine || b.endLine - a.endLine);
  const found = new Map<number, DefinedSymbol>();
  // Those that have started, the innermost last; what has ended is dropped when it is the last one.
  const open: DefinedSymbol[] = [];
  let next = 0;
  for (const line of [...new Set(lines)].sort((a, b) => a - b)) {
    for (let own = starting[next]; own && own.startLine <= line; own = starting[++next]) {
      const last = open.at(-1);
      // Of two definitions on the same lines the first one counts.
      if (last?.startLine !== own.startLine || last.endLine !== own.endLine) open.push(own);
    }
    while ((open.at(-1)?.endLine ?? line) < line) open.pop();
    const innermost = open.at(-1);
    if (innermost) found.set(line, innermost);
  }
  return found;
}
