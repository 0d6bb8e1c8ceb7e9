import type { LoadedGrammar } from "./core.ts";
import type { SyntaxEngine, WorkBudget } from "./engine.ts";
import type { GrammarName } from "./languages.ts";
import { skeletonOf } from "./skeleton.ts";
import type { SourceText } from "./source-text.ts";
import { type CompiledRules, extractSymbols, resolveOwners } from "./symbols.ts";
import { ERROR_TYPE_ID, type SyntaxNode, type SyntaxTree } from "./syntax-node.ts";
import type { DraftSymbol, SymbolKind } from "./types.ts";

/** Rows `from` to `to`, both inclusive. */
export interface RowRange {
  from: number;
  to: number;
}

export interface Recovered {
  symbols: DraftSymbol[];
  /** Whether some lines could not be read by any parse. */
  isPartial: boolean;
}

/** Languages with blocks in braces; `true` for those with macros. */
const BRACES: Partial<Record<GrammarName, boolean>> = {
  c: true,
  cpp: true,
  csharp: false,
  dart: false,
  go: false,
  java: false,
  javascript: false,
  kotlin: false,
  php: false,
  rust: false,
  scala: false,
  swift: false,
  tsx: false,
  typescript: false,
  zig: false,
};

/** Parses the pieces of one file that has errors. */
export class Recovery {
  private readonly engine: SyntaxEngine;
  private readonly grammar: LoadedGrammar;
  private readonly compiled: CompiledRules;
  private readonly source: SourceText;
  private readonly budget: WorkBudget;

  /** @param budget what the file's first parse has left over for all further parses */
  constructor(
    engine: SyntaxEngine,
    grammar: LoadedGrammar,
    compiled: CompiledRules,
    source: SourceText,
    budget: WorkBudget,
  ) {
    this.engine = engine;
    this.grammar = grammar;
    this.compiled = compiled;
    this.source = source;
    this.budget = budget;
  }

  /**
   * Finds symbols hidden by errors: after an error, a parser may read nothing more up to the end of the file. The file is
   * parsed again without function bodies, which contain most errors. Damaged ranges that remain are cut where a top-level
   * declaration seems to begin; each piece is parsed by itself, then its members. The budget bounds the total cost.
   */
  recover(name: GrammarName, units: Uint16Array, symbols: DraftSymbol[], damaged: readonly RowRange[]): Recovered {
    const hasMacros = BRACES[name];
    if (hasMacros === undefined) return this.recoverPieces(units, symbols, damaged);
    const { units: skeleton, macros } = skeletonOf(this.source, units, hasMacros);
    // Some of these symbols may be macros that were read as declared names.
    const plausible = withoutMacros(symbols, macros);
    const parsed = this.engine.parse(skeleton, this.source.text, this.grammar, this.budget);
    if (!parsed.ok) return this.recoverPieces(skeleton, plausible, damaged);
    const bare = extractSymbols(parsed.tree, this.source, this.compiled).symbols;
    return this.recoverPieces(skeleton, this.merge(plausible, bare, false), damagedRows(parsed.tree, this.source));
  }

  private recoverPieces(units: Uint16Array, symbols: DraftSymbol[], damaged: readonly RowRange[]): Recovered {
    const found: DraftSymbol[] = [];
    let isPartial = false;
    for (const range of damaged) isPartial = this.parsePieces(units, range, 0, undefined, found) || isPartial;
    return { symbols: damaged.length === 0 ? symbols : this.merge(symbols, found, true), isPartial };
  }

  /**
   * Parses each declaration in a range by itself, and the members of those that still have errors. Adds to `found`.
   *
   * @param container index in `found` of the type that the range is the body of
   * @returns whether lines are left that could not be read
   */
  private parsePieces(
    units: Uint16Array,
    range: RowRange,
    depth: number,
    container: number | undefined,
    found: DraftSymbol[],
  ): boolean {
    const { source } = this;
    let isPartial = false;
    for (const piece of piecesOf(source, range, depth === 0 ? 0 : bodyIndent(source, range))) {
      const start = found.length;
      const read = (rows: RowRange): boolean => {
        found.length = start;
        const isRead = this.parsePiece(units, rows, found);
        if (container !== undefined) adopt(found, start, container, this.compiled.rules.separator);
        return isRead;
      };
      if (read(piece)) continue;
      const head = { from: piece.from, to: headEnd(source, piece) };
      const body = { from: head.to + 1, to: piece.to };
      if (depth < MAX_DEPTH && body.from <= body.to && this.budget.calls >= 0) {
        read(head);
        const type = found.findLastIndex(({ kind }, index) => index >= start && CONTAINERS.has(kind));
        if (type !== -1) {
          // A head that is parsed alone ends with its line.
          found[type]!.end = source.contentEnd(piece.to);
          found[type]!.endRow = piece.to;
          isPartial = this.parsePieces(units, body, depth + 1, type, found) || isPartial;
          continue;
        }
        read(piece);
      }
      isPartial = true;
    }
    return isPartial;
  }

