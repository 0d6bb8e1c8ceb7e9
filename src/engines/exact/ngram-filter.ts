/**
 * Which n-grams a text may hold: a table of bits with one bit for each n-gram, at the place that its hash names. Its length is a power
 * of two, so the bytes say all that a query needs. A text without matches passes where other n-grams have set all of its bits.
 */
import { HASH_BITS, HASHES_PER_BYTE, type NgramQuery, readNgrams } from "./ngrams.ts";

/** Raised with every change of the format. Filters of version 1 hold no long n-grams. */
export const NGRAM_FILTER_VERSION = 2;
const MIN_BITS_LOG2 = 6;
const MAX_BITS_LOG2 = HASH_BITS;
const MIN_BYTES = 2 ** (MIN_BITS_LOG2 - 3);
const MAX_BYTES = 2 ** (MAX_BITS_LOG2 - 3);
const WORD_LOG2 = 5;

/** Bytes of a text whose n-grams are read at once. */
const WINDOW_BYTES = 2 ** 14;

/** One bit for each hash; all 0 between calls. */
let seen: Uint32Array | undefined;
/** Hashes of a window. */
let windowHashes: Uint32Array | undefined;

/** The filter of a text. */
export function ngramFilter(text: Uint8Array): Uint8Array {
  seen ??= new Uint32Array(2 ** (HASH_BITS - WORD_LOG2));
  windowHashes ??= new Uint32Array(HASHES_PER_BYTE * WINDOW_BYTES);
  const words = seen;
  const read = windowHashes;
  const hashes: number[] = [];
  for (let from = 0; from < text.length; from += WINDOW_BYTES) {
    const count = readNgrams(text, { from, to: Math.min(text.length, from + WINDOW_BYTES) }, read);
    for (let i = 0; i < count; i++) {
      const hash = read[i] as number;
      const word = words[hash >>> WORD_LOG2] as number;
      const bit = 1 << (hash & 31);
      if ((word & bit) !== 0) continue;
      words[hash >>> WORD_LOG2] = word | bit;
      hashes.push(hash);
    }
  }
  // One or two bits for each: a pattern of some length asks for so many of them that more would hardly leave out more texts.
  const wanted = Math.ceil(Math.log2(Math.max(1, hashes.length)));
  const bitsLog2 = Math.min(MAX_BITS_LOG2, Math.max(MIN_BITS_LOG2, wanted));
  const filter = new Uint8Array(2 ** (bitsLog2 - 3));
  for (const hash of hashes) {
    words[hash >>> WORD_LOG2] = 0;
    const place = placeOf(hash, bitsLog2);
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
export function mayHold(
  { bytes, start, length }: FilterPart,
  query: NgramQuery,
  version: number = NGRAM_FILTER_VERSION,
): boolean {
  if (!isFilterLength(length)) throw new RangeError("not an n-gram filter");
  return holds(query, { bytes, start, bitsLog2: bitsLog2Of(length), hasLong: version > 1 });
}

interface Table {
  bytes: Uint8Array;
  start: number;
  bitsLog2: number;
  hasLong: boolean;
}

function holds(part: NgramQuery, table: Table): boolean {
  switch (part.kind) {
    case "ngram": {
      if (part.isLong && !table.hasLong) return true;
      const place = placeOf(part.hash, table.bitsLog2);
      return ((table.bytes[table.start + (place >>> 3)] as number) & (1 << (place & 7))) !== 0;
    }
    case "all":
      for (const each of part.parts) if (!holds(each, table)) return false;
      return true;
    case "any":
      for (const each of part.parts) if (holds(each, table)) return true;
      return false;
  }
}

/** The logarithm of the bits in so many bytes, which are a power of two. */
const bitsLog2Of = (length: number): number => 31 - Math.clz32(length) + 3;

const placeOf = (hash: number, bitsLog2: number): number => hash >>> (HASH_BITS - bitsLog2);
