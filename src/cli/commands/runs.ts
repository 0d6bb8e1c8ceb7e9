import { createClient, credentialsOf, type Context } from "../context.ts";
import { requireWorkerToken, workspaceOf, type HostedTarget } from "../remote/hosted-source.ts";
import { findProject } from "../project.ts";
import { followRun } from "../remote/follow-run.ts";
import { formatCount, table } from "../terminal/ui.ts";
import { describeRun } from "./index-hosted.ts";

export interface RunListOptions extends HostedTarget {
  limit: number;
}

/** `codectx runs list`: the newest runs of a workspace. */
export async function runsList(context: Context, options: RunListOptions): Promise<void> {
  const credentials = requireWorkerToken(credentialsOf(context), options.workerToken);
  const client = await createClient(context, credentials);
  const workspaceId = await workspaceOf(context, client, credentials, await findProject(context), options);
  const { runs } = await client.listRuns(workspaceId, { limit: options.limit }, { signal: context.stop });
  context.ui.result({ workspaceId, runs }, () => {
    if (runs.length === 0) return "No runs yet: `codectx index` starts one.";
    const rows = runs.map(({ runId, kind, state, ref, createdAt, progress }) => [
      runId,
      kind,
      state,
      ref ?? "-",
      createdAt.slice(0, 16).replace("T", " "),
      progress.filesTotal > 0 ? `${formatCount(progress.filesDone)}/${formatCount(progress.filesTotal)} files` : "-",
    ]);
    return table([["RUN", "KIND", "STATE", "REF", "STARTED (UTC)", "PROGRESS"], ...rows]);
  });
}

/** `codectx runs watch <run>`: follows a run to its end. */
export async function runsWatch(context: Context, runId: string, options: { workerToken?: string }): Promise<void> {
  const startedAt = performance.now();
  const client = await createClient(context, requireWorkerToken(credentialsOf(context), options.workerToken));
  const result = await followRun(context, client, runId);
  const durationMs = Math.round(performance.now() - startedAt);
  context.ui.result({ ...result, runId }, () => describeRun(result, durationMs));
}

/** `codectx runs cancel <run>`: cancels a run. */
export async function runsCancel(context: Context, runId: string, options: { workerToken?: string }): Promise<void> {
  const client = await createClient(context, requireWorkerToken(credentialsOf(context), options.workerToken));
  const { state } = await client.cancelRun(runId, { signal: context.stop });
  context.ui.result({ runId, state }, () =>
    state === "cancelled" ? `Run ${runId} is cancelled.` : `Run ${runId} had ended before: ${state}.`,
  );
}
