import { lstatSync } from "node:fs";
import { isDefaultIncluded, mayBeScript } from "../../engines/parsing/detect.ts";
import { skipReason } from "../../engines/parsing/skip.ts";
import { fingerprint } from "../machine/checksum.ts";
import type { FileListing } from "../git/git.ts";
import { type FileStat, isRacy, statOf } from "../indexing/file-stat.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import { IGNORE_FILES } from "../indexing/ignore-rules.ts";
import type { SearchFolder } from "./search-folder.ts";
import { encodeStatIndex, isComparable, MIN_FILES } from "./stat-index.ts";
import { stateName } from "./state-name.ts";
import { ABSENT, type StatList, type TreeState, writeTreeState } from "./tree-state.ts";

type DescribedState = Omit<TreeState, "statIndex">;

interface Rows {
  paths: string[];
  numbers: number[];
}

/**
 * The state of a work tree after a run that began at `startedAtMs` and left `table`. `known` are the indexed files with the stats
 * that were taken before they were read. With `only`, what a run has changed of a state: all other files are as they were. Undefined if
 * anything may have changed during the run without a trace in its stats.
 */
export function describeTree(
  tree: FileTree,
  run: { table: string; head: string | undefined; listing: FileListing; startedAtMs: number },
  known: ReadonlyMap<string, string>,
  only?: ReadonlySet<string>,
): DescribedState | undefined {
  const { table, head, listing, startedAtMs } = run;
  const { digest, folders, ignoreFiles } = listing;
  const examined: Rows = { paths: [], numbers: [] };
  const compared: Rows = { paths: [], numbers: [] };
  const add = (path: string, stat: FileStat, list = isComparable(stat, startedAtMs) ? compared : examined): void => {
    list.paths.push(path);
    list.numbers.push(stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino);
  };
  const mayHaveChanged = (stat: FileStat): boolean => stat !== ABSENT && isRacy(stat, startedAtMs);
  for (const folder of folders) {
    const stat = tree.lstatFolder(folder) ?? ABSENT;
    if (mayHaveChanged(stat)) return undefined;
    add(folder, stat, examined);
  }
  for (const path of only ?? new Set([...ignoreFiles, ...listing.paths()])) {
    const stamp = known.get(path);
    if (stamp === "") return undefined;
    if (stamp !== undefined) add(path, statOf(stamp));
    else if (dependsOnFile(path)) {
      const stat = tree.lstat(path) ?? ABSENT;
      if (mayHaveChanged(stat)) return undefined;
      add(path, stat);
    }
  }
  const isForGit = compared.paths.length >= MIN_FILES;
  const forGit = isForGit ? listOf(compared) : listOf();
  return {
    table,
    head: head ?? null,
    listing: digest,
    folderCount: folders.length,
    examined: isForGit ? listOf(examined) : listOf(examined, compared),
    compared: () => forGit,
  };
}

/** Writes the state of the work tree at `root`, and the index that git compares with it. */
export function saveState(folder: SearchFolder, root: string, state: DescribedState): void {
  const compared = state.compared();
  const index = compared.paths.length === 0 ? undefined : encodeStatIndex(compared, lstatSync(root));
  const statIndex = index ? fingerprint(index) : "";
  folder.writeState(stateName(root), writeTreeState({ ...state, statIndex }), index);
}

/** Writes what has changed in the work tree at `root` since the state named `completes` was written. */
export function saveChanges(folder: SearchFolder, root: string, state: DescribedState, completes: string): void {
  folder.writeStateChanges(stateName(root), writeTreeState({ ...state, statIndex: "", completes }));
}

function listOf(...parts: readonly Rows[]): StatList {
  return {
    paths: parts.flatMap(({ paths }) => paths),
    numbers: Float64Array.from(parts.flatMap(({ numbers }) => numbers)),
  };
}

/** Whether the index depends on the file itself, not only on its name. */
function dependsOnFile(path: string): boolean {
  if (IGNORE_FILES.includes(path.slice(path.lastIndexOf("/") + 1))) return true;
  return (mayBeScript(path) || isDefaultIncluded(path)) && skipReason(path) === undefined;
}
