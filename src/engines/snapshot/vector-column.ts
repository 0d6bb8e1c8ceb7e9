/**
 * The `vector` column: an optional LIST of FLOAT16, so that other tools see numbers. Every vector has the same length, so
 * its repetition and definition levels are a few runs, and its values are moved as bytes: never a number per component.
 */
import { ByteCursor } from "./encodings.ts";
import { gunzip } from "./gunzip.ts";
import { readPageHeader } from "./page-header.ts";
import { MAX_PAGE_BYTES } from "./layout.ts";
import { SnapshotFormatError } from "./types.ts";

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

/** The levels of a group's rows: per row with a vector one component that begins it and the rest that continue it. */
export function encodeLevels(
  presence: readonly boolean[],
  dimension: number,
): { repetition: Uint8Array; definition: Uint8Array } {
  const repetition = new LevelRuns();
  const definition = new LevelRuns();
  for (const isPresent of presence) {
    repetition.add(0, 1);
    repetition.add(1, isPresent ? dimension - 1 : 0);
    definition.add(isPresent ? DEFINED : 0, isPresent ? dimension : 1);
  }
  return { repetition: repetition.finish(), definition: definition.finish() };
}

/** Which of the rows have a vector, from their definition levels. Throws if the runs are not whole rows, `rows` of them. */
function decodePresence(cursor: ByteCursor, rows: number, dimension: number): boolean[] {
  const presence: boolean[] = [];
  while (cursor.remaining > 0) {
    const header = cursor.varint();
    const isPresent = cursor.byte() === DEFINED;
    const count = header / 2 / (isPresent ? dimension : 1);
    if (!Number.isInteger(count) || count === 0 || count > rows - presence.length)
      cursor.fail("levels are not those of whole rows");
    for (let i = 0; i < count; i++) presence.push(isPresent);
  }
  if (presence.length !== rows) cursor.fail("levels are not those of whole rows");
  return presence;
}

/** Reads what `writeVectorColumn` wrote for `rows` rows. Throws {@link SnapshotFormatError} on anything else. */
export function readVectorColumn(bytes: Uint8Array, rows: number, dimension: number): (Uint8Array | undefined)[] {
  const { presence, compressed, valueBytes } = readLevels(bytes, rows, dimension);
  const values = gunzip(compressed, valueBytes);
  const size = 2 * dimension;
  let at = 0;
  return presence.map((isPresent) => {
    if (!isPresent) return undefined;
    at += size;
    return values.subarray(at - size, at);
  });
}

function readLevels(
  bytes: Uint8Array,
  rows: number,
  dimension: number,
): { presence: boolean[]; compressed: Uint8Array; valueBytes: number } {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const header = readPageHeader(reader);
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
  const definition = body.subarray(page.repetition_levels_byte_length, levelBytes);
  const presence = decodePresence(new ByteCursor(definition, "vector"), rows, dimension);
  // The levels of these rows can be written in one way only: anything else is damage.
  const expected = encodeLevels(presence, dimension);
  if (
    Buffer.compare(expected.definition, definition) !== 0 ||
    Buffer.compare(expected.repetition, body.subarray(0, page.repetition_levels_byte_length)) !== 0
  ) {
    throw new SnapshotFormatError(`vector: not every row has ${dimension} components or none`);
  }
  if (presence.filter(Boolean).length !== present) throw new SnapshotFormatError("vector: sizes do not fit together");
  return { presence, compressed: body.subarray(levelBytes), valueBytes };
}
