import { spawn } from "node:child_process";
import { EXIT, CliError } from "./exit-codes.ts";

export interface GitEntry {
  /** Of the file in the tree: 0o100644, 0o100755, 0o120000 (link), 0o160000 (submodule). */
  mode: number;
  oid: string;
  sizeBytes: number;
  path: string;
}

/** Output of a git command as bytes. */
function gitBytes(cwd: string, args: readonly string[]): Promise<Buffer> {
  // Without optional locks a read-only look never gets in the way of the user's own git.
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
  return new Promise((resolve, reject) => {
    // Without a pipe for input, which costs milliseconds to make and to close.
    const child = spawn("git", args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const output: Buffer[] = [];
    const complaints: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => output.push(part));
    child.stderr.on("data", (part: Buffer) => complaints.push(part));
    child.on("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT";
      reject(isMissing ? new CliError(EXIT.usage, "NO_GIT", "git is not installed or not in PATH") : error);
    });
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(output));
      else reject(new GitCommandError(args[0] ?? "", Buffer.concat(complaints).toString().trim()));
    });
  });
}

export class GitCommandError extends CliError {
  constructor(command: string, stderr: string) {
    super(EXIT.usage, "GIT_FAILED", `git ${command} failed: ${stderr.split("\n")[0] ?? ""}`);
  }
}

async function gitLine(cwd: string, args: readonly string[]): Promise<string | undefined> {
  try {
    return (await gitBytes(cwd, args)).toString().trim() || undefined;
  } catch (error) {
    if (error instanceof GitCommandError) return undefined;
    throw error;
  }
}

export interface WorkTree {
  root: string;
  /** The git directory that all worktrees share. */
  commonDir: string;
  /** Git's index of this work tree. */
  indexFile: string;
  /** Commit that is checked out; undefined before the first one. */
  head: string | undefined;
}

/** The work tree around `cwd`; undefined outside of git. */
export async function findWorkTree(cwd: string): Promise<WorkTree | undefined> {
  const args = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--git-path", "index"];
  // Without a commit there is no HEAD to resolve, and the whole call fails.
  const answer = (await gitLine(cwd, [...args, "HEAD^{commit}"])) ?? (await gitLine(cwd, args));
  const [root, commonDir, indexFile, head] = answer?.split("\n") ?? [];
  if (root === undefined || commonDir === undefined || indexFile === undefined) return undefined;
  return { root, commonDir, indexFile, head };
}

/** URLs of the remotes, by name. */
export async function readRemoteUrls(cwd: string): Promise<Map<string, string>> {
  const lines = (await gitLine(cwd, ["config", "--get-regexp", String.raw`^remote\..*\.url$`]))?.split("\n") ?? [];
  const remotes = new Map<string, string>();
  for (const line of lines) {
    const [, name, url] = /^remote\.(.*)\.url (.*)$/.exec(line) ?? [];
    if (name !== undefined && url !== undefined && !remotes.has(name)) remotes.set(name, url);
  }
  return remotes;
}

/** Whether a filter of the user's own may turn what git has into other bytes on checkout. (Git LFS is known.) */
export async function hasFilter(cwd: string): Promise<boolean> {
  const wanted = String.raw`^filter\..*\.(smudge|process)$`;
  const lines = (await gitLine(cwd, ["config", "--name-only", "--get-regexp", wanted]))?.split("\n") ?? [];
  return lines.some((line) => !line.startsWith("filter.lfs."));
}

