import { corrupt } from "../errors.ts";

/** Bits resolved by one table look-up; longer codes take {@link decodeLong}. */
export const LIT_BITS = 10;
export const DIST_BITS = 8;
const MAX_CODE_BITS = 15;

/** A canonical Huffman code: a table for short codes, counts and symbols in code order for the rest. */
export interface Huffman {
  /** Indexed by the next bits: `symbol << 4 | length`; 0 for codes longer than the table's width and for unused codes. */
  readonly table: Uint16Array;
  mask: number;
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

export function newHuffman(symbols: number, bits: number): Huffman {
  return {
    table: new Uint16Array(1 << bits),
    mask: 0,
    counts: new Uint16Array(MAX_CODE_BITS + 1),
    symbols: new Uint16Array(symbols),
  };
}

const offsets = new Uint16Array(MAX_CODE_BITS + 2);

/**
 * Builds `code` in place from `count` code lengths at `lengths[start]`. As in zlib, an incomplete code is
 * allowed only when it has at most one code of one bit; the code for code lengths must be complete.
 * @throws GitError CORRUPT
 */
export function buildHuffman(
  code: Huffman,
  lengths: Uint8Array,
  start: number,
  count: number,
  bits: number,
  mustBeComplete: boolean,
): void {
  const { counts, symbols, table } = code;
  counts.fill(0);
  for (let i = 0; i < count; i++) {
    const length = lengths[start + i]!;
    counts[length] = counts[length]! + 1;
  }
  counts[0] = 0;
  let max = MAX_CODE_BITS;
  while (max > 0 && counts[max] === 0) max--;
  let left = 1;
  offsets[1] = 0;
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    left = (left << 1) - counts[length]!;
    if (left < 0) throw corrupt("over-subscribed code");
    offsets[length + 1] = offsets[length]! + counts[length]!;
  }
  if (left > 0 && (mustBeComplete || max > 1)) throw corrupt("incomplete code");
  for (let i = 0; i < count; i++) {
    const length = lengths[start + i]!;
    if (length !== 0) {
      const at = offsets[length]!;
      symbols[at] = i;
      offsets[length] = at + 1;
    }
  }
  const width = Math.max(1, Math.min(bits, max));
  const size = 1 << width;
  code.mask = size - 1;
  // Entries stay zero for codes longer than the table's width and for the unused part of an incomplete code.
  if (max > width || left > 0) table.fill(0, 0, size);
  let reversed = 0;
  let index = 0;
  for (let length = 1; length <= width; length++) {
    const step = 1 << length;
    for (let k = counts[length]!; k > 0; k--) {
      const entry = (symbols[index++]! << 4) | length;
      for (let at = reversed; at < size; at += step) table[at] = entry;
      // Next code, counted up in reversed bit order.
      let bit = step >> 1;
      while ((reversed & bit) !== 0) bit >>= 1;
      reversed = bit === 0 ? 0 : (reversed & (bit - 1)) | bit;
    }
  }
}

/** Canonical decoding bit by bit. Returns `symbol << 4 | length`. @throws GitError CORRUPT for bits that match no code */
export function decodeLong(code: Huffman, hold: number): number {
  const { counts, symbols } = code;
  let value = 0;
  let first = 0;
  let index = 0;
  let rest = hold;
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    value |= rest & 1;
    rest >>>= 1;
    const count = counts[length]!;
    if (value - count < first) return (symbols[index + value - first]! << 4) | length;
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  throw corrupt("invalid Huffman code");
}
