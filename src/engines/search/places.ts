import { inlineTests, linesWithin } from "./inline-tests.ts";
import type { LineRange } from "./pack.ts";
import { nameWords } from "./paths.ts";
import { splitPath } from "./traits.ts";
import type { RankedFile } from "./rerank.ts";
import type { ChunkPlace, ContentRecord, SymbolPlace } from "./record.ts";
import type { WordEvidence } from "./word-evidence.ts";

/** Chooses the chunks of the ranked files that may be shown. */

/** Chunks with less of the best one's focus are not looked at. */
const FOCUS_SHARE = 0.15;
/** Further chunks of a file are offered if they have this share of the best one's worth; the first file of an answer has more to tell. */
const WORTH_SHARE = 0.7;
const FIRST_FILE_WORTH_SHARE = 0.4;
/** What the second and third best chunk of a long function add to the best one. */
const SAME_FUNCTION_SHARE = 0.4;
/** Shorter functions are in one chunk or two. */
const LONG_FUNCTION_LINES = 40;
/** What the best name of a definition in a chunk adds to its share of the focus. */
const NAME_WEIGHT = 1;
/** A definition with at least this score decides which chunk is shown. */
const SURE_DEFINITION = 0.3;
/** What a chunk counts of which more than half is tests, in a source file. */
const INLINE_TEST_SHARE = 0.3;
/** A definition of more lines is not read as a whole. */
const MAX_WHOLE_LINES = 150;
/** A symbol further below a chunk is not what it documents. */
const MAX_COMMENT_LINES = 200;
/** Signatures loaded for a file at most. */
const MAX_SYMBOLS = 40;

/** A ranked file with the chunks of it that answer. */
export interface FoundFile {
  ranked: RankedFile;
  /** The chunks, best first; at least one. */
  chunks: FoundChunk[];
  /** Texts whose line is to be shown, if they are not the quoted ones of the query. */
  literals?: readonly string[];
}

interface FoundChunk {
  /** Ordinal in the content. */
  ordinal: number;
  /** Share of the best one's: 0 to 1. */
  worth: number;
}

/** A chunk that may be shown, with what to read for it. */
export interface Place {
  ranked: RankedFile;
  worth: number;
  chunk: ChunkPlace;
  /** Ordinals of the chunks to read, the one found among them. */
  chunks: number[];
  /** Ordinals of symbols that the place may show. */
  symbols: number[];
  /** The symbol that the query names. */
  defined: number | undefined;
  /** The symbol that the chunk is about if these lines of it are only a comment. */
  documented: { symbol: number; lines: LineRange } | undefined;
  /** How well the name of a symbol answers: 0 to 1. */
  nameWorth: (symbol: number) => number;
  /** Lines of tests in the file, which are worth less than what they test. */
  tests: readonly LineRange[];
}

/** Whether `findFiles` needs the symbols of a file. */
export function needsSymbols({ definition }: RankedFile, kinds: ReadonlySet<string>): boolean {
  return kinds.size > 0 || (definition !== undefined && definition.score >= SURE_DEFINITION);
}

/**
 * The ranked files that answer, in their order, with the chunks to show. `kinds`, where not empty, are the symbol kinds that a chunk
 * must show; `every` keeps those without focus too.
 */
export function findFiles(
  files: readonly RankedFile[],
  kinds: ReadonlySet<string>,
  { every }: { every: boolean },
): FoundFile[] {
  return files.flatMap((ranked) => {
    const chunks = bestChunks(ranked, kinds, every);
    return chunks.length === 0 ? [] : [{ ranked, chunks }];
  });
}

function bestChunks(
  { record, definition, focus }: RankedFile,
  kinds: ReadonlySet<string>,
  every: boolean,
): FoundChunk[] {
  const fits = (chunk: ChunkPlace): boolean =>
    kinds.size === 0 ||
    record.symbols.some((s) => kinds.has(s.kind) && s.startLine <= chunk.endLine && s.endLine >= chunk.startLine);
  const order = record.chunks
    .map((chunk, ordinal) => ({ chunk, ordinal, score: focus[ordinal] as number }))
    .filter(({ chunk }) => fits(chunk))
    .sort((a, b) => b.score - a.score || a.ordinal - b.ordinal);
  const [best] = order;
  if (!best) return [];
  const line =
    definition && definition.score >= SURE_DEFINITION
      ? record.symbols[bodyOf(record, definition.symbol)]?.startLine
      : undefined;
  const defining =
    line === undefined ? undefined : order.find(({ chunk }) => chunk.startLine <= line && chunk.endLine >= line);
  const first = defining ?? best;
  const further = order
    .filter((one) => one !== first && (every || (one.score > 0 && one.score >= FOCUS_SHARE * best.score)))
    .map(({ ordinal, score }) => ({ ordinal, worth: score / (best.score || 1) }));
  return [{ ordinal: first.ordinal, worth: 1 }, ...further];
}

