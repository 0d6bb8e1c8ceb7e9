import { compileIgnoreFile } from "../../globs.ts";
import { type FileTree, folderOf } from "./file-tree.ts";

type IgnoreFile = ReturnType<typeof compileIgnoreFile>;

/** Ignore files of a tree, in `.gitignore` syntax; each applies below its own folder. */
export class IgnoreRules {
  private readonly byFolder = new Map<string, IgnoreFile>();

  /** `folder` is relative to the root, `""` for the root itself. */
  add(folder: string, text: string): void {
    this.byFolder.set(folder, compileIgnoreFile(text));
  }

  /**
   * Whether a path (relative to the root; folders end in `/`) is ignored. Inner files override outer ones; as in git, nothing in
   * an ignored folder is taken back in.
   */
  ignores(path: string): boolean {
    if (this.byFolder.size === 0) return false;
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1))
      if (this.verdict(path.slice(0, end), true)) return true;
    return !path.endsWith("/") && this.verdict(path, false);
  }

  /** What the ignore files say of the path itself, which has no `/` at its end. */
  private verdict(path: string, isFolder: boolean): boolean {
    let ignored = false;
    for (let begin = 0; ;) {
      const file = this.byFolder.get(path.slice(0, Math.max(begin - 1, 0)));
      ignored = file?.(path.slice(begin), isFolder) ?? ignored;
      const slash = path.indexOf("/", begin);
      if (slash === -1) return ignored;
      begin = slash + 1;
    }
  }
}

export const CODECTX_IGNORE = ".codectxignore";

/** Reads every `.codectxignore` of a work tree. */
export function readCodectxIgnores(tree: FileTree, paths: readonly string[]): IgnoreRules {
  const rules = new IgnoreRules();
  for (const path of paths) {
    if (path === CODECTX_IGNORE || path.endsWith(`/${CODECTX_IGNORE}`)) {
      rules.add(folderOf(path), new TextDecoder().decode(tree.read(path)));
    }
  }
  return rules;
}
