import { type FileMetaData, parquetMetadata, type RowGroup } from "hyparquet";
import { readInts, readPresence, readTexts } from "./decode.ts";
import {
  CODEC,
  type Column,
  COLUMNS,
  HEADER_KEY,
  HeaderSchema,
  MAX_FOOTER_BYTES,
  MAX_GROUP_BYTES,
  MAX_GROUP_ROWS,
  SCHEMA,
  VECTOR_PATH,
} from "./layout.ts";
import { collectFiles, type GroupRows } from "./rows.ts";
import { type SnapshotBytes, type SnapshotFile, SnapshotFormatError, type SnapshotHeader } from "./types.ts";
import { readVectorColumn, readVectorPresence } from "./vector-column.ts";

const MAGIC = "PAR1";
const TAIL_BYTES = 8;

export interface SnapshotReader {
  header: SnapshotHeader;
  /**
   * Every file in path order, a row group in memory at a time. Throws {@link SnapshotFormatError} where the artifact is
   * damaged; a consumer must treat the files it got before as unproven until the iteration ends without one.
   *
   * Without `bodies` most of the artifact stays compressed: text, context and hash of every chunk are empty then, and a
   * vector that is there is an empty array. What is read is checked just the same.
   */
  files(options?: { bodies: boolean }): AsyncIterable<SnapshotFile>;
  /** Vectors of those chunks among the wanted (SHA-256 in hex) that have one; the rest stays compressed. */
  vectors(wanted: ReadonlySet<string>): AsyncIterable<{ hash: string; vector: Uint8Array }>;
}

/** A column's bytes within the file. */
interface Extent {
  start: number;
  end: number;
}

interface Group {
  rows: number;
  columns: Extent[];
}

/**
 * Opens an artifact: reads and checks its footer. Nothing the file says is believed before it is checked against the
 * file's length and the limits of the format. Throws {@link SnapshotFormatError}; errors of `bytes.read` pass through.
 */
export async function openSnapshot(bytes: SnapshotBytes): Promise<SnapshotReader> {
  const size = bytes.byteLength;
  if (size < MAGIC.length + TAIL_BYTES) throw new SnapshotFormatError("not a snapshot: too short");
  const tail = await exactly(bytes, size - TAIL_BYTES, size);
  const head = await exactly(bytes, 0, MAGIC.length);
  if (ascii(head) !== MAGIC || ascii(tail.subarray(4)) !== MAGIC)
    throw new SnapshotFormatError("not a snapshot: no Parquet file");
  const footerBytes = new DataView(tail.buffer, tail.byteOffset, 4).getUint32(0, true);
  const footerStart = size - TAIL_BYTES - footerBytes;
  if (footerBytes > MAX_FOOTER_BYTES || footerStart < MAGIC.length)
    throw new SnapshotFormatError("footer: wrong length");
  const footer = await exactly(bytes, footerStart, size);
  const { header, groups } = describing("footer", () =>
    checkFooter(parquetMetadata(footer, { geoparquet: false }), footerStart),
  );

  async function* groupRows(bodies: boolean): AsyncGenerator<GroupRows> {
    for (const [index, group] of groups.entries()) {
      const start = group.columns[0]?.start ?? 0;
      const end = group.columns.at(-1)?.end ?? 0;
      const block = await exactly(bytes, start, end);
      yield describing(`row group ${index}`, () => decodeGroup(group, block, start, header.dimension, bodies));
    }
  }
  async function* vectors(wanted: ReadonlySet<string>): AsyncGenerator<{ hash: string; vector: Uint8Array }> {
    for (const [index, group] of groups.entries()) {
      const extents = [group.columns[HASH_COLUMN], group.columns[COLUMNS.length]] as [Extent, Extent];
      const [hashBytes, vectorBytes] = await Promise.all(extents.map(({ start, end }) => exactly(bytes, start, end)));
      if (!hashBytes || !vectorBytes) continue;
      const found = describing(`row group ${index}`, () => {
        const hashes = readTexts(COLUMNS[HASH_COLUMN] as Column, hashBytes, group.rows);
        if (!hashes.some((hash) => hash !== null && wanted.has(hash))) return [];
        const all = readVectorColumn(vectorBytes, group.rows, header.dimension);
        return hashes.flatMap((hash, row) => {
          const vector = all[row];
          return hash !== null && vector !== undefined && wanted.has(hash) ? [{ hash, vector }] : [];
        });
      });
      yield* found;
    }
  }
  return { header, files: ({ bodies } = { bodies: true }) => collectFiles(header, groupRows(bodies)), vectors };
}

async function exactly(bytes: SnapshotBytes, start: number, end: number): Promise<Uint8Array> {
  const part = await bytes.read(start, end);
  if (part.length !== end - start)
    throw new SnapshotFormatError(`truncated: asked for bytes ${start} to ${end}, got ${part.length}`);
  return part;
}

