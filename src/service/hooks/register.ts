/**
 * Makes hooks at the git hosts, over their APIs: GitHub's REST API of 2022-11-28, GitLab's v4, Gitea's v1. The token is used for that and
 * neither stored nor logged.
 */
import { checkRemoteUrl, type GitHostPolicy } from "../../engines/git/wire/url.ts";
import { readBounded } from "../../lib/read-bounded.ts";
import type { HookProvider } from "../db/people-schema.ts";
import { TenancyError } from "../tenancy/errors.ts";

const TIMEOUT_MS = 10_000;
/** A page of a hundred hooks takes a tenth of it. */
const MAX_ANSWER_BYTES = 1024 * 1024;

interface HookAtHost {
  provider: HookProvider;
  /** Of the repository, on the host's own address. */
  cloneUrl: string;
  token: string;
  /** Address that the host calls. */
  url: string;
  secret: string;
}

/** How a host's API takes a hook. Hooks are listed and made at the same address. */
interface HostApi {
  address: (clone: URL, path: string) => string;
  headers: (token: string) => Record<string, string>;
  body: (hook: HookAtHost) => unknown;
  /** What a token needs. */
  needs: string;
}

const CONFIG = { content_type: "json" };

const APIS: Record<HookProvider, HostApi> = {
  github: {
    address: ({ host, origin }, path) =>
      `${host === "github.com" || host === "www.github.com" ? "https://api.github.com" : `${origin}/api/v3`}/repos/${path}/hooks`,
    headers: (token) => ({
      Authorization: `Bearer ${token}`,
      Accept: "application/vnd.github+json",
      "X-GitHub-Api-Version": "2022-11-28",
    }),
    body: ({ url, secret }) => ({
      name: "web",
      active: true,
      events: ["push"],
      config: { ...CONFIG, url, secret, insecure_ssl: "0" },
    }),
    needs: "write access to the repository's webhooks (a classic token: admin:repo_hook)",
  },
  gitlab: {
    address: ({ origin }, path) => `${origin}/api/v4/projects/${encodeURIComponent(path)}/hooks`,
    headers: (token) => ({ "PRIVATE-TOKEN": token }),
    body: ({ url, secret }) => ({ url, token: secret, push_events: true, enable_ssl_verification: true }),
    needs: "the scope api, of a maintainer of the project",
  },
  gitea: {
    address: ({ origin }, path) => `${origin}/api/v1/repos/${path}/hooks`,
    headers: (token) => ({ Authorization: `token ${token}` }),
    body: ({ url, secret }) => ({ type: "gitea", active: true, events: ["push"], config: { ...CONFIG, url, secret } }),
    needs: "the scope write:repository, of an administrator of the repository",
  },
};

interface RegisterDeps {
  fetch: typeof fetch;
  gitHosts: GitHostPolicy;
  /** Time limit of a call. */
  timeoutMs?: number;
}

/**
 * Makes a hook for pushes at the repository's host, unless it has one with this address. Throws `TenancyError` that says what is wrong with
 * the token or the host; then nothing was made.
 */
export async function registerHook(deps: RegisterDeps, hook: HookAtHost): Promise<void> {
  const { provider, cloneUrl, token } = hook;
  const api = APIS[provider];
  // Its API is at the same address; GitHub's own is allowed with it.
  const clone = checkRemoteUrl(cloneUrl, deps.gitHosts);
  const segments = clone.pathname.split("/").filter((segment) => segment !== "");
  const path = segments.join("/").replace(/\.git$/, "");
  const address = api.address(clone, path);
  const headers = { ...api.headers(token), "User-Agent": "code-context", "Content-Type": "application/json" };
  const call = async (init: RequestInit, query = ""): Promise<unknown> => {
    const signal = AbortSignal.timeout(deps.timeoutMs ?? TIMEOUT_MS);
    // A redirect would take the token to another address.
    const response = await deps
      .fetch(address + query, { ...init, headers, signal, redirect: "manual" })
      .catch((): never => refuse(`${clone.host} did not answer; try again, or make the hook there yourself`));
    const bytes = await readBounded(response.body, MAX_ANSWER_BYTES).catch(() => undefined);
    if (!response.ok) refuse(explain(response.status, clone.host, api.needs));
    return parse(bytes);
  };
  if (hasHook(await call({ method: "GET" }, "?per_page=100&limit=100"), hook.url)) return;
  await call({ method: "POST", body: JSON.stringify(api.body(hook)) });
}

/** Whether a list of hooks has one with this address: GitLab names it in the hook, the others in its configuration. */
function hasHook(list: unknown, url: string): boolean {
  if (!Array.isArray(list)) return false;
  return list.some((one: { url?: unknown; config?: { url?: unknown } } | null) =>
    [one?.url, one?.config?.url].includes(url),
  );
}

function parse(bytes: Uint8Array | undefined): unknown {
  try {
    return bytes && JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function explain(status: number, host: string, needs: string): string {
  if (status === 401) return `${host} does not accept this token`;
  if (status === 403 || status === 404)
    return `${host} does not let this token manage the repository's hooks: it needs ${needs}`;
  if (status === 400 || status === 409 || status === 422)
    return `${host} refuses the hook: it must be able to reach this service's public address`;
  return `${host} answered with status ${status}; try again, or make the hook there yourself`;
}

function refuse(problem: string): never {
  throw new TenancyError("INVALID", `token: ${problem}`, "token");
}
