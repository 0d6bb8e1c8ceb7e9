import { createHash } from "node:crypto";
import { devNull } from "node:os";
import { join } from "node:path";
import { git, splitNul } from "../git/command.ts";
import { NUMBERS, type StatList } from "./tree-state.ts";
import { makeFolder } from "../machine/folders.ts";
import { hasChangeTimes } from "../machine/platform.ts";
import { replaceFile } from "../machine/replace-file.ts";

/**
 * Stats of files as a git index, so that git can compare them with the files. Git does so while this process searches, and with less CPU time.
 *
 * The index is used with a git directory of our own, so no configuration of the repository is read, and none need exist. Contents
 * are never compared.
 */

/** Fewer files are examined sooner than git has started. */
export const MIN_FILES = 3_000;
/**
 * Git compares whole seconds. A file that was last changed this long before it was read cannot be changed again within the same
 * second, even if the clock of its file system is somewhat slow.
 */
const SETTLED_MS = 10_000;
/** Git takes an empty file for changed if its object is not that of the empty file, and looks at no object otherwise. */
const EMPTY_OBJECT = Buffer.from("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "hex");
const REGULAR_FILE = 0o100644;
const HEADER_BYTES = 12;
const ENTRY_BYTES = 62;
const MAX_NAME_LENGTH = 0xfff;

const SETTINGS: Readonly<Record<string, string>> = {
  "core.checkStat": "default",
  "core.fileMode": "false",
  // A thread for every 500 files would compete with the search for the processors.
  "core.preloadIndex": "false",
  "core.trustctime": "true",
};

/** Whether git notices every change that a file with these stats may undergo after `readAtMs`. */
export function isComparable(
  { size, mtimeMs, ctimeMs }: { size: number; mtimeMs: number; ctimeMs: number },
  readAtMs: number,
): boolean {
  if (!hasChangeTimes()) return false;
  return size >= 0 && mtimeMs >= 0 && Math.max(mtimeMs, ctimeMs) < readAtMs - SETTLED_MS;
}

/** The index, version 2. Files of another owner than the given one will be named by {@link differingFiles}. */
export function encodeStatIndex({ paths, numbers }: StatList, owner: { uid: number; gid: number }): Buffer {
  const names = paths.map((path, i) => ({ name: Buffer.from(path), at: i * NUMBERS }));
  names.sort((a, b) => Buffer.compare(a.name, b.name));
  const size = names.reduce((sum, { name }) => sum + entrySize(name), HEADER_BYTES);
  const bytes = Buffer.alloc(size);
  bytes.write("DIRC");
  bytes.writeUInt32BE(2, 4);
  bytes.writeUInt32BE(names.length, 8);
  let start = HEADER_BYTES;
  for (const { name, at } of names) {
    const [size = 0, mtimeMs = 0, ctimeMs = 0, ino = 0] = numbers.subarray(at, at + NUMBERS);
    bytes.writeUInt32BE(seconds(ctimeMs), start);
    bytes.writeUInt32BE(seconds(mtimeMs), start + 8);
    bytes.writeUInt32BE(ino >>> 0, start + 20);
    bytes.writeUInt32BE(REGULAR_FILE, start + 24);
    bytes.writeUInt32BE(owner.uid, start + 28);
    bytes.writeUInt32BE(owner.gid, start + 32);
    bytes.writeUInt32BE(size >>> 0, start + 36);
    EMPTY_OBJECT.copy(bytes, start + 40);
    bytes.writeUInt16BE(Math.min(name.length, MAX_NAME_LENGTH), start + 60);
    name.copy(bytes, start + ENTRY_BYTES);
    start += entrySize(name);
  }
  return Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]);
}

/** An entry ends with one to eight NULs, at a multiple of eight bytes. */
function entrySize(name: Buffer): number {
  return (ENTRY_BYTES + name.length + 8) & ~7;
}

function seconds(timeMs: number): number {
  return Math.floor(timeMs / 1_000) >>> 0;
}

/** Makes the git directory that {@link differingFiles} needs. */
export function makeGitDirectory(folder: string): void {
  for (const name of ["objects", "refs"]) makeFolder(join(folder, name));
  replaceFile(join(folder, "HEAD"), "ref: refs/heads/main\n", 0o600);
}

/**
 * Paths of the files that git finds different from their stats in the index, or gone. Reports every file that has changed, and may
 * report others. Throws `GitCommandError` if git fails.
 */
export async function differingFiles(root: string, gitDirectory: string, index: string): Promise<Set<string>> {
  const variables = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("GIT_") || name === "GIT_EXEC_PATH",
  );
  const env = {
    ...Object.fromEntries(variables),
    GIT_DIR: gitDirectory,
    GIT_WORK_TREE: root,
    GIT_INDEX_FILE: index,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
  };
  const output = await git(root, ["diff-files", "--name-only", "-z"], SETTINGS, env);
  return new Set(splitNul(output));
}
