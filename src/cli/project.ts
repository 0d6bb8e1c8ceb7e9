import { realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { normalizeRepo } from "../tenancy/repo.ts";
import type { Context } from "./context.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import { inBackground } from "./background.ts";
import { findWorkTree, listWorkTreeFiles, readRemoteUrls, type WorkTree, type WorkTreeFiles } from "./git.ts";
import { readPlainWorkTree } from "./git-directory.ts";
import { indexDirectory } from "./paths.ts";

/** What a command works on: the work tree around the current folder. */
export interface Project {
  /** Absolute, without symbolic links. */
  root: string;
  /** No git work tree: the current folder itself. */
  plainFolder: boolean;
  /** Commit that was checked out when the project was found. */
  head: string | undefined;
  /** By `performance.now()`. */
  foundAtMs: number;
  /** The files of the work tree at that time, if they were asked for. */
  files: Promise<WorkTreeFiles> | undefined;
  /** Git's index; undefined where git is. */
  indexFile: string | undefined;
  /** Normalised identity from the remote; undefined where there is no remote that others could reach. */
  repo: string | undefined;
  /** URL of `origin`, or else of the only remote there is, as git has it. */
  remote: string | undefined;
  /** Folder of the local index. Worktrees and clones of one repository share it. */
  directory: string;
}

/** `listFiles`: git begins to list the files of the work tree at once, before anything else is known. */
export async function findProject(context: Context, { listFiles } = { listFiles: false }): Promise<Project> {
  const foundAtMs = performance.now();
  const cwd = realpathSync(context.cwd);
  // The longest first.
  const files = listFiles ? inBackground(listWorkTreeFiles(cwd)) : undefined;
  const { tree, remotes } = readPlainWorkTree(cwd) ?? (await askGit(cwd));
  const remote = remotes.get("origin") ?? (remotes.size === 1 ? [...remotes.values()][0] : undefined);
  const root = tree ? realpathSync(tree.root) : cwd;
  const repo = remote === undefined ? undefined : normalizeRepo(remote);
  // Without a remote the git folder stands for the repository: its worktrees share it, and its content may change freely.
  const identity = repo ?? `local/${tree ? realpathSync(tree.commonDir) : root}`;
  const directory = indexDirectory(context.env, identity);
  return {
    root,
    plainFolder: tree === undefined,
    head: tree?.head,
    foundAtMs,
    files: tree === undefined ? undefined : files,
    indexFile: tree?.indexFile,
    repo,
    remote,
    directory,
  };
}

async function askGit(cwd: string): Promise<{ tree: WorkTree | undefined; remotes: Map<string, string> }> {
  const [tree, remotes] = await Promise.all([findWorkTree(cwd), readRemoteUrls(cwd)]);
  return { tree, remotes };
}

/** The identity to publish or pull under. */
export function requireRepo(project: Project, override: string | undefined): string {
  const repo = override === undefined ? project.repo : normalizeRepo(override);
  if (repo !== undefined) return repo;
  throw new CliError(
    EXIT.usage,
    "NO_REMOTE",
    override === undefined
      ? "this repository has no remote that identifies it: add one, or pass --repo host/owner/name"
      : `not a repository: ${override} (expected host/owner/name or a clone URL)`,
  );
}

export function requireGit(project: Project): void {
  if (project.plainFolder)
    throw new CliError(EXIT.usage, "NOT_A_REPOSITORY", `${project.root} is not in a git work tree`);
}

/** Path of a file from the project's root, with `/` between; throws where it lies outside. */
export function pathInProject(project: Project, cwd: string, file: string): string {
  const path = relative(project.root, resolve(realpathSync(cwd), file))
    .split(sep)
    .join("/");
  if (path === "" || path === ".." || path.startsWith("../")) {
    throw new CliError(EXIT.usage, "OUTSIDE", `${file} is not a file of ${project.root}`);
  }
  return path;
}
