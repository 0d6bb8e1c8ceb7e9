import { isDefaultIncluded, mayBeScript } from "../../parsing/detect.ts";
import { skipReason } from "../../parsing/skip.ts";
import type { FileListing } from "../git.ts";
import { type FileStat, isRacy } from "../index/file-stat.ts";
import type { FileTree } from "../index/file-tree.ts";
import { IGNORE_FILES } from "../index/ignore-rules.ts";
import { ABSENT, type TreeState } from "./tree-state.ts";

/**
 * The state of a work tree after a run that began at `startedAtMs` and left `table`. `known` are the indexed files with the stats
 * that were taken before they were read. Undefined if anything may have changed during the run without a trace in its stats.
 */
export function describeTree(
  tree: FileTree,
  run: { table: string; head: string | undefined; listing: FileListing; startedAtMs: number },
  known: ReadonlyMap<string, string>,
): TreeState | undefined {
  const { table, head, listing, startedAtMs } = run;
  const { digest, folders, ignoreFiles } = listing;
  const paths: string[] = [];
  const numbers: number[] = [];
  /** False if the path may have changed during the run. */
  const add = (path: string, stat: FileStat | undefined): boolean => {
    paths.push(path);
    const { size, mtimeMs, ctimeMs, ino } = stat ?? ABSENT;
    numbers.push(size, mtimeMs, ctimeMs, ino);
    return stat === undefined || !isRacy(stat, startedAtMs);
  };
  for (const folder of folders) if (!add(folder, tree.lstatFolder(folder))) return undefined;
  for (const path of new Set([...ignoreFiles, ...listing.paths()])) {
    const stamp = known.get(path);
    if (stamp === "") return undefined;
    if (stamp !== undefined) {
      paths.push(path);
      numbers.push(...stamp.split(":").map(Number));
    } else if (dependsOnFile(path) && !add(path, tree.lstat(path))) return undefined;
  }
  return {
    table,
    head: head ?? null,
    listing: digest,
    folderCount: folders.length,
    paths,
    stats: Float64Array.from(numbers),
  };
}

/** Whether the index depends on the file itself, not only on its name. */
function dependsOnFile(path: string): boolean {
  if (IGNORE_FILES.includes(path.slice(path.lastIndexOf("/") + 1))) return true;
  return (mayBeScript(path) || isDefaultIncluded(path)) && skipReason(path) === undefined;
}
