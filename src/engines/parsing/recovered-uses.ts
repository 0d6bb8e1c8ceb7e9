/** Uses of files with errors. */
import type { LoadedGrammar } from "./core.ts";
import type { Gap, SyntaxEngine, WorkBudget } from "./engine.ts";
import type { LanguageId } from "./languages.ts";
import type { SourceText } from "./source-text.ts";
import { START_OF_TEXT } from "./syntax-node.ts";
import type { DraftSymbol } from "./types.ts";
import type { FoundFunction, ReadUses, UsesReader } from "./uses-reader.ts";

/** Bodies that are parsed by themselves. */
const MAX_BODIES = 1_000;

interface Text {
  source: SourceText;
  units: Uint16Array;
  /** The contents of function bodies, in order. */
  bodies: readonly Gap[];
}

interface Parsing {
  engine: SyntaxEngine;
  grammar: LoadedGrammar;
  /** What the file's parses before have left over. */
  budget: WorkBudget;
  language: LanguageId;
  readUses: UsesReader;
}

/**
 * The uses of a file whose tree, which gave `first`, misses lines: one error may hide all that follows. The file is parsed again without the
 * function bodies that have errors, and the tree with more uses counts. Uses in bodies that it lacks are known by name.
 */
export function usesAroundErrors({ source, units, bodies }: Text, first: ReadUses, parsing: Parsing): ReadUses {
  const { engine, grammar, budget, language, readUses } = parsing;
  const parseBody = (body: Gap) =>
    engine.parse(inBraces(units, body), source.text, grammar, budget, { offset: body.start - 1, row: body.row });
  const isUnread = (uses: ReadUses) => (body: Gap) => !uses.hasBetween(body.row + 1, body.endRow);
  if (bodies.length > MAX_BODIES) return first;
  const faulty = bodies.filter((body) => {
    const parsed = parseBody(body);
    return !parsed.ok || parsed.tree.root.hasError;
  });
  const again = engine.parse(units, source.text, grammar, budget, START_OF_TEXT, faulty);
  const second = again.ok && faulty.length > 0 ? readUses(again.tree.root, language) : undefined;
  const best = second && second.count > first.count ? second : first;
  for (const body of bodies.filter(isUnread(best))) {
    const parsed = parseBody(body);
    if (parsed.ok) best.addNamed(parsed.tree.root);
  }
  return best;
}

/** The functions with a body among the symbols of a file of C that other files may call. */
export const functionsAmong = (symbols: readonly DraftSymbol[], source: SourceText): FoundFunction[] =>
  symbols
    .filter(({ kind, parent, end }) => kind === "function" && parent === null && source.text[end - 1] === "}")
    .filter(({ signature }) => !/\bstatic\b/.test(signature))
    .map(({ name, nameStart }) => ({ name, line: source.rowAt(nameStart) + 1 }));

/** The contents of a function with its braces: statements mean other things outside of a function. The first one takes the place of the line break. */
function inBraces(units: Uint16Array, { start, end }: Gap): Uint16Array {
  const piece = units.slice(start - 1, units.indexOf(CLOSING_BRACE, end) + 1);
  piece[0] = OPENING_BRACE;
  return piece;
}

const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;
