import { relative } from "node:path";
import { inBackground } from "../background.ts";
import { fingerprint } from "../machine/checksum.ts";
import { FileTree } from "../indexing/file-tree.ts";
import type { SearchFolder } from "./search-folder.ts";
import { differingFiles } from "./stat-index.ts";
import { stateName } from "./state-name.ts";
import { isUnchanged, readTreeState, type StoredTreeState, type TreeState } from "./tree-state.ts";

/** The last state of a work tree, beside the work tree. */
export interface Examination extends Pick<TreeState, "table" | "head" | "listing"> {
  /** Names the state that changes are to complete. */
  name: string;
  /** Whether the files and folders that this process compares are as they were. */
  isSame: boolean;
  /** Whether all are as they were. */
  unchanged: Promise<boolean>;
  /** Tells which of the files that git compares are as they were; undefined if git compared none. */
  compared: () => Promise<((path: string) => boolean) | undefined>;
  /** The files that may not be as they were, if the list of files is the same; undefined if git compared none. */
  mayDiffer: () => Promise<ReadonlySet<string> | undefined>;
}

/** Examines the files and folders of a work tree. Undefined without a last state. */
export function examineTree(folder: SearchFolder, root: string): Examination | undefined {
  const bytes = folder.readState(stateName(root));
  const written = bytes && readTreeState(bytes);
  if (!written) return undefined;
  const changes = changesOf(folder, root, written);
  const state = changes ? { ...written, ...changes } : written;
  /** Examined by this process, whatever git finds. */
  const replaced = new Set(changes?.examined.paths);
  // Paths relative to the current folder are found faster.
  const tree = new FileTree(relative(process.cwd(), root) || ".");
  // Git compares while this process examines the others, and searches.
  const differing = inBackground(findDiffering(folder, root, state));
  const isSame = isUnchanged(tree, state.examined, state);
  const { table, head, listing } = state;
  const unchanged = async (): Promise<boolean> => {
    if (!isSame) return false;
    const found = await differing;
    if (found === undefined) return false;
    const paths = found === "unknown" ? state.compared().paths : [...found];
    const only = new Set(paths.filter((path) => !replaced.has(path)));
    return only.size === 0 || isUnchanged(tree, state.compared(), { only });
  };
  return {
    name: written.name,
    table,
    head,
    listing,
    isSame,
    unchanged: inBackground(unchanged()),
    compared: async () => {
      const others = await differing;
      if (others === undefined || others === "unknown") return undefined;
      const all = new Set(state.compared().paths);
      return (path) => all.has(path) && !others.has(path) && !replaced.has(path);
    },
    mayDiffer: async () => {
      const others = await differing;
      if (others === undefined || others === "unknown" || state.statIndex === "") return undefined;
      return new Set([...others, ...state.examined.paths]);
    },
  };
}

/** What has changed since a state was written. */
function changesOf(
  folder: SearchFolder,
  root: string,
  { name }: StoredTreeState,
): Pick<TreeState, "table" | "head" | "listing" | "examined"> | undefined {
  const bytes = folder.readStateChanges(stateName(root));
  const state = bytes && readTreeState(bytes, name);
  if (!state) return undefined;
  const { table, head, listing, examined } = state;
  return { table, head, listing, examined };
}

/**
 * The files of a state's index that git finds changed, and perhaps others. Undefined if that index is gone, and `unknown` without git, or
 * with one that fails: then this process examines them all.
 */
async function findDiffering(
  folder: SearchFolder,
  root: string,
  { statIndex }: TreeState,
): Promise<Set<string> | "unknown" | undefined> {
  if (statIndex === "") return new Set();
  const { gitDirectory, file } = folder.statIndex(stateName(root));
  const differing = await differingFiles(root, gitDirectory, file).catch(() => "unknown" as const);
  // Checked afterwards, because another process may have replaced the index, and git takes a missing one for empty.
  const bytes = folder.readStatIndex(stateName(root));
  return bytes && fingerprint(bytes) === statIndex ? differing : undefined;
}
