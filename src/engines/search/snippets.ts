import { innermost, type Place } from "./places.ts";
import type { SymbolPlace } from "./record.ts";
import { scanTerms } from "./scanner.ts";
import type { ScoredTerm } from "./score.ts";
import type { LoadedText } from "./types.ts";

/** Chooses what to show of a place: lines, the enclosing symbol, and shorter forms for a small budget. */

/** A chunk is narrowed to a symbol that has at least this share of its matches. */
const NARROW_SHARE = 0.6;
const MATCHING_LINES = 8;
const FEW_LINES = 2;
const MAX_LINE_UNITS = 240;
const LEFT_OUT = "…";

/** Kinds that a place is not narrowed to. */
const SMALL_KINDS: ReadonlySet<string> = new Set(["field", "variable", "constant", "enum_member", "key", "element"]);

export interface Shown {
  startLine: number;
  endLine: number;
  /** Ordinal of the symbol. */
  symbol: number | undefined;
  signature: string;
  /** Forms of the snippet, from the shortest to the whole. */
  forms: string[];
  /** Terms of the query that the lines hold. */
  terms: Set<number>;
}

interface Line {
  number: number;
  text: string;
  strength: number;
}

/** Decides what to show of a place whose texts were loaded. */
export function showPlace(place: Place, loaded: LoadedText, terms: ReadonlyMap<number, ScoredTerm>): Shown {
  const { record } = place.ranked;
  const found = new Set<number>();
  const lines = linesOf(place, loaded);
  const inChunk = lines.filter(({ number }) => number >= place.chunk.startLine && number <= place.chunk.endLine);
  const matches = inChunk.map((line) => ({ line, terms: termsOf(line.text, terms) }));
  for (const match of matches) {
    for (const { hash, weight, idf } of match.terms) {
      match.line.strength += weight * idf;
      found.add(hash);
    }
  }
  const narrow = place.defined ?? narrowSymbol(place, matches);
  const around = innermost(record, place.symbols, place.chunk.startLine, place.chunk.endLine);
  const symbol = narrow ?? around ?? firstSymbol(place, inChunk);
  const range = rangeOf(place, lines, narrow ?? around);
  const shown = lines.filter(({ number }) => number >= range.startLine && number <= range.endLine);
  const at = symbol === undefined ? -1 : place.symbols.indexOf(symbol);
  const signature = (at < 0 ? undefined : loaded.signatures[at]) ?? "";
  const startLine = shown[0]?.number ?? range.startLine;
  const endLine = shown.at(-1)?.number ?? range.endLine;
  return { startLine, endLine, symbol, signature, forms: formsOf(shown, signature), terms: found };
}

/** The lines of the loaded chunks, in order. Blank lines between chunks are in none, and are empty here. */
function linesOf({ ranked, chunks }: Place, loaded: LoadedText): Line[] {
  const lines: Line[] = [];
  for (const [i, ordinal] of chunks.entries()) {
    const chunk = ranked.record.chunks[ordinal];
    if (!chunk) continue;
    const last = lines.at(-1)?.number;
    for (let number = (last ?? chunk.startLine - 1) + 1; number < chunk.startLine; number++)
      lines.push({ number, text: "", strength: 0 });
    const texts = (loaded.chunks[i] ?? "").split("\n");
    for (let number = chunk.startLine; number <= chunk.endLine; number++) {
      const text = texts[number - chunk.startLine] ?? "";
      lines.push({ number, text: text.endsWith("\r") ? text.slice(0, -1) : text, strength: 0 });
    }
  }
  return lines;
}

function termsOf(text: string, terms: ReadonlyMap<number, ScoredTerm>): Set<ScoredTerm> {
  const found = new Set<ScoredTerm>();
  const visit = (hash: number): void => {
    const term = terms.get(hash);
    if (term) found.add(term);
  };
  scanTerms(text, { word: visit, whole: visit });
  return found;
}