/** The symbol's definition with a body where the file declares it as well: of its name and kind the one of most lines. */
function bodyOf({ symbols }: ContentRecord, symbol: number): number {
  const { qualifiedName, kind } = symbols[symbol] as SymbolPlace;
  let best = symbol;
  const linesOf = (i: number): number => (symbols[i] as SymbolPlace).endLine - (symbols[i] as SymbolPlace).startLine;
  for (const [i, other] of symbols.entries())
    if (other.qualifiedName === qualifiedName && other.kind === kind && linesOf(i) > linesOf(best)) best = i;
  return best;
}

/** Names of definitions that tell what a place is about. */
const NAMED_KINDS: ReadonlySet<string> = new Set(
  "function method constructor class interface struct trait macro type module object enum".split(" "),
);

const FUNCTION_KINDS: ReadonlySet<string> = new Set(["function", "method", "constructor"]);

/** A function of fewer lines may be declared only, if a longer one of the file has its name. */
const MAX_DECLARATION_LINES = 5;

/** How well the name of each symbol of the file answers; 0 for declarations, which have no body. */
function nameWorths(path: string, { record }: RankedFile, words: WordEvidence, tests: readonly LineRange[]): number[] {
  const longest = new Map<string, number>();
  for (const { qualifiedName, startLine, endLine } of record.symbols)
    longest.set(qualifiedName, Math.max(longest.get(qualifiedName) ?? 0, endLine - startLine));
  const isDeclared = ({ kind, qualifiedName, startLine, endLine }: SymbolPlace): boolean =>
    endLine === startLine ||
    (FUNCTION_KINDS.has(kind) &&
      endLine - startLine < MAX_DECLARATION_LINES &&
      endLine - startLine < (longest.get(qualifiedName) ?? 0));
  const parts = splitPath(path);
  const pathWords = new Set([...nameWords(parts.stem), ...nameWords(parts.folders.at(-1) ?? "")]);
  return record.symbols.map((symbol) => {
    const { kind, name } = symbol;
    const isNamed = NAMED_KINDS.has(kind) && words.mayMatch(name) && !isDeclared(symbol);
    return isNamed && linesWithin(tests, symbol) === 0 ? words.placeWorth(name, pathWords) : 0;
  });
}

/**
 * The places of a file, best first, at most `count`: a chunk counts by its focus and by the best name of a definition that begins in
 * it. The chunk of a sure definition stays first. The record must have its symbols. `isTop`: it is the answer's
 * first file. With `isHead` nothing is shown but the line of the best place, and its chunk alone is to be read.
 */
export function placesOf(
  { ranked, chunks }: FoundFile,
  words: WordEvidence,
  {
    path,
    kinds,
    count,
    isTop,
    isHead,
    testsOf,
  }: {
    path: string;
    kinds: ReadonlySet<string>;
    count: number;
    isTop: boolean;
    isHead: boolean;
    /** Language of a source file of which tests are not asked for. */
    testsOf: string | undefined;
  },
): Place[] {
  const { record, definition } = ranked;
  const tests = testsOf === undefined ? [] : inlineTests(record, testsOf);
  const names = nameWorths(path, ranked, words, tests);
  const isSure = definition !== undefined && definition.score >= SURE_DEFINITION;
  const named = record.symbols.flatMap(({ startLine }, i) => {
    const worth = names[i] ?? 0;
    return worth > 0 ? [{ line: startLine, worth }] : [];
  });
  const scored = chunks.map(({ ordinal, worth }, i) => {
    const chunk = record.chunks[ordinal] as ChunkPlace;
    const { startLine, endLine } = chunk;
    const share = 2 * linesWithin(tests, chunk) > endLine - startLine + 1 ? INLINE_TEST_SHARE : 1;
    let name = 0;
    for (const one of named) if (one.line >= startLine && one.line <= endLine) name = Math.max(name, one.worth);
    return { ordinal, worth: share * worth + NAME_WEIGHT * name, isFirst: isSure && i === 0 };
  });
  addWithinFunctions(record, scored);
  scored.sort((a, b) => Number(b.isFirst) - Number(a.isFirst) || b.worth - a.worth || a.ordinal - b.ordinal);
  const most = Math.max(1e-9, ...scored.map(({ worth }) => worth));
  const least = (isTop ? FIRST_FILE_WORTH_SHARE : WORTH_SHARE) * most;
  return scored
    .filter(({ worth }, i) => i === 0 || worth >= least)
    .slice(0, count)
    .map(({ ordinal, worth }) =>
      placeOf(ranked, { ordinal, worth: worth / most }, { kinds, isHead, tests }, (symbol) => names[symbol] ?? 0),
    );
}

