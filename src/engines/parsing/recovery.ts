import type { LoadedGrammar } from "./core.ts";
import type { Gap, SyntaxEngine, WorkBudget } from "./engine.ts";
import type { GrammarName } from "./languages.ts";
import { bodyIndent, damagedRows, hasUnreadLines, headEnd, piecesOf, type RowRange } from "./pieces.ts";
import { shellSkeleton } from "./shell-skeleton.ts";
import { type Preprocessor, type Skeleton, skeletonOf } from "./skeleton.ts";
import type { SourceText } from "./source-text.ts";
import { type CompiledRules, extractSymbols, resolveOwners } from "./symbols.ts";
import { START_OF_TEXT, type SyntaxTree } from "./syntax-node.ts";
import type { DraftSymbol, SymbolKind } from "./types.ts";

interface RecoveredSymbols {
  symbols: DraftSymbol[];
  /** Whether some lines could not be read by any parse. */
  isPartial: boolean;
}

interface Recovered extends RecoveredSymbols {
  /** The text without apparent macros, function bodies included; absent if there are none. */
  withoutMacros?: Pick<Skeleton, "units" | "changesDeclarations">;
  /** The contents of function bodies. */
  bodies: readonly Gap[];
}

/** Languages with blocks in braces. */
const BRACES: Partial<Record<GrammarName, Preprocessor>> = {
  c: "macros",
  cpp: "macros",
  csharp: "conditionals",
  dart: "none",
  go: "none",
  java: "none",
  javascript: "none",
  kotlin: "none",
  php: "none",
  rust: "none",
  scala: "none",
  swift: "none",
  tsx: "none",
  typescript: "none",
  zig: "none",
};

/** A text and the parts of it that are left out. */
type BaredText = Pick<Skeleton, "units" | "gaps">;

/** Parses the pieces of one file that has errors. */
export class Recovery {
  readonly #engine: SyntaxEngine;
  readonly #grammar: LoadedGrammar;
  readonly #compiled: CompiledRules;
  readonly #source: SourceText;
  readonly #budget: WorkBudget;

  /** @param budget what the file's first parse has left over for all further parses */
  constructor(
    engine: SyntaxEngine,
    grammar: LoadedGrammar,
    compiled: CompiledRules,
    source: SourceText,
    budget: WorkBudget,
  ) {
    this.#engine = engine;
    this.#grammar = grammar;
    this.#compiled = compiled;
    this.#source = source;
    this.#budget = budget;
  }

