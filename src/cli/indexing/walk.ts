import { Buffer } from "node:buffer";
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { skipReason } from "../../engines/parsing/skip.ts";
import { sortUtf8 } from "../../engines/search/order.ts";
import { bytesOfPath, pathFromBytes } from "../../lib/path-text.ts";
import { type FileListing, hasName } from "../git/git.ts";
import { isOdd, REPLACEMENT } from "../git/paths.ts";
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
    const entries = readFolder(tree, folder, dev);
    if (!entries) {
      unreadable++;
      continue;
    }
    for (const name of IGNORE_FILES) {
      const path = entries.find((entry) => entry.name === name)?.path;
      if (path === undefined) continue;
      ignoreFiles.push(path);
      rules.add(folder, new TextDecoder().decode(tree.read(path, MAX_IGNORE_BYTES)), name);
    }
    for (const { path, entry } of entries) {
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

interface FolderEntry {
  path: string;
  /** Not exact if it is not UTF-8. */
  name: string;
  entry: Dirent | Dirent<Buffer>;
}

/** Entries of a folder; none on another file system, undefined if it cannot be read. */
function readFolder(tree: FileTree, folder: string, dev: number): FolderEntry[] | undefined {
  const place = tree.onDisk(folder);
  try {
    if (lstatSync(place).dev !== dev) return [];
    const entries = readdirSync(place, { withFileTypes: true });
    // Bytes are read only where they are needed, because that takes longer.
    const isExact = !entries.some(({ name }) => name.includes(REPLACEMENT));
    const found = isExact ? entries : readdirSync(place, { withFileTypes: true, encoding: "buffer" });
    return found.map((entry) => ({ path: pathIn(folder, entry.name), name: entry.name.toString(), entry }));
  } catch {
    return undefined;
  }
}

function pathIn(folder: string, name: string | Buffer): string {
  if (typeof name === "string" && !isOdd(name) && !folder.startsWith('"'))
    return folder === "" ? name : `${folder}/${name}`;
  const before = folder === "" ? [] : [bytesOfPath(folder), Buffer.from("/")];
  return pathFromBytes(Buffer.concat([...before, Buffer.from(name)]));
}
