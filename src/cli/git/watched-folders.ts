import { type Dirent, readdirSync } from "node:fs";
import { findSorted } from "../../engines/search/order.ts";
import { type FileStat, isRacy } from "../indexing/file-stat.ts";
import { type FileTree, folderOf } from "../indexing/file-tree.ts";
import { textHash } from "../machine/checksum.ts";
import { git, splitNul } from "./command.ts";
import { isOdd } from "./paths.ts";

/** Numbers kept of a folder: mtime, ctime, inode and a hash of its names. */
export const FOLDER_NUMBERS = 4;
/** With more folders than this git is asked each time. */
const MAX_FOLDERS = 200_000;
/** Levels of folders in one another that have no listed file. */
const MAX_ROUNDS = 20;
export const GIT_IGNORE = ".gitignore";
/** What git never lists. */
export const GIT_FOLDER = ".git";
/** Of a folder that may change again without a trace: no state equals it. */
const UNSETTLED = [Number.NaN, Number.NaN, Number.NaN, Number.NaN] as const;
/** A double holds so many hexadecimal digits. */
const HASH_DIGITS = 13;

/**
 * The folders of a work tree that git looks into for its list of files. All names in them count, so the list is the same as long as they
 * have the same names and the rules of what is ignored are the same. Folders that are ignored are not among them.
 */
export interface FolderStates {
  paths: readonly string[];
  numbers: Float64Array;
  /** Paths of the `.gitignore` in them. */
  ignoreFiles: readonly string[];
  /** Paths of the submodules, into which git does not look. */
  repositories: readonly string[];
}

export interface ComparedFolders {
  /** Positions of those whose names are not known to be as they were. */
  changed: ReadonlySet<number>;
  /** Whether some have the same names at another time, which is noted in the states. */
  isRenewed: boolean;
}

/** Compares folders with their states. */
export function compareFolders(tree: FileTree, { paths, numbers }: FolderStates, nowMs: number): ComparedFolders {
  const changed = new Set<number>();
  let isRenewed = false;
  for (let i = 0; i < paths.length; i++) {
    const path = paths[i] as string;
    const stat = tree.lstatFolder(path);
    const at = i * FOLDER_NUMBERS;
    if (stat && stat.mtimeMs === numbers[at] && stat.ctimeMs === numbers[at + 1] && stat.ino === numbers[at + 2])
      continue;
    // Programs make a file and remove it again, or put another in its place.
    const hash = stat && readNames(tree, path)?.hash;
    if (hash !== undefined && hash === numbers[at + 3]) {
      if (stat === undefined || isRacy(stat, nowMs)) continue;
      numbers.set(numbersOf(stat, hash), at);
      isRenewed = true;
      continue;
    }
    changed.add(i);
  }
  return { changed, isRenewed };
}

/**
 * The states of the folders that git has looked into for the list `listed`, which it began at `startedAtMs`. Those of `last` that have not
 * changed are taken as they are; `added` are the paths that its list lacks, if they are known. Undefined if the folders are too many, a name
 * is not plain text, or git's list depends on more than them.
 */
