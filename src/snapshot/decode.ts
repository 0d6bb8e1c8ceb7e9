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

  uint32(): number {
    const b = this.take(4);
    return ((b[0] as number) | ((b[1] as number) << 8) | ((b[2] as number) << 16) | ((b[3] as number) << 24)) >>> 0;
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
      for (let i = 0; i < MINIBLOCK_VALUES && at < count; i++) {
        value = (value + smallest + bitsAt(packed, i * width, width)) | 0;
        values[at++] = value;
      }
    }
  }
  cursor.end();
  return values;
}

function bitsAt(bytes: Uint8Array, start: number, width: number): number {
  let value = 0;
  let have = 0;
  let at = start >> 3;
  let skip = start & 7;
  while (have < width) {
    const take = Math.min(8 - skip, width - have);
    value += (((bytes[at++] as number) >> skip) & (2 ** take - 1)) * 2 ** have;
    have += take;
    skip = 0;
  }
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export type ColumnValues = (string | Uint8Array | number | null)[];

/** Decodes one column of one row group: at most a dictionary page, then one data page. */
export function readColumn(column: Column, bytes: Uint8Array, rows: number): ColumnValues {
  const fail = (why: string): never => {
    throw new SnapshotFormatError(`${column.name}: ${why}`);
  };
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const expand = (from: number, to: number, size: number): Uint8Array => {
    if (!(size >= 0 && size <= MAX_PAGE_BYTES)) fail("page is too large");
    return gunzip(bytes.subarray(from, to), size);
  };

  let header = parquetHeader(reader);
  let dictionary: ColumnValues | undefined;
  if (header.type === "DICTIONARY_PAGE") {
    const entries = header.dictionary_page_header?.num_values ?? -1;
    const end = reader.offset + header.compressed_page_size;
    if (column.encoding !== "RLE_DICTIONARY" || !(entries >= 0 && entries <= rows)) fail("unexpected dictionary");
    if (!(header.compressed_page_size >= 0 && end <= bytes.length)) fail("page ends early");
    const page = new ByteCursor(expand(reader.offset, end, header.uncompressed_page_size), column.name);
    dictionary = readPlain(page, column, entries);
    reader.offset = end;
    header = parquetHeader(reader);
  }
  const page = header.data_page_header_v2;
  if (header.type !== "DATA_PAGE_V2" || page === undefined) return fail("not a data page of this format");
  const levelBytes = page.definition_levels_byte_length;
  const encoding = column.encoding;
  if (
    page.num_values !== rows ||
    page.num_rows !== rows ||
    page.encoding !== encoding ||
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
    present = levels.reduce((sum, level) => sum + level, 0);
  } else if (levelBytes !== 0) fail("a required column has levels");
  if (page.num_nulls !== rows - present) fail("wrong number of nulls");

  const body = new ByteCursor(expand(bodyStart, bytes.length, header.uncompressed_page_size - levelBytes), column.name);
  const values = readValues(body, column, present, dictionary);
  if (levels === undefined) return values;
  let next = 0;
  return Array.from(levels, (level) => (level === 1 ? (values[next++] as string | Uint8Array | number) : null));
}

function readValues(
  body: ByteCursor,
  column: Column,
  count: number,
  dictionary: ColumnValues | undefined,
): ColumnValues {
  if (column.encoding === "DELTA_BINARY_PACKED") return Array.from(readDeltas(body, count));
  if (column.encoding === "PLAIN") return readPlain(body, column, count);
  const width = body.byte();
  if (width > 20) body.fail("dictionary is too large");
  // A column without any value has neither dictionary nor indexes.
  const entries = dictionary ?? [];
  const indexes = readLevels(new ByteCursor(body.take(body.remaining), column.name), width, count);
  return Array.from(indexes, (index) => entries[index] ?? body.fail("index outside the dictionary"));
}

function readPlain(cursor: ByteCursor, column: Column, count: number): ColumnValues {
  const values: ColumnValues = [];
  for (let i = 0; i < count; i++) {
    if (column.type === "hash") {
      values.push(cursor.take(HASH_BYTES));
      continue;
    }
    const bytes = cursor.take(cursor.uint32());
    try {
      values.push(utf8.decode(bytes));
    } catch {
      cursor.fail("text is not UTF-8");
    }
  }
  cursor.end();
  return values;
}
