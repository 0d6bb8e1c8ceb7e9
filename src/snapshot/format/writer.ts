import { createHash } from "node:crypto";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { SnapshotManifest } from "../../contract/index.ts";
import type { CodeSymbol } from "../../parsing/types.ts";
import { SEGMENT_VERSION } from "../../retrieval/segment.ts";
import { FileListWriter } from "./file-list.ts";
import { gzip } from "./gzip.ts";
import {
  CODEC,
  COLUMNS,
  COMPRESSION,
  CREATED_BY,
  GROUP_WEIGHT,
  HASH_BYTES,
  HEADER_KEY,
  headerFault,
  MAX_GROUP_ROWS,
  ROW_WEIGHT,
  SCHEMA,
  SNAPSHOT_FORMAT_VERSION,
} from "./layout.ts";
import type { ColumnName } from "./rows.ts";
import { SEARCH_KEY, type SearchPlaces } from "./search-places.ts";
import { SegmentCutter } from "./search-segments.ts";
import {
  comparePaths,
  type EmbeddedChunk,
  type SnapshotFile,
  type SnapshotHeader,
  type SnapshotSource,
} from "./types.ts";
import { writeVectorColumn } from "./vector-writer.ts";

export interface WrittenSnapshot {
  sizeBytes: number;
  /** `sha256:<hex>` of every byte handed to the sink. */
  checksum: string;
  header: SnapshotHeader;
  manifest: SnapshotManifest & { sizeBytes: number; chunkCount: number };
}

type Cell = string | number | Uint8Array | null;
type Row = Partial<Record<ColumnName, Cell>>;
type Span = Pick<CodeSymbol, "startLine" | "endLine" | "startByte" | "endByte">;

/**
 * Writes the artifact of `source` to `sink`, in order, a row group and now and then a search segment at a time: memory is bounded
 * by these, and by the list of files, whatever the size of the snapshot. The bytes depend on nothing but the source, on any
 * platform. The sink may keep what it is given.
 * Throws `RangeError` naming the file when the source breaks its own rules (order, ranges, vector length).
 */
export async function writeSnapshot(
  source: SnapshotSource,
  sink: (bytes: Uint8Array) => Promise<void>,
): Promise<WrittenSnapshot> {
  const { gitSha, fingerprint, dimension, parserVersion } = source.header;
  const header: SnapshotHeader = {
    formatVersion: SNAPSHOT_FORMAT_VERSION,
    gitSha,
    fingerprint,
    dimension,
    vectorType: "float16",
    parserVersion,
    fileCount: 0,
    symbolCount: 0,
    chunkCount: 0,
    vectorCount: 0,
  };
  const fault = headerFault(header);
  if (fault !== undefined) throw new RangeError(`${fault} is not what a snapshot's header can hold`);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const drain = async (bytes: Uint8Array) => {
    hash.update(bytes);
    sizeBytes += bytes.length;
    await sink(bytes);
  };
  const groups = new GroupWriter(dimension, drain);
  const list = new FileListWriter(gzip);

  let previousPath: string | undefined;
  for await (const given of source.files()) {
    const file = clean(given);
    if (previousPath !== undefined && comparePaths(previousPath, file.path) >= 0) {
      throw new RangeError(
        `files are not in order: ${JSON.stringify(file.path)} after ${JSON.stringify(previousPath)}`,
      );
    }
    previousPath = file.path;
    const contentHash = hashBytes(file.contentHash, file.path);
    list.add(file.path, contentHash, file);
    for (const { row, vector } of rowsOf(file, contentHash)) {
      if (vector !== undefined && vector.length !== 2 * dimension) {
        throw new RangeError(`${file.path}: a vector has ${vector.length} bytes, not ${2 * dimension}`);
      }
      groups.add(row, vector);
      if (vector !== undefined) header.vectorCount++;
      if (groups.full) await groups.flush();
    }
    groups.addContent(file);
    header.fileCount++;
    header.symbolCount += file.symbols.length;
    header.chunkCount += file.chunks.length;
  }
  await groups.finish(header, list);

  const checksum = `sha256:${hash.digest("hex")}`;
  const { fileCount, symbolCount, chunkCount } = header;
  return {
    sizeBytes,
    checksum,
    header,
    manifest: {
      formatVersion: SNAPSHOT_FORMAT_VERSION,
      container: "parquet",
      compression: COMPRESSION,
      gitSha,
      checksum,
      sizeBytes,
      fileCount,
      symbolCount,
      chunkCount,
      parserVersion,
      embedding: { fingerprint, dimension, type: "float16" },
    },
  };
}

