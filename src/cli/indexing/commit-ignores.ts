import type { GitEntry } from "../git/commit-tree.ts";
import type { readBlobs, readIntactBlobs } from "../git/objects.ts";
import { folderOf } from "./file-tree.ts";
import { CODECTX_IGNORE, IgnoreRules, isCodectxIgnore } from "./ignore-rules.ts";

/** The rules of a commit's `.codectxignore` files; a file for which `read` gives no bytes has none. */
export async function readIgnores(
  root: string,
  entries: readonly GitEntry[],
  read: typeof readBlobs | typeof readIntactBlobs,
): Promise<IgnoreRules> {
  const rules = new IgnoreRules();
  const files = entries.filter(({ path }) => isCodectxIgnore(path));
  let next = 0;
  for await (const { bytes } of read(
    root,
    files.map(({ oid }) => oid),
  )) {
    const folder = folderOf(files[next++]?.path ?? "");
    if (bytes) rules.add(folder, new TextDecoder().decode(bytes), CODECTX_IGNORE);
  }
  return rules;
}
