import { decodeChecked, encodeChecked } from "../machine/checked-file.ts";
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
 * Body of the file (checked-file.ts): the numbers of both lists (8 bytes each, IEEE 754), then the paths of both, each ended by a NUL. The
 * file never leaves the machine, so numbers are in its byte order.
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
  /** Fingerprint of the index that git compares them with; empty if there are none. */
  statIndex: string;
  /**
   * Of changes: the name of the state that they complete. They replace all of it but what git compares, of which they have
   * examined some themselves.
   */
  completes?: string | undefined;
}

/** As it was read. */
export interface StoredTreeState extends TreeState {
  name: string;
}

interface Header extends Pick<TreeState, "table" | "head" | "listing" | "folderCount" | "statIndex" | "completes"> {
  version: string;
  examinedCount: number;
  comparedCount: number;
  /** Length of the examined paths. */
  examinedBytes: number;
}

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
  const numbers = [examined, second].map((list) => new Uint8Array(Float64Array.from(list.numbers).buffer));
  return encodeChecked(fields, [...numbers, examinedPaths, pathBytes(second.paths)]);
}

function pathBytes(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""));
}

/** Undefined if the bytes are damaged, of another version of this program, or complete another state. `bytes` must not be a `Buffer`. */
export function readTreeState(bytes: Uint8Array<ArrayBuffer>, completes?: string): StoredTreeState | undefined {
  const file = decodeChecked<Header>(bytes, { version: VERSION, completes });
  if (!file) return undefined;
  const { version: _, examinedCount, comparedCount, examinedBytes, ...names } = file.header;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const numbersAt = file.bodyAt;
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
    name: file.name,
    examined: list(0, examinedCount, pathsAt, comparedAt),
    compared: () => list(examinedCount, comparedCount, comparedAt, buffer.length),
  };
}
