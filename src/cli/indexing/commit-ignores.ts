import { type GitEntry, readBlobs } from "../git/git.ts";
import { folderOf } from "./file-tree.ts";
import { CODECTX_IGNORE, IgnoreRules, isCodectxIgnore } from "./ignore-rules.ts";

/** The rules of a commit's `.codectxignore` files. */
export async function readIgnores(root: string, entries: readonly GitEntry[]): Promise<IgnoreRules> {
  const rules = new IgnoreRules();
  const files = entries.filter(({ path }) => isCodectxIgnore(path));
  let next = 0;
  for await (const { bytes } of readBlobs(
    root,
    files.map(({ oid }) => oid),
  )) {
    rules.add(folderOf(files[next++]?.path ?? ""), new TextDecoder().decode(bytes), CODECTX_IGNORE);
  }
  return rules;
}