  /** Adds a piece's symbols; returns whether all its lines could be read. */
  private parsePiece(units: Uint16Array, range: RowRange, found: DraftSymbol[]): boolean {
    const { engine, grammar, compiled, source, budget } = this;
    const { from, to } = range;
    budget.calls -= PIECE_CALLS;
    if (budget.calls < 0) return false;
    const offset = source.lineStarts[from]!;
    const piece = units.subarray(offset, source.lineStarts[to + 1]);
    const parsed = engine.parse(piece, source.text, grammar, budget, { offset, row: from });
    if (!parsed.ok) return false;
    append(found, extractSymbols(parsed.tree, source, compiled).symbols);
    return !hasUnreadLines(parsed.tree, source, range);
  }

  /**
   * Symbols of two parses in document order. If both have a symbol, the second one wins: it has fewer errors around it.
   *
   * @param ofPieces whether the second parse was of pieces, whose symbols lack the enclosing namespaces
   */
  private merge(first: readonly DraftSymbol[], second: readonly DraftSymbol[], ofPieces: boolean): DraftSymbol[] {
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
        symbol.qualifiedName = `${space.qualifiedName}${this.compiled.rules.separator}${symbol.qualifiedName}`;
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

/** Cost of starting a parse, in progress calls. */
const PIECE_CALLS = 5;
/** Depth of nested types whose members are parsed separately. */
const MAX_DEPTH = 3;
const MAX_HEAD_ROWS = 30;
/** Maximum length of a comment after an opening brace. */
const MAX_BRACE_DISTANCE = 200;
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

/**
 * The rows outside error-free top-level nodes. This includes rows that no node covers, because after an error a parser may
 * omit the rest of the text from the tree.
 */
export function damagedRows(tree: SyntaxTree, source: SourceText): RowRange[] {
  const { root } = tree;
  if (!root.hasError) return [];
  const children = root.typeId === ERROR_TYPE_ID ? [] : root.children;
  const sound = children.filter((child) => !child.hasError);
  const ranges: RowRange[] = [];
  for (const { from, to } of uncoveredRows(sound, source, { from: 0, to: source.lineCount - 1 })) {
    // A type's head may be free of errors while its body is not; they belong together.
    const last = ranges.at(-1);
    let start = from;
    while (start > (last?.to ?? 0) && /^(?:[\s{]|$)/.test(source.line(start).slice(0, 1))) start--;
    if (last !== undefined && start <= last.to + 1) last.to = to;
    else ranges.push({ from: start, to });
  }
  return ranges;
}

/** Non-blank rows of a range that no node covers. */
function uncoveredRows(nodes: readonly SyntaxNode[], source: SourceText, range: RowRange): RowRange[] {
  const ranges: RowRange[] = [];
  let next = range.from;
  const add = (to: number) => {
    let from = next;
    while (from <= to && source.isBlank(from)) from++;
    if (from <= to) ranges.push({ from, to });
  };
  for (const node of nodes) {
    add(node.row - 1);
    next = Math.max(next, source.rowAt(Math.max(node.end - 1, node.start)) + 1);
  }
  add(range.to);
  return ranges;
}

/** Whether lines are in no node or only in an error. An error within a line hides no declaration around it. */
function hasUnreadLines(tree: SyntaxTree, source: SourceText, range: RowRange): boolean {
  const { root } = tree;
  if (!root.hasError) return false;
  if (tree.nodesOf([ERROR_TYPE_ID]).some((node) => node.endRow > node.row + 1)) return true;
  return uncoveredRows(root.children, source, range).length > 0;
}

/** Labels, access specifiers (`public:`), closing brackets and branches belong to the surrounding code. */
const CONTINUES = /^(?:[)\]}{]|\w+\s*:(?!:)|(?:else|elif|elsif|catch|rescue|finally|ensure|end|where)\b)/;
/** What may precede a top-level declaration: the end of another one, or a directive. */
const ENDS = /^(?:[)\]}]|#|end\b)|;$/;

/** Cuts a range before each line, indented by `indent` characters, that seems to begin a declaration. */
function piecesOf(source: SourceText, { from, to }: RowRange, indent: number): RowRange[] {
  const pieces: RowRange[] = [];
  let start = from;
  let isFree = false;
  for (let row = from; row <= to; row++) {
    const line = source.line(row);
    const content = line.trim();
    const depth = line.length - line.trimStart().length;
    const begins = content !== "" && depth === indent && !CONTINUES.test(content);
    if (row > start && begins && isFree) {
      pieces.push({ from: start, to: row - 1 });
      start = row;
    }
    isFree = content === "" || (depth <= indent && ENDS.test(content));
  }
  pieces.push({ from: start, to });
  return pieces;
}

/** The smallest indentation in a range, ignoring brackets and directives. */
function bodyIndent(source: SourceText, { from, to }: RowRange): number {
  let least = Number.POSITIVE_INFINITY;
  for (let row = from; row <= to; row++) {
    const line = source.line(row);
    const content = line.trimStart();
    if (content !== "" && !/^[#)\]}{]/.test(content)) least = Math.min(least, line.length - content.length);
  }
  return least;
}

/** Row of a type's opening brace, or the first row. */
function headEnd(source: SourceText, { from, to }: RowRange): number {
  for (let row = from; row <= Math.min(to, from + MAX_HEAD_ROWS); row++)
    if (/\{\s*(?:\/\/.*)?$/.test(source.line(row).slice(-MAX_BRACE_DISTANCE))) return row;
  return from;
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

function withoutMacros(symbols: readonly DraftSymbol[], macros: ReadonlySet<number>): DraftSymbol[] {
  const kept = symbols.filter(({ nameStart }) => !macros.has(nameStart));
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
