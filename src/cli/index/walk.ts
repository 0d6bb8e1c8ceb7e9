import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { skipReason } from "../../parsing/skip.ts";
import type { FileTree } from "./file-tree.ts";
import { CODECTX_IGNORE, IgnoreRules } from "./ignore-rules.ts";

/** A folder's ignore files, in order: those of a later file decide. */
const IGNORE_FILES = [".gitignore", CODECTX_IGNORE];

export interface WalkedFolder {
  /** Relative to the root, in order. */
  paths: string[];
  /** Folders that may not be read. */
  unreadable: number;
}

/**
 * Lists the files below a folder that is not a git work tree, applying its `.gitignore` and `.codectxignore` files. Skips other file
 * systems (`/proc`, a network mount) and unreadable folders.
 */
export function walkFolder(tree: FileTree): WalkedFolder {
  const { root } = tree;
  const rules = new IgnoreRules();
  const paths: string[] = [];
  let unreadable = 0;
  const { dev } = lstatSync(root);
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = readFolder(join(root, folder), dev);
    if (!entries) {
      unreadable++;
      continue;
    }
    const pathOf = (name: string): string => (folder === "" ? name : `${folder}/${name}`);
    for (const name of IGNORE_FILES) {
      if (entries.some((entry) => entry.name === name))
        rules.add(folder, new TextDecoder().decode(tree.read(pathOf(name))));
    }
    for (const entry of entries) {
      const path = pathOf(entry.name);
      if (entry.isDirectory()) {
        if (skipReason(`${path}/x`) === undefined && !rules.ignores(`${path}/`)) pending.push(path);
      } else if (entry.isFile() && !rules.ignores(path)) paths.push(path);
    }
  }
  return { paths: paths.sort(), unreadable };
}

/** Entries of a folder; none on another file system, undefined if it cannot be read. */
function readFolder(folder: string, dev: number): Dirent[] | undefined {
  try {
    return lstatSync(folder).dev === dev ? readdirSync(folder, { withFileTypes: true }) : [];
  } catch {
    return undefined;
  }
}
