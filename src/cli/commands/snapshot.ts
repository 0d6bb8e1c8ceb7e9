import { createClient, credentialsOf, type Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { resolveCommit } from "../git/git.ts";
import { hostedSource, requireWorkerToken, workspaceOf, type HostedTarget } from "../remote/hosted-source.ts";
import { findProject } from "../project.ts";
import { followRun } from "../remote/follow-run.ts";

export interface SnapshotOptions extends HostedTarget {
  tenant?: string;
  commit?: string;
  detach?: boolean;
}

/** `codectx snapshot`: lets the service build and publish the snapshot of a commit that the remote has. */
export async function snapshot(context: Context, options: SnapshotOptions): Promise<void> {
  const tenantId = options.tenant ?? context.env["CODECTX_TENANT"];
  if (!tenantId) throw new CliError(EXIT.usage, "NO_TENANT", "which tenant? pass --tenant or set CODECTX_TENANT");
  const credentials = requireWorkerToken(credentialsOf(context), options.workerToken);
  const client = await createClient(context, credentials);
  const project = await findProject(context);
  const commit = options.commit ?? "HEAD";
  const gitSha = /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? commit : await resolveCommit(project.root, commit);
  if (gitSha === undefined) throw new CliError(EXIT.notFound, "NO_COMMIT", `no such commit: ${commit}`);
  const source = { ...hostedSource(context, project, options), ref: gitSha };
  const workspaceId = await workspaceOf(context, client, credentials, project, { ...options, url: source.url });
  const { runId } = await client.startSnapshotJob({ tenantId, workspaceId, gitSha, source }, { signal: context.stop });
  if (options.detach) {
    context.ui.result({ runId, workspaceId, gitSha, state: "queued" }, () => `Run ${runId} was started.`);
    return;
  }
  const result = await followRun(context, client, runId);
  context.ui.result(
    { ...result, runId, workspaceId, gitSha },
    () => `The snapshot of ${gitSha.slice(0, 10)} is published.`,
  );
}
