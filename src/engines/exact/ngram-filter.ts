/**
 * Which trigrams a text may hold: a table of bits with one bit for each trigram, at the place that its hash names. Its length is a power
 * of two, so the bytes say all that a query needs. A text without matches passes where other trigrams have set all of its bits.
 */
import { eachNgram, type NgramQuery } from "./ngrams.ts";

/** Raised with every change of the format. */
export const NGRAM_FILTER_VERSION = 1;
const MIN_BITS_LOG2 = 6;
const MAX_BITS_LOG2 = 24;
/** Bits for each distinct trigram, at least. */
const BITS_PER_NGRAM = 2;
const MULTIPLIER = 0x9e3779b1;
const WORD_LOG2 = 5;

/** One bit for each trigram; all 0 between calls. */
let seen: Uint32Array | undefined;

/** The filter of a text. */
export function ngramFilter(text: Uint8Array): Uint8Array {
  seen ??= new Uint32Array(2 ** (24 - WORD_LOG2));
  const words = seen;
  const ngrams: number[] = [];
  eachNgram(text, (ngram) => {
    const word = words[ngram >>> WORD_LOG2] as number;
    const bit = 1 << (ngram & 31);
    if ((word & bit) !== 0) return;
    words[ngram >>> WORD_LOG2] = word | bit;
    ngrams.push(ngram);
  });
  const wanted = Math.ceil(Math.log2(Math.max(1, ngrams.length * BITS_PER_NGRAM)));
  const bitsLog2 = Math.min(MAX_BITS_LOG2, Math.max(MIN_BITS_LOG2, wanted));
  const filter = new Uint8Array(2 ** (bitsLog2 - 3));
  for (const ngram of ngrams) {
    words[ngram >>> WORD_LOG2] = 0;
    const place = placeOf(ngram, bitsLog2);
    filter[place >>> 3] = (filter[place >>> 3] as number) | (1 << (place & 7));
  }
  return filter;
}

/** Whether a filter may have so many bytes. */
export function isFilterLength(length: number): boolean {
  const bitsLog2 = Math.log2(length) + 3;
  return Number.isInteger(bitsLog2) && bitsLog2 >= MIN_BITS_LOG2 && bitsLog2 <= MAX_BITS_LOG2;
}

/** Whether a text with this filter may satisfy the query. Throws `RangeError` for bytes that are no filter. */
export function mayHold(filter: Uint8Array, query: NgramQuery): boolean {
  if (!isFilterLength(filter.length)) throw new RangeError("not an n-gram filter");
  const bitsLog2 = Math.log2(filter.length) + 3;
  const holds = (part: NgramQuery): boolean => {
    if (part.kind === "all") return part.parts.every(holds);
    if (part.kind === "any") return part.parts.some(holds);
    const place = placeOf(part.ngram, bitsLog2);
    return ((filter[place >>> 3] as number) & (1 << (place & 7))) !== 0;
  };
  return holds(query);
}

function placeOf(ngram: number, bitsLog2: number): number {
  return Math.imul(ngram, MULTIPLIER) >>> (32 - bitsLog2);
}