/** The symbol inside the chunk that has most of what matches in it, if it has enough. */
function narrowSymbol(
  { ranked, symbols, chunk }: Place,
  matches: readonly { line: Line; terms: ReadonlySet<ScoredTerm> }[],
): number | undefined {
  const strengthWithin = (from: number, to: number): number => {
    const distinct = new Set<ScoredTerm>();
    for (const { line, terms } of matches)
      if (line.number >= from && line.number <= to) for (const term of terms) distinct.add(term);
    let sum = 0;
    for (const { weight, idf } of distinct) sum += weight * idf;
    return sum;
  };
  const whole = strengthWithin(chunk.startLine, chunk.endLine);
  let best: { symbol: number; strength: number; lines: number } | undefined;
  for (const symbol of symbols) {
    const { kind, startLine, endLine } = ranked.record.symbols[symbol] as SymbolPlace;
    if (SMALL_KINDS.has(kind) || startLine < chunk.startLine || endLine > chunk.endLine) continue;
    const strength = strengthWithin(startLine, endLine);
    const lines = endLine - startLine;
    if (!best || strength > best.strength || (strength === best.strength && lines < best.lines))
      best = { symbol, strength, lines };
  }
  return best !== undefined && best.strength > 0 && best.strength >= NARROW_SHARE * whole ? best.symbol : undefined;
}

/** The symbol around the line that matches best. */
function firstSymbol({ ranked, symbols }: Place, lines: readonly Line[]): number | undefined {
  let best: Line | undefined;
  for (const line of lines) if (line.strength > (best?.strength ?? 0)) best = line;
  return best && innermost(ranked.record, symbols, best.number, best.number);
}

/** The lines to show: the symbol's where they were loaded, else the chunk's. */
function rangeOf(
  { ranked, chunk }: Place,
  lines: readonly Line[],
  symbol: number | undefined,
): { startLine: number; endLine: number } {
  const place = symbol === undefined ? undefined : ranked.record.symbols[symbol];
  if (!place) return chunk;
  const isLoaded = (lines[0]?.number ?? 0) <= place.startLine && (lines.at(-1)?.number ?? 0) >= place.endLine;
  if (isLoaded) return { startLine: place.startLine, endLine: place.endLine };
  // A definition that begins here and continues in the next chunk: from its first line to the end of this one.
  const begins = place.startLine >= chunk.startLine && place.startLine <= chunk.endLine;
  return { startLine: begins ? place.startLine : chunk.startLine, endLine: chunk.endLine };
}

/** Two matching lines, more matching lines, all lines; the signature before what does not begin with it. */
function formsOf(lines: readonly Line[], signature: string): string[] {
  const whole = lines.map(({ text }) => text).join("\n");
  const few = matchingLines(lines, signature, FEW_LINES);
  const more = matchingLines(lines, signature, MATCHING_LINES);
  return [few, more, whole].filter((form, i, all) => i === 2 || form.length < (all[i + 1] ?? "").length);
}

function matchingLines(lines: readonly Line[], signature: string, count: number): string {
  const chosen = new Set(
    lines
      .filter(({ strength }) => strength > 0)
      .toSorted((a, b) => b.strength - a.strength || a.number - b.number)
      .slice(0, count),
  );
  const texts: string[] = [];
  const head = lines[0];
  if (head && !chosen.has(head)) texts.push(signature === "" ? cut(head.text) : cut(signature));
  let previous = head?.number ?? 0;
  for (const line of lines) {
    if (!chosen.has(line)) continue;
    if (line.number > previous + 1) texts.push(LEFT_OUT);
    texts.push(cut(line.text));
    previous = line.number;
  }
  if (previous < (lines.at(-1)?.number ?? 0)) texts.push(LEFT_OUT);
  return texts.join("\n");
}

function cut(text: string): string {
  return text.length <= MAX_LINE_UNITS ? text : `${text.slice(0, MAX_LINE_UNITS).toWellFormed()}${LEFT_OUT}`;
}
