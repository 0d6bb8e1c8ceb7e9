import { closeSync, fstatSync, fsyncSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../machine/checksum.ts";
import { makeFolder } from "../machine/folders.ts";
import type { RangeReader } from "../../engines/search/types.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import { renameFile } from "../machine/platform.ts";
import { TEMPORARY } from "../machine/replace-file.ts";

const SEGMENT = ".segment";
const TABLE = ".table";
const STATE = ".state";
const STATE_CHANGES = ".state-changes";
const ID_DIGITS = 32;
/** Begins the ids of segments that hold what today's parser found. Those of earlier commits have no such beginning. */
const PARSED = `p${PARSER_VERSION}-`;

/**
 * The search index on disk, in a folder of the local index: immutable segments, shared by all work trees, and one table for each
 * work tree or commit. A file gets its name only after its bytes are on disk. Only the holder of the write lock writes or removes files;
 * readers keep what they opened.
 */
export class SearchFolder {
  readonly #folder: string;

  constructor(indexDirectory: string) {
    this.#folder = join(indexDirectory, "search");
  }

  segmentIds(): string[] {
    return this.#names(SEGMENT);
  }

  /** Segments that a new table may name: a content has other symbols in one that was made by another version of the parser. */
  usableSegmentIds(): string[] {
    return this.segmentIds().filter((id) => id.startsWith(PARSED));
  }

  tableNames(): string[] {
    return this.#names(TABLE);
  }

  /** Opens a file; undefined if it does not exist. The caller must close it. */
  openSegment(id: string): OpenFile | undefined {
    return OpenFile.open(join(this.#folder, id + SEGMENT));
  }

  openTable(name: string): OpenFile | undefined {
    return OpenFile.open(join(this.#folder, name + TABLE));
  }

  /** Writes a segment and gives its id: the parser's version and the beginning of the SHA-256 of its bytes. */
  writeSegment(bytes: Uint8Array): string {
    const id = PARSED + sha256(bytes).toString("hex").slice(0, ID_DIGITS);
    this.#write(id + SEGMENT, bytes);
    return id;
  }

  writeTable(name: string, bytes: Uint8Array): void {
    this.#write(name + TABLE, bytes);
  }

  stateNames(): string[] {
    return this.#names(STATE);
  }

  /** Bytes of a work tree's state (tree-state.ts); undefined if there is none. */
  readState(name: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#read(name + STATE);
  }

  writeState(name: string, bytes: Uint8Array): void {
    this.#write(name + STATE, bytes);
    this.#remove(name + STATE_CHANGES);
  }

  /** What has changed since the state was written (`TreeState.completes`). */
  readStateChanges(name: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#read(name + STATE_CHANGES);
  }

  writeStateChanges(name: string, bytes: Uint8Array): void {
    this.#write(name + STATE_CHANGES, bytes);
  }

  removeState(name: string): void {
    for (const suffix of [STATE, STATE_CHANGES]) this.#remove(name + suffix);
  }

  removeSegment(id: string): void {
    this.#remove(id + SEGMENT);
  }

  removeTable(name: string): void {
    this.#remove(name + TABLE);
  }

  /** Removes everything; all of it can be rebuilt from the local index. */
  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Removes temporary files of processes that ended while writing. */
  removeLeftovers(): void {
    for (const name of this.#all()) if (name.endsWith(TEMPORARY)) this.#remove(name);
  }

  #read(name: string): Uint8Array<ArrayBuffer> | undefined {
    const file = OpenFile.open(join(this.#folder, name));
    try {
      return file?.read(0, file.size);
    } finally {
      file?.close();
    }
  }

  #write(name: string, bytes: Uint8Array): void {
    makeFolder(this.#folder);
    const file = join(this.#folder, name);
    const handle = openSync(file + TEMPORARY, "w", 0o600);
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(handle, bytes, written);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameFile(file + TEMPORARY, file);
  }

  #remove(name: string): void {
    try {
      rmSync(join(this.#folder, name), { force: true });
    } catch {
      // Windows does not remove a file that is open; the next run does.
    }
  }

  #names(suffix: string): string[] {
    return this.#all()
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length));
  }

  #all(): string[] {
    try {
      return readdirSync(this.#folder).sort();
    } catch {
      return [];
    }
  }
}

/** A file that stays readable after it was removed or replaced. */
export class OpenFile implements RangeReader {
  readonly size: number;
  readonly #handle: number;

  private constructor(handle: number) {
    this.#handle = handle;
    this.size = fstatSync(handle).size;
  }

  static open(path: string): OpenFile | undefined {
    try {
      return new OpenFile(openSync(path, "r"));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  }

  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const count = readSync(this.#handle, bytes, done, length - done, offset + done);
      if (count === 0) break;
      done += count;
    }
    return done === length ? bytes : bytes.subarray(0, done);
  }

  close(): void {
    closeSync(this.#handle);
  }
}