/** Collects rows as columns, and contents for the search segments, and encodes them when told to. */
class GroupWriter {
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

/** The rows of one file: itself, its symbols, its chunks. */
function* rowsOf(file: SnapshotFile, contentHash: Uint8Array): Generator<{ row: Row; vector: Uint8Array | undefined }> {
  const check = (value: number, what: string): number => {
    if (!Number.isInteger(value) || value < 0 || value > 0x7fffffff)
      throw new RangeError(`${file.path}: ${what} is ${value}`);
    return value;
  };
  const symbolIndex = (value: number | null, what: string): number | null => {
    if (value !== null && check(value, what) >= file.symbols.length)
      throw new RangeError(`${file.path}: ${what} ${value} does not exist`);
    return value;
  };
  const span = (of: Span) => ({
    start_line: check(of.startLine, "start line"),
    end_line: check(of.endLine, "end line"),
    start_byte: check(of.startByte, "start byte"),
    end_byte: check(of.endByte, "end byte"),
  });
  const spanWithin = (of: Span) => {
    if (of.endLine < of.startLine)
      throw new RangeError(`${file.path}: line ${of.endLine} is before line ${of.startLine}, where it begins`);
    return span(of);
  };
  const common = { path: file.path, language: file.language, content_hash: contentHash };
  const whole = span({ startLine: 1, endLine: file.lineCount, startByte: 0, endByte: file.sizeBytes });
  yield { row: { kind: "file", ...common, outcome: file.outcome, ...whole }, vector: undefined };

  for (const [ordinal, symbol] of file.symbols.entries()) {
    const row: Row = {
      kind: "symbol",
      ...common,
      ordinal,
      parent: symbolIndex(symbol.parent, "parent symbol"),
      symbol_kind: symbol.kind,
      name: symbol.name,
      qualified_name: symbol.qualifiedName,
      signature: symbol.signature,
      doc: symbol.doc,
      ...spanWithin(symbol),
    };
    yield { row, vector: undefined };
  }
  for (const [ordinal, chunk] of file.chunks.entries()) {
    const symbol = symbolIndex(chunk.symbol, "symbol");
    const named = symbol === null ? undefined : file.symbols[symbol];
    const row: Row = {
      kind: "chunk",
      ...common,
      ordinal,
      parent: symbol,
      symbol_kind: named?.kind ?? null,
      name: named?.name ?? null,
      qualified_name: named?.qualifiedName ?? null,
      ...spanWithin(chunk),
      context: chunk.withheld ? null : chunk.context,
      text: chunk.withheld ? null : chunk.text,
      chunk_hash: hashBytes(chunk.hash, file.path),
    };
    yield { row, vector: chunk.withheld ? undefined : chunk.vector };
  }
}

function hashBytes(hex: string, path: string): Uint8Array {
  const bytes = Buffer.from(hex, "hex");
  if (bytes.length !== HASH_BYTES || hex.length !== 2 * HASH_BYTES)
    throw new RangeError(`${path}: not a SHA-256 in hex: ${hex}`);
  return bytes;
}

/**
 * A file with its text as a database would give it back: no lone surrogates (a signature may be cut inside a pair), and no U+0000,
 * which Postgres cannot hold. A builder that never had a database must write the same bytes.
 */
function clean(file: SnapshotFile): SnapshotFile {
  const symbols = file.symbols.map(({ name, qualifiedName, signature, doc, ...rest }): CodeSymbol =>
    Object.assign(rest, {
      name: cleanText(name),
      qualifiedName: cleanText(qualifiedName),
      signature: cleanText(signature),
      doc: doc === null ? null : cleanText(doc),
    }),
  );
  const chunks = file.chunks.map(({ context, text, ...rest }): EmbeddedChunk =>
    Object.assign(rest, { context: cleanText(context), text: cleanText(text) }),
  );
  return { ...file, path: cleanText(file.path), symbols, chunks };
}

function cleanText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\uFFFD") : wellFormed;
}
