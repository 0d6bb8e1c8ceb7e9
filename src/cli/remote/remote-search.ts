import type { CodeContextClient } from "../../interface/client/client.ts";
import type { CallOptions } from "../../interface/client/transport.ts";
import { createClient, credentialsOf, requireApiKey, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { RefOption } from "../local-index/local-search.ts";
import { findWorkTreeProject, type Project, requireRepo } from "../project.ts";
import type { Scope } from "../../interface/questions/code-index.ts";
import { WorkTreeEdits } from "./work-tree-edits.ts";

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
  const { scope } = await new WorkTreeEdits(client, project.root, requireRepo(project, repo), call).send();
  return { client, scope, call, project };
}
