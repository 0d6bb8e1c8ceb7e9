import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { skipReason } from "../../engines/parsing/skip.ts";
import { sortUtf8 } from "../../engines/search/order.ts";
import { type FileListing, hasName } from "../git/git.ts";
import type { FileTree } from "./file-tree.ts";
import { IGNORE_FILES, IgnoreRules, MAX_IGNORE_BYTES } from "./ignore-rules.ts";

/**
 * Lists the files below a folder that is not a git work tree, applying its `.gitignore` and `.codectxignore` files. Skips other file
 * systems (`/proc`, a network mount) and unreadable folders.
 */
export function walkFolder(tree: FileTree): FileListing {
  const { root } = tree;
  const rules = new IgnoreRules();
  const paths: string[] = [];
  const folders: string[] = [];
  const ignoreFiles: string[] = [];
  let unreadable = 0;
  const { dev } = lstatSync(root);
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    folders.push(folder);
    const entries = readFolder(join(root, folder), dev);
    if (!entries) {
      unreadable++;
      continue;
    }
    const pathOf = (name: string): string => (folder === "" ? name : `${folder}/${name}`);
    for (const name of IGNORE_FILES) {
      if (!entries.some((entry) => entry.name === name)) continue;
      ignoreFiles.push(pathOf(name));
      rules.add(folder, new TextDecoder().decode(tree.read(pathOf(name), MAX_IGNORE_BYTES)), name);
    }
    for (const entry of entries) {
      const path = pathOf(entry.name);
      if (entry.isDirectory()) {
        if (skipReason(`${path}/x`) === undefined && !rules.ignores(`${path}/`)) pending.push(path);
      } else if (entry.isFile() && !rules.ignores(path)) paths.push(path);
    }
  }
  sortUtf8(paths);
  return {
    digest: "",
    paths: () => paths,
    named: (name) => paths.filter((path) => hasName(path, name)),
    folders: folders.sort(),
    ignoreFiles,
    unreadable,
    tree,
  };
}

/** Entries of a folder; none on another file system, undefined if it cannot be read. */
function readFolder(folder: string, dev: number): Dirent[] | undefined {
  try {
    return lstatSync(folder).dev === dev ? readdirSync(folder, { withFileTypes: true }) : [];
  } catch {
    return undefined;
  }
}
