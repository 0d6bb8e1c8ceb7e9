import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { sortUtf8 } from "../../engines/search/order.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import { sha256 } from "../machine/checksum.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import {
  git,
  gitComparing,
  gitEnvironment,
  gitProgram,
  GitCommandError,
  gitLine,
  gitList,
  splitNul,
} from "./command.ts";
import { realPath } from "../machine/platform.ts";

/** Mode of a folder in a tree. */
const FOLDER = 0o040000;
const SHA1_DIGITS = 40;

export interface GitEntry {
  /** Of the file in the tree: 0o100644, 0o100755, 0o120000 (link), 0o160000 (submodule). */
  mode: number;
  oid: string;
  sizeBytes: number;
  path: string;
}

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
  /** SHA-256 of git's output, in hex; empty outside of git. While it is the same, so are the paths. */
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

/** Lists the files of the work tree around `cwd`. The paths are decoded on demand: a search of an unchanged tree needs the digest. */
export async function listWorkTreeFiles(cwd: string): Promise<FileListing> {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/"];
  const output = await git(cwd, args);
  const sorted = Buffer.from(uniqueSorted(splitNul(output)).join("\0"));
  return listingOf(sorted, () => sha256(output).toString("hex"));
}

/** A listing of sorted paths with a NUL between. */
export function listingOf(sorted: Buffer, digestOf: () => string): FileListing {
  let digest: string | undefined;
  let paths: string[] | undefined;
  const all = () => (paths ??= sorted.length === 0 ? [] : sorted.toString("utf8").split("\0"));
  return {
    get digest() {
      return (digest ??= digestOf());
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
  return path.endsWith(name) && (path.length === name.length || path[path.length - name.length - 1] === "/");
}

/** Git lists the files that it does not track first, and those in a merge conflict once per side. */
function uniqueSorted(paths: string[]): string[] {
  return sortUtf8(paths).filter((path, i) => i === 0 || path !== paths[i - 1]);
}

/**
 * Lists every file of a commit, including submodules. Git does not check the trees that it lists, so they are read and checked here:
 * the index of a repository is shared by its clones, and another clone must not decide what a commit contains.
 */
export async function listTree(cwd: string, commit: string): Promise<GitEntry[]> {
  const output = await git(cwd, ["ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit]);
  const entries = splitNul(output).map((line) => {
    const tab = line.indexOf("\t");
    const [mode = "", , oid = "", size = "0"] = line.slice(0, tab).split(/ +/);
    return { mode: parseInt(mode, 8), oid, sizeBytes: Number(size) || 0, path: line.slice(tab + 1) };
  });
  const folders = new Set(entries.flatMap(({ mode, oid }) => (mode === FOLDER ? [oid] : [])));
  let root: string | undefined;
  // Reading them is the check.
  for await (const { name, oid, type, bytes } of readObjects(cwd, [commit, `${commit}${ROOT_TREE}`, ...folders])) {
    if (name === commit) {
      if (type !== "commit") throw gitDamaged(`object ${oid}`);
      root = /^tree ([0-9a-f]+)\n/.exec(Buffer.from(bytes).toString("latin1"))?.[1];
    } else if (type !== "tree" || (name.endsWith(ROOT_TREE) && oid !== root)) throw gitDamaged(`object ${oid}`);
  }
  return entries.filter(({ mode }) => mode !== FOLDER);
}

/** After a commit's id: names its tree. */
const ROOT_TREE = "^{tree}";

/** The error for what git gives under another name than its own. */
export function gitDamaged(what: string): CliError {
  const text = `${what} is not what its id names: this clone is damaged or was tampered with (see \`git fsck\`)`;
  return new CliError(EXIT.integrity, "GIT_DAMAGED", text);
}

/** Reads blobs in the given order. Throws as {@link readObjects}. */
export async function* readBlobs(
  cwd: string,
  oids: readonly string[],
): AsyncGenerator<{ oid: string; bytes: Uint8Array<ArrayBuffer> }> {
  for await (const object of readObjects(cwd, oids)) {
    if (object.type !== "blob") throw gitDamaged(`object ${object.oid}`);
    yield object;
  }
}

interface GitObject {
  /** As it was asked for: an id, or an expression for one. */
  name: string;
  oid: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Reads objects in the given order with one `git cat-file`. Throws `GIT_DAMAGED` if one is not what its id names. */
async function* readObjects(cwd: string, names: readonly string[]): AsyncGenerator<GitObject> {
  if (names.length === 0) return;
  const child = spawn(gitProgram(), ["cat-file", "--batch", "--buffer"], {
    cwd,
    env: gitEnvironment(),
    stdio: ["pipe", "pipe", "ignore"],
  });
  try {
    // A closed pipe, and a git that cannot be started, are detected as a short answer below.
    child.on("error", () => undefined);
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${names.join("\n")}\n`);
    const reader = new ByteReader(child.stdout);
    for (const name of names) {
      const header = await reader.line();
      const [, oid = "", type = "", size] = /^([0-9a-f]+) (commit|tree|blob) (\d+)$/.exec(header) ?? [];
      if (size === undefined) throw new GitCommandError("cat-file", `${name}: ${header || "no answer"}`);
      const bytes = await reader.bytes(Number(size));
      await reader.bytes(1);
      const hash = createHash(oid.length === SHA1_DIGITS ? "sha1" : "sha256").update(`${type} ${size}\0`);
      const isNamed = name === oid || name.endsWith(ROOT_TREE);
      if (!isNamed || hash.update(bytes).digest("hex") !== oid) throw gitDamaged(`object ${oid}`);
      yield { name, oid, type, bytes };
    }
  } finally {
    child.kill();
  }
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #parts: Buffer[] = [];
  #available = 0;

  constructor(stream: AsyncIterable<Buffer>) {
    this.#source = stream[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    for (;;) {
      const all = this.#flatten();
      const end = all.indexOf(10);
      if (end !== -1) {
        const line = all.subarray(0, end).toString();
        this.#keep(all.subarray(end + 1));
        return line;
      }
      if (!(await this.#fill())) return all.toString();
    }
  }

  async bytes(count: number): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#available < count)
      if (!(await this.#fill())) throw new GitCommandError("cat-file", "output ended early");
    const all = this.#flatten();
    // Copied, because it is transferred to another thread.
    const bytes = new Uint8Array(all.subarray(0, count));
    this.#keep(all.subarray(count));
    return bytes;
  }

  #flatten(): Buffer {
    if (this.#parts.length !== 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? Buffer.alloc(0);
  }

  #keep(rest: Buffer): void {
    this.#parts = [rest];
    this.#available = rest.length;
  }

  async #fill(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#parts.push(next.value);
    this.#available += next.value.length;
    return true;
  }
}
