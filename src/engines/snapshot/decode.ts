/**
 * Strict decoders for the few Parquet encodings that a snapshot uses. hyparquet trusts the counts in a file. An artifact may come
 * from anyone with a key, so these decoders check every count before they allocate memory.
 */
import { ByteCursor, readDeltas, readLevels } from "./encodings.ts";
import { gunzip } from "./gunzip.ts";
import { readPageHeader } from "./page-header.ts";
import { type Column, HASH_BYTES, MAX_PAGE_BYTES } from "./layout.ts";
import { SnapshotFormatError } from "./types.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Values of a column, by row. Hashes are lower-case hex; an absent integer is {@link ABSENT}. */
export type Texts = (string | null)[];
export const ABSENT = -1;

/** One page of a column chunk, with the levels that tell which rows have a value. */
interface Page {
  /** Decompresses the values. */
  body: () => ByteCursor;
  /** 1 if the row has a value; undefined if all have. */
  levels: Uint32Array | undefined;
  present: number;
  /** Decompresses the dictionary's entries. A column without values has none. */
  dictionary: () => string[];
}

/** Decodes a string or hash column of one row group: at most a dictionary page, then one data page. */
export function readTexts(column: Column, bytes: Uint8Array, rows: number): Texts {
  const page = readPage(column, bytes, rows);
  if (column.encoding === "PLAIN") return spread(readPlain(page.body(), column, page.present), page.levels);
  const entries = page.dictionary();
  const values: string[] = [];
  for (const index of readIndexes(page, column, entries.length)) values.push(entries[index] as string);
  return spread(values, page.levels);
}

function readIndexes(page: Page, column: Column, entries: number): Uint32Array {
  const body = page.body();
  const width = body.byte();
  if (width > 20) body.fail("dictionary is too large");
  const indexes = readLevels(new ByteCursor(body.take(body.remaining), column.name), width, page.present);
  // An indexed loop: in a short process it is faster than an iterator, which is not compiled in time.
  for (let i = 0; i < indexes.length; i++)
    if ((indexes[i] as number) >= entries) body.fail("index outside the dictionary");
  return indexes;
}

/** Decodes the values of some rows (ascending) of a string column without a dictionary. */
export function readTextsAt(column: Column, bytes: Uint8Array, rows: number, wanted: readonly number[]): Texts {
  const { levels, present, body } = readPage(column, bytes, rows);
  const cursor = body();
  const texts: Texts = [];
  for (let row = 0, next = 0, seen = 0; next < wanted.length && row < rows; row++) {
    const isPresent = levels === undefined || levels[row] === 1;
    const isWanted = wanted[next] === row;
    if (isWanted) next++;
    if (!isPresent) {
      if (isWanted) texts.push(null);
      continue;
    }
    if (++seen > present) cursor.fail("page ends early");
    if (isWanted) texts.push(nextText(cursor, column));
    else cursor.skip(cursor.uint32());
  }
  return texts;
}

/** Decodes an integer column of one row group. Negative values are refused, so {@link ABSENT} is unambiguous. */
export function readInts(column: Column, bytes: Uint8Array, rows: number): Int32Array {
  const page = readPage(column, bytes, rows);
  const { levels, present } = page;
  const body = page.body();
  const values = readDeltas(body, present);
  let signs = 0;
  for (let i = 0; i < values.length; i++) signs |= values[i] as number;
  if (signs < 0) body.fail("negative");
  return spreadInts(values, levels);
}

function spreadInts(values: Int32Array, levels: Uint32Array | undefined): Int32Array {
  if (levels === undefined) return values;
  const spread = new Int32Array(levels.length);
  for (let row = 0, next = 0; row < levels.length; row++)
    spread[row] = levels[row] === 1 ? (values[next++] as number) : ABSENT;
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

  let header = readPageHeader(reader);
  let dictionary = (): string[] => [];
  if (header.type === "DICTIONARY_PAGE") {
    const entries = header.dictionary_page_header?.num_values ?? -1;
    const end = reader.offset + header.compressed_page_size;
    if (column.encoding !== "RLE_DICTIONARY" || !(entries >= 0 && entries <= rows)) fail("unexpected dictionary");
    if (!(header.compressed_page_size >= 0 && end <= bytes.length)) fail("page ends early");
    const [start, expanded] = [reader.offset, header.uncompressed_page_size];
    dictionary = () => readPlain(expand(start, end, expanded), column, entries);
    reader.offset = end;
    header = readPageHeader(reader);
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
  if (bodyStart > bytes.length) fail("page ends early");
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
  const values: string[] = [];
  for (let i = 0; i < count; i++) values.push(nextText(cursor, column));
  cursor.end();
  return values;
}

function nextText(cursor: ByteCursor, { type }: Column): string {
  if (type === "hash") return cursor.text(HASH_BYTES, "hex");
  const length = cursor.uint32();
  const value = cursor.text(length, "utf8");
  // U+FFFD is either in the text itself or the decoder's replacement for invalid UTF-8.
  if (value.includes("\uFFFD")) checkUtf8(cursor, cursor.bytes.subarray(cursor.offset - length, cursor.offset));
  return value;
}

function checkUtf8(cursor: ByteCursor, bytes: Uint8Array): void {
  try {
    strict.decode(bytes);
  } catch {
    cursor.fail("text is not UTF-8");
  }
}
