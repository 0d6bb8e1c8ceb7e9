import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { skipReason } from "../../parsing/skip.ts";
import type { FileTree } from "./file-tree.ts";
import { CODECTX_IGNORE, IgnoreRules } from "./ignore-rules.ts";

export interface WalkedFolder {
  paths: string[];
  rules: IgnoreRules;
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
    for (const { name } of entries) {
      if (name === ".gitignore" || name === CODECTX_IGNORE)
        rules.add(folder, new TextDecoder().decode(tree.read(pathOf(name))));
    }
    for (const entry of entries) {
      const path = pathOf(entry.name);
      if (entry.isDirectory()) {
        if (skipReason(`${path}/x`) === undefined && !rules.ignores(`${path}/`)) pending.push(path);
      } else if (entry.isFile()) paths.push(path);
    }
  }
  return { paths: paths.filter((path) => !rules.ignores(path)).sort(), rules, unreadable };
}

/** Entries of a folder; none on another file system, undefined if it cannot be read. */
function readFolder(folder: string, dev: number): Dirent[] | undefined {
  try {
    return lstatSync(folder).dev === dev ? readdirSync(folder, { withFileTypes: true }) : [];
  } catch {
    return undefined;
  }
}