function ascii(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Whatever a decoder throws over hostile bytes is one kind of error to the caller. */
function describing<T>(where: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof SnapshotFormatError) throw new SnapshotFormatError(`${where}: ${error.message}`);
    throw new SnapshotFormatError(`${where}: damaged`, { cause: error });
  }
}

function checkFooter(metadata: FileMetaData, dataEnd: number): { header: SnapshotHeader; groups: Group[] } {
  const text = metadata.key_value_metadata?.find(({ key }) => key === HEADER_KEY)?.value;
  if (text === undefined) throw new SnapshotFormatError("a Parquet file, but not a snapshot");
  const version = (JSON.parse(text) as { formatVersion?: unknown } | null)?.formatVersion;
  const parsed = HeaderSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    throw new SnapshotFormatError(
      `format version ${String(version)} is not one this version reads, or its header is damaged`,
    );
  if (!sameSchema(metadata)) throw new SnapshotFormatError("the columns are not those of the format");
  const header: SnapshotHeader = parsed.data;
  let offset = MAGIC.length;
  let rows = 0;
  const groups = metadata.row_groups.map((group) => {
    const checked = checkGroup(group, offset, dataEnd);
    offset = checked.columns.at(-1)?.end ?? offset;
    rows += checked.rows;
    return checked;
  });
  if (offset !== dataEnd) throw new SnapshotFormatError("row groups do not fill the file");
  if (rows !== header.fileCount + header.symbolCount + header.chunkCount || BigInt(rows) !== metadata.num_rows) {
    throw new SnapshotFormatError("row counts do not fit together");
  }
  return { header, groups };
}

function sameSchema({ schema }: FileMetaData): boolean {
  const shape = (elements: FileMetaData["schema"]) =>
    JSON.stringify(
      elements.map((e) => [
        e.name,
        e.type,
        e.type_length,
        e.repetition_type,
        e.num_children,
        e.converted_type,
        e.logical_type?.type,
      ]),
    );
  return shape(schema) === shape(SCHEMA);
}

function checkGroup(group: RowGroup, start: number, dataEnd: number): Group {
  const rows = Number(group.num_rows);
  if (!(rows > 0 && rows <= MAX_GROUP_ROWS) || group.columns.length !== COLUMNS.length + 1) {
    throw new SnapshotFormatError("a row group has the wrong shape");
  }
  let offset = start;
  const columns = group.columns.map(({ meta_data: meta }, index) => {
    const column = COLUMNS[index];
    const path = column === undefined ? VECTOR_PATH : [column.name];
    const length = Number(meta?.total_compressed_size ?? -1n);
    const first = Number(meta?.dictionary_page_offset ?? meta?.data_page_offset ?? -1n);
    if (
      meta?.path_in_schema.join("/") !== path.join("/") ||
      meta.codec !== CODEC ||
      first !== offset ||
      !(length > 0 && length <= MAX_GROUP_BYTES)
    ) {
      throw new SnapshotFormatError(`${path[0]}: a column chunk is not where it should be`);
    }
    offset += length;
    return { start: first, end: offset };
  });
  if (offset > dataEnd || offset - start > MAX_GROUP_BYTES)
    throw new SnapshotFormatError("a row group is larger than its file allows");
  return { rows, columns };
}

/** Columns that only chunks have: by far the most bytes. */
const BODY_COLUMNS: ReadonlySet<string> = new Set(["context", "text", "chunk_hash"]);
const HASH_COLUMN = COLUMNS.findIndex(({ name }) => name === "chunk_hash");
const NO_BYTES = new Uint8Array(0);

function decodeGroup(group: Group, block: Uint8Array, start: number, dimension: number, bodies: boolean): GroupRows {
  const part = (index: number): Uint8Array => {
    const extent = group.columns[index] as Extent;
    return block.subarray(extent.start - start, extent.end - start);
  };
  const texts = {} as GroupRows["texts"];
  const ints = {} as GroupRows["ints"];
  for (const [index, column] of COLUMNS.entries()) {
    if (column.type === "int") ints[column.name] = readInts(column, part(index), group.rows);
    else if (!bodies && BODY_COLUMNS.has(column.name))
      texts[column.name] = readPresence(column, part(index), group.rows);
    else texts[column.name] = readTexts(column, part(index), group.rows);
  }
  const vectorBytes = part(COLUMNS.length);
  const vectors = bodies
    ? readVectorColumn(vectorBytes, group.rows, dimension)
    : readVectorPresence(vectorBytes, group.rows, dimension).map((present) => (present ? NO_BYTES : undefined));
  return { rows: group.rows, texts, ints, vectors };
}
