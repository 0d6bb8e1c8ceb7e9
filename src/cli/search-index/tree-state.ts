import { sha256 } from "../checksum.ts";
import type { FileStat } from "../index/file-stat.ts";
import type { FileTree } from "../index/file-tree.ts";
import { VERSION } from "../version.ts";

/**
 * The state of a work tree for which a table was written: the list of its files, and `lstat` of every file that the index depends
 * on. Outside of git, `lstat` of every folder stands for the list. While it is the same there is nothing to index, and a search
 * needs neither the write lock nor the rows of the files.
 *
 * Bytes: SHA-256 of the rest (32), length of the header (4), header (JSON), then for each path size, mtime, ctime (milliseconds) and
 * inode (8 bytes each, IEEE 754; size is -1 if there is no folder or regular file), then the paths, each ended by a NUL. The file never
 * leaves the machine, so numbers are in its byte order.
 */
export interface TreeState {
  /** Name of the table. */
  table: string;
  /** Commit that was checked out. */
  head: string | null;
  /** Digest of the list of files, see `FileListing`. */
  listing: string;
  /** How many of the paths, the first ones, are folders. */
  folderCount: number;
  paths: readonly string[];
  /** Four numbers for each path. */
  stats: Float64Array;
}

interface Header {
  version: string;
  table: string;
  head: string | null;
  listing: string;
  folderCount: number;
  count: number;
}

const CHECKSUM_BYTES = 32;
const HEADER_AT = CHECKSUM_BYTES + 4;
const NUMBERS = 4;
/** Stands for a file or folder that is not there. */
export const ABSENT: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Whether every file and folder is as it was. The caller compares the digest of the list of files. */
export function isUnchanged(tree: FileTree, { paths, folderCount, stats }: TreeState): boolean {
  return paths.every((path, i) => {
    const { size, mtimeMs, ctimeMs, ino } = (i < folderCount ? tree.lstatFolder(path) : tree.lstat(path)) ?? ABSENT;
    const at = i * NUMBERS;
    return stats[at] === size && stats[at + 1] === mtimeMs && stats[at + 2] === ctimeMs && stats[at + 3] === ino;
  });
}

export function writeTreeState({ paths, stats, ...names }: TreeState): Buffer {
  const fields: Header = { ...names, version: VERSION, count: paths.length };
  const header = Buffer.from(JSON.stringify(fields));
  const length = Buffer.from(Uint32Array.of(header.length).buffer);
  const numbers = Buffer.from(stats.buffer, stats.byteOffset, stats.byteLength);
  const rest = Buffer.concat([length, header, numbers, Buffer.from(paths.map((path) => `${path}\0`).join(""))]);
  return Buffer.concat([sha256(rest), rest]);
}

/** Undefined if the bytes are damaged or of another version of this program. `bytes` must not be a `Buffer`. */
export function readTreeState(bytes: Uint8Array<ArrayBuffer>): TreeState | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < HEADER_AT || !sha256(buffer.subarray(CHECKSUM_BYTES)).equals(buffer.subarray(0, CHECKSUM_BYTES)))
    return undefined;
  const [headerLength = 0] = new Uint32Array(bytes.slice(CHECKSUM_BYTES, HEADER_AT).buffer);
  const numbersAt = HEADER_AT + headerLength;
  const { version, count, ...names } = JSON.parse(buffer.toString("utf8", HEADER_AT, numbersAt)) as Header;
  if (version !== VERSION) return undefined;
  const pathsAt = numbersAt + 8 * NUMBERS * count;
  const stats = new Float64Array(bytes.slice(numbersAt, pathsAt).buffer);
  const paths = buffer.toString("utf8", pathsAt).split("\0");
  paths.pop();
  return paths.length === count ? { ...names, paths, stats } : undefined;
}
