import { sha256 } from "../machine/checksum.ts";
import type { FileStat } from "../indexing/file-stat.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import { VERSION } from "../version.ts";

/** Paths and, for each of them, four numbers of its `lstat`: size (-1 if nothing is there), mtime, ctime (milliseconds) and inode. */
export interface StatList {
  paths: readonly string[];
  numbers: Float64Array;
}

/**
 * The state of a work tree for which a table was written: the list of its files, and `lstat` of every file that the index depends
 * on. Outside of git, `lstat` of every folder stands for the list. While it is the same there is nothing to index, and a search
 * needs neither the write lock nor the rows of the files.
 *
 * Bytes: SHA-256 of the rest (32), length of the header (4), header (JSON), the numbers of both lists (8 bytes each, IEEE 754), then
 * the paths of both, each ended by a NUL. The file never leaves the machine, so numbers are in its byte order.
 */
export interface TreeState {
  /** Name of the table. */
  table: string;
  /** Commit that was checked out. */
  head: string | null;
  /** Digest of the list of files, see `FileListing`. */
  listing: string;
  /** How many of the examined paths, the first ones, are folders. */
  folderCount: number;
  /** What a search examines itself. */
  examined: StatList;
  /** The files that git compares (stat-index.ts). Decoded on demand. */
  compared: () => StatList;
  /** SHA-256 of the index that git compares them with, in hex; empty if there are none. */
  statIndex: string;
  /**
   * Of changes: the checksum of the state that they complete, in hex. They replace all of it but what git compares, of which they have
   * examined some themselves.
   */
  completes?: string | undefined;
}

/** As it was read. */
export interface StoredTreeState extends TreeState {
  /** Names it, in hex. */
  checksum: string;
}

interface Header extends Pick<TreeState, "table" | "head" | "listing" | "folderCount" | "statIndex" | "completes"> {
  version: string;
  examinedCount: number;
  comparedCount: number;
  /** Length of the examined paths. */
  examinedBytes: number;
}

const CHECKSUM_BYTES = 32;
const HEADER_AT = CHECKSUM_BYTES + 4;
export const NUMBERS = 4;
/** Stands for a file or folder that is not there. */
export const ABSENT: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Whether the files, or those of them that are in `only`, are as they were. The first `folderCount` paths are folders. */
export function isUnchanged(
  tree: FileTree,
  { paths, numbers }: StatList,
  { folderCount = 0, only }: { folderCount?: number; only?: ReadonlySet<string> } = {},
): boolean {
  return paths.every((path, i) => {
    if (only?.has(path) === false) return true;
    const { size, mtimeMs, ctimeMs, ino } = (i < folderCount ? tree.lstatFolder(path) : tree.lstat(path)) ?? ABSENT;
    const at = i * NUMBERS;
    return (
      numbers[at] === size && numbers[at + 1] === mtimeMs && numbers[at + 2] === ctimeMs && numbers[at + 3] === ino
    );
  });
}

export function writeTreeState({ examined, compared, ...names }: TreeState): Buffer {
  const second = compared();
  const examinedPaths = pathBytes(examined.paths);
  const fields: Header = {
    ...names,
    version: VERSION,
    examinedCount: examined.paths.length,
    comparedCount: second.paths.length,
    examinedBytes: examinedPaths.length,
  };
  const header = Buffer.from(JSON.stringify(fields));
  const length = Buffer.from(Uint32Array.of(header.length).buffer);
  const numbers = [examined, second].map((list) => new Uint8Array(Float64Array.from(list.numbers).buffer));
  const rest = Buffer.concat([length, header, ...numbers, examinedPaths, pathBytes(second.paths)]);
  return Buffer.concat([sha256(rest), rest]);
}

function pathBytes(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""));
}

/** Undefined if the bytes are damaged or of another version of this program. `bytes` must not be a `Buffer`. */
export function readTreeState(bytes: Uint8Array<ArrayBuffer>): StoredTreeState | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < HEADER_AT || !sha256(buffer.subarray(CHECKSUM_BYTES)).equals(buffer.subarray(0, CHECKSUM_BYTES)))
    return undefined;
  const [headerLength = 0] = new Uint32Array(bytes.slice(CHECKSUM_BYTES, HEADER_AT).buffer);
  const numbersAt = HEADER_AT + headerLength;
  const fields = JSON.parse(buffer.toString("utf8", HEADER_AT, numbersAt)) as Header;
  const { version, examinedCount, comparedCount, examinedBytes, ...names } = fields;
  if (version !== VERSION) return undefined;
  const pathsAt = numbersAt + 8 * NUMBERS * (examinedCount + comparedCount);
  const list = (first: number, count: number, start: number, end: number): StatList => {
    const at = numbersAt + 8 * NUMBERS * first;
    const paths = buffer.toString("utf8", start, end).split("\0");
    paths.pop();
    return { paths, numbers: new Float64Array(bytes.slice(at, at + 8 * NUMBERS * count).buffer) };
  };
  const comparedAt = pathsAt + examinedBytes;
  return {
    ...names,
    checksum: buffer.toString("hex", 0, CHECKSUM_BYTES),
    examined: list(0, examinedCount, pathsAt, comparedAt),
    compared: () => list(examinedCount, comparedCount, comparedAt, buffer.length),
  };
}
