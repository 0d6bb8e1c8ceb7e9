import { Buffer } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { bytesOfPath, pathFromBytes } from "../../lib/path-text.ts";

/** Errors of files that do not exist. Git lists a file whose folder a file, or a link to itself, has replaced. */
const ABSENT = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);
/** Errors of files that do not exist or cannot be read. */
const UNREADABLE = new Set([...ABSENT, "EACCES", "EPERM", "EISDIR", "ENXIO", "ENODEV", "ENAMETOOLONG"]);
// O_NOFOLLOW and O_NONBLOCK do not exist on Windows.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants> & { O_RDONLY: number };

/**
 * The regular files below a folder. Links are not followed, for files or folders, so that nothing outside is read; FIFOs and devices
 * are skipped and do not block. Paths are relative to the root, with `/`, and as `pathFromBytes` writes them.
 */
export class FileTree {
  /** Absolute or relative to the current folder, without symbolic links. */
  readonly root: string;
  readonly #noFollow: number;
  /** Of a path for the system: none in the current folder, since a short path is found faster. */
  readonly #prefix: string;
  /** By path, whether a folder is reached without a link. */
  readonly #folders = new Map<string, boolean>();
  /** The last of them: paths mostly come in order. */
  #last = { folder: "", inside: true };

  /** `noFollow`: the flag that opens no link, 0 where there is none. */
  constructor(root: string, noFollow: number = O_NOFOLLOW) {
    this.root = root;
    this.#prefix = isCurrentFolder(root) ? "" : `${root}/`;
    this.#noFollow = noFollow;
  }

  /** `lstat` of the regular file at a path; undefined if there is none. */
  lstat(path: string): Stats | undefined {
    const stats = this.#examine(path);
    return stats?.isFile() === true && this.#isInside(path) ? stats : undefined;
  }

  /** `lstat` of the folder at a path; undefined if there is none. */
  lstatFolder(path: string): Stats | undefined {
    const stats = this.#examine(path);
    const folder = stats?.isDirectory() === true && (path === "" || this.#isInside(path)) ? stats : undefined;
    this.#folders.set(path, folder !== undefined);
    return folder;
  }

  #examine(path: string): Stats | undefined {
    try {
      return lstatSync(this.onDisk(path), IF_THERE);
    } catch (error) {
      if (isOneOf(UNREADABLE, error)) return undefined;
      throw error;
    }
  }

  /** What is at a path instead of a regular file; undefined for a folder and if there is nothing, `unreadable` if its folder may not be entered. */
  irregular(path: string): "symlink" | "special_file" | "unreadable" | undefined {
    let stats: Stats | undefined;
    try {
      stats = lstatSync(this.onDisk(path), IF_THERE);
    } catch (error) {
      if (isOneOf(ABSENT, error)) return undefined;
      if (isOneOf(UNREADABLE, error)) return "unreadable";
      throw error;
    }
    if (stats === undefined || stats.isFile() || stats.isDirectory()) return undefined;
    return stats.isSymbolicLink() ? "symlink" : "special_file";
  }

  /**
   * Reads up to `maxBytes` of the regular file at a path; undefined if there is none or it cannot be read. The bytes are those of `buffer`
   * where they fit in, else of a new one.
   */
  read(path: string, maxBytes = Infinity, buffer?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
    let handle: number | undefined;
    try {
      if (!this.#isInside(path)) return undefined;
      if (this.#noFollow === 0 && this.#examine(path)?.isFile() !== true) return undefined;
      handle = openSync(this.onDisk(path), O_RDONLY | this.#noFollow | O_NONBLOCK);
      const stats = fstatSync(handle);
      if (!stats.isFile()) return undefined;
      const size = Math.min(stats.size, maxBytes);
      const bytes = buffer && size <= buffer.length ? buffer.subarray(0, size) : new Uint8Array(size);
      let length = 0;
      while (length < bytes.length) {
        const count = readSync(handle, bytes, length, bytes.length - length, length);
        if (count === 0) break;
        length += count;
      }
      // The file was truncated during the read.
      return length === bytes.length ? bytes : bytes.slice(0, length);
    } catch (error) {
      if (isOneOf(UNREADABLE, error)) return undefined;
      throw error;
    } finally {
      if (handle !== undefined) closeSync(handle);
    }
  }

  /** A path of the tree for calls of the system. */
  onDisk(path: string): string | Buffer {
    if (path === "") return this.root;
    if (!path.startsWith(QUOTE)) return this.#prefix + path;
    return Buffer.concat([Buffer.from(this.#prefix), bytesOfPath(path)]);
  }

  #isInside(path: string): boolean {
    const folder = folderOf(path);
    if (folder === this.#last.folder) return this.#last.inside;
    const inside = folder === "" || this.#isFolder(folder);
    this.#last = { folder, inside };
    return inside;
  }

  #isFolder(folder: string): boolean {
    return this.#folders.get(folder) ?? this.lstatFolder(folder) !== undefined;
  }
}

/** One object for all calls, of which there are thousands. */
const IF_THERE = { throwIfNoEntry: false } as const;

function isCurrentFolder(folder: string): boolean {
  try {
    return folder === process.cwd();
  } catch {
    // It was deleted.
    return false;
  }
}

function isOneOf(codes: ReadonlySet<string>, error: unknown): boolean {
  return error instanceof Error && "code" in error && codes.has(String(error.code));
}

/** Begins a path that is not plain text. */
const QUOTE = '"';

/** Folder of a path; `""` is the root. */
export function folderOf(path: string): string {
  const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
  return folder.startsWith(QUOTE) ? pathFromBytes(bytesOfPath(folder + QUOTE)) : folder;
}
