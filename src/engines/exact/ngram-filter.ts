/**
 * Which trigrams a text may hold: a table of bits with one bit for each trigram, at the place that its hash names. Its length is a power
 * of two, so the bytes say all that a query needs. A text without matches passes where other trigrams have set all of its bits.
 */
import { eachNgram, type NgramQuery } from "./ngrams.ts";

/** Raised with every change of the format. */
export const NGRAM_FILTER_VERSION = 1;
const MIN_BITS_LOG2 = 6;
const MAX_BITS_LOG2 = 24;
const MIN_BYTES = 2 ** (MIN_BITS_LOG2 - 3);
const MAX_BYTES = 2 ** (MAX_BITS_LOG2 - 3);
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
  return length >= MIN_BYTES && length <= MAX_BYTES && (length & (length - 1)) === 0;
}

/** A filter among other bytes: with a view for each, opening thousands would take longer than asking them. */
export interface FilterPart {
  bytes: Uint8Array;
  start: number;
  length: number;
}

/** Whether a text with this filter may satisfy the query. Throws `RangeError` for bytes that are no filter. */
export function mayHold({ bytes, start, length }: FilterPart, query: NgramQuery): boolean {
  if (!isFilterLength(length)) throw new RangeError("not an n-gram filter");
  return holds(query, bytes, start, bitsLog2Of(length));
}

function holds(part: NgramQuery, bytes: Uint8Array, start: number, bitsLog2: number): boolean {
  switch (part.kind) {
    case "ngram": {
      const place = placeOf(part.ngram, bitsLog2);
      return ((bytes[start + (place >>> 3)] as number) & (1 << (place & 7))) !== 0;
    }
    case "all":
      for (const each of part.parts) if (!holds(each, bytes, start, bitsLog2)) return false;
      return true;
    case "any":
      for (const each of part.parts) if (holds(each, bytes, start, bitsLog2)) return true;
      return false;
  }
}

/** The logarithm of the bits in so many bytes, which are a power of two. */
const bitsLog2Of = (length: number): number => 31 - Math.clz32(length) + 3;

function placeOf(ngram: number, bitsLog2: number): number {
  return Math.imul(ngram, MULTIPLIER) >>> (32 - bitsLog2);
}
