/** Reads an artifact's footer, which locates the row groups and their columns, and checks every value in it. */
import type { FileMetaData, RowGroup } from "hyparquet";
import { parquetMetadata } from "hyparquet/src/metadata.js";
import {
  CODEC,
  COLUMNS,
  HEADER_KEY,
  headerFault,
  isReadableVersion,
  MAX_FOOTER_BYTES,
  MAX_GROUP_BYTES,
  MAX_GROUP_ROWS,
  MAX_PAGE_BYTES,
  SCHEMA,
  VECTOR_PATH,
} from "./layout.ts";
import { parseSearchPlaces, SEARCH_KEY, type SearchPlaces } from "./search-places.ts";
import { checkThrift } from "./thrift.ts";
import { type Extent, type SnapshotBytes, SnapshotFormatError, type SnapshotHeader } from "./types.ts";

const MAGIC = "PAR1";
const TAIL_BYTES = 8;

export interface Group {
  rows: number;
  /** Number of the first one in the whole snapshot. */
  firstRow: number;
  columns: Extent[];
}

/** Reads bytes `start` to `end`. Throws {@link SnapshotFormatError} if there are fewer. */
export async function exactly(bytes: SnapshotBytes, start: number, end: number): Promise<Uint8Array> {
  const part = await bytes.read(start, end);
  if (part.length !== end - start)
    throw new SnapshotFormatError(`truncated: asked for bytes ${start} to ${end}, got ${part.length}`);
  return part;
}

function ascii(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Runs a decoder. Whatever it throws becomes a {@link SnapshotFormatError} that names the part. */
export function describing<T>(where: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof SnapshotFormatError) throw new SnapshotFormatError(`${where}: ${error.message}`);
    throw new SnapshotFormatError(`${where}: damaged`, { cause: error });
  }
}

/** What the footer of an artifact says, checked. */
interface Footer {
  header: SnapshotHeader;
  groups: Group[];
  /** Position of the file list. */
  list: Extent;
  /** Where the search segments lie; undefined in artifacts of older versions. */
  search: SearchPlaces | undefined;
}

/**
 * Reads and checks the footer: three small reads at the ends of the file. Throws {@link SnapshotFormatError}; errors of
 * `bytes.read` pass through.
 */
export async function readFooter(bytes: SnapshotBytes, maxBytes = MAX_FOOTER_BYTES): Promise<Footer> {
  const size = bytes.byteLength;
  if (size < MAGIC.length + TAIL_BYTES) throw new SnapshotFormatError("not a snapshot: too short");
  const tail = await exactly(bytes, size - TAIL_BYTES, size);
  const head = await exactly(bytes, 0, MAGIC.length);
  if (ascii(head) !== MAGIC || ascii(tail.subarray(4)) !== MAGIC)
    throw new SnapshotFormatError("not a snapshot: no Parquet file");
  const footerBytes = new DataView(tail.buffer, tail.byteOffset, 4).getUint32(0, true);
  const footerStart = size - TAIL_BYTES - footerBytes;
  if (footerBytes > maxBytes || footerStart < MAGIC.length) throw new SnapshotFormatError("footer: wrong length");
  const footer = await exactly(bytes, footerStart, size);
  return describing("footer", () => {
    checkThrift(footer, 0, footerBytes);
    return checkFooter(parquetMetadata(footer, { geoparquet: false }), footerStart);
  });
}

/** Checks the header, and that row groups, segments and the file list fill the file up to `dataEnd`. */
function checkFooter(metadata: FileMetaData, dataEnd: number): Footer {
  const text = metadata.key_value_metadata?.find(({ key }) => key === HEADER_KEY)?.value;
  if (text === undefined) throw new SnapshotFormatError("a Parquet file, but not a snapshot");
  const value: unknown = JSON.parse(text);
  const version = (value as { formatVersion?: unknown } | null)?.formatVersion;
  if (typeof version === "number" && !isReadableVersion(version))
    throw new SnapshotFormatError(`format version ${version} is newer than this program can read; update it`);
  const fault = headerFault(value);
  if (fault !== undefined) throw new SnapshotFormatError(`the header is damaged (${fault})`);
  if (!sameSchema(metadata)) throw new SnapshotFormatError("the columns are not those of the format");
  const header: SnapshotHeader = { useCount: 0, ...(value as Omit<SnapshotHeader, "useCount">) };
  const places = metadata.key_value_metadata?.find(({ key }) => key === SEARCH_KEY)?.value;
  const search = places === undefined ? undefined : parseSearchPlaces(places);
  let offset = MAGIC.length;
  let rows = 0;
  // Row groups and segments follow one another without a gap.
  let segment = 0;
  const passSegments = (): void => {
    for (; search?.segments[segment]?.start === offset; segment++) offset = search.segments[segment]?.end ?? offset;
  };
  const groups = metadata.row_groups.map((group) => {
    passSegments();
    const checked = { ...checkGroup(group, offset, dataEnd), firstRow: rows };
    offset = checked.columns.at(-1)?.end ?? offset;
    rows += checked.rows;
    return checked;
  });
  passSegments();
  if (offset > dataEnd || segment !== (search?.segments.length ?? 0))
    throw new SnapshotFormatError("a search segment is not where it should be");
  if (dataEnd - offset > MAX_PAGE_BYTES) throw new SnapshotFormatError("row groups do not fill the file");
  const { fileCount, symbolCount, chunkCount, useCount } = header;
  if (rows !== fileCount + symbolCount + chunkCount + useCount || BigInt(rows) !== metadata.num_rows) {
    throw new SnapshotFormatError("row counts do not fit together");
  }
  return { header, groups, list: { start: offset, end: dataEnd }, search };
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

function checkGroup(group: RowGroup, start: number, dataEnd: number): Omit<Group, "firstRow"> {
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
