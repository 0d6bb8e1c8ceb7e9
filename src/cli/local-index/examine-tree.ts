import { relative } from "node:path";
import { inBackground } from "../background.ts";
import { sha256 } from "../machine/checksum.ts";
import { FileTree } from "../indexing/file-tree.ts";
import type { SearchFolder } from "./search-folder.ts";
import { differingFiles } from "./stat-index.ts";
import { stateName } from "./state-name.ts";
import { isUnchanged, readTreeState, type TreeState } from "./tree-state.ts";

/** The last state of a work tree, as far as it is known to be the present one. */
interface Examination extends Pick<TreeState, "table" | "head" | "listing"> {
  /** Whether the files that git compares are as they were, too. */
  unchanged: Promise<boolean>;
}

/** Examines the files and folders of a work tree. Undefined if something has, or may have, changed since its last state. */
export function examineTree(folder: SearchFolder, root: string): Examination | undefined {
  const name = stateName(root);
  const bytes = folder.readState(name);
  const state = bytes && readTreeState(bytes);
  if (!state) return undefined;
  // Paths relative to the current folder are found faster.
  const tree = new FileTree(relative(process.cwd(), root) || ".");
  // Git compares while this process examines the others, and searches.
  const unchanged = inBackground(isUnchangedByGit(folder, tree, root, state));
  if (!isUnchanged(tree, state.examined, state)) return undefined;
  const { table, head, listing } = state;
  return { table, head, listing, unchanged };
}

async function isUnchangedByGit(
  folder: SearchFolder,
  tree: FileTree,
  root: string,
  { statIndex, compared }: TreeState,
): Promise<boolean> {
  if (statIndex === "") return true;
  const { gitDirectory, file } = folder.statIndex(stateName(root));
  // Without git, or with one that fails, this process examines them all.
  const only = await differingFiles(root, gitDirectory, file).catch(() => undefined);
  // Checked afterwards, because another process may have replaced the index, and git takes a missing one for empty.
  const bytes = folder.readStatIndex(stateName(root));
  if (!bytes || sha256(bytes).toString("hex") !== statIndex) return false;
  return only?.size === 0 || isUnchanged(tree, compared(), only ? { only } : {});
}
