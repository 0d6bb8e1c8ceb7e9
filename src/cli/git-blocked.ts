// `promises` is loaded when it is used first, which is seldom.
import { existsSync, promises } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { CliError, EXIT } from "./exit-codes.ts";

/** A git command that reads the work tree and has not finished by then may be blocked. */
const SUSPECT_AFTER_MS = 1_000;
/** Files that git opens in every folder it lists. */
const READ_BY_GIT: ReadonlySet<string> = new Set([".gitignore", ".gitattributes"]);
const MAX_FOLDERS = 20_000;

/**
 * Runs a git command that reads the work tree. Git waits forever for a FIFO in place of one of its own files: when the command takes
 * long, the work tree is searched for one, and the command is ended with an error that names it.
 */
export async function unlessBlocked<T>(cwd: string, command: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const blocked = new AbortController();
  const search = async () => {
    const path = await findBlocking(workTreeRoot(cwd));
    if (path === undefined) return;
    const message = `${path} is not a regular file, and git waits for it: remove or replace it`;
    blocked.abort(new CliError(EXIT.usage, "SPECIAL_FILE", message));
  };
  const timer = setTimeout(() => void search(), SUSPECT_AFTER_MS);
  try {
    return await command(blocked.signal);
  } finally {
    clearTimeout(timer);
  }
}

function workTreeRoot(cwd: string): string {
  let folder = cwd;
  while (!existsSync(join(folder, ".git")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** Path, relative to the root, of a FIFO, socket or device that git would open; undefined if none is found. */
async function findBlocking(root: string): Promise<string | undefined> {
  const folders = [root];
  for (let at = 0; at < folders.length && at < MAX_FOLDERS; at++) {
    const folder = folders[at]!;
    for (const entry of await promises.readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory() && entry.name !== ".git") folders.push(join(folder, entry.name));
      const isSpecial = entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
      if (isSpecial && READ_BY_GIT.has(entry.name))
        return relative(root, join(folder, entry.name)).replaceAll(sep, "/");
    }
  }
  return undefined;
}
