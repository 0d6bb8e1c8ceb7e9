/** Index runs that start from what is kept about a repository, not from a request that says how to read it. */
import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../contract/limits.ts";
import type { RunSpec } from "../indexing/run-state.ts";
import { type RunDeps, startRun } from "../indexing/runs.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { openSource, type OpenSource } from "./sources.ts";

export interface SourceRun {
  tenantId: string;
  workspaceId: string;
  /** Branch to index; the default branch when absent. */
  branch?: string;
  /** False indexes the branch beside what readers see. */
  current: boolean;
  /** Who starts it, as the audit log names them. */
  actor: string;
}

/** Starts an index run of a workspace. Throws `TenancyError` where nobody has said how its repository is read. */
export async function indexFromSource(deps: RunDeps & { encryptionKey: string }, run: SourceRun): Promise<RunSpec> {
  const source = await openSource(deps, run.workspaceId);
  if (!source) throw new TenancyError("CONFLICT", "how the repository is read is not set up");
  return indexSource(deps, source, run);
}

/** {@link indexFromSource} with a source that is at hand. */
export function indexSource(
  deps: RunDeps & { encryptionKey: string },
  source: OpenSource,
  { tenantId, workspaceId, branch, current, actor }: SourceRun,
): Promise<RunSpec> {
  const { url, token, username } = source;
  return startRun(deps, {
    tenantId,
    workspaceId,
    kind: "index",
    source: {
      type: "git",
      url,
      ...(branch === undefined ? {} : { ref: branch }),
      ...(token === undefined
        ? {}
        : { auth: { type: "token", token, ...(username === undefined ? {} : { username }) } }),
    },
    options: { maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES, ...(current ? {} : { current }) },
    actor,
  });
}
