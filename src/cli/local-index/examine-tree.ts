import { mergeSorted, withoutSorted } from "../../engines/search/order.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { dependsOnFile } from "./describe-tree.ts";
import type { SearchFolder } from "./search-folder.ts";
import { stateName } from "./state-name.ts";
import { changedPaths, readTreeState, type StoredTreeState, type TreeState } from "./tree-state.ts";

/** The last state of a work tree, beside the work tree. */
export interface Examination extends Pick<TreeState, "table" | "head" | "listing"> {
  /** Names the state that changes are to complete. */
  name: string;
  /** Whether all files and folders are as they were. */
  isSame: boolean;
  /** Whether a file is known to be as it was. */
  isSameFile: (path: string) => boolean;
  /** The files of the state that may not be as it has them; undefined outside of git, whose list is not known. */
  mayDiffer: ReadonlySet<string> | undefined;
  /** The files in a list of git's that the index may depend on and the state does not have, and those of the state that are not in the list. */
  newOrGone: (listed: readonly string[]) => string[];
}

/** Examines the files and folders of a work tree. Undefined without a last state. */
export function examineTree(folder: SearchFolder, root: string): Examination | undefined {
  const bytes = folder.readState(stateName(root));
  const written = bytes && readTreeState(bytes);
  if (!written) return undefined;
  const changes = changesOf(folder, root, written);
  const tree = new FileTree(root);
  const { table, head, listing } = changes ?? written;
  const replaced = changes && changedPaths(tree, changes.examined, changes.folderCount);
  const changed = changedPaths(tree, written.examined, written.folderCount);
  const later = changes?.examined.paths ?? [];
  for (const path of later) if (replaced?.has(path) === false) changed.delete(path);
  for (const path of replaced ?? []) changed.add(path);
  let all: ReadonlySet<string> | undefined;
  return {
    name: written.name,
    table,
    head,
    listing,
    isSame: changed.size === 0,
    isSameFile: (path) => (all ??= new Set([...written.examined.paths, ...later])).has(path) && !changed.has(path),
    mayDiffer: written.folderCount > 0 ? undefined : new Set([...changed, ...later]),
    newOrGone: (listed) => newOrGone(listed, written.examined.paths),
  };
}

/** The paths that only one of a list and a state has, sorted; of the list those that the index may depend on. */
function newOrGone(listed: readonly string[], examined: readonly string[]): string[] {
  return mergeSorted(withoutSorted(examined, listed), withoutSorted(listed, examined).filter(dependsOnFile));
}

/** What has changed since a state was written. */
function changesOf(folder: SearchFolder, root: string, { name }: StoredTreeState): StoredTreeState | undefined {
  const bytes = folder.readStateChanges(stateName(root));
  return bytes && readTreeState(bytes, name);
}
