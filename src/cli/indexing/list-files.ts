import { type FileListing, listWorkTreeFiles } from "../git/git.ts";
import type { Project } from "../project.ts";
import { FileTree } from "./file-tree.ts";
import { walkFolder } from "./walk.ts";

/** Lists the files of a project: those that git lists, or all of a plain folder. */
export async function listFiles({ plainFolder, files, root }: Project): Promise<FileListing> {
  return plainFolder ? walkFolder(new FileTree(root)) : (files?.listing ?? listWorkTreeFiles(root));
}
