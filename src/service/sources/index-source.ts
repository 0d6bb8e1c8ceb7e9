/** Starts index runs from a workspace's stored source. */
import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import type { RunSpec } from "../db/run-spec.ts";
import type { RunDeps } from "../runs/runs.ts";
import { type RunRequest, startRun } from "../runs/start.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { openSource, type OpenSource } from "./sources.ts";

interface SourceRun {
  tenantId: string;
  workspaceId: string;
  /** Branch to index; default: the default branch. */
  branch?: string;
  /** Whether the revision becomes the current one. */
  current: boolean;
  /** Actor for the audit log. */
  actor: string;
}

/** Starts an index run of a workspace. Throws `TenancyError` if it has no source. */
export async function indexFromSource(deps: RunDeps & { encryptionKey: string }, run: SourceRun): Promise<RunSpec> {
  const source = await openSource(deps, run.workspaceId);
  if (!source) throw new TenancyError("CONFLICT", "the repository has no source; set its clone address first");
  return startRun(deps, requestOf(source, run));
}

/** The request of an index run of a loaded source. */
export function requestOf(
  source: OpenSource,
  { tenantId, workspaceId, branch, current, actor }: SourceRun,
): RunRequest {
  const { url, token, username, appId } = source;
  return {
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
    ...(appId === undefined ? {} : { appId }),
    options: { maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES, ...(current ? {} : { current }) },
    actor,
  };
}
