import { createClient, credentialsOf, type Context } from "../context.ts";
import { hostedSource, requireWorkerToken, workspaceOf, type HostedTarget } from "../remote/hosted-source.ts";
import { findProject } from "../project.ts";
import { followRun } from "../remote/follow-run.ts";
import { formatCount, formatDuration, plural } from "../terminal/ui.ts";

export interface HostedOptions extends HostedTarget {
  include?: string[];
  exclude?: string[];
  /** Start the run and return. */
  detach?: boolean;
}

/** `codectx index`: lets the service index the repository, and shows its progress. */
export async function indexHosted(context: Context, options: HostedOptions): Promise<void> {
  const startedAt = performance.now();
  const credentials = requireWorkerToken(credentialsOf(context), options.workerToken);
  const client = await createClient(context, credentials);
  const project = await findProject(context);
  const source = hostedSource(context, project, options);
  const target = { ...options, url: source.url };
  const workspaceId = await workspaceOf(context, client, credentials, project, target);
  const { include, exclude } = options;
  const { runId } = await client.startIndex(
    { workspaceId, source, options: { ...(include ? { include } : {}), ...(exclude ? { exclude } : {}) } },
    { signal: context.stop },
  );
  if (options.detach) {
    context.ui.result({ runId, workspaceId, state: "queued" }, () => `Run ${runId} was started.`);
    return;
  }
  const result = await followRun(context, client, runId);
  const durationMs = Math.round(performance.now() - startedAt);
  context.ui.result({ ...result, runId, workspaceId, durationMs }, () => describeRun(result, durationMs));
}

/** Describes the result of a run as text. */
export function describeRun(result: Record<string, unknown>, durationMs: number): string[] {
  const count = (name: string): number => (typeof result[name] === "number" ? result[name] : 0);
  const gitSha = typeof result["gitSha"] === "string" ? ` ${result["gitSha"].slice(0, 10)}` : "";
  return [
    `Indexed${gitSha}: ${plural(count("fileCount"), "file")}, ${plural(count("symbolCount"), "symbol")}, ${plural(count("chunkCount"), "chunk")} in ${formatDuration(durationMs)}`,
    `${plural(count("skippedUnchanged"), "file")} unchanged, ${plural(count("embeddedCount"), "chunk")} embedded, ${formatCount(count("redactedCount"))} withheld, ${formatCount(count("partialCount"))} parsed in part, ${formatCount(count("fallbackCount"))} not parsed`,
  ];
}
