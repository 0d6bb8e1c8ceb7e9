import { codeLines } from "./comment-lines.ts";
import { endOfHeader, IMPORT } from "./file-top.ts";
import type { LineRange, Offer, TextLine } from "./pack.ts";
import { lineOfLiteral } from "./literals.ts";
import { innermost, type Place } from "./places.ts";
import type { ContentRecord, SymbolPlace } from "./record.ts";
import { scanTerms } from "./scanner.ts";
import type { ScoredTerm } from "./score.ts";
import type { LoadedText } from "./types.ts";

/** Decides which lines of a found file are worth showing, and how much. */

/** A chunk is narrowed to a symbol that has at least this share of its matches. */
const NARROW_SHARE = 0.6;
/** What the name of a symbol adds to its share. */
const NARROW_NAME_WEIGHT = 1;
/** A definition of more lines is offered in parts. */
const MAX_WHOLE_LINES = 80;
/** Worth of a word that only comments and imports have. */
const COMMENT_SHARE = 0.3;
const ATTRIBUTE_OR_BLANK = /^\s{0,200}(?:#\[.*)?$/;
/** More than all words of a line together: a part of a definition shows the line of a literal. */
const LITERAL_STRENGTH = 10_000;
/** Share of what the lines match in the worth of a place; the rest is what the index tells of it. */
const TEXT_SHARE = 0.25;
/** What the name of a definition adds to its worth. */
const NAME_WEIGHT = 0.5;
/** A definition whose name answers so well is shown before what surrounds it. */
const SURE_NAME = 0.5;
/** A comment without code is offered with so many of the lines that follow. */
const LINES_AFTER_COMMENT = 12;

/** Kinds that a place is not narrowed to. */
const SMALL_KINDS: ReadonlySet<string> = new Set(["field", "variable", "constant", "enum_member", "key", "element"]);

/** What is worth showing of a file. */
export interface FileOffers {
  /** The best place. */
  best: LineRange;
  /** Ordinal of the symbol that the best place is, or lies in. */
  symbol: number | undefined;
  /** The query names that symbol. */
  isDefinition: boolean;
  lines: TextLine[];
  /** `worth` is the share of the best one's of the file. */
  offers: Offer[];
  /** Terms of the query that the lines hold. */
  terms: Set<number>;
}

/** Looks at the places of a file, the best first and at least one, whose texts were loaded. */
export function offersOf(
  places: readonly Place[],
  loaded: LoadedText,
  {
    terms,
    language,
    literals,
  }: { terms: ReadonlyMap<number, ScoredTerm>; language: string; literals: readonly string[] },
): FileOffers {
  const { record } = (places[0] as Place).ranked;
  const heads = new Set(record.symbols.filter(({ kind }) => !SMALL_KINDS.has(kind)).map(({ startLine }) => startLine));
  const text = new FileText(record.chunks, chunksToRead(places), loaded.chunks, { terms, language, literals, heads });
  const isSure = places[0]?.defined !== undefined;
  const seen = places.map((place, i) => {
    const line = lineOfLiteral(text.lines, place.chunk, literals);
    const below = line === undefined ? place.documented : undefined;
    const documented = below !== undefined && !text.hasCode(below.lines) ? below.symbol : undefined;
    const narrow = line === undefined ? (documented ?? place.defined ?? narrowSymbol(place, text)) : undefined;
    const { startLine, endLine } = line === undefined ? place.chunk : { startLine: line, endLine: line };
    const around = innermost(record, place.symbols, startLine, endLine);
    const symbol = narrow ?? (line === undefined ? openedBy(place, text) : undefined) ?? around;
    // What surrounds the symbol in its chunk is shown too: it often has what the answer needs.
    const shown = (narrowed: number | undefined): LineRange =>
      text.withCode(text.withoutHeader(text.withoutTests(rangeOf(place, text, narrowed), place.tests)));
    const range = shown(line === undefined ? (documented ?? place.defined ?? around) : around);
    const best = shown(symbol);
    const strength = text.strengthWithin(range.startLine, range.endLine);
    const name = symbol === undefined ? 0 : place.nameWorth(symbol);
    return { place, symbol, best, range, strength, name, isFirst: isSure && i === 0 };
  });
  const most = Math.max(1e-9, ...seen.map(({ strength }) => strength));
  const worths = new Map(
    seen.map((one) => [
      one,
      (1 - TEXT_SHARE) * one.place.worth + (TEXT_SHARE * one.strength) / most + NAME_WEIGHT * one.name,
    ]),
  );
  const worthOf = (one: (typeof seen)[number]): number => worths.get(one) ?? 0;
  // Sorting is stable: of equal places the first one.
  const scored = seen.toSorted((a, b) => Number(b.isFirst) - Number(a.isFirst) || worthOf(b) - worthOf(a));
  const highest = Math.max(...worths.values());
  const [best] = scored as [(typeof scored)[number], ...typeof scored];
  return {
    best: best.best,
    symbol: best.symbol ?? symbolAround(best.place, text),
    isDefinition: best.place.defined !== undefined,
    lines: text.lines,
    offers: scored.map((one): Offer => {
      const { startLine, endLine } = one.range;
      const core = one.name >= SURE_NAME ? one.best : undefined;
      return { startLine, endLine, core, worth: one.isFirst ? 1 : worthOf(one) / highest };
    }),
    terms: text.terms,
  };
}

/** Ordinals of the chunks to read for the places, in order. */
export function chunksToRead(places: readonly Place[]): number[] {
  return [...new Set(places.flatMap(({ chunks }) => chunks))].sort((a, b) => a - b);
}

/** What was read of a file, by line. */
class FileText {
  readonly lines: TextLine[] = [];
  readonly terms = new Set<number>();
  readonly #found: ReadonlySet<ScoredTerm>[] = [];
  /** Whether the terms of each line count fully: it is code and no import. */
  readonly #isTelling: boolean[] = [];
  readonly #at = new Map<number, number>();

  constructor(
    chunks: ContentRecord["chunks"],
    ordinals: readonly number[],
    texts: readonly string[],
    {
      terms,
      language,
      literals,
      heads,
    }: {
      terms: ReadonlyMap<number, ScoredTerm>;
      language: string;
      literals: readonly string[];
      heads: ReadonlySet<number>;
    },
  ) {
    const read: { number: number; text: string }[] = [];
    let last: { ordinal: number; endLine: number } | undefined;
    for (const [i, ordinal] of ordinals.entries()) {
      const chunk = chunks[ordinal];
      if (!chunk || texts[i] === undefined || texts[i] === "") continue;
      // Lines between successive chunks are blank.
      if (last?.ordinal === ordinal - 1)
        for (let number = last.endLine + 1; number < chunk.startLine; number++) read.push({ number, text: "" });
      const own = texts[i].split("\n");
      for (let number = chunk.startLine; number <= chunk.endLine; number++) {
        const line = own[number - chunk.startLine] ?? "";
        read.push({ number, text: line.endsWith("\r") ? line.slice(0, -1) : line });
      }
      last = { ordinal, endLine: chunk.endLine };
    }
    const isCode = codeLines(
      read.map(({ text }) => text),
      language,
    );
    for (const [i, { number, text }] of read.entries()) {
      const found = termsOf(text, terms);
      let strength = literals.some((literal) => text.includes(literal)) ? LITERAL_STRENGTH : 0;
      for (const { hash, weight, idf } of found) {
        strength += weight * idf;
        this.terms.add(hash);
      }
      this.#at.set(number, i);
      this.#found.push(found);
      this.#isTelling.push(isCode[i] === true && found.size > 0 && !IMPORT.test(text));
      this.lines.push({ number, text, strength, isCode: isCode[i] === true, isHead: heads.has(number) });
    }
  }

  hasCode({ startLine, endLine }: LineRange): boolean {
    for (let number = startLine; number <= endLine; number++)
      if (this.lines[this.#at.get(number) ?? -1]?.isCode === true) return true;
    return false;
  }

  /** The first lines of a range, as far as they were read. */
  readFrom({ startLine, endLine }: LineRange): LineRange {
    let last = startLine;
    while (last < endLine && this.#at.has(last + 1)) last++;
    return { startLine, endLine: last };
  }

  has({ startLine, endLine }: LineRange): boolean {
    const [from, to] = [this.#at.get(startLine), this.#at.get(endLine)];
    return from !== undefined && to !== undefined && to - from === endLine - startLine;
  }

  /** Strength of the distinct terms on the lines; less of those that only comments and imports have. */
  strengthWithin(startLine: number, endLine: number): number {
    const inCode = new Set<ScoredTerm>();
    const beside = new Set<ScoredTerm>();
    for (let number = startLine; number <= endLine; number++) {
      const at = this.#at.get(number);
      if (at === undefined) continue;
      const found = this.#isTelling[at] === true ? inCode : beside;
      for (const term of this.#found[at] ?? []) found.add(term);
    }
    let sum = 0;
    for (const { weight, idf } of inCode) sum += weight * idf;
    for (const term of beside) if (!inCode.has(term)) sum += COMMENT_SHARE * term.weight * term.idf;
    return sum;
  }

  strongest({ startLine, endLine }: LineRange): number | undefined {
    let best: TextLine | undefined;
    for (const line of this.lines)
      if (line.number >= startLine && line.number <= endLine && line.strength > (best?.strength ?? 0)) best = line;
    return best?.number;
  }

  /**
   * The range, without the licence, imports and comments that do not match at its beginning; a range that has nothing else as it is. A comment
   * stays with the code directly below it.
   */
  withoutHeader({ startLine, endLine }: LineRange): LineRange {
    const lines = this.lines.slice(this.#at.get(startLine) ?? 0, (this.#at.get(endLine) ?? -1) + 1);
    const first = lines[endOfHeader(lines)];
    return { startLine: first?.number ?? startLine, endLine };
  }

  /** The range, without the tests at its end and their attributes; a range that has nothing else as it is. */
  withoutTests({ startLine, endLine }: LineRange, tests: readonly LineRange[]): LineRange {
    let last = endLine;
    for (const test of tests.toReversed()) {
      if (test.startLine > last || test.endLine < last) continue;
      last = test.startLine - 1;
      while (last >= startLine && ATTRIBUTE_OR_BLANK.test(this.lines[this.#at.get(last) ?? -1]?.text ?? "")) last--;
    }
    return { startLine, endLine: last < startLine ? endLine : last };
  }

  /** The range, without comments at its end; a range of comments alone with the code that follows. */
  withCode({ startLine, endLine }: LineRange): LineRange {
    let last = endLine;
    while (last > startLine && this.lines[this.#at.get(last) ?? -1]?.text.trim() === "") last--;
    if (this.hasCode({ startLine, endLine: last })) return { startLine, endLine: last };
    let following = last + 1;
    while (following <= last + LINES_AFTER_COMMENT && this.#at.has(following)) following++;
    return { startLine, endLine: Math.max(last, following - 1) };
  }
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

/** The symbol inside the chunk that has most of what matches in it and the best name, if it has enough. */
function narrowSymbol({ ranked, symbols, chunk, tests, nameWorth }: Place, text: FileText): number | undefined {
  const whole = text.strengthWithin(chunk.startLine, chunk.endLine);
  let best: { symbol: number; worth: number; lines: number } | undefined;
  for (const symbol of symbols) {
    const { kind, startLine, endLine } = ranked.record.symbols[symbol] as SymbolPlace;
    if (SMALL_KINDS.has(kind) || startLine < chunk.startLine || endLine > chunk.endLine) continue;
    if (tests.some((range) => startLine >= range.startLine && endLine <= range.endLine)) continue;
    const strength = text.strengthWithin(startLine, endLine);
    const worth = strength > 0 ? strength + NARROW_NAME_WEIGHT * nameWorth(symbol) * whole : 0;
    const lines = endLine - startLine;
    if (!best || worth > best.worth || (worth === best.worth && lines < best.lines)) best = { symbol, worth, lines };
  }
  return best !== undefined && best.worth > 0 && best.worth >= NARROW_SHARE * whole ? best.symbol : undefined;
}

/** The innermost definition that begins in the chunk and ends below it, if only comments and the first lines of its containers precede it. */
function openedBy({ ranked, symbols, chunk }: Place, text: FileText): number | undefined {
  const opening = symbols
    .map((symbol) => ({ symbol, place: ranked.record.symbols[symbol] as SymbolPlace }))
    .filter(({ place }) => place.startLine >= chunk.startLine && place.startLine <= chunk.endLine)
    .filter(({ place }) => place.endLine > chunk.endLine && !SMALL_KINDS.has(place.kind))
    .toSorted((a, b) => a.place.startLine - b.place.startLine);
  let { startLine } = text.withoutHeader(chunk);
  let opened: number | undefined;
  for (const { symbol, place } of opening) {
    if (text.hasCode({ startLine, endLine: place.startLine - 1 })) break;
    opened = symbol;
    startLine = place.startLine + 1;
  }
  return opened;
}

/** The symbol around the line that matches best; of a comment the next one in the chunk. */
function symbolAround({ ranked, symbols, chunk }: Place, text: FileText): number | undefined {
  const line = text.strongest(chunk);
  if (line === undefined) return undefined;
  const around = innermost(ranked.record, symbols, line, line);
  if (around !== undefined || text.hasCode({ startLine: line, endLine: line })) return around;
  const startOf = (symbol: number): number => ranked.record.symbols[symbol]?.startLine ?? 0;
  const below = symbols.filter((symbol) => startOf(symbol) > line && startOf(symbol) <= chunk.endLine);
  return below.toSorted((a, b) => startOf(a) - startOf(b))[0];
}

/** The lines to show: the symbol's where they were loaded, else the chunk's. */
function rangeOf({ ranked, chunk }: Place, text: FileText, symbol: number | undefined): LineRange {
  const place = symbol === undefined ? undefined : ranked.record.symbols[symbol];
  if (!place) return chunk;
  const { startLine, endLine } = place;
  if (endLine - startLine < MAX_WHOLE_LINES && text.has(place)) return { startLine, endLine };
  if (startLine > chunk.endLine) return text.readFrom(place);
  // A definition that begins here and continues in the next chunk: from its first line to the end of this one.
  const begins = startLine >= chunk.startLine && startLine <= chunk.endLine;
  return { startLine: begins ? startLine : chunk.startLine, endLine: chunk.endLine };
}
