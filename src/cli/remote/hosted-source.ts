import type { CodeContextClient } from "../../interface/client/client.ts";
import type { Source } from "../../contract/index.ts";
import type { Context, Credentials } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { requireRepo, type Project } from "../project.ts";

export interface HostedTarget {
  workspace?: string;
  workerToken?: string;
  url?: string;
  ref?: string;
  repo?: string;
}

/** The source to clone: the given URL, or the work tree's remote. */
export function hostedSource(context: Context, project: Project, { url, ref }: HostedTarget): Source {
  const address = url ?? httpsUrl(project.remote);
  const token = gitToken(context, address, url !== undefined);
  return {
    type: "git",
    url: address,
    ...(ref === undefined ? {} : { ref }),
    ...(token === undefined ? {} : { auth: { type: "token", token } }),
  };
}

const GET_TOKEN =
  "make one on the dashboard's page of keys, or with `npm run admin -- token create`, and pass it with --worker-token or set CODECTX_WORKER_TOKEN";

/** Adds the worker token that runs of the service need. Throws if there is none, or if it is an API key. */
export function requireWorkerToken(credentials: Credentials, given: string | undefined): Credentials {
  const workerToken = given ?? credentials.workerToken;
  if (workerToken === undefined)
    throw new CliError(
      EXIT.auth,
      "NO_WORKER_TOKEN",
      `runs of the service need a worker token: ${GET_TOKEN} (\`codectx index --local\` indexes here)`,
    );
  if (workerToken.startsWith("cc_live_"))
    throw new CliError(
      EXIT.auth,
      "NO_WORKER_TOKEN",
      `the worker token that was given is an API key, but runs need one that begins with cc_wrk_: ${GET_TOKEN}`,
    );
  return { ...credentials, workerToken };
}

/** Id of the workspace: given, from the environment, or looked up by repository. */
export async function workspaceOf(
  context: Context,
  client: CodeContextClient,
  credentials: Credentials,
  project: Project,
  { workspace, repo, url }: HostedTarget,
): Promise<string> {
  const given = workspace ?? context.env["CODECTX_WORKSPACE"];
  if (given) return given;
  if (credentials.apiKey === undefined)
    throw new CliError(EXIT.usage, "NO_WORKSPACE", "which workspace? pass --workspace or set CODECTX_WORKSPACE");
  const wanted = requireRepo(project, repo ?? url);
  const { workspaces } = await client.snapshots.list({ signal: context.stop });
  const found = workspaces.find((entry) => entry.repo === wanted);
  if (found) return found.workspaceId;
  throw new CliError(
    EXIT.notFound,
    "NO_WORKSPACE",
    `no workspace for ${wanted}: pass --workspace (see \`codectx repos\`)`,
  );
}

/**
 * The token for cloning. It is sent only for the host in `CODECTX_GIT_HOST`, or if that is not set, only for a URL on the command
 * line: a checkout's remote could point to a host that collects tokens.
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

/** Converts the remote to an HTTPS URL. */
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
      `the service cannot clone ${remote.slice(remote.lastIndexOf("@") + 1)}: pass --url with an HTTPS clone URL`,
    );
  }
  const url = new URL(remote);
  // Never send the credentials of the remote's URL; the service gets CODECTX_GIT_TOKEN.
  url.username = "";
  url.password = "";
  return url.href;
}