/** Adds to the best chunk of each function that is longer than a chunk what others of its chunks tell: no single one has it all. */
function addWithinFunctions(record: ContentRecord, chunks: readonly { ordinal: number; worth: number }[]): void {
  const isLong = ({ kind, startLine, endLine }: SymbolPlace): boolean =>
    FUNCTION_KINDS.has(kind) && endLine - startLine >= LONG_FUNCTION_LINES;
  const functions = record.symbols.flatMap((symbol, i) => (isLong(symbol) ? [i] : []));
  if (functions.length === 0) return;
  const parts = Map.groupBy(chunks, ({ ordinal }) => {
    const { startLine, endLine } = record.chunks[ordinal] as ChunkPlace;
    return innermost(record, functions, startLine, endLine);
  });
  for (const [symbol, own] of parts) {
    if (symbol === undefined || own.length < 2) continue;
    const [best, second, third] = own.toSorted((a, b) => b.worth - a.worth || a.ordinal - b.ordinal);
    if (best) best.worth += SAME_FUNCTION_SHARE * ((second?.worth ?? 0) + (third?.worth ?? 0));
  }
}

/** What to read to show a chunk: the whole definition around it where that is not too long; for a head the chunk. */
function placeOf(
  ranked: RankedFile,
  { ordinal, worth }: FoundChunk,
  { kinds, isHead, tests }: { kinds: ReadonlySet<string>; isHead: boolean; tests: readonly LineRange[] },
  nameWorth: Place["nameWorth"],
): Place {
  const { record, definition } = ranked;
  const chunk = record.chunks[ordinal] as ChunkPlace;
  const symbols = record.symbols
    .map((symbol, i) => ({ symbol, i }))
    .filter(({ symbol }) => symbol.startLine <= chunk.endLine && symbol.endLine >= chunk.startLine)
    .filter(({ symbol }) => kinds.size === 0 || kinds.has(symbol.kind))
    .slice(0, MAX_SYMBOLS)
    .map(({ i }) => i);
  const around = isHead ? undefined : innermost(record, symbols, chunk.startLine, chunk.endLine);
  const whole = around !== undefined && isWhole(record.symbols[around] as SymbolPlace) ? around : undefined;
  const chunks = whole === undefined ? [ordinal] : chunksOf(record, record.symbols[whole] as SymbolPlace);
  const named = definition === undefined ? undefined : bodyOf(record, definition.symbol);
  const defined = named !== undefined && symbols.includes(named) ? named : undefined;
  const documented = documentedBy(record, chunk);
  const read = new Set(chunks.includes(ordinal) ? chunks : [ordinal]);
  if (documented !== undefined) {
    symbols.push(documented.symbol);
    const symbol = record.symbols[documented.symbol] as SymbolPlace;
    const own = isHead ? [] : chunksOf(record, symbol).slice(0, isWhole(symbol) ? undefined : 1);
    for (const one of own) read.add(one);
  }
  return { ranked, worth, chunk, chunks: [...read], symbols, defined, documented, nameWorth, tests };
}

/**
 * The next symbol below a chunk in which none begins, or only what contains it, such as a module: a documentation that is longer than a chunk may
 * be above it, in the lines behind the last of those beginnings.
 */
function documentedBy({ symbols }: ContentRecord, { startLine, endLine }: ChunkPlace): Place["documented"] {
  const below = symbols.flatMap((symbol, i) =>
    symbol.startLine > endLine && symbol.startLine <= endLine + MAX_COMMENT_LINES ? [{ symbol, i }] : [],
  );
  const next = below.reduce<(typeof below)[number] | undefined>(
    (nearest, one) => (nearest && nearest.symbol.startLine <= one.symbol.startLine ? nearest : one),
    undefined,
  );
  if (!next) return undefined;
  const begun = symbols.filter((symbol) => symbol.startLine >= startLine && symbol.startLine <= endLine);
  if (begun.some((symbol) => symbol.endLine < next.symbol.endLine)) return undefined;
  const first = Math.max(startLine, ...begun.map((symbol) => symbol.startLine + 1));
  return first > endLine ? undefined : { symbol: next.i, lines: { startLine: first, endLine } };
}

function isWhole({ startLine, endLine }: SymbolPlace): boolean {
  return endLine - startLine < MAX_WHOLE_LINES;
}

function chunksOf({ chunks }: ContentRecord, { startLine, endLine }: SymbolPlace): number[] {
  return chunks.flatMap((chunk, i) => (chunk.startLine <= endLine && chunk.endLine >= startLine ? [i] : []));
}

/** The shortest of the symbols that contains the lines; of equal ones the last. */
export function innermost(
  { symbols }: Pick<ContentRecord, "symbols">,
  ordinals: readonly number[],
  startLine: number,
  endLine: number,
): number | undefined {
  let best: number | undefined;
  for (const i of ordinals) {
    const symbol = symbols[i];
    if (!symbol || symbol.startLine > startLine || symbol.endLine < endLine) continue;
    const known = best === undefined ? undefined : symbols[best];
    if (!known || symbol.endLine - symbol.startLine <= known.endLine - known.startLine) best = i;
  }
  return best;
}
