import { MAX_BODY_BYTES, MAX_OVERLAY_FILES } from "../../contract/limits.ts";
import { asUtf8 } from "../../engines/parsing/utf16.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { FileTree } from "../indexing/file-tree.ts";
import { gitComparing } from "./command.ts";
import { splitPaths, untrackedPaths } from "./paths.ts";

/** A file of the work tree that differs from a commit; null if it is not there any more. */
interface EditedFile {
  path: string;
  text: string | null;
}

/** Room in a request for its other fields, and for the escapes of JSON. */
const MAX_EDITS_BYTES = MAX_BODY_BYTES * 0.9;

/**
 * What differs between a commit and the work tree, files included that git neither tracks nor ignores. Links and other special files count
 * as missing, since they are not indexed. Throws `CliError` if it is more than the service takes.
 */
export async function editsOf(root: string, commit: string): Promise<EditedFile[]> {
  const args = [
    "diff",
    "--name-only",
    "--no-renames",
    "--no-ext-diff",
    "--no-relative",
    "--ignore-submodules=all",
    "-z",
  ];
  const changed = splitPaths(await gitComparing(root, [...args, commit, "--"]));
  const untracked = await untrackedPaths(root);
  const paths = [...new Set([...changed, ...untracked])];
  if (paths.length > MAX_OVERLAY_FILES) throw tooMuch(`${paths.length.toLocaleString("en-US")} files differ`);
  const tree = new FileTree(root);
  let bytes = 0;
  return paths.map((path) => {
    const text = tree.lstat(path) === undefined ? null : textOf(tree, path);
    bytes += Buffer.byteLength(JSON.stringify([path, text]));
    if (bytes > MAX_EDITS_BYTES) throw tooMuch("the changed files have more than 4 MB");
    return { path, text };
  });
}

/** The text of a file. Of a binary one only that it is one: it is neither indexed nor searched. */
function textOf(tree: FileTree, path: string): string | null {
  const content = tree.read(path, MAX_BODY_BYTES);
  if (content === undefined) return null;
  const text = asUtf8(content);
  return text.includes(0) ? "\0" : Buffer.from(text).toString("utf8");
}

function tooMuch(what: string): CliError {
  return new CliError(
    EXIT.usage,
    "TOO_LARGE",
    `${what}, more than the service takes as edits: push and index them, or ask the work tree without --remote`,
  );
}
