import ignore, { type Ignore } from "ignore";
import { type FileTree, folderOf } from "./file-tree.ts";

/** Ignore files of a tree, in `.gitignore` syntax; each applies below its own folder. */
export class IgnoreRules {
  private readonly byFolder = new Map<string, Ignore>();

  /** `folder` is relative to the root, `""` for the root itself. */
  add(folder: string, text: string): void {
    const rules = this.byFolder.get(folder) ?? ignore();
    rules.add(text);
    this.byFolder.set(folder, rules);
  }

  /** Whether a path (relative to the root; folders end in `/`) is ignored. Inner files override outer ones. */
  ignores(path: string): boolean {
    if (this.byFolder.size === 0) return false;
    let ignored = false;
    for (let end = -1; ;) {
      const folder = end === -1 ? "" : path.slice(0, end);
      const rules = this.byFolder.get(folder);
      if (rules) {
        const verdict = rules.test(end === -1 ? path : path.slice(end + 1));
        if (verdict.ignored) ignored = true;
        else if (verdict.unignored) ignored = false;
      }
      end = path.indexOf("/", end + 1);
      if (end === -1 || end === path.length - 1) return ignored;
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
