/**
 * The `vector` column: an optional LIST of FLOAT16, so that other tools see numbers. Every vector has the same length, so
 * its repetition and definition levels are a few runs, and its values are moved as bytes: never a number per component.
 */
import type { ColumnChunk } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import type { Writer } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { ByteCursor, readLevels } from "./decode.ts";
import { gunzip, gzip } from "./gzip.ts";
import { CODEC, MAX_PAGE_BYTES, VECTOR_PATH } from "./layout.ts";
import { SnapshotFormatError } from "./types.ts";

const MAX_REPETITION_BITS = 1;
const MAX_DEFINITION_BITS = 2;
/** Definition level of a component; 0 is an absent vector, 1 would be an empty one. */
const DEFINED = 2;

/** Runs of equal levels as the RLE half of Parquet's hybrid encoding. Both level widths fit one byte. */
class LevelRuns {
  bytes: number[] = [];
  #value = 0;
  #count = 0;

  add(value: number, count: number): void {
    if (count === 0) return;
    if (value !== this.#value) this.#flush();
    this.#value = value;
    this.#count += count;
  }

  finish(): Uint8Array {
    this.#flush();
    return Uint8Array.from(this.bytes);
  }

  #flush(): void {
    if (this.#count === 0) return;
    let header = this.#count * 2;
    for (; header > 0x7f; header = Math.floor(header / 128)) this.bytes.push((header & 0x7f) | 0x80);
    this.bytes.push(header, this.#value);
    this.#count = 0;
  }
}

/**
 * Writes one row group's vectors as one page: PLAIN, gzip. (BYTE_STREAM_SPLIT would save 7 % of
 * dense vectors, but DuckDB does not read it for FLOAT16.) Each vector is `2 * dimension` bytes.
 */
export function writeVectorColumn(
  writer: Writer,
  vectors: readonly (Uint8Array | undefined)[],
  dimension: number,
): ColumnChunk {
  const start = writer.offset;
  const repetition = new LevelRuns();
  const definition = new LevelRuns();
  let present = 0;
  for (const vector of vectors) {
    repetition.add(0, 1);
    if (vector === undefined) {
      definition.add(0, 1);
      continue;
    }
    repetition.add(1, dimension - 1);
    definition.add(DEFINED, dimension);
    present++;
  }
  const vectorBytes = 2 * dimension;
  const values = new Uint8Array(present * vectorBytes);
  let at = 0;
  for (const vector of vectors) {
    if (vector === undefined) continue;
    values.set(vector, at);
    at += vectorBytes;
  }
  const repetitionLevels = repetition.finish();
  const definitionLevels = definition.finish();
  const levelBytes = repetitionLevels.length + definitionLevels.length;
  const compressed = gzip(values);
  writePageHeader(writer, {
    type: "DATA_PAGE_V2",
    uncompressed_page_size: levelBytes + values.length,
    compressed_page_size: levelBytes + compressed.length,
    data_page_header_v2: {
      num_values: present * dimension + vectors.length - present,
      num_nulls: vectors.length - present,
      num_rows: vectors.length,
      encoding: "PLAIN",
      definition_levels_byte_length: definitionLevels.length,
      repetition_levels_byte_length: repetitionLevels.length,
      is_compressed: true,
    },
  });
  const headerBytes = writer.offset - start;
  writer.appendBytes(repetitionLevels);
  writer.appendBytes(definitionLevels);
  writer.appendBytes(compressed);
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: "FIXED_LEN_BYTE_ARRAY",
      encodings: ["PLAIN"],
      path_in_schema: VECTOR_PATH,
      codec: CODEC,
      num_values: BigInt(present * dimension + vectors.length - present),
      total_uncompressed_size: BigInt(headerBytes + levelBytes + values.length),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(start),
    },
  };
}

/** Reads what {@link writeVectorColumn} wrote for `rows` rows. Throws {@link SnapshotFormatError} on anything else. */
export function readVectorColumn(bytes: Uint8Array, rows: number, dimension: number): (Uint8Array | undefined)[] {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const header = parquetHeader(reader);
  const page = header.data_page_header_v2;
  if (header.type !== "DATA_PAGE_V2" || page === undefined || page.encoding !== "PLAIN" || !page.is_compressed) {
    throw new SnapshotFormatError("vector: not a page of this format");
  }
  const present = (page.num_values - page.num_nulls) / dimension;
  const valueBytes = 2 * present * dimension;
  const levelBytes = page.repetition_levels_byte_length + page.definition_levels_byte_length;
  if (
    page.num_rows !== rows ||
    !Number.isInteger(present) ||
    present < 0 ||
    present + page.num_nulls !== rows ||
    valueBytes > MAX_PAGE_BYTES ||
    page.repetition_levels_byte_length < 0 ||
    page.definition_levels_byte_length < 0 ||
    header.uncompressed_page_size !== levelBytes + valueBytes ||
    header.compressed_page_size !== bytes.length - reader.offset ||
    levelBytes > header.compressed_page_size
  ) {
    throw new SnapshotFormatError("vector: sizes do not fit together");
  }
  const body = bytes.subarray(reader.offset);
  const repetition = readLevels(
    new ByteCursor(body.subarray(0, page.repetition_levels_byte_length), "vector"),
    MAX_REPETITION_BITS,
    page.num_values,
  );
  const definition = readLevels(
    new ByteCursor(body.subarray(page.repetition_levels_byte_length, levelBytes), "vector"),
    MAX_DEFINITION_BITS,
    page.num_values,
  );
  const values = gunzip(body.subarray(levelBytes), valueBytes);
  const vectors: (Uint8Array | undefined)[] = [];
  let level = 0;
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (definition[level] === 0 && repetition[level] === 0) {
      vectors.push(undefined);
      level++;
      continue;
    }
    for (let i = 0; i < dimension; i++, level++) {
      if (definition[level] !== DEFINED || repetition[level] !== (i === 0 ? 0 : 1)) {
        throw new SnapshotFormatError(`vector: row ${row} does not have ${dimension} components`);
      }
    }
    vectors.push(values.subarray(at, at + 2 * dimension));
    at += 2 * dimension;
  }
  return vectors;
}