  /**
   * Finds symbols hidden by errors: after an error, a parser may read nothing more up to the end of the file. The file is
   * parsed again without function bodies, which contain most errors. Damaged ranges that remain are cut where a top-level
   * declaration seems to begin; each piece is parsed by itself, then its members. The budget bounds the total cost.
   */
  recover(name: GrammarName, units: Uint16Array, symbols: DraftSymbol[], damaged: readonly RowRange[]): Recovered {
    const bared = this.#withoutBodies(name, units);
    if (bared === undefined) return { ...this.#recoverPieces({ units, gaps: [] }, symbols, damaged), bodies: [] };
    const { units: skeleton, gaps, macros } = bared;
    // Some of these symbols may be macros that were read as declared names, or parts of expressions.
    const plausible = plausibleOf(symbols, bared);
    const parsed = this.#engine.parse(skeleton, this.#source.text, this.#grammar, this.#budget, START_OF_TEXT, gaps);
    const pieces = parsed.ok
      ? this.#recoverBare(bared, parsed.tree, plausible)
      : this.#recoverPieces(bared, plausible, damaged);
    const recovered = { ...pieces, bodies: gaps };
    return macros.size === 0 && !bared.changesDeclarations ? recovered : { ...recovered, withoutMacros: bared };
  }

  #recoverBare(bared: BaredText, tree: SyntaxTree, plausible: DraftSymbol[]): RecoveredSymbols {
    const bare = extractSymbols(tree, this.#source, this.#compiled).symbols;
    return this.#recoverPieces(bared, this.#merge(plausible, bare, false), damagedRows(tree, this.#source));
  }

  #withoutBodies(name: GrammarName, units: Uint16Array): Skeleton | undefined {
    if (name === "bash") return { ...NOTHING_LEFT_OUT, units: shellSkeleton(this.#source, units) };
    const preprocessor = BRACES[name];
    return preprocessor === undefined ? undefined : skeletonOf(this.#source, units, preprocessor);
  }

  #recoverPieces(text: BaredText, symbols: DraftSymbol[], damaged: readonly RowRange[]): RecoveredSymbols {
    const found: DraftSymbol[] = [];
    let isPartial = false;
    for (const range of damaged) isPartial = this.#parsePieces(text, range, 0, undefined, found) || isPartial;
    return { symbols: damaged.length === 0 ? symbols : this.#merge(symbols, found, true), isPartial };
  }

  /**
   * Parses each declaration in a range by itself, and the members of those that still have errors. Adds to `found`.
   *
   * @param container index in `found` of the type that the range is the body of
   * @returns whether lines are left that could not be read
   */
  #parsePieces(
    text: BaredText,
    range: RowRange,
    depth: number,
    container: number | undefined,
    found: DraftSymbol[],
  ): boolean {
    const source = this.#source;
    let isPartial = false;
    for (const piece of piecesOf(source, range, depth === 0 ? 0 : bodyIndent(source, range))) {
      if (isClosing(source, piece)) continue;
      const start = found.length;
      const read = (rows: RowRange): boolean => {
        found.length = start;
        const isRead = this.#parsePiece(text, rows, found);
        if (container !== undefined) adopt(found, start, container, this.#compiled.rules.separator);
        return isRead;
      };
      if (read(piece)) continue;
      const head = { from: piece.from, to: headEnd(source, piece) };
      const body = { from: head.to + 1, to: piece.to };
      if (depth < MAX_DEPTH && body.from <= body.to && this.#budget.calls >= 0) {
        read(head);
        const type = found.findLastIndex(({ kind }, index) => index >= start && CONTAINERS.has(kind));
        if (type !== -1) {
          // A head that is parsed alone ends with its line.
          found[type]!.end = source.contentEnd(piece.to);
          found[type]!.endRow = piece.to;
          isPartial = this.#parsePieces(text, body, depth + 1, type, found) || isPartial;
          continue;
        }
        read(piece);
      }
      isPartial = true;
    }
    return isPartial;
  }

  /** Adds a piece's symbols; returns whether all its lines could be read. */
  #parsePiece({ units, gaps }: BaredText, range: RowRange, found: DraftSymbol[]): boolean {
    const engine = this.#engine;
    const grammar = this.#grammar;
    const compiled = this.#compiled;
    const source = this.#source;
    const budget = this.#budget;
    const { from, to } = range;
    budget.calls -= PIECE_CALLS;
    if (budget.calls < 0) return false;
    const offset = source.lineStarts[from]!;
    const piece = units.subarray(offset, source.lineStarts[to + 1]);
    const origin = { offset, row: from };
    const parsed = engine.parse(piece, source.text, grammar, budget, origin, gapsWithin(gaps, source, range));
    if (!parsed.ok) return false;
    append(found, extractSymbols(parsed.tree, source, compiled).symbols);
    return !hasUnreadLines(parsed.tree, source, range);
  }

  /**
   * Symbols of two parses in document order. If both have a symbol, the second one wins: it has fewer errors around it.
   *
   * @param ofPieces whether the second parse was of pieces, whose symbols lack the enclosing namespaces
   */
  #merge(first: readonly DraftSymbol[], second: readonly DraftSymbol[], ofPieces: boolean): DraftSymbol[] {
    const spaces = ofPieces ? first.filter(({ kind }) => SPACES.has(kind)).slice(0, MAX_SPACES) : [];
    const spaceKeys = new Set(spaces.map(keyOf));
    const isSpace = (symbol: DraftSymbol) => spaceKeys.has(keyOf(symbol));
    const added = second.filter((symbol) => !isSpace(symbol));
    const byKey = new Map(added.map((symbol) => [keyOf(symbol), symbol]));
    const parents = new Map<DraftSymbol, DraftSymbol | undefined>();
    for (const symbol of first) {
      if (byKey.has(keyOf(symbol))) continue;
      const parent = symbol.parent === null ? undefined : first[symbol.parent];
      parents.set(symbol, parent && (byKey.get(keyOf(parent)) ?? parent));
    }
    for (const symbol of added) {
      const outermost = outermostOf(symbol, second);
      const space = spaces.findLast(({ start, end }) => start < symbol.start && end >= symbol.end);
      const parent = symbol.parent === null ? undefined : second[symbol.parent];
      parents.set(symbol, parent === undefined || isSpace(parent) ? space : parent);
      if (space !== undefined && !isSpace(outermost))
        symbol.qualifiedName = `${space.qualifiedName}${this.#compiled.rules.separator}${symbol.qualifiedName}`;
    }
    const symbols = [...parents.keys()].sort((a, b) => a.start - b.start || b.end - a.end);
    const indexes = new Map(symbols.map((symbol, index) => [symbol, index]));
    for (const symbol of symbols) {
      const parent = parents.get(symbol);
      symbol.parent = (parent === symbol ? undefined : parent && indexes.get(parent)) ?? null;
    }
    resolveOwners(symbols);
    return symbols;
  }
}

/** Whether rows have nothing but the ends of blocks and comments. */
function isClosing(source: SourceText, { from, to }: RowRange): boolean {
  for (let row = from; row <= to; row++) if (!CLOSING.test(source.line(row).slice(0, MAX_CLOSING).trim())) return false;
  return true;
}

const CLOSING = /^(?:[)}\]]+[;,]?\s*)?(?:\/\/|\/\*.*\*\/$|$)/;
/** The beginning of a line that is looked at. */
const MAX_CLOSING = 300;

