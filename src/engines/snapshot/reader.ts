import { readInts, readTexts, readTextsAt, type Texts } from "./decode.ts";
import { describing, exactly, type Group, readFooter } from "./footer.ts";
import { checkedAgainst, type ListedFile, readFileList } from "./file-list.ts";
import { gunzip } from "./gunzip.ts";
import { type Column, COLUMNS } from "./layout.ts";
import { collectFiles, type GroupRows } from "./rows.ts";
import {
  type Extent,
  type SnapshotBytes,
  type SnapshotFile,
  SnapshotFormatError,
  type SnapshotHeader,
} from "./types.ts";
import { readVectorColumn } from "./vector-column.ts";

/** A column without a dictionary, whose values can be read one by one. */
export type TextColumn = "signature" | "text";

interface SnapshotReader {
  header: SnapshotHeader;
  /**
   * Yields every file in path order, with one row group in memory at a time. Throws `SnapshotFormatError` if the artifact is
   * damaged. Until the iteration has ended, the files it has yielded must not be trusted.
   */
  files(): AsyncIterable<SnapshotFile>;
  /**
   * Every file in path order without its symbols and chunks, from the file list. The list is checked by itself; only `files` checks
   * that the rows agree with it.
   */
  listing(): Promise<ListedFile[]>;
  /**
   * Yields the segments of the search index (docs/ranking.md), one in memory at a time; none if they have another version. Their
   * content is not checked. Throws `SnapshotFormatError` where one cannot be decompressed.
   */
  searchSegments(segmentVersion: number): AsyncIterable<Uint8Array>;
  /** The column's values at these rows (ascending); null for a row without one. Decompresses only that column. */
  textsAt(column: TextColumn, rows: readonly number[]): Promise<Texts>;
  /** Yields the vectors of the wanted chunks (SHA-256 in hex) that have one. Decompresses only row groups that hold them. */
  vectors(wanted: ReadonlySet<string>): AsyncIterable<{ hash: string; vector: Uint8Array }>;
}

/**
 * Opens an artifact. Reads its footer and checks it against the file's length and the limits of the format. Throws
 * `SnapshotFormatError`; errors of `bytes.read` pass through.
 */
export async function openSnapshot(bytes: SnapshotBytes): Promise<SnapshotReader> {
  const { header, groups, list, search } = await readFooter(bytes);

  async function* groupRows(): AsyncGenerator<GroupRows> {
    for (const [index, group] of groups.entries()) {
      const start = group.columns[0]?.start ?? 0;
      const end = group.columns.at(-1)?.end ?? 0;
      const block = await exactly(bytes, start, end);
      yield describing(`row group ${index}`, () => decodeGroup(group, block, start, header.dimension));
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
  const listing = async (): Promise<ListedFile[]> => {
    const part = await exactly(bytes, list.start, list.end);
    return describing("file list", () => readFileList(part, header));
  };
  async function* files(): AsyncGenerator<SnapshotFile> {
    yield* checkedAgainst(await listing(), collectFiles(header, groupRows()));
  }
  async function* searchSegments(segmentVersion: number): AsyncGenerator<Uint8Array> {
    if (search?.segmentVersion !== segmentVersion) return;
    for (const { start, end, sizeBytes } of search.segments) {
      const compressed = await exactly(bytes, start, end);
      yield describing("search segment", () => gunzip(compressed, sizeBytes));
    }
  }
  const textsAt = async (name: TextColumn, rows: readonly number[]): Promise<Texts> => {
    const column = COLUMNS.findIndex((entry) => entry.name === name);
    const found: Texts = [];
    for (const [index, { firstRow, rows: count, columns }] of groups.entries()) {
      const inGroup = rows.flatMap((row) => (row >= firstRow && row < firstRow + count ? row - firstRow : []));
      if (inGroup.length === 0) continue;
      const { start, end } = columns[column] as Extent;
      const part = await exactly(bytes, start, end);
      const texts = describing(`row group ${index}`, () =>
        readTextsAt(COLUMNS[column] as Column, part, count, inGroup),
      );
      for (const text of texts) found.push(text);
    }
    if (found.length !== rows.length) throw new SnapshotFormatError("rows are missing, or not in order");
    return found;
  };
  return {
    header,
    files,
    listing,
    searchSegments,
    textsAt,
    vectors,
  };
}

const HASH_COLUMN = COLUMNS.findIndex(({ name }) => name === "chunk_hash");

function decodeGroup(group: Group, block: Uint8Array, start: number, dimension: number): GroupRows {
  const part = (index: number): Uint8Array => {
    const extent = group.columns[index] as Extent;
    return block.subarray(extent.start - start, extent.end - start);
  };
  const texts = {} as GroupRows["texts"];
  const ints = {} as GroupRows["ints"];
  for (const [index, column] of COLUMNS.entries()) {
    if (column.type === "int") ints[column.name] = readInts(column, part(index), group.rows);
    else texts[column.name] = readTexts(column, part(index), group.rows);
  }
  return { rows: group.rows, texts, ints, vectors: readVectorColumn(part(COLUMNS.length), group.rows, dimension) };
}