export async function describeFolders(
  tree: FileTree,
  listed: readonly string[],
  startedAtMs: number,
  last?: { states: FolderStates; changed: ReadonlySet<number>; added: readonly string[] | undefined },
): Promise<FolderStates | undefined> {
  /** Positions in `last.states` of folders that have not changed. */
  const known = new Map<string, number>();
  const wanted = new Set<string>();
  for (const [i, path] of last?.states.paths.entries() ?? []) {
    if (last?.changed.has(i) === false) known.set(path, i);
    else if (last?.added) wanted.add(path);
  }
  if (!known.has("")) wanted.add("");
  const isWanted = (path: string): boolean => known.has(path) || wanted.has(path);
  let previous = "";
  for (const path of last?.added ?? listed) {
    // A repository that is not a submodule: git looks into it to tell.
    if (path.endsWith("/") || isOdd(path)) return undefined;
    const own = folderOf(path);
    // Most files stand behind another of their folder.
    if (own === previous) continue;
    previous = own;
    for (let folder = own; !isWanted(folder); folder = folderOf(folder)) wanted.add(folder);
  }
  const described = new Map<string, readonly number[]>();
  const ignoreFiles = new Set(last?.states.ignoreFiles);
  const repositories = new Set(last?.states.repositories);
  const device = tree.lstatFolder("")?.dev;
  let pending: readonly string[] = [...wanted];
  for (let round = 0; pending.length > 0; round++) {
    if (round === MAX_ROUNDS || known.size + wanted.size > MAX_FOLDERS) return undefined;
    const unlisted: string[] = [];
    for (const path of pending) {
      // One that is not there is a new name elsewhere once it is.
      if (!tree.lstatFolder(path)) continue;
      const names = readNames(tree, path);
      // Taken afterwards: if it is older than git's list, so are the names.
      const stat = tree.lstatFolder(path);
      if (stat && stat.dev !== device) return undefined;
      described.set(path, stat && names && !isRacy(stat, startedAtMs) ? numbersOf(stat, names.hash) : UNSETTLED);
      for (const entry of names?.entries ?? []) {
        const own = path === "" ? entry.name : `${path}/${entry.name}`;
        if (entry.name === GIT_IGNORE) {
          // Some versions of git follow a link.
          if (!entry.isFile()) return undefined;
          ignoreFiles.add(own);
        }
        if (!entry.isDirectory() || entry.name === GIT_FOLDER || isWanted(own)) continue;
        if (isOdd(entry.name)) return undefined;
        if (findSorted(listed, own) !== -1) repositories.add(own);
        else unlisted.push(own);
      }
    }
    const ignored = await ignoredOf(tree.root, unlisted);
    pending = unlisted.filter((path) => !ignored.has(path));
    for (const path of pending) wanted.add(path);
  }
  const numbers = new Float64Array(FOLDER_NUMBERS * (known.size + described.size));
  let end = 0;
  for (const position of known.values()) {
    const at = position * FOLDER_NUMBERS;
    for (let i = 0; i < FOLDER_NUMBERS; i++) numbers[end++] = last?.states.numbers[at + i] as number;
  }
  for (const own of described.values()) {
    numbers.set(own, end);
    end += FOLDER_NUMBERS;
  }
  return {
    paths: [...known.keys(), ...described.keys()],
    numbers,
    ignoreFiles: [...ignoreFiles],
    repositories: [...repositories],
  };
}

function numbersOf({ mtimeMs, ctimeMs, ino }: FileStat, hash: number): readonly number[] {
  return [mtimeMs, ctimeMs, ino, hash];
}

/** What is in a folder, and a hash of its names and of which are folders; undefined if it cannot be read. */
function readNames(tree: FileTree, path: string): { entries: Dirent[]; hash: number } | undefined {
  const entries = entriesOf(tree, path);
  if (!entries) return undefined;
  const names = entries.map((entry) => `${entry.name}/${kindOf(entry)}`).sort();
  return { entries, hash: parseInt(textHash(names.join("/")).slice(0, HASH_DIGITS), 16) };
}

/** What is in a folder; undefined if it cannot be read. */
export function entriesOf(tree: FileTree, path: string): Dirent[] | undefined {
  try {
    return readdirSync(`${tree.root}/${path}`, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

function kindOf(entry: Dirent): string {
  if (entry.isDirectory()) return "d";
  return entry.isFile() ? "f" : "o";
}

/** Which of the folders git ignores, with all that is in them. */
async function ignoredOf(root: string, folders: readonly string[]): Promise<ReadonlySet<string>> {
  if (folders.length === 0) return new Set();
  const input = folders.map((path) => `${path}\0`).join("");
  return new Set(splitNul(await git(root, ["check-ignore", "-z", "--stdin"], { input, codes: [0, 1] })));
}
