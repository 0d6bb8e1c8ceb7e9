import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { sortUtf8 } from "../../engines/search/order.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import { sha256 } from "../machine/checksum.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { git, gitComparing, GitCommandError, gitLine, gitList, splitNul } from "./command.ts";
import { realPath } from "../machine/platform.ts";
import { encodingOf, pathOfText, splitPaths } from "./paths.ts";
import { readablePath } from "../../lib/path-text.ts";

export interface WorkTree {
  root: string;
  /** Its own git directory. */
  gitDir: string;
  /** The git directory that all worktrees of a repository share. */
  commonDir: string;
  /** Commit that is checked out; undefined before the first one. */
  head: string | undefined;
}

/**
 * Whether git may find a repository around `cwd`. Where it certainly does not, three processes need not be started to hear it: 10 ms of a
 * search.
 */
export function mayBeInGit(cwd: string): boolean {
  if (process.env["GIT_DIR"] !== undefined) return true;
  for (let folder = cwd; ; folder = dirname(folder)) {
    // A bare repository, or a git directory itself, has a `HEAD`.
    if ([".git", "HEAD"].some((name) => existsSync(join(folder, name)))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** Finds the work tree around `cwd`; undefined outside of git. Throws if git refuses the repository or it is bare. */
export async function findWorkTree(cwd: string): Promise<WorkTree | undefined> {
  const args = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
  let output: Buffer;
  try {
    // Before the first commit HEAD cannot be resolved and the call fails: retry without it.
    output = await git(cwd, [...args, "HEAD^{commit}"]).catch((error: unknown) => {
      if (isOutsideGit(error) || !(error instanceof GitCommandError) || error.hung) throw error;
      return git(cwd, args);
    });
  } catch (error) {
    if (!(error instanceof GitCommandError)) throw error;
    if (isOutsideGit(error)) return undefined;
    if (/must be run in a work tree|cannot use bare repository/.test(error.stderr)) {
      throw new CliError(
        EXIT.usage,
        "NO_WORK_TREE",
        `${cwd} is a bare repository or a git folder: it has no files to index; run codectx in a clone`,
      );
    }
    throw error;
  }
  const [root = "", gitDir = "", commonDir = "", head] = output.toString().replace(/\n$/, "").split("\n");
  if (!isOwnWorkTree(root, gitDir)) {
    throw new CliError(
      EXIT.usage,
      "FOREIGN_WORK_TREE",
      `${gitDir}/config sets core.worktree to ${root}, which is not its own folder; remove that setting or set GIT_WORK_TREE`,
    );
  }
  return { root, gitDir, commonDir, head };
}

function isOutsideGit(error: unknown): boolean {
  return error instanceof GitCommandError && /not a git repository/.test(error.stderr);
}

/** Whether the work tree belongs to the git directory. A repository may not point to other folders, unless the user set GIT_DIR. */
function isOwnWorkTree(root: string, gitDir: string): boolean {
  if (process.env["GIT_DIR"] !== undefined || process.env["GIT_WORK_TREE"] !== undefined) return true;
  const link = join(root, ".git");
  const stat = lstatSync(link, { throwIfNoEntry: false });
  if (!stat) return false;
  const target = stat.isFile()
    ? resolve(
        root,
        readFileSync(link, "utf8")
          .replace(/^gitdir:/, "")
          .trim(),
      )
    : link;
  try {
    return realPath(target) === realPath(gitDir);
  } catch {
    return false;
  }
}

/** First URL of each remote, by name, in the order of the configuration. */
export async function readRemoteUrls(cwd: string): Promise<Map<string, string>> {
  const remotes = new Map<string, string>();
  for (const entry of await gitList(cwd, ["config", "-z", "--get-regexp", String.raw`^remote\..*\.url$`])) {
    const [, name, url] = /^remote\.(.*)\.url\n(.*)$/s.exec(entry) ?? [];
    if (name !== undefined && url !== undefined && !remotes.has(name)) remotes.set(name, url);
  }
  return remotes;
}

/** The remote that the checked-out branch tracks. */
export async function trackedRemote(cwd: string): Promise<string | undefined> {
  const branch = await gitLine(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  return branch === undefined ? undefined : gitLine(cwd, ["config", `branch.${branch}.remote`]);
}

/** Resolves a name to a commit id; undefined if there is none (an empty repository). */
export function resolveCommit(cwd: string, name = "HEAD"): Promise<string | undefined> {
  return gitLine(cwd, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
}

/** Refs that are compared with one that does not exist. */
const MAX_REFS = 5_000;

/** Short names of branches, tags and remote branches, the latest first, `MAX_REFS` at most. */
export async function listRefs(cwd: string): Promise<string[]> {
  const format = ["--format=%(refname:short)", "--sort=-creatordate", `--count=${MAX_REFS}`];
  const listed = await git(cwd, ["for-each-ref", ...format, "refs/heads", "refs/tags", "refs/remotes"]);
  return listed
    .toString()
    .split("\n")
    .filter((name) => name !== "");
}

/** Whether `ancestor` is an ancestor of `descendant`; false if either is unknown. */
export async function isAncestor(cwd: string, ancestor: string, descendant: string): Promise<boolean> {
  return (await gitLine(cwd, ["merge-base", ancestor, descendant])) === ancestor;
}

/** Number of commits only in `a`, and only in `b`; undefined if either is unknown. */
export async function countApart(
  cwd: string,
  a: string,
  b: string,
): Promise<[ahead: number, behind: number] | undefined> {
  const line = await gitLine(cwd, ["rev-list", "--count", "--left-right", "--end-of-options", `${a}...${b}`]);
  const [ahead, behind] = line?.split("\t").map(Number) ?? [];
  return ahead === undefined || behind === undefined ? undefined : [ahead, behind];
}

/** Number of files of the work tree that differ from HEAD. */
export async function countChanges(cwd: string): Promise<number> {
  const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all"];
  return splitNul(await gitComparing(cwd, args)).length;
}

/** The files of a work tree: tracked ones, and untracked ones that are not ignored; or those of a plain folder. */
export interface FileListing {
  /** SHA-256 of the paths, in hex; empty outside of git. While it is the same, so are the paths. */
  digest: string;
  /** Relative to the root, with `/`, in the order of their UTF-8, each once. */
  paths(): readonly string[];
  /** Paths of the files with a name. Finding that there are none takes less than a look at each path. */
  named(name: string): readonly string[];
  /** Outside of git, the folders and ignore files that were read, `""` for the root. While they are the same, so are the paths. */
  folders: readonly string[];
  ignoreFiles: readonly string[];
  /** Number of folders that may not be read. */
  unreadable: number;
  /** Has examined the folders; undefined if none was. */
  tree: FileTree | undefined;
}

/** Lists the files of the work tree around `cwd`. */
export async function listWorkTreeFiles(cwd: string): Promise<FileListing> {
  const { paths } = await gitFiles(cwd, [":/"]);
  return listingOf(Buffer.from(paths.join("\0")), { paths });
}

/** Files that git tracks, and others that it does not ignore. In the order of their UTF-8, each once. */
export interface GitFiles {
  paths: string[];
  /** Those of the paths that git does not track. */
  untracked: string[];
}

/** Asks git for its files in the work tree around `cwd`, those that a pathspec matches. */
export async function gitFiles(cwd: string, pathspecs: readonly string[]): Promise<GitFiles> {
  const args = ["ls-files", "-t", "--cached", "--others", "--exclude-standard", "--full-name", "-z", "--"];
  const output = await git(cwd, [...args, ...pathspecs]);
  const encoding = encodingOf(output);
  const paths: string[] = [];
  const untracked: string[] = [];
  for (const entry of splitNul(output, encoding)) {
    const path = pathOfText(entry.slice(TAG_LENGTH), encoding);
    paths.push(path);
    if (entry.startsWith(UNTRACKED)) untracked.push(path);
  }
  return { paths: uniqueSorted(paths), untracked: sortUtf8(untracked) };
}

/** The files that git tracks in the work tree at `root`, in the order of their UTF-8, each once. */
export async function trackedFiles(root: string): Promise<string[]> {
  return uniqueSorted(splitPaths(await git(root, ["ls-files", "--cached", "-z"])));
}

/** Git writes a letter for the state of a file, and a space, before its path. */
const TAG_LENGTH = 2;
const UNTRACKED = "?";

/**
 * A listing of sorted paths with a NUL between. Unless they are `known`, they are decoded on demand: a search of an unchanged tree needs the
 * digest.
 */
export function listingOf(sorted: Buffer, known: { digest?: string; paths?: string[] } = {}): FileListing {
  let { digest, paths } = known;
  const all = () => (paths ??= sorted.length === 0 ? [] : sorted.toString("utf8").split("\0"));
  return {
    get digest() {
      return (digest ??= sha256(sorted).toString("hex"));
    },
    paths: all,
    named: (name) => (sorted.includes(name) ? all().filter((path) => hasName(path, name)) : []),
    folders: [],
    ignoreFiles: [],
    unreadable: 0,
    tree: undefined,
  };
}

/** Whether a path is that of a file with this name. */
export function hasName(path: string, name: string): boolean {
  const readable = readablePath(path);
  return (
    readable.endsWith(name) && (readable.length === name.length || readable[readable.length - name.length - 1] === "/")
  );
}

/** Git lists files in a merge conflict once per side. */
function uniqueSorted(paths: string[]): string[] {
  return sortUtf8(paths).filter((path, i) => i === 0 || path !== paths[i - 1]);
}
