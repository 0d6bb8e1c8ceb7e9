import { type RangeReader, SearchFormatError } from "./types.ts";

/** Writing and reading of the index's binary formats. Integers are little-endian; a varint is LEB128, unsigned, below 2^53. */

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

const MAX_SHORT_BYTES = 32;
const HEX_DIGITS = encoder.encode("0123456789abcdef");

export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  /** `capacity` is how many bytes are expected; more are made room for. */
  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    const bytes = this.#bytes;
    bytes[this.length++] = value;
    bytes[this.length++] = value >>> 8;
    bytes[this.length++] = value >>> 16;
    bytes[this.length++] = value >>> 24;
  }

  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.length++] = rest;
  }

  /** A signed integer as a varint: 0, -1, 1, -2 … become 0, 1, 2, 3 … */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.length);
    this.length += value.length;
  }

  /** Bytes as lower-case hex digits. */
  hex(value: Uint8Array): void {
    this.#reserve(2 * value.length);
    const bytes = this.#bytes;
    let at = this.length;
    for (const byte of value) {
      bytes[at++] = HEX_DIGITS[byte >> 4] as number;
      bytes[at++] = HEX_DIGITS[byte & 15] as number;
    }
    this.length = at;
  }

  /** Puts bytes before all that was written. */
  prepend(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.copyWithin(value.length, 0, this.length);
    this.#bytes.set(value);
    this.length += value.length;
  }

  /** Length in bytes as a varint, then UTF-8. */
  string(value: string): void {
    if (this.#shortAscii(value)) return;
    const bytes = encoder.encode(value);
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  /** Writes a short string of ASCII without the encoder, which takes longer than the bytes; false for another one. */
  #shortAscii(value: string): boolean {
    if (value.length > MAX_SHORT_BYTES) return false;
    this.#reserve(1 + value.length);
    const bytes = this.#bytes;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit >= 0x80) return false;
      bytes[this.length + 1 + i] = unit;
    }
    bytes[this.length] = value.length;
    this.length += 1 + value.length;
    return true;
  }

  /** A view of what was written, until more is. */
  view(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.length);
  }

  /** A copy of what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + more));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** Reads what a `ByteWriter` wrote. Throws `SearchFormatError` at the end of the bytes. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = bytes;
    this.position = position;
  }

  get atEnd(): boolean {
    return this.position >= this.#bytes.length;
  }

  u8(): number {
    const value = this.#bytes[this.position++];
    if (value === undefined) throw new SearchFormatError("the data ends too early");
    return value;
  }

  u32(): number {
    return (this.u8() | (this.u8() << 8) | (this.u8() << 16) | (this.u8() << 24)) >>> 0;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 53; factor *= 0x80) {
      const byte = this.u8();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new SearchFormatError("an integer is too long");
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A view of the next `length` bytes. */
  bytes(length: number): Uint8Array {
    const end = this.position + length;
    if (end > this.#bytes.length) throw new SearchFormatError("the data ends too early");
    const view = this.#bytes.subarray(this.position, end);
    this.position = end;
    return view;
  }

  skip(length: number): void {
    this.position += length;
  }

  /** Skips `count` varints. */
  skipVarints(count: number): void {
    const bytes = this.#bytes;
    for (let left = count; left > 0; left--) {
      while ((bytes[this.position] ?? 0) >= 0x80) this.position++;
      if (this.position++ >= bytes.length) throw new SearchFormatError("the data ends too early");
    }
  }

  string(): string {
    const length = this.varint();
    const start = this.position;
    if (length > MAX_SHORT_BYTES) return decoder.decode(this.bytes(length));
    // Names are short and mostly ASCII: decoding them here is cheaper than a call of the decoder.
    let text = "";
    for (let i = 0; i < length; i++) {
      const byte = this.u8();
      if (byte >= 0x80) {
        this.position = start;
        return decoder.decode(this.bytes(length));
      }
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /**
   * `count` strings, decoded in one call: for thousands of short names the calls themselves were 10 % of a query.
   */
  strings(count: number): string[] {
    const start = this.position;
    const ends: number[] = [];
    const lengths: number[] = [];
    for (let i = 0; i < count; i++) {
      const length = this.varint();
      this.position += length;
      lengths.push(length);
      ends.push(this.position - start);
    }
    const bytes = this.#bytes.subarray(start, this.position);
    if (start + (ends.at(-1) ?? 0) > this.#bytes.length) throw new SearchFormatError("the data ends too early");
    const text = decoder.decode(bytes);
    // Byte offsets are character offsets only if every character takes one byte.
    if (text.length === bytes.length) return ends.map((end, i) => text.slice(end - (lengths[i] as number), end));
    this.position = start;
    return Array.from({ length: count }, () => this.string());
  }
}

/** Copies `count` 32-bit integers out of bytes of any alignment. */
export function copyU32(bytes: Uint8Array, offset: number, count: number): Uint32Array {
  if (offset + 4 * count > bytes.length) throw new SearchFormatError("the data ends too early");
  return new Uint32Array(copyOf(bytes, offset, 4 * count));
}

/** Copies `count` 16-bit integers out of bytes of any alignment. */
export function copyU16(bytes: Uint8Array, offset: number, count: number): Uint16Array {
  if (offset + 2 * count > bytes.length) throw new SearchFormatError("the data ends too early");
  return new Uint16Array(copyOf(bytes, offset, 2 * count));
}

/** `slice` would not copy: on a Node `Buffer` it returns a view. */
function copyOf(bytes: Uint8Array, offset: number, length: number): ArrayBuffer {
  const copy = new Uint8Array(length);
  copy.set(bytes.subarray(offset, offset + length));
  return copy.buffer;
}

/** The values in a new array of at least `length` and at least twice as long. */
export function grown(values: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(Math.max(2 * values.length, length));
  longer.set(values);
  return longer;
}

/** The bytes of a typed array, without a copy. */
export function bytesOf(array: Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/**
 * 32-bit checksum against accidental damage, not against tampering: MurmurHash3 (x86, 32 bits; Appleby 2011) with the length as seed. It
 * takes four bytes a step, so checking a block costs less than decoding it.
 */
export function checksum(bytes: Uint8Array): number {
  let hash = bytes.length | 0;
  const whole = bytes.length & ~3;
  for (let i = 0; i < whole; i += 4) {
    const word =
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    hash = round(hash, word);
  }
  let tail = 0;
  for (let i = bytes.length - 1; i >= whole; i--) tail = (tail << 8) | (bytes[i] as number);
  if (whole < bytes.length) hash = round(hash, tail);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function round(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const mixed = hash ^ Math.imul(k, 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

/** Bytes in memory as a file that is read by range. */
export function inMemory(bytes: Uint8Array): RangeReader {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}
