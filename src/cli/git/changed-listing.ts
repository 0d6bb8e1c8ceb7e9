import { findSorted, mergeSorted, withoutSorted } from "../../engines/search/order.ts";
import { type FileTree, folderOf } from "../indexing/file-tree.ts";
import { type GitFiles, gitFiles, trackedFiles } from "./git.ts";
import { isOdd } from "./paths.ts";
import { entriesOf, GIT_FOLDER, GIT_IGNORE, type FolderStates } from "./watched-folders.ts";

/** With more names than this in question git is asked for the whole list. */
const MAX_ASKED = 200;

/** A list of git's, and the folders that it has looked into. */
export interface ListedFolders {
  files: GitFiles;
  folders: FolderStates;
}

/** A list of git's, with its paths that an earlier one lacks. */
export interface ChangedFiles extends GitFiles {
  added: readonly string[];
}

/**
 * Git's list after some of the folders (`changed`, positions in `last.folders`) have other names, and its index other files if
 * `isSameIndex` is not set. By the same rules of what is ignored, all other paths are as they were: git is asked about names alone that it
 * did not track. In 108,000 files that takes 0.05 s of processor time, the whole list 0.5 s. Undefined if the whole list is needed.
 */
export async function listChanges(
  tree: FileTree,
  last: ListedFolders,
  changed: ReadonlySet<number>,
  isSameIndex: boolean,
): Promise<ChangedFiles | undefined> {
  const { files } = last;
  const trackedBefore = withoutSorted(files.paths, files.untracked);
  const tracked = isSameIndex ? trackedBefore : await trackedFiles(tree.root);
  // The rules decide of what is there and no longer tracked; a folder may be a repository.
  if (!isSameIndex && withoutSorted(trackedBefore, tracked).some((path) => isThere(tree, path))) return undefined;
  const asked: string[] = [];
  const folders = new Set(last.folders.paths);
  const renamed = new Set<string>();
  for (const position of changed) {
    const folder = last.folders.paths[position] as string;
    renamed.add(folder);
    if (!tree.lstatFolder(folder)) continue;
    const entries = entriesOf(tree, folder);
    if (!entries) return undefined;
    for (const entry of entries) {
      const { name } = entry;
      const path = folder === "" ? name : `${folder}/${name}`;
      if (name === GIT_FOLDER && folder === "") continue;
      // A repository within this one, or other rules.
      if (name === GIT_FOLDER || (name === GIT_IGNORE && !last.folders.ignoreFiles.includes(path))) return undefined;
      if (entry.isDirectory() ? folders.has(path) : findSorted(tracked, path) !== -1) continue;
      if (isOdd(name)) return undefined;
      asked.push(path);
    }
    if (asked.length > MAX_ASKED) return undefined;
  }
  const found =
    asked.length === 0
      ? { paths: [], untracked: [] }
      : await gitFiles(
          tree.root,
          asked.map((path) => `:(top,literal)${path}`),
        );
  const kept = files.untracked.filter((path) => !renamed.has(folderOf(path)));
  const untracked = withoutSorted(mergeSorted(kept, found.untracked), tracked);
  const paths = mergeSorted(tracked, untracked);
  return { paths, untracked, added: withoutSorted(paths, files.paths) };
}

function isThere(tree: FileTree, path: string): boolean {
  return (tree.lstat(path) ?? tree.lstatFolder(path) ?? tree.irregular(path)) !== undefined;
}
