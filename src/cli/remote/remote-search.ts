import type { CodeContextClient } from "../../interface/client/client.ts";
import type { CallOptions } from "../../interface/client/transport.ts";
import { CodeContextError } from "../../interface/client/errors.ts";
import { gitLine } from "../git/command.ts";
import { editsOf } from "../git/edits.ts";
import { resolveCommit } from "../git/git.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { RefOption } from "../local-index/local-search.ts";
import { findWorkTreeProject, folderInProject, pathInProject, type Project, requireRepo } from "../project.ts";
import type { Scope } from "../../interface/questions/code-index.ts";

/** Flags of commands that ask the local index or, with `--remote`, the service. */
export interface RemoteOption extends RefOption {
  remote?: boolean;
  /** Ask about the work tree as it is: its differences from the indexed commit are sent. */
  edits?: boolean;
  /** Repository on the service; by default the work tree's own, outside of a work tree all of them. */
  repo?: string;
}

interface RemoteTarget {
  client: CodeContextClient;
  scope: Scope;
  call: CallOptions;
  /** The work tree of the paths; undefined outside of one. */
  project: Project | undefined;
}

/**
 * The service's indexes: that of `--repo` or of the work tree's repository, outside of a work tree all that the key may read; undefined
 * without `--remote`. Throws `CliError` without a key, or for a work tree without a remote.
 */
export async function remoteIndex(
  context: Context,
  { remote, repo, ref, edits }: RemoteOption,
): Promise<RemoteTarget | undefined> {
  if (!remote) {
    if (edits) throw new CliError(EXIT.usage, "USAGE", "--edits is for --remote: the work tree's own index has them");
    if (repo !== undefined) throw new CliError(EXIT.usage, "USAGE", "--repo is for --remote");
    return undefined;
  }
  const credentials = credentialsOf(context);
  const client = await createClient(context, { ...credentials, apiKey: requireApiKey(credentials) });
  const project = await findWorkTreeProject(context);
  const named = repo === undefined && project === undefined ? {} : { repo: requireRepo(project, repo) };
  const call = { signal: context.stop };
  if (!edits) return { client, scope: { ...named, ref }, call, project };
  if (ref !== undefined || repo !== undefined || project === undefined)
    throw new CliError(EXIT.usage, "USAGE", "--edits is for the repository of the work tree, without --ref and --repo");
  return { client, scope: await withEdits(client, project, requireRepo(project, repo), call), call, project };
}

/**
 * The index of the work tree as it is: its differences are sent on top of the nearest indexed commit of the one that is checked out and
 * those that it shares with the tracked and the default branch.
 */
async function withEdits(
  client: CodeContextClient,
  { root }: Project,
  repo: string,
  call: CallOptions,
): Promise<Scope> {
  for (const base of await basesOf(root)) {
    const files = await editsOf(root, base);
    try {
      const { overlay } = await client.createOverlay({ repo, base, files }, call);
      return { repo, overlay };
    } catch (error) {
      if (!(error instanceof CodeContextError) || error.code !== "NO_INDEX") throw error;
    }
  }
  throw new CliError(
    EXIT.notFound,
    "NO_INDEX",
    `no commit that the work tree is based on is indexed on the service: index ${repo} (codectx index)`,
  );
}

/** Commits that the work tree is based on, the nearest first. */
async function basesOf(root: string): Promise<string[]> {
  const shared = ["@{upstream}", "origin/HEAD"].map((name) => gitLine(root, ["merge-base", "HEAD", name]));
  const bases = await Promise.all([resolveCommit(root), ...shared]);
  return [...new Set(bases.filter((base) => base !== undefined))];
}

/** As `pathOf`, for a folder or glob; undefined for the whole repository. */
export function folderPathOf(
  context: Context,
  project: Project | undefined,
  folder: string | undefined,
  { repo }: RemoteOption,
): string | undefined {
  if (folder === undefined || repo !== undefined || project === undefined) return folder;
  return folderInProject(project, context.cwd, folder) || undefined;
}

/** Path of a file from the root of its repository: as given with `--repo` and outside of a work tree, else that of the work tree's file. */
export function pathOf(context: Context, project: Project | undefined, file: string, { repo }: RemoteOption): string {
  return repo === undefined && project !== undefined ? pathInProject(project, context.cwd, file) : file;
}
