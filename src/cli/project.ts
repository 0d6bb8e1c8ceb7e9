import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, parse, resolve } from "node:path";
import { nearName } from "../lib/near-name.ts";
import { normalizeRepo } from "../lib/repo.ts";
import { readConfig } from "./machine/config.ts";
import type { Context } from "./context.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import { listRefs, mayBeInGit, resolveCommit } from "./git/git.ts";
import { beginListing, type ListedFiles } from "./git/kept-listing.ts";
import { keepNameHashes, locateKnown, locateWorkTree } from "./git/locate.ts";
import { pathOfText } from "./git/paths.ts";
import { indexDirectory, locatedFile } from "./machine/paths.ts";
import { pathWithin, realPath } from "./machine/platform.ts";

/** The work tree around the current folder. */
export interface Project {
  /** Absolute, without symbolic links. */
  root: string;
  /** True outside of git: the current folder itself. */
  plainFolder: boolean;
  /** Commit that is checked out. */
  head: string | undefined;
  /** The files of the work tree; set with `listFiles`. */
  files: ListedFiles | undefined;
  /** The git directory that all worktrees of the repository share; undefined outside of git. */
  commonDir: string | undefined;
  /** Normalised identity, from `codectx config repo` or the remote; undefined if there is neither. */
  repo: string | undefined;
  /** URL of the remote, as git has it. */
  remote: string | undefined;
  /** Names the repository in the cache: {@link repo}, or the path of the git folder. */
  identity: string;
  /** Folder of the local index. Worktrees and clones of one repository share it. */
  directory: string;
}

/** Finds the project of the current folder. With `listFiles`, its files are listed in the background. */
export async function findProject(context: Context, { listFiles } = { listFiles: false }): Promise<Project> {
  const { env } = context;
  const cwd = realFolder(context.cwd);
  const inGit = mayBeInGit(cwd);
  const known = inGit ? locateKnown(cwd, locatedFile(env)) : undefined;
  const tree = known ?? (inGit ? await locateWorkTree(cwd, locatedFile(env)) : undefined);
  const remote = tree?.remote;
  const root = tree ? realPath(tree.root) : cwd;
  if (!tree) rejectWholeDisk(root);
  const commonDir = tree && realPath(tree.commonDir);
  const configured = commonDir === undefined ? undefined : readConfig(env).repos?.[commonDir];
  const repo = configured ?? (remote === undefined ? undefined : normalizeRepo(remote));
  // Without a remote, the git directory identifies the repository.
  const identity = repo ?? `local/${commonDir ?? root}`;
  const directory = indexDirectory(env, identity);
  if (tree) keepNameHashes(cwd, locatedFile(env), [identity, root]);
  return {
    root,
    plainFolder: tree === undefined,
    head: tree?.head,
    files: tree && listFiles ? beginListing({ ...tree, root, directory, identity }, env) : undefined,
    commonDir,
    repo,
    remote,
    identity,
    directory,
  };
}

/** The project of the git work tree around the current folder; undefined outside of one. */
export async function findWorkTreeProject(context: Context): Promise<Project | undefined> {
  const cwd = realFolder(context.cwd);
  return mayBeInGit(cwd) && (await locateWorkTree(cwd, locatedFile(context.env))) ? findProject(context) : undefined;
}

function realFolder(folder: string): string {
  try {
    return realPath(folder);
  } catch (cause) {
    throw new CliError(EXIT.usage, "NO_FOLDER", `the folder ${folder} does not exist any more`, { cause });
  }
}

/** Rejects a root or home folder outside of git, which is most likely a mistake. */
function rejectWholeDisk(folder: string): void {
  if (folder !== parse(folder).root && folder !== realHome()) return;
  throw new CliError(EXIT.usage, "NOT_A_PROJECT", `${folder} is not a project: change to the folder of one`);
}

function realHome(): string | undefined {
  try {
    return realPath(homedir());
  } catch {
    return undefined;
  }
}

/** The identity for publishing and pulling. Throws if there is none. */
export function requireRepo(project: Project | undefined, override: string | undefined): string {
  const repo = override === undefined ? project?.repo : normalizeRepo(override);
  if (repo !== undefined) return repo;
  if (override === undefined && project?.plainFolder === true)
    throw new CliError(
      EXIT.usage,
      "NOT_A_REPOSITORY",
      `${project.root} is not in a git work tree: change to one, or name a repository with --repo host/owner/name`,
    );
  throw new CliError(
    EXIT.usage,
    "NO_REMOTE",
    override === undefined
      ? "this repository has no remote that identifies it: add one, run `codectx config repo host/owner/name`, or pass --repo"
      : `not a repository: ${override.slice(override.lastIndexOf("@") + 1)} (expected host/owner/name or a clone URL)`,
  );
}

export function requireGit(project: Project): void {
  if (project.plainFolder)
    throw new CliError(EXIT.usage, "NOT_A_REPOSITORY", `${project.root} is not in a git work tree`);
}

/** Id of the commit that a branch, tag or commit id names. Throws `CliError` if there is none. */
export async function commitOf(project: Project, ref: string): Promise<string> {
  requireGit(project);
  if (ref === "HEAD" && project.head !== undefined) return project.head;
  const gitSha = await resolveCommit(project.root, ref);
  if (gitSha !== undefined) return gitSha;
  const names = await listRefs(project.root);
  const near = names.find((name) => name.endsWith(`/${ref}`)) ?? nearName(ref, names);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw new CliError(EXIT.notFound, "NO_COMMIT", `no such branch, tag or commit in this clone: ${ref}${hint}`);
}

/** Path of a file relative to the project's root, with `/` and links resolved. Throws if it is outside. */
export function pathInProject(project: Project, cwd: string, file: string): string {
  const path = folderInProject(project, cwd, file);
  if (path === "") throw new CliError(EXIT.usage, "OUTSIDE", `${file} is not a file of ${project.root}`);
  return path;
}

/** As {@link pathInProject}; empty for the root. */
export function folderInProject(project: Project, cwd: string, file: string): string {
  // From the root, as answers show a path that is not plain text.
  if (file.startsWith('"')) return file;
  const wanted = resolve(realPath(cwd), file);
  let real = wanted;
  try {
    real = realPath(wanted);
  } catch {
    // The caller reports a path that does not exist.
  }
  const path = pathWithin(project.root, real);
  // `/src/app.ts` from the root of the project, as agents and globs write it.
  if (path === undefined && file.startsWith("/") && existsSync(join(project.root, file)))
    return folderInProject(project, project.root, `.${file}`);
  if (path === undefined) throw new CliError(EXIT.usage, "OUTSIDE", `${file} is not in ${project.root}`);
  return pathOfText(path, "utf8");
}

/** As `pathOf`, for a folder or glob; undefined for the whole repository. */
export function folderPathOf(
  context: Context,
  project: Project | undefined,
  folder: string | undefined,
  { repo }: { repo?: string },
): string | undefined {
  if (folder === undefined || repo !== undefined || project === undefined) return folder;
  return folderInProject(project, context.cwd, folder) || undefined;
}

/** Path of a file from the root of its repository: as given with `--repo` and outside of a work tree, else that of the work tree's file. */
export function pathOf(
  context: Context,
  project: Project | undefined,
  file: string,
  { repo }: { repo?: string },
): string {
  return repo === undefined && project !== undefined ? pathInProject(project, context.cwd, file) : file;
}