/** Full id of a commit; undefined where the name means none (an empty repository). */
export function resolveCommit(cwd: string, name = "HEAD"): Promise<string | undefined> {
  return gitLine(cwd, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`]);
}

/** Whether `ancestor` is in the history of `descendant`; false where either is not known here. */
export async function isAncestor(cwd: string, ancestor: string, descendant: string): Promise<boolean> {
  return (await gitLine(cwd, ["merge-base", ancestor, descendant])) === ancestor;
}

/** How many files of the work tree differ from HEAD or are not in it. */
export async function countChanges(cwd: string): Promise<number> {
  const status = await gitBytes(cwd, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal"]);
  return splitNul(status).length;
}

export interface WorkTreeFiles {
  /** From the root, `/` between. */
  paths: string[];
  /** Those that git does not track, or was told not to look at, or that are in a merge conflict. */
  unwatched: Set<string>;
}

/** Tracked files and untracked ones that are not ignored. */
export async function listWorkTreeFiles(cwd: string): Promise<WorkTreeFiles> {
  const args = ["ls-files", "-v", "--cached", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/"];
  // A file in a merge conflict is listed once for each side.
  const paths = new Set<string>();
  const unwatched = new Set<string>();
  for (const line of splitNul(await gitBytes(cwd, args))) {
    const path = line.slice(2);
    paths.add(path);
    if (!line.startsWith("H ")) unwatched.add(path);
  }
  return { paths: [...paths], unwatched };
}

/**
 * Tracked paths that are not, or may not be, what they are in a commit, by git's own record of the files' timestamps; with
 * `indexOnly`, those that are something else in git's index, whatever became of the files.
 * Undefined where the commit is not here. A filter may make other bytes on checkout: see {@link hasFilter}; line
 * endings, encodings, identifiers and Git LFS change the length.
 */
export async function changedSince(
  root: string,
  commit: string,
  { indexOnly }: { indexOnly: boolean },
): Promise<Set<string> | undefined> {
  const cached = indexOnly ? ["--cached"] : [];
  const args = ["diff-index", ...cached, "--name-only", "--no-renames", "--ignore-submodules", "-z", commit, "--"];
  try {
    return new Set(splitNul(await gitBytes(root, args)));
  } catch (error) {
    if (error instanceof GitCommandError) return undefined;
    throw error;
  }
}

/** Every file of a commit, submodules included. */
export async function listTree(cwd: string, commit: string): Promise<GitEntry[]> {
  const output = await gitBytes(cwd, ["ls-tree", "-r", "-z", "-l", "--full-tree", commit]);
  return splitNul(output).map((line) => {
    const tab = line.indexOf("\t");
    const [mode = "", , oid = "", size = "0"] = line.slice(0, tab).split(/ +/);
    return { mode: parseInt(mode, 8), oid, sizeBytes: Number(size) || 0, path: line.slice(tab + 1) };
  });
}

function splitNul(output: Buffer): string[] {
  const parts = output.toString("utf8").split("\0");
  parts.pop();
  return parts;
}

/** Contents of blobs, in the order asked for, from one `git cat-file`. */
export async function* readBlobs(
  cwd: string,
  oids: readonly string[],
): AsyncGenerator<{ oid: string; bytes: Uint8Array }> {
  if (oids.length === 0) return;
  const child = spawn("git", ["cat-file", "--batch"], { cwd, stdio: ["pipe", "pipe", "ignore"] });
  try {
    // A closed pipe shows as a short answer below.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${oids.join("\n")}\n`);
    const reader = new ByteReader(child.stdout);
    for (const oid of oids) {
      const header = await reader.line();
      const size = / blob (\d+)$/.exec(header)?.[1];
      if (size === undefined) throw new GitCommandError("cat-file", `${oid}: ${header || "no answer"}`);
      const bytes = await reader.bytes(Number(size));
      await reader.bytes(1);
      yield { oid, bytes };
    }
  } finally {
    child.kill();
  }
}

class ByteReader {
  private readonly source: AsyncIterator<Buffer>;
  private parts: Buffer[] = [];
  private available = 0;

  constructor(stream: AsyncIterable<Buffer>) {
    this.source = stream[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    for (;;) {
      const all = this.flatten();
      const end = all.indexOf(10);
      if (end !== -1) {
        const line = all.subarray(0, end).toString();
        this.keep(all.subarray(end + 1));
        return line;
      }
      if (!(await this.fill())) return all.toString();
    }
  }

  async bytes(count: number): Promise<Uint8Array> {
    while (this.available < count)
      if (!(await this.fill())) throw new GitCommandError("cat-file", "output ended early");
    const all = this.flatten();
    // A copy of its own: it is handed to another thread.
    const bytes = new Uint8Array(all.subarray(0, count));
    this.keep(all.subarray(count));
    return bytes;
  }

  private flatten(): Buffer {
    if (this.parts.length !== 1) this.parts = [Buffer.concat(this.parts)];
    return this.parts[0] ?? Buffer.alloc(0);
  }

  private keep(rest: Buffer): void {
    this.parts = [rest];
    this.available = rest.length;
  }

  private async fill(): Promise<boolean> {
    const next = await this.source.next();
    if (next.done === true) return false;
    this.parts.push(next.value);
    this.available += next.value.length;
    return true;
  }
}
