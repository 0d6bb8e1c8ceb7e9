import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, for this user alone unless `mode` says otherwise. One call for each level: Node's recursive one
 * calls a read-only file system `ENOENT`, and never ends in a folder such as `/proc`. Returns the folders it made, outermost first.
 */
export function makeFolder(folder: string, mode = 0o700): string[] {
  if (isFolder(folder)) return [];
  const parent = dirname(folder);
  const made = parent === folder ? [] : makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
    return [...made, folder];
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error;
    return made;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
