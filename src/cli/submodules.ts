import { existsSync } from "node:fs";
import { join } from "node:path";
import { type IndexInfo, submodulesText } from "../interface/questions/code-index.ts";
import type { Context } from "./context.ts";
import { FileTree } from "./indexing/file-tree.ts";

/** Bytes of `.gitmodules` that are read; those of large projects have tens of kilobytes. */
const MAX_BYTES = 1024 * 1024;

/** Paths of the submodules below `root` that are checked out, as its `.gitmodules` names them. */
export function submodulesOf(root: string): string[] {
  return namedPaths(root).filter((path) => existsSync(join(root, path, ".git")));
}

function namedPaths(root: string): string[] {
  const bytes = new FileTree(root).read(".gitmodules", MAX_BYTES);
  const lines = new TextDecoder()
    .decode(bytes)
    .split("\n")
    .map((line) => line.trim());
  return lines.flatMap((line) => {
    const [, value = ""] = /^path\s*=(.*)$/.exec(line) ?? [];
    const path = value.trim().replaceAll('"', "");
    return path === "" || path.split("/").includes("..") ? [] : [path];
  });
}

/** Says which submodules the index of a work tree does not have, and how to ask them. */
export function noteSubmodules({ ui }: Context, [index]: readonly Pick<IndexInfo, "submodules">[]): void {
  const [first] = index?.submodules ?? [];
  if (first !== undefined)
    ui.note(`${submodulesText(index?.submodules ?? [])}: ask from its folder, as after \`cd ${first}\``);
}
