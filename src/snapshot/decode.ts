/**
 * Strict decoders of the few Parquet encodings that a snapshot uses. hyparquet reads any Parquet file and trusts its
 * counts; an artifact may come from anyone who holds a key, so here every count is checked before anything is allocated.
 */
import { parquetHeader } from "hyparquet/src/column.js";
import { gunzip } from "./gzip.ts";
import { type Column, HASH_BYTES, MAX_PAGE_BYTES } from "./layout.ts";
import { SnapshotFormatError } from "./types.ts";

/** Bounded reads over one page's bytes. */
export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly #what: string;
  offset = 0;

  constructor(bytes: Uint8Array, what: string) {
    this.bytes = bytes;
    this.#what = what;
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
  // A run of any length may be two bytes, so the count is bounded by the caller (rows of a group), not by the bytes.
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
      let buffer = 0;
      let bits = 0;
      let next = 0;
      for (let i = 0; i < MINIBLOCK_VALUES && at < count; i++) {
        let delta = 0;
        if (width > MAX_BUFFERED_WIDTH) delta = bitsAt(packed, i * width, width);
        else {
          for (; bits < width; bits += 8) buffer |= (packed[next++] as number) << bits;
          delta = buffer & (2 ** width - 1);
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

/** Up to this width, what is left of the last value and one more byte at a time fit into 32 bits. */
const MAX_BUFFERED_WIDTH = 24;

function bitsAt(bytes: Uint8Array, start: number, width: number): number {
  let at = start >> 3;
  const skip = start & 7;
  let value = (bytes[at] as number) >>> skip;
  for (let have = 8 - skip; have < width; have += 8) value += (bytes[++at] as number) * 2 ** have;
  return value % 2 ** width;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Values of a column, by row. Hashes are lower-case hex; an absent integer is {@link ABSENT}. */
export type Texts = (string | null)[];
export const ABSENT = -1;

/** One page of a column chunk, with the levels that tell which rows have a value. */
interface Page {
  /** The values, decompressed now. */
  body: () => ByteCursor;
  /** 1 where the row has a value; undefined where all have. */
  levels: Uint32Array | undefined;
  present: number;
  dictionary: string[] | undefined;
}

/** Decodes a string or hash column of one row group: at most a dictionary page, then one data page. */
export function readTexts(column: Column, bytes: Uint8Array, rows: number): Texts {
  const page = readPage(column, bytes, rows);
  const { levels, present, dictionary } = page;
  const body = page.body();
  if (column.encoding === "PLAIN") return spread(readPlain(body, column, present), levels);
  const width = body.byte();
  if (width > 20) body.fail("dictionary is too large");
  // A column without any value has neither dictionary nor indexes.
  const entries = dictionary ?? [];
  const indexes = readLevels(new ByteCursor(body.take(body.remaining), column.name), width, present);
  const values: string[] = [];
  for (const index of indexes) values.push(entries[index] ?? body.fail("index outside the dictionary"));
  return spread(values, levels);
}

/** Which rows of a column have a value, without decompressing the values: the empty string, or null. */
export function readPresence(column: Column, bytes: Uint8Array, rows: number): Texts {
  const { levels } = readPage(column, bytes, rows);
  const texts: Texts = [];
  for (let row = 0; row < rows; row++) texts.push(levels === undefined || levels[row] === 1 ? "" : null);
  return texts;
}

/** Decodes an integer column of one row group. None is negative, so that {@link ABSENT} can stand for no value. */
export function readInts(column: Column, bytes: Uint8Array, rows: number): Int32Array {
  const page = readPage(column, bytes, rows);
  const { levels, present } = page;
  const body = page.body();
  const values = readDeltas(body, present);
  for (const value of values) if (value < 0) body.fail("negative");
  if (levels === undefined) return values;
  const spread = new Int32Array(rows);
  for (let row = 0, next = 0; row < rows; row++) spread[row] = levels[row] === 1 ? (values[next++] as number) : ABSENT;
  return spread;
}

function spread(values: string[], levels: Uint32Array | undefined): Texts {
  if (levels === undefined) return values;
  const texts: Texts = [];
  for (let row = 0, next = 0; row < levels.length; row++)
    texts[row] = levels[row] === 1 ? (values[next++] as string) : null;
  return texts;
}

function readPage(column: Column, bytes: Uint8Array, rows: number): Page {
  const fail = (why: string): never => {
    throw new SnapshotFormatError(`${column.name}: ${why}`);
  };
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const expand = (from: number, to: number, size: number): ByteCursor => {
    if (!(size >= 0 && size <= MAX_PAGE_BYTES)) fail("page is too large");
    return new ByteCursor(gunzip(bytes.subarray(from, to), size), column.name);
  };

  let header = parquetHeader(reader);
  let dictionary: string[] | undefined;
  if (header.type === "DICTIONARY_PAGE") {
    const entries = header.dictionary_page_header?.num_values ?? -1;
    const end = reader.offset + header.compressed_page_size;
    if (column.encoding !== "RLE_DICTIONARY" || !(entries >= 0 && entries <= rows)) fail("unexpected dictionary");
    if (!(header.compressed_page_size >= 0 && end <= bytes.length)) fail("page ends early");
    dictionary = readPlain(expand(reader.offset, end, header.uncompressed_page_size), column, entries);
    reader.offset = end;
    header = parquetHeader(reader);
  }
  const page = header.data_page_header_v2;
  if (header.type !== "DATA_PAGE_V2" || page === undefined) return fail("not a data page of this format");
  const levelBytes = page.definition_levels_byte_length;
  if (
    page.num_values !== rows ||
    page.num_rows !== rows ||
    page.encoding !== column.encoding ||
    page.repetition_levels_byte_length !== 0 ||
    !(levelBytes >= 0 && levelBytes <= header.compressed_page_size) ||
    reader.offset + header.compressed_page_size !== bytes.length ||
    !page.is_compressed
  ) {
    fail("sizes do not fit together");
  }
  const bodyStart = reader.offset + levelBytes;
  let levels: Uint32Array | undefined;
  let present = rows;
  if (!column.required) {
    levels = readLevels(new ByteCursor(bytes.subarray(reader.offset, bodyStart), column.name), 1, rows);
    present = 0;
    for (const level of levels) present += level;
  } else if (levelBytes !== 0) fail("a required column has levels");
  if (page.num_nulls !== rows - present) fail("wrong number of nulls");
  const bodyBytes = header.uncompressed_page_size - levelBytes;
  return {
    body: () => expand(bodyStart, bytes.length, bodyBytes),
    levels,
    present,
    dictionary,
  };
}

/** Exactly `count` PLAIN values up to the cursor's end. */
function readPlain(cursor: ByteCursor, column: Column, count: number): string[] {
  const { bytes } = cursor;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isHash = column.type === "hash";
  const values: string[] = [];
  for (let i = 0; i < count; i++) {
    const length = isHash ? HASH_BYTES : cursor.uint32();
    const start = cursor.offset;
    cursor.skip(length);
    const value = buffer.toString(isHash ? "hex" : "utf8", start, start + length);
    // A replacement character is the text's own, or stands for bytes that are no UTF-8.
    if (!isHash && value.includes("\uFFFD")) checkUtf8(cursor, bytes.subarray(start, start + length));
    values.push(value);
  }
  cursor.end();
  return values;
}

function checkUtf8(cursor: ByteCursor, bytes: Uint8Array): void {
  try {
    strict.decode(bytes);
  } catch {
    cursor.fail("text is not UTF-8");
  }
}
