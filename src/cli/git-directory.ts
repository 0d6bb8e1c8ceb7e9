import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import type { WorkTree } from "./git.ts";
import type { Environment } from "./paths.ts";

/** What git's own files say of a work tree. */
export interface PlainWorkTree {
  tree: WorkTree;
  /** URLs by the remotes' names. */
  remotes: Map<string, string>;
}

/** With one of these, git looks in other places or reads other settings. */
const MOVING = /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|CEILING|DISCOVERY|CONFIG|NAMESPACE|OBJECT|REPLACE)/;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The work tree around `cwd` (absolute, without symbolic links) as git would find it, read from git's files in place of asking
 * git twice. Only what is plain is read: a clone with its `.git` folder, on a branch with a commit or on a commit. Undefined for
 * all else, such as linked worktrees, submodules, settings that include others or an owner who is somebody else; git knows.
 */
export function readPlainWorkTree(cwd: string, env: Environment = process.env): PlainWorkTree | undefined {
  if (process.platform === "win32" || Object.keys(env).some((name) => MOVING.test(name))) return undefined;
  try {
    const root = findRoot(cwd);
    if (root === undefined) return undefined;
    const commonDir = join(root, ".git");
    const remotes = readRemotes(readFileSync(join(commonDir, "config"), "utf8"));
    const head = remotes && readHead(commonDir);
    if (!remotes || head === undefined) return undefined;
    return { tree: { root, commonDir, indexFile: join(commonDir, "index"), head }, remotes };
  } catch {
    // Missing or unreadable: git says what is wrong.
    return undefined;
  }
}

function findRoot(cwd: string): string | undefined {
  const { dev } = statSync(cwd);
  for (let folder = cwd; ; folder = dirname(folder)) {
    // Git stops at the border of a file system.
    if (statSync(folder).dev !== dev) return undefined;
    const found = lstatSync(join(folder, ".git"), { throwIfNoEntry: false });
    // Git does not trust a repository of somebody else's.
    if (found)
      return found.isDirectory() && [found, statSync(folder)].every(isOwn) && isWhole(folder) ? folder : undefined;
    // Perhaps a git folder itself, where there is no work tree.
    if (statSync(join(folder, "HEAD"), { throwIfNoEntry: false })) return undefined;
    if (folder === parse(folder).root) return undefined;
  }
}

/** Without these git passes a `.git` folder by. */
function isWhole(root: string): boolean {
  return ["objects", "refs"].every((name) =>
    statSync(join(root, ".git", name), { throwIfNoEntry: false })?.isDirectory(),
  );
}

const isOwn = ({ uid }: { uid: number }): boolean => uid === process.geteuid?.();

/** Sections that change what the rest means, or bring more from elsewhere. */
const DECISIVE = /^(?:include|includeif|extensions)$/;
/** Settings that a plain clone has otherwise, or not at all. */
const UNUSUAL_CORE = /^(?:worktree|repositoryformatversion(?!\s*=\s*0$)|bare(?!\s*=\s*false$))\b/i;

/** URLs of the remotes by a repository's configuration; undefined where it holds anything that is not plain. */
export function readRemotes(config: string): Map<string, string> | undefined {
  const remotes = new Map<string, string>();
  let section = "";
  let name: string | undefined;
  for (const text of config.split("\n")) {
    const line = text.trim();
    // The next line goes on with this one.
    if (line.endsWith("\\")) return undefined;
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    if (line.startsWith("[")) {
      const header = /^\[([A-Za-z0-9-]+)(?:[ \t]+"([^"\\]*)")?\]$/.exec(line);
      if (!header) return undefined;
      section = (header[1] ?? "").toLowerCase();
      name = header[2];
      if (DECISIVE.test(section)) return undefined;
    } else if (section === "core" && name === undefined) {
      if (UNUSUAL_CORE.test(line)) return undefined;
    } else if (section === "remote" && /^url\b/i.test(line)) {
      // Without quotes, escapes and comments.
      const [, url] = /^url\s*=\s*([^"\\#;]+)$/i.exec(line) ?? [];
      if (url === undefined || name === undefined) return undefined;
      if (!remotes.has(name)) remotes.set(name, url);
    }
  }
  return remotes;
}

/** The commit that is checked out. */
function readHead(gitDir: string): string | undefined {
  const text = readFileSync(join(gitDir, "HEAD"), "utf8").trimEnd();
  if (OBJECT_ID.test(text)) return text;
  const [, ref] = /^ref: (refs\/heads\/[^\s]+)$/.exec(text) ?? [];
  if (ref === undefined) return undefined;
  const loose = readIfThere(join(gitDir, ref))?.trimEnd();
  if (loose !== undefined) return OBJECT_ID.test(loose) ? loose : undefined;
  const packed = readIfThere(join(gitDir, "packed-refs")) ?? "";
  const end = packed.indexOf(` ${ref}\n`);
  const id = end === -1 ? "" : packed.slice(packed.lastIndexOf("\n", end) + 1, end);
  return OBJECT_ID.test(id) ? id : undefined;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
