import { compileIgnoreFile } from "../../lib/globs.ts";
import { readablePath } from "../../lib/path-text.ts";
import { type FileTree, folderOf } from "./file-tree.ts";

type IgnoreFile = ReturnType<typeof compileIgnoreFile>;

/** An ignore file, with the length of the path (and its `/`) below which it applies. */
interface Scoped {
  verdict: IgnoreFile;
  prefix: number;
}

/** What applies to the entries of a folder. */
interface FolderRules {
  /** Whether the folder itself is ignored. */
  ignored: boolean;
  /** Outer files first. */
  files: readonly Scoped[];
}

/** Ignore files of a tree, in `.gitignore` syntax; each applies below its own folder. */
export class IgnoreRules {
  readonly #byFolder = new Map<string, IgnoreFile[]>();
  /** Rules of the folders that were asked about, so that a path costs what its last segment does. */
  readonly #folders = new Map<string, FolderRules>();

  /**
   * Adds an ignore file of a folder; if several match, the one added last decides. `folder` is relative to the root, `""` for the
   * root itself. Add the files of a folder before asking about what lies in it. Throws `GlobError`, as `ignores` does.
   */
  add(folder: string, text: string, name: string): void {
    const readable = readablePath(folder);
    const file = compileIgnoreFile(text, readable === "" ? name : `${readable}/${name}`);
    this.#byFolder.set(readable, [...(this.#byFolder.get(readable) ?? []), file]);
  }

  /**
   * Whether a path (relative to the root; folders end in `/`) is ignored. Inner files override outer ones; as in git, nothing in
   * an ignored folder is taken back in.
   */
  ignores(path: string): boolean {
    if (this.#byFolder.size === 0) return false;
    const isFolder = path.endsWith("/");
    const name = readablePath(isFolder ? path.slice(0, -1) : path);
    const { ignored, files } = this.#rulesIn(folderOf(name));
    return ignored || isIgnored(files, name, isFolder);
  }

  #rulesIn(folder: string): FolderRules {
    let rules = this.#folders.get(folder);
    if (!rules) this.#folders.set(folder, (rules = this.#findRules(folder)));
    return rules;
  }

  #findRules(folder: string): FolderRules {
    const outer = folder === "" ? { ignored: false, files: [] } : this.#rulesIn(folderOf(folder));
    const ignored = outer.ignored || isIgnored(outer.files, folder, true);
    const own = this.#byFolder.get(folder);
    if (!own) return { ignored, files: outer.files };
    const prefix = folder === "" ? 0 : folder.length + 1;
    return { ignored, files: [...outer.files, ...own.map((verdict) => ({ verdict, prefix }))] };
  }
}

/** What the ignore files say of the path itself, which has no `/` at its end. */
function isIgnored(files: readonly Scoped[], path: string, isFolder: boolean): boolean {
  let ignored = false;
  for (const { verdict, prefix } of files) ignored = verdict(path.slice(prefix), isFolder) ?? ignored;
  return ignored;
}

/** What is read of an ignore file; one that is longer is no list that a person keeps. */
export const MAX_IGNORE_BYTES = 1024 * 1024;
export const CODECTX_IGNORE = ".codectxignore";
const IN_FOLDER = `/${CODECTX_IGNORE}`;
/** Whether a path is that of a `.codectxignore`. */
export function isCodectxIgnore(path: string): boolean {
  const readable = readablePath(path);
  return readable === CODECTX_IGNORE || readable.endsWith(IN_FOLDER);
}

/** A folder's ignore files outside of git, in order: lines of a later file decide. */
export const IGNORE_FILES: readonly string[] = [".gitignore", CODECTX_IGNORE];

/** Reads every `.codectxignore` of a work tree. */
export function readCodectxIgnores(tree: FileTree, paths: readonly string[]): IgnoreRules {
  const rules = new IgnoreRules();
  for (const path of paths) {
    if (isCodectxIgnore(path)) {
      rules.add(folderOf(path), new TextDecoder().decode(tree.read(path, MAX_IGNORE_BYTES)), CODECTX_IGNORE);
    }
  }
  return rules;
}
