// `promises` is loaded when it is used first, which is seldom.
import { type Dirent, existsSync, lstatSync, promises, type Stats } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { CliError, EXIT } from "../exit-codes.ts";

/** A git command that has not finished by then may be blocked. */
const SUSPECT_AFTER_MS = 3_000;
/** Files that git opens in every folder it lists. */
const READ_BY_GIT: ReadonlySet<string> = new Set([".gitignore", ".gitattributes"]);
/** Files that git opens in its own folder. */
const OF_GIT = ["HEAD", "config", "index", "packed-refs", "shallow", "info/exclude", "info/attributes"];
const MAX_FOLDERS = 20_000;

/**
 * Runs a git command. Git waits forever for a FIFO in place of a file that it opens itself: when the command takes long, one is searched
 * for, and the command is ended with an error that names it.
 */
export async function unlessBlocked<T>(cwd: string, command: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const blocked = new AbortController();
  let isRunning = true;
  const search = async () => {
    const path = await findBlocking(workTreeRoot(cwd), () => isRunning);
    if (path === undefined) return;
    const message = `${path} is not a regular file, and git waits for it: remove or replace it`;
    blocked.abort(new CliError(EXIT.usage, "SPECIAL_FILE", message));
  };
  const timer = setTimeout(() => void search().catch(() => undefined), SUSPECT_AFTER_MS);
  try {
    return await command(blocked.signal);
  } finally {
    isRunning = false;
    clearTimeout(timer);
  }
}

function workTreeRoot(cwd: string): string {
  let folder = cwd;
  while (!existsSync(join(folder, ".git")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

function isSpecial(file: Stats | Dirent): boolean {
  return file.isFIFO() || file.isSocket() || file.isCharacterDevice() || file.isBlockDevice();
}

/** Path, relative to the root, of a FIFO, socket or device that git would open; undefined if none is found while `isWanted`. */
async function findBlocking(root: string, isWanted: () => boolean): Promise<string | undefined> {
  for (const name of OF_GIT) {
    const stat = lstatSync(join(root, ".git", name), { throwIfNoEntry: false });
    if (stat && isSpecial(stat)) return `.git/${name}`;
  }
  const folders = [root];
  for (let at = 0; at < folders.length && at < MAX_FOLDERS && isWanted(); at++) {
    const folder = folders[at]!;
    for (const entry of await promises.readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory() && entry.name !== ".git") folders.push(join(folder, entry.name));
      if (isSpecial(entry) && READ_BY_GIT.has(entry.name))
        return relative(root, join(folder, entry.name)).replaceAll(sep, "/");
    }
  }
  return undefined;
}
