import { isDefaultIncluded, mayBeScript } from "../../engines/parsing/detect.ts";
import { skipReason } from "../../engines/parsing/skip.ts";
import type { FileListing } from "../git/git.ts";
import { type FileStat, isRacy, statOf } from "../indexing/file-stat.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import { IGNORE_FILES } from "../indexing/ignore-rules.ts";
import type { SearchFolder } from "./search-folder.ts";
import { stateName } from "./state-name.ts";
import { ABSENT, type TreeState, UNSETTLED, writeTreeState } from "./tree-state.ts";

/**
 * The state of a work tree after a run that began at `startedAtMs` and left `table`. `known` are the indexed files with the stats
 * that were taken before they were read. With `only`, what a run has changed of a state: all other files are as they were. What
 * may have changed during the run without a trace in its stats is {@link UNSETTLED}: the next run looks at that alone.
 */
export function describeTree(
  tree: FileTree,
  run: { table: string; head: string | undefined; listing: FileListing; startedAtMs: number },
  known: ReadonlyMap<string, string>,
  only?: ReadonlySet<string>,
): TreeState {
  const { table, head, listing, startedAtMs } = run;
  const { digest, folders, ignoreFiles } = listing;
  const paths: string[] = [];
  const numbers: number[] = [];
  const add = (path: string, stat: FileStat): void => {
    paths.push(path);
    numbers.push(stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino);
  };
  const settled = (stat: FileStat = ABSENT): FileStat =>
    stat !== ABSENT && isRacy(stat, startedAtMs) ? UNSETTLED : stat;
  for (const folder of folders) add(folder, settled(tree.lstatFolder(folder)));
  for (const path of only ?? new Set([...ignoreFiles, ...listing.paths()])) {
    const stamp = known.get(path);
    if (stamp !== undefined) add(path, stamp === "" ? UNSETTLED : statOf(stamp));
    else if (dependsOnFile(path)) add(path, settled(tree.lstat(path)));
  }
  return {
    table,
    head: head ?? null,
    listing: digest,
    folderCount: folders.length,
    examined: { paths, numbers: Float64Array.from(numbers) },
  };
}

/** Writes the state of the work tree at `root`. */
export function saveState(folder: SearchFolder, root: string, state: TreeState): void {
  folder.writeState(stateName(root), writeTreeState(state));
}

/** Writes what has changed in the work tree at `root` since the state named `completes` was written. */
export function saveChanges(folder: SearchFolder, root: string, state: TreeState, completes: string): void {
  folder.writeStateChanges(stateName(root), writeTreeState({ ...state, completes }));
}

/** Whether the index depends on the file itself, not only on its name. */
export function dependsOnFile(path: string): boolean {
  if (IGNORE_FILES.includes(path.slice(path.lastIndexOf("/") + 1))) return true;
  return (mayBeScript(path) || isDefaultIncluded(path)) && skipReason(path) === undefined;
}
