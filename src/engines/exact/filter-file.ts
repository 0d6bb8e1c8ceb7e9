/** The n-gram filters of the texts of one pack, in a file of their own: derived from the texts, so an earlier pack may have none. */
import { ByteReader, ByteWriter } from "../search/bytes.ts";
import { beginFile, HEADER_BYTES, readHotPart } from "../search/file-header.ts";
import { type RangeReader, SearchFormatError } from "../search/types.ts";
import { type FilterPart, isFilterLength, mayHold, NGRAM_FILTER_VERSION } from "./ngram-filter.ts";
import type { NgramQuery } from "./ngrams.ts";

/** Raised with every change of the format, or of what a filter says. */
export const FILTER_FILE_VERSION = NGRAM_FILTER_VERSION;
/** The one before, which is read as well: it says less of the texts. */
export const EARLIER_FILTER_FILE_VERSION = 1;
/** The magic number is "CCNF". */
const FORMAT = { name: "file of n-gram filters", magic: 0x464e4343, version: FILTER_FILE_VERSION };

/** The bytes of filters, one for each text by ordinal. */
export function encodeFilters(filters: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const hot = new ByteWriter(filters.reduce((sum, { length }) => sum + length + 3, 4));
  hot.varint(filters.length);
  for (const { length } of filters) hot.varint(length);
  for (const filter of filters) hot.bytes(filter);
  return beginFile(FORMAT, hot.view()).finish();
}

/** Open filters, all in memory. */
export class FilterFile {
  readonly byteLength: number;
  readonly #filters: readonly FilterPart[];
  readonly #version: number;

  private constructor(filters: readonly FilterPart[], byteLength: number, version: number) {
    this.#filters = filters;
    this.byteLength = byteLength;
    this.#version = version;
  }

  /** Reads all filters, of this version or the given earlier one. Throws `SearchFormatError` if they are damaged or of another version. */
  static async open(reader: RangeReader, version: number = FILTER_FILE_VERSION): Promise<FilterFile> {
    const hot = await readHotPart(reader, { ...FORMAT, version });
    const wrongLength = () => new SearchFormatError("the file of n-gram filters has a wrong length", reader.name);
    if (reader.size !== HEADER_BYTES + hot.length) throw wrongLength();
    const read = new ByteReader(hot);
    const lengths = Array.from({ length: read.varint() }, () => read.varint());
    if (lengths.some((length) => !isFilterLength(length))) throw wrongLength();
    let end = read.position;
    const filters = lengths.map((length): FilterPart => ({ bytes: hot, start: (end += length) - length, length }));
    if (end > hot.length) throw wrongLength();
    return new FilterFile(filters, hot.length, version);
  }

  /** Whether the text with an ordinal may satisfy the query; also of an ordinal that has no filter. */
  mayHold(ordinal: number, query: NgramQuery): boolean {
    const filter = this.#filters[ordinal];
    return filter === undefined || mayHold(filter, query, this.#version);
  }
}
