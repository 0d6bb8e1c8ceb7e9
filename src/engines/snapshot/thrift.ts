/**
 * Checks Thrift's compact protocol before hyparquet decodes it. hyparquet trusts lengths: a footer of 300 bytes with a list of 30
 * million elements makes it allocate their memory.
 */
import { SnapshotFormatError } from "./types.ts";

const STOP = 0;
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

/** Parquet's own structures nest to 6 and have ids up to 15; a snapshot's lists, row groups apart, have up to 23 entries. */
const MAX_DEPTH = 10;
const MAX_FIELD_ID = 40;
const MAX_LIST = 32;
const MAX_VARINT_BYTES = 10;
/** The fewest bytes of metadata that a row group of a snapshot can have. */
const MIN_GROUP_BYTES = 400;
const DOUBLE_BYTES = 8;

/**
 * Checks that the structure at `start` ends before `end` and that the bytes allow every length in it. Throws
 * {@link SnapshotFormatError} otherwise. Time is linear in the bytes, memory constant.
 */
export function checkThrift(bytes: Uint8Array, start: number, end: number): void {
  const walker = new Walker(bytes, start, Math.min(end, bytes.length));
  walker.struct(0);
}

class Walker {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #maxGroups: number;
  #at: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#maxGroups = Math.ceil((end - start) / MIN_GROUP_BYTES);
  }

  struct(depth: number): void {
    if (depth > MAX_DEPTH) this.#fail();
    let id = 0;
    for (;;) {
      const byte = this.#byte();
      const type = byte & 0x0f;
      if (type === STOP) return;
      const previous = id;
      id = byte >> 4 === 0 ? this.#varint() / 2 : id + (byte >> 4);
      if (!Number.isInteger(id) || id <= previous || id > MAX_FIELD_ID) this.#fail();
      this.#value(type, depth);
    }
  }

  #value(type: number, depth: number): void {
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) this.#skip(1);
    else if (type >= I16 && type <= I64) this.#varint();
    else if (type === DOUBLE) this.#skip(DOUBLE_BYTES);
    else if (type === BINARY) this.#skip(this.#varint());
    else if (type === LIST) this.#list(depth + 1);
    else if (type === STRUCT) this.struct(depth + 1);
    else this.#fail();
  }

  #list(depth: number): void {
    if (depth > MAX_DEPTH) this.#fail();
    const byte = this.#byte();
    const size = byte >> 4 === 15 ? this.#varint() : byte >> 4;
    // Row groups are the one list, at the top, that grows with the file.
    if (size > (depth === 1 ? Math.max(MAX_LIST, this.#maxGroups) : MAX_LIST)) this.#fail();
    const type = byte & 0x0f;
    for (let i = 0; i < size; i++) {
      if (type === TRUE || type === FALSE) this.#skip(1);
      else this.#value(type, depth);
    }
  }

  #byte(): number {
    if (this.#at >= this.#end) this.#fail();
    return this.#bytes[this.#at++] as number;
  }

  #varint(): number {
    let value = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 128 ** i;
      if (byte < 0x80) return value;
    }
    return this.#fail();
  }

  #skip(length: number): void {
    if (length > this.#end - this.#at) this.#fail();
    this.#at += length;
  }

  #fail(): never {
    throw new SnapshotFormatError("metadata: damaged");
  }
}
