/** Which files are too large to be indexed; asked when a name is not found. */
import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { nameVerdict } from "../../engines/parsing/name-verdict.ts";
import { listReadableTree } from "../git/commit-tree.ts";
import { readIntactBlobs } from "../git/objects.ts";
import { readIgnores } from "../indexing/commit-ignores.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { CODECTX_IGNORE, readCodectxIgnores } from "../indexing/ignore-rules.ts";
import { listFiles } from "../indexing/list-files.ts";
import type { Project } from "../project.ts";

const isTooLarge = (size: number | undefined): boolean => size !== undefined && size > DEFAULT_MAX_FILE_SIZE_BYTES;

/** Files of a work tree that would be indexed if they were smaller; those that are `indexed` are not looked at. */
export async function tooLargeFiles(project: Project, indexed: readonly string[]): Promise<string[]> {
  const listing = await listFiles(project);
  const tree = new FileTree(project.root);
  const rules = readCodectxIgnores(tree, listing.named(CODECTX_IGNORE));
  const others = new Set(indexed);
  return listing
    .paths()
    .filter(
      (path) =>
        !others.has(path) && nameVerdict(path).take && isTooLarge(tree.lstat(path)?.size) && !rules.ignores(path),
    );
}

/** As `tooLargeFiles`, of a commit. */
export async function tooLargeFilesOfCommit(root: string, gitSha: string): Promise<string[]> {
  const { entries } = await listReadableTree(root, gitSha);
  const large = entries.filter(({ path, sizeBytes }) => nameVerdict(path).take && isTooLarge(sizeBytes));
  if (large.length === 0) return [];
  const rules = await readIgnores(root, entries, readIntactBlobs);
  return large.map(({ path }) => path).filter((path) => !rules.ignores(path));
}
