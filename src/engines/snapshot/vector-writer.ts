/** Writes the `vector` column. Apart from its reader, which is loaded often and by processes that never write. */
import type { ColumnChunk } from "hyparquet";
import type { Writer } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { gzip } from "./gzip.ts";
import { CODEC, VECTOR_PATH } from "./layout.ts";
import { encodeLevels } from "./vector-column.ts";

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
  const presence = vectors.map((vector) => vector !== undefined);
  const present = presence.reduce((sum, is) => sum + Number(is), 0);
  const vectorBytes = 2 * dimension;
  const values = new Uint8Array(present * vectorBytes);
  let at = 0;
  for (const vector of vectors) {
    if (vector === undefined) continue;
    values.set(vector, at);
    at += vectorBytes;
  }
  const { repetition, definition } = encodeLevels(presence, dimension);
  const levelBytes = repetition.length + definition.length;
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
      definition_levels_byte_length: definition.length,
      repetition_levels_byte_length: repetition.length,
      is_compressed: true,
    },
  });
  const headerBytes = writer.offset - start;
  writer.appendBytes(repetition);
  writer.appendBytes(definition);
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