/** The gaps in a range of rows, or what of them is in it. */
function gapsWithin(gaps: readonly Gap[], { lineStarts }: SourceText, range: RowRange): Gap[] {
  const within: Gap[] = [];
  for (let index = firstEndingAfter(gaps, range.from); index < gaps.length; index++) {
    const gap = gaps[index]!;
    if (gap.row > range.to) break;
    const row = Math.max(gap.row, range.from);
    const endRow = Math.min(gap.endRow, range.to + 1);
    within.push({ row, endRow, start: lineStarts[row]!, end: lineStarts[endRow]! });
  }
  return within;
}

function firstEndingAfter(gaps: readonly Gap[], row: number): number {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (gaps[middle]!.endRow <= row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Cost of starting a parse, in progress calls. */
const PIECE_CALLS = 5;
/** Depth of nested types whose members are parsed separately. */
const MAX_DEPTH = 3;
const SPACES: ReadonlySet<string> = new Set(["namespace", "module"]);
const CONTAINERS: ReadonlySet<string> = new Set([
  ...SPACES,
  "class",
  "struct",
  "interface",
  "enum",
  "trait",
  "object",
  "extension",
]);
const MAX_SPACES = 50;
/** Maximum symbol depth; parents may form a cycle in broken code. */
const MAX_NESTING = 100;

function outermostOf(symbol: DraftSymbol, symbols: readonly DraftSymbol[]): DraftSymbol {
  let outer = symbol;
  for (let depth = 0; outer.parent !== null && depth < MAX_NESTING; depth++) outer = symbols[outer.parent]!;
  return outer;
}

function keyOf({ name, nameStart }: DraftSymbol): string {
  return `${nameStart} ${name}`;
}

/** Sets the parent of parentless symbols from `start` on to the type whose body they were cut from. */
function adopt(found: DraftSymbol[], start: number, container: number, separator: string): void {
  const { qualifiedName, kind } = found[container]!;
  const isType = !SPACES.has(kind);
  for (const symbol of found.slice(start)) {
    if (symbol.parent === null) {
      symbol.parent = container;
      if (isType) symbol.kind = MEMBER_KINDS.get(symbol.kind) ?? symbol.kind;
    }
    symbol.qualifiedName = `${qualifiedName}${separator}${symbol.qualifiedName}`;
  }
}

const MEMBER_KINDS: ReadonlyMap<SymbolKind, SymbolKind> = new Map([
  ["function", "method"],
  ["variable", "field"],
]);

const NOTHING_LEFT_OUT = { gaps: [], macros: new Set<number>(), parts: new Set<number>(), changesDeclarations: false };

/** Symbols that are no macros and no parts of expressions. */
function plausibleOf(symbols: readonly DraftSymbol[], { macros, parts }: Skeleton): DraftSymbol[] {
  const kept = symbols.filter(({ nameStart, startRow }) => !macros.has(nameStart) && !parts.has(startRow));
  const indexes = new Map(kept.map((symbol, index) => [symbol, index]));
  for (const symbol of kept)
    symbol.parent = symbol.parent === null ? null : (indexes.get(symbols[symbol.parent]!) ?? null);
  return kept;
}

/** Appends a list whose parent indexes refer to that list. */
function append(into: DraftSymbol[], more: readonly DraftSymbol[]): void {
  const base = into.length;
  for (const symbol of more) into.push({ ...symbol, parent: symbol.parent === null ? null : symbol.parent + base });
}
