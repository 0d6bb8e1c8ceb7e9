import type { CodeContextClient } from "../../client/client.ts";
import type { RunStatus } from "../../contract/index.ts";
import { createClient, credentialsOf, type Context, type Credentials } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { findProject, requireRepo } from "../project.ts";
import { formatCount, formatDuration } from "../ui.ts";

export interface HostedOptions {
  workspace?: string;
  workerToken?: string;
  url?: string;
  ref?: string;
  include?: string[];
  exclude?: string[];
  repo?: string;
  /** Start the run and return. */
  detach?: boolean;
}

/** `codectx index`: lets the service index the repository, and shows how far it is. */
export async function indexHosted(context: Context, options: HostedOptions): Promise<void> {
  const startedAt = performance.now();
  const stored = credentialsOf(context);
  const credentials = { ...stored, workerToken: options.workerToken ?? stored.workerToken };
  if (credentials.workerToken === undefined) {
    throw new CliError(
      EXIT.auth,
      "NO_WORKER_TOKEN",
      "a hosted run needs a worker token: pass --worker-token or set CODECTX_WORKER_TOKEN (or index here with --local)",
    );
  }
  const client = await createClient(context, credentials);
  const project = await findProject(context);
  const url = options.url ?? httpsUrl(project.remote);
  const workspaceId =
    options.workspace ??
    context.env["CODECTX_WORKSPACE"] ??
    (await findWorkspace(context, client, credentials, () => requireRepo(project, options.repo ?? url)));
  const token = gitToken(context, url, options.url !== undefined);
  const { runId } = await client.startIndex(
    {
      workspaceId,
      source: {
        type: "git",
        url,
        ...(options.ref === undefined ? {} : { ref: options.ref }),
        ...(token ? { auth: { type: "token" as const, token } } : {}),
      },
      options: {
        ...(options.include ? { include: options.include } : {}),
        ...(options.exclude ? { exclude: options.exclude } : {}),
      },
    },
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

/**
 * The token with which the service clones. It is sent for the host that `CODECTX_GIT_HOST` names, and without that for a URL on
 * the command line only: a checkout's own remote might name a host that collects tokens.
 */
function gitToken(context: Context, url: string, isGiven: boolean): string | undefined {
  const token = context.env["CODECTX_GIT_TOKEN"];
  if (!token) return undefined;
  const host = URL.canParse(url) ? new URL(url).host : "";
  const wanted = context.env["CODECTX_GIT_HOST"]?.toLowerCase();
  if (wanted === host || (!wanted && isGiven)) return token;
  if (wanted) {
    context.ui.warn(`CODECTX_GIT_TOKEN is for ${wanted} and is not sent to ${host}`);
    return undefined;
  }
  throw new CliError(
    EXIT.usage,
    "GIT_TOKEN_HOST",
    `CODECTX_GIT_TOKEN is set without its host: set CODECTX_GIT_HOST=${host} if it is meant for ${host}, or pass --url`,
  );
}

/** The remote as an address that the service can clone: https for the usual SSH forms. */
function httpsUrl(remote: string | undefined): string {
  if (remote === undefined) {
    throw new CliError(EXIT.usage, "NO_REMOTE", "this repository has no remote: pass --url with an HTTPS clone URL");
  }
  const [, host, path] = /^(?:ssh:\/\/)?(?:[^/@]+@)([^/:]+)(?::\d+\/|[:/])(.+)$/.exec(remote) ?? [];
  if (host !== undefined && path !== undefined && !/^https?:/.test(remote)) return `https://${host}/${path}`;
  if (!URL.canParse(remote) || !/^https?:$/.test(new URL(remote).protocol)) {
    throw new CliError(
      EXIT.usage,
      "NO_REMOTE",
      `the service cannot clone ${remote}: pass --url with an HTTPS clone URL`,
    );
  }
  const url = new URL(remote);
  // Credentials in the remote's URL stay on this machine; the service gets CODECTX_GIT_TOKEN.
  url.username = "";
  url.password = "";
  return url.href;
}

async function findWorkspace(
  context: Context,
  client: CodeContextClient,
  credentials: Credentials,
  repo: () => string,
): Promise<string> {
  if (credentials.apiKey !== undefined) {
    const wanted = repo();
    const { workspaces } = await client.snapshots.list({ signal: context.stop });
    const found = workspaces.find((entry) => entry.repo === wanted);
    if (found) return found.workspaceId;
    throw new CliError(
      EXIT.notFound,
      "NO_WORKSPACE",
      `no workspace for ${wanted}: pass --workspace (see \`codectx repos\`)`,
    );
  }
  throw new CliError(EXIT.usage, "NO_WORKSPACE", "which workspace? pass --workspace or set CODECTX_WORKSPACE");
}

async function followRun(context: Context, client: CodeContextClient, runId: string): Promise<Record<string, unknown>> {
  const line = context.ui.progress("Indexing ");
  let last: RunStatus | undefined;
  try {
    for await (const status of client.streamRun(runId, { signal: context.stop })) {
      last = status;
      const { phase, filesDone, filesTotal } = status.progress;
      line.update(filesDone, filesTotal, filesTotal > 0 ? `${phase} ${filesDone}/${filesTotal} files` : phase);
    }
  } catch (error) {
    if (context.stop.aborted) {
      throw new CliError(EXIT.interrupted, "ABORTED", `interrupted; the run goes on (${runId})`, {
        details: { runId },
        cause: error,
      });
    }
    throw error;
  } finally {
    line.end();
  }
  if (last?.state === "succeeded") return last.result ?? {};
  const { code = "RUN_FAILED", error = "the run failed", details } = last?.error ?? {};
  const { CodeContextError } = await import("../../client/errors.ts");
  throw new CodeContextError(code, error, { status: statusOf(code), details: { ...details, runId } });
}

/** A failed run has no HTTP status; its code says whose turn it is. */
function statusOf(code: string): number {
  return code === "CLONE_FAILED" ? 422 : 500;
}

function describeRun(result: Record<string, unknown>, durationMs: number): string[] {
  const count = (name: string): string => formatCount(typeof result[name] === "number" ? result[name] : 0);
  const gitSha = typeof result["gitSha"] === "string" ? `@${result["gitSha"].slice(0, 10)}` : "";
  return [
    `Indexed${gitSha}: ${count("fileCount")} files, ${count("symbolCount")} symbols, ${count("chunkCount")} chunks in ${formatDuration(durationMs)}`,
    `${count("skippedUnchanged")} files unchanged, ${count("embeddedCount")} chunks embedded, ${count("redactedCount")} withheld, ${count("partialCount")} parsed in part, ${count("fallbackCount")} not parsed`,
  ];
}
