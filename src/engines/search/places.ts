import type { RankedFile } from "./rerank.ts";
import type { ChunkPlace, ContentRecord, SymbolPlace } from "./record.ts";
import type { SearchIndex } from "./search-index.ts";

/** Chooses the chunks to show of the ranked files. */

/** A second chunk of a file is shown if it has this share of the first one's focus and is this far away. */
const SECOND_SHARE = 0.9;
const FAR_LINES = 100;
/** Subtracted from the score of a file's second place. */
const SECOND_PENALTY = 5;
/** A definition with at least this score decides which chunk is shown. */
const SURE_DEFINITION = 0.3;
/** A definition of more lines is not shown as a whole. */
const MAX_WHOLE_LINES = 150;
/** Signatures loaded for a place at most. */
const MAX_SYMBOLS = 40;

/** A chunk of a ranked file that answers. */
export interface FoundChunk {
  ranked: RankedFile;
  score: number;
  /** Document of the chunk. */
  document: number;
}

/** A chunk that was found, with what to read to show it. */
export interface Place extends FoundChunk {
  chunk: ChunkPlace;
  /** Ordinals of the chunks to read, the one found among them. */
  chunks: number[];
  /** Ordinals of symbols that the place may show. */
  symbols: number[];
  /** The symbol that the query names. */
  defined: number | undefined;
}

/** Whether `findChunks` needs the symbols of a file. */
export function needsSymbols({ definition }: RankedFile, kinds: ReadonlySet<string>): boolean {
  return kinds.size > 0 || (definition !== undefined && definition.score >= SURE_DEFINITION);
}

/**
 * The chunks of the ranked files that answer, best first: one a file, or two. `kinds`, where not empty, are the symbol kinds that a
 * chunk must show.
 */
export function findChunks(index: SearchIndex, files: readonly RankedFile[], kinds: ReadonlySet<string>): FoundChunk[] {
  const found: FoundChunk[] = [];
  for (const ranked of files) {
    const [first, second] = bestChunks(index, ranked, kinds);
    if (first === undefined) continue;
    found.push({ ranked, score: ranked.score, document: first });
    if (second !== undefined) found.push({ ranked, score: ranked.score - SECOND_PENALTY, document: second });
  }
  return found.sort((a, b) => b.score - a.score || a.ranked.file - b.ranked.file || a.document - b.document);
}

function bestChunks(
  { firstDocuments }: SearchIndex,
  { file, record, definition, focus }: RankedFile,
  kinds: ReadonlySet<string>,
): [first: number | undefined, second: number | undefined] {
  const base = firstDocuments[file] as number;
  const fits = (chunk: ChunkPlace): boolean =>
    kinds.size === 0 ||
    record.symbols.some((s) => kinds.has(s.kind) && s.startLine <= chunk.endLine && s.endLine >= chunk.startLine);
  const order = record.chunks
    .map((chunk, i) => ({ chunk, document: base + i, score: focus[i] as number }))
    .filter(({ chunk }) => fits(chunk))
    .sort((a, b) => b.score - a.score || a.document - b.document);
  const [best] = order;
  if (!best) return [undefined, undefined];
  const line =
    definition && definition.score >= SURE_DEFINITION ? record.symbols[definition.symbol]?.startLine : undefined;
  const defining =
    line === undefined ? undefined : order.find(({ chunk }) => chunk.startLine <= line && chunk.endLine >= line);
  const first = defining ?? best;
  const second = order.find(
    ({ chunk, document, score }) =>
      document !== first.document &&
      score > 0 &&
      score >= SECOND_SHARE * best.score &&
      Math.max(chunk.startLine - first.chunk.endLine, first.chunk.startLine - chunk.endLine) >= FAR_LINES,
  );
  return [first.document, second?.document];
}

/** What to read to show a chunk: the whole definition around it where that is not too long. */
export function placeOf(
  { firstDocuments }: SearchIndex,
  { ranked, document, score }: FoundChunk,
  kinds: ReadonlySet<string>,
): Place {
  const { record, definition, file } = ranked;
  const ordinal = document - (firstDocuments[file] as number);
  const chunk = record.chunks[ordinal] as ChunkPlace;
  const symbols = record.symbols
    .map((symbol, i) => ({ symbol, i }))
    .filter(({ symbol }) => symbol.startLine <= chunk.endLine && symbol.endLine >= chunk.startLine)
    .filter(({ symbol }) => kinds.size === 0 || kinds.has(symbol.kind))
    .slice(0, MAX_SYMBOLS)
    .map(({ i }) => i);
  const around = innermost(record, symbols, chunk.startLine, chunk.endLine);
  const whole = around !== undefined && isWhole(record.symbols[around] as SymbolPlace) ? around : undefined;
  const chunks = whole === undefined ? [ordinal] : chunksOf(record, record.symbols[whole] as SymbolPlace);
  const defined = definition !== undefined && symbols.includes(definition.symbol) ? definition.symbol : undefined;
  return { ranked, score, document, chunk, chunks: chunks.includes(ordinal) ? chunks : [ordinal], symbols, defined };
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
