import type { RankedFile } from "./rerank.ts";
import type { ChunkPlace, ContentRecord, SymbolPlace } from "./record.ts";

/** Chooses the chunks of the ranked files that may be shown. */

/** Further chunks of a file are offered if they have this share of the best one's focus. */
const FOCUS_SHARE = 0.5;
/** A definition with at least this score decides which chunk is shown. */
const SURE_DEFINITION = 0.3;
/** A definition of more lines is not read as a whole. */
const MAX_WHOLE_LINES = 150;
/** Signatures loaded for a file at most. */
const MAX_SYMBOLS = 40;

/** A ranked file with the chunks of it that answer. */
export interface FoundFile {
  ranked: RankedFile;
  /** Ordinals of the chunks, best first; at least one. `worth` is the share of the best one's focus, 1 for the first. */
  chunks: { ordinal: number; worth: number }[];
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
}

/** Whether `findFiles` needs the symbols of a file. */
export function needsSymbols({ definition }: RankedFile, kinds: ReadonlySet<string>): boolean {
  return kinds.size > 0 || (definition !== undefined && definition.score >= SURE_DEFINITION);
}

/**
 * The ranked files that answer, in their order, with the chunks to show. `kinds`, where not empty, are the symbol kinds that a chunk
 * must show.
 */
export function findFiles(files: readonly RankedFile[], kinds: ReadonlySet<string>): FoundFile[] {
  return files.flatMap((ranked) => {
    const chunks = bestChunks(ranked, kinds);
    return chunks.length === 0 ? [] : [{ ranked, chunks }];
  });
}

function bestChunks({ record, definition, focus }: RankedFile, kinds: ReadonlySet<string>): FoundFile["chunks"] {
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
    definition && definition.score >= SURE_DEFINITION ? record.symbols[definition.symbol]?.startLine : undefined;
  const defining =
    line === undefined ? undefined : order.find(({ chunk }) => chunk.startLine <= line && chunk.endLine >= line);
  const first = defining ?? best;
  const further = order
    .filter((one) => one !== first && one.score > 0 && one.score >= FOCUS_SHARE * best.score)
    .map(({ ordinal, score }) => ({ ordinal, worth: score / best.score }));
  return [{ ordinal: first.ordinal, worth: 1 }, ...further];
}

/** What to read to show a chunk: the whole definition around it where that is not too long. */
export function placeOf(
  ranked: RankedFile,
  { ordinal, worth }: FoundFile["chunks"][number],
  kinds: ReadonlySet<string>,
): Place {
  const { record, definition } = ranked;
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
  return { ranked, worth, chunk, chunks: chunks.includes(ordinal) ? chunks : [ordinal], symbols, defined };
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
