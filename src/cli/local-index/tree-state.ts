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
 * Body of the file (checked-file.ts): the numbers (8 bytes each, IEEE 754), then the paths with a NUL between. The file never leaves the
 * machine, so numbers are in its byte order.
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
  examined: StatList;
  /** Of changes: the name of the state that they complete. They replace all of it, and of the files those that they have. */
  completes?: string | undefined;
}

/** As it was read. */
export interface StoredTreeState extends TreeState {
  name: string;
}

interface Header extends Pick<TreeState, "table" | "head" | "listing" | "folderCount" | "completes"> {
  version: string;
  count: number;
}

/** The second number is raised with every change of the format. */
const FORMAT = `${VERSION}.2`;
const SEPARATOR = "\0";
export const NUMBERS = 4;
/** Stands for a file or folder that is not there. */
export const ABSENT: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };
/** Stands for a file or folder that may have changed without a trace. No state equals it, so it is looked at again. */
export const UNSETTLED: FileStat = { size: NaN, mtimeMs: NaN, ctimeMs: NaN, ino: NaN };

/** The paths of a list that are not as they were. The first `folderCount` are folders. */
export function changedPaths(tree: FileTree, { paths, numbers }: StatList, folderCount = 0): Set<string> {
  const changed = new Set<string>();
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i] as string;
    const { size, mtimeMs, ctimeMs, ino } = (i < folderCount ? tree.lstatFolder(path) : tree.lstat(path)) ?? ABSENT;
    const at = i * NUMBERS;
    if (numbers[at] !== size || numbers[at + 1] !== mtimeMs || numbers[at + 2] !== ctimeMs || numbers[at + 3] !== ino)
      changed.add(path);
  }
  return changed;
}

export function writeTreeState({ examined, ...names }: TreeState): Buffer {
  const header: Header = { ...names, version: FORMAT, count: examined.paths.length };
  const numbers = new Uint8Array(Float64Array.from(examined.numbers).buffer);
  return encodeChecked(header, [numbers, Buffer.from(examined.paths.join(SEPARATOR))]);
}

/** Undefined if the bytes are damaged, of another version of this program, or complete another state. `bytes` must not be a `Buffer`. */
export function readTreeState(bytes: Uint8Array<ArrayBuffer>, completes?: string): StoredTreeState | undefined {
  const file = decodeChecked<Header>(bytes, { version: FORMAT, completes });
  if (!file) return undefined;
  const { version: _, count, ...names } = file.header;
  const pathsAt = file.bodyAt + 8 * NUMBERS * count;
  const paths = Buffer.from(bytes.buffer, bytes.byteOffset + pathsAt, bytes.length - pathsAt).toString();
  return {
    ...names,
    name: file.name,
    examined: {
      paths: count === 0 ? [] : paths.split(SEPARATOR),
      numbers: new Float64Array(bytes.slice(file.bodyAt, pathsAt).buffer),
    },
  };
}
