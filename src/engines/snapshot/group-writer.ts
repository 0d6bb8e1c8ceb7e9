import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { SEGMENT_VERSION } from "../search/segment.ts";
import type { FileListWriter } from "./file-list.ts";
import type { Cell, Row } from "./file-rows.ts";
import { gzip } from "./gzip.ts";
import { CODEC, COLUMNS, CREATED_BY, GROUP_WEIGHT, HEADER_KEY, MAX_GROUP_ROWS, ROW_WEIGHT, SCHEMA } from "./layout.ts";
import type { ColumnName } from "./rows.ts";
import { SEARCH_KEY, type SearchPlaces } from "./search-places.ts";
import { SegmentCutter } from "./search-segments.ts";
import type { SnapshotFile, SnapshotHeader } from "./types.ts";
import { writeVectorColumn } from "./vector-writer.ts";

/** Collects rows as columns, and contents for the search segments, and encodes them when told to. */
export class GroupWriter {
  readonly #dimension: number;
  readonly #drain: (bytes: Uint8Array) => Promise<void>;
  readonly #bytes = new ByteWriter(1024 * 1024);
  readonly #parquet: ParquetWriter;
  #columns = emptyColumns();
  #vectors: (Uint8Array | undefined)[] = [];
  #weight = 0;
  readonly #cutter = new SegmentCutter();
  readonly #places: SearchPlaces = { segmentVersion: SEGMENT_VERSION, segments: [] };

  constructor(dimension: number, drain: (bytes: Uint8Array) => Promise<void>) {
    this.#dimension = dimension;
    this.#drain = drain;
    this.#parquet = new ParquetWriter({
      writer: this.#bytes,
      schema: SCHEMA,
      codec: CODEC,
      compressors: { [CODEC]: gzip },
      createdBy: CREATED_BY,
    });
  }

  get full(): boolean {
    return this.#weight >= GROUP_WEIGHT || this.#vectors.length >= MAX_GROUP_ROWS;
  }

  add(row: Row, vector: Uint8Array | undefined): void {
    for (const { name } of COLUMNS) {
      const cell = row[name] ?? null;
      this.#columns[name].push(cell);
      if (typeof cell === "string") this.#weight += cell.length;
    }
    this.#vectors.push(vector);
    this.#weight += ROW_WEIGHT + (vector?.length ?? 0);
  }

  /** Adds a file, all of whose rows are added, to the search index. */
  addContent(file: SnapshotFile): void {
    this.#cutter.add(file);
  }

  /** Writes the rows that are waiting as a row group, and a search segment once there is enough for one. */
  async flush(): Promise<void> {
    const rows = this.#vectors.length;
    if (rows === 0) return;
    const columnData = COLUMNS.map(({ name, encoding, statistics }) => ({
      name,
      data: this.#columns[name],
      encoding,
      statistics,
      offsetIndex: false,
    }));
    // One page per column: readers read whole row groups, so smaller pages would not help.
    await this.#parquet.write({ columnData, rowGroupSize: rows, pageSize: 0 });
    const group = this.#parquet.row_groups.at(-1);
    if (group === undefined) throw new Error("a written row group is missing");
    const chunk = writeVectorColumn(this.#bytes, this.#vectors, this.#dimension);
    group.columns.push(chunk);
    group.total_byte_size += chunk.meta_data?.total_uncompressed_size ?? 0n;
    group.total_compressed_size = (group.total_compressed_size ?? 0n) + (chunk.meta_data?.total_compressed_size ?? 0n);
    this.#columns = emptyColumns();
    this.#vectors = [];
    this.#weight = 0;
    await this.#send();
    // The group is gone from memory by now.
    if (this.#cutter.full) await this.#writeSegment();
  }

  async finish(header: SnapshotHeader, list: FileListWriter): Promise<void> {
    await this.flush();
    await this.#writeSegment();
    this.#bytes.appendBytes(list.finish());
    this.#parquet.kvMetadata = [
      { key: HEADER_KEY, value: JSON.stringify(header) },
      { key: SEARCH_KEY, value: JSON.stringify(this.#places) },
    ];
    await this.#parquet.finish();
    await this.#send();
  }

  async #writeSegment(): Promise<void> {
    const segment = this.#cutter.cut();
    if (segment === undefined) return;
    const start = this.#bytes.offset;
    this.#bytes.appendBytes(gzip(segment));
    this.#places.segments.push({ start, end: this.#bytes.offset, sizeBytes: segment.length });
    await this.#send();
  }

  async #send(): Promise<void> {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    await this.#drain(bytes);
  }
}

function emptyColumns(): Record<ColumnName, Cell[]> {
  const columns = {} as Record<ColumnName, Cell[]>;
  for (const { name } of COLUMNS) columns[name] = [];
  return columns;
}
