import type { CodeContextClient } from "../../interface/client/client.ts";
import type { CallOptions } from "../../interface/client/transport.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { RefOption } from "../local-index/local-search.ts";
import { findProject, pathInProject, type Project, requireRepo } from "../project.ts";

/** Flags of commands that ask the local index or, with `--remote`, the service. */
export interface RemoteOption extends RefOption {
  remote?: boolean;
  /** Repository on the service; the work tree's own by default. */
  repo?: string;
}

export interface RemoteTarget {
  client: CodeContextClient;
  /** Names the repository and the ref in a request. */
  selector: { repo: string; ref?: string };
  call: CallOptions;
  project: Project;
}

/** The service's index of a repository; undefined without `--remote`. Throws `CliError` without a key or a repository. */
export async function remoteIndex(
  context: Context,
  { remote, repo, ref }: RemoteOption,
): Promise<RemoteTarget | undefined> {
  if (!remote) {
    if (repo !== undefined) throw new CliError(EXIT.usage, "USAGE", "--repo is for --remote");
    return undefined;
  }
  const credentials = credentialsOf(context);
  const client = await createClient(context, { ...credentials, apiKey: requireApiKey(credentials) });
  const project = await findProject(context);
  const selector = { repo: requireRepo(project, repo), ...(ref === undefined ? {} : { ref }) };
  return { client, selector, call: { signal: context.stop }, project };
}

/** Path of a file from the root of its repository: with `--repo` as given, else that of the work tree's file. */
export function pathOf(context: Context, project: Project, file: string, { repo }: RemoteOption): string {
  return repo === undefined ? pathInProject(project, context.cwd, file) : file;
}
