/** Decoders for bytes, Parquet's levels and its packed integers. Every count is checked before it is used. */
import { SnapshotFormatError } from "./types.ts";

/** Bounded reads over one page's bytes. */
export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly #buffer: Buffer;
  readonly #what: string;
  offset = 0;

  constructor(bytes: Uint8Array, what: string) {
    this.bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#what = what;
  }

  /** Reads the next bytes as a string. Invalid UTF-8 becomes U+FFFD. */
  text(length: number, encoding: "utf8" | "hex"): string {
    const start = this.offset;
    this.skip(length);
    return this.#buffer.toString(encoding, start, this.offset);
  }

  fail(why: string): never {
    throw new SnapshotFormatError(`${this.#what}: ${why}`);
  }

  get remaining(): number {
    return this.bytes.length - this.offset;
  }

  byte(): number {
    if (this.offset >= this.bytes.length) this.fail("page ends early");
    return this.bytes[this.offset++] as number;
  }

  take(length: number): Uint8Array {
    if (length > this.remaining) this.fail("page ends early");
    const part = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return part;
  }

  skip(length: number): void {
    if (length > this.remaining) this.fail("page ends early");
    this.offset += length;
  }

  uint32(): number {
    const at = this.offset;
    this.skip(4);
    const b = this.bytes;
    return (
      ((b[at] as number) |
        ((b[at + 1] as number) << 8) |
        ((b[at + 2] as number) << 16) |
        ((b[at + 3] as number) << 24)) >>>
      0
    );
  }

  /** Unsigned LEB128 of at most five bytes. */
  varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return this.fail("number too long");
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  end(): void {
    if (this.remaining !== 0) this.fail("page has bytes left over");
  }
}

/** Parquet's RLE / bit-packed hybrid, exactly `count` values of `width` bits up to the cursor's end. */
export function readLevels(cursor: ByteCursor, width: number, count: number): Uint32Array {
  // Two bytes can encode a run of any length, so the caller bounds the count (by the rows of a group).
  const values = new Uint32Array(count);
  const mask = width === 32 ? 0xffffffff : 2 ** width - 1;
  let seen = 0;
  while (seen < count) {
    const header = cursor.varint();
    const length = Math.floor(header / 2);
    if (length === 0) cursor.fail("empty run");
    if (header % 2 === 0) {
      if (length > count - seen) cursor.fail("run is longer than its page");
      let value = 0;
      for (let i = 0; i < (width + 7) >> 3; i++) value += cursor.byte() * 256 ** i;
      values.fill(value, seen, seen + length);
      seen += length;
      continue;
    }
    if (length > Math.ceil((count - seen) / 8)) cursor.fail("run is longer than its page");
    const packed = cursor.take(length * width);
    let buffer = 0;
    let bits = 0;
    let at = 0;
    for (let i = 0; i < length * 8 && seen < count; i++) {
      // Widths stay below 20 bits (rows of a group), so 32 bits hold what is buffered.
      while (bits < width) {
        buffer |= (packed[at++] as number) << bits;
        bits += 8;
      }
      values[seen++] = buffer & mask;
      buffer >>>= width;
      bits -= width;
    }
  }
  cursor.end();
  return values;
}

const DELTA_BLOCK = 128;
const DELTA_MINIBLOCKS = 4;
const MINIBLOCK_VALUES = DELTA_BLOCK / DELTA_MINIBLOCKS;

/** DELTA_BINARY_PACKED 32-bit integers, exactly `count` of them. */
export function readDeltas(cursor: ByteCursor, count: number): Int32Array {
  if (cursor.varint() !== DELTA_BLOCK || cursor.varint() !== DELTA_MINIBLOCKS || cursor.varint() !== count) {
    cursor.fail("unexpected block layout");
  }
  const values = new Int32Array(count);
  let value = cursor.zigzag();
  if (count > 0) values[0] = value;
  for (let at = 1; at < count;) {
    const smallest = cursor.zigzag();
    const widths = cursor.take(DELTA_MINIBLOCKS);
    for (let block = 0; block < DELTA_MINIBLOCKS && at < count; block++) {
      const width = widths[block] as number;
      if (width > 32) cursor.fail("delta wider than 32 bits");
      const packed = cursor.take((MINIBLOCK_VALUES * width) / 8);
      const mask = 2 ** width - 1;
      let buffer = 0;
      let bits = 0;
      let next = 0;
      for (let i = 0; i < MINIBLOCK_VALUES && at < count; i++) {
        let delta = 0;
        if (width > MAX_BUFFERED_WIDTH) delta = bitsAt(packed, i * width, width);
        else {
          for (; bits < width; bits += 8) buffer |= (packed[next++] as number) << bits;
          delta = buffer & mask;
          buffer >>>= width;
          bits -= width;
        }
        value = (value + smallest + delta) | 0;
        values[at++] = value;
      }
    }
  }
  cursor.end();
  return values;
}

/** Up to this width, the remaining bits of the last value and one more byte fit into 32 bits. */
const MAX_BUFFERED_WIDTH = 24;

function bitsAt(bytes: Uint8Array, start: number, width: number): number {
  let at = start >> 3;
  const skip = start & 7;
  let value = (bytes[at] as number) >>> skip;
  for (let have = 8 - skip; have < width; have += 8) value += (bytes[++at] as number) * 2 ** have;
  return value % 2 ** width;
}
