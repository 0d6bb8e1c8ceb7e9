/**
 * Calls of GitHub's REST API (version 2022-11-28), at github.com or a GitHub Enterprise Server. Addresses follow the rules for addresses of
 * repositories, redirects are not followed, answers and times are bounded, and errors repeat nothing that GitHub said.
 */
import { checkRemoteUrl, type GitHostPolicy } from "../../engines/git/wire/url.ts";
import { readBounded } from "../../lib/read-bounded.ts";

const TIMEOUT_MS = 10_000;
/** A page of a hundred repositories takes about 700 KB. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** What is read of a refusal. */
const MAX_REFUSAL_BYTES = 4_096;

/** Origin of GitHub's own service. */
export const GITHUB_ORIGIN = "https://github.com";

export interface GithubDeps {
  fetch: typeof fetch;
  gitHosts: GitHostPolicy;
  /** Time limit of a call. */
  timeoutMs?: number;
}

/** A call that failed. `status` is that of the answer; 0 if there was none that could be read. */
export class GithubError extends Error {
  override readonly name = "GithubError";
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

interface Call {
  /** Of the GitHub: `https://github.com`, or that of a GitHub Enterprise Server. */
  origin: string;
  method: "GET" | "POST";
  /** Path below the API's address, with its query. */
  path: string;
  /** JWT of an App, token of an installation, or token of a person. */
  token?: string;
  body?: unknown;
}

/** Calls the REST API and returns its parsed answer. Throws {@link GithubError}, and `GitError` for an address that is not allowed. */
export function callGithub(deps: GithubDeps, { origin, method, path, token, body }: Call): Promise<unknown> {
  const headers = {
    Accept: "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
  };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return fetchJson(deps, origin, apiOf(origin) + path, init);
}

/** Fetches JSON from an address of GitHub. Throws like {@link callGithub}. */
export async function fetchJson(
  deps: GithubDeps,
  origin: string,
  address: string,
  init: { method: string; headers: Record<string, string>; body?: string },
): Promise<unknown> {
  // The API is at the same address; GitHub's own is allowed with it.
  const { host } = checkRemoteUrl(origin, deps.gitHosts);
  const response = await deps
    .fetch(address, {
      ...init,
      headers: { "User-Agent": "code-context", ...init.headers },
      signal: AbortSignal.timeout(deps.timeoutMs ?? TIMEOUT_MS),
      // A redirect would take the token to another address.
      redirect: "manual",
    })
    .catch((): never => {
      throw new GithubError(`${host} did not answer; try again`, 0);
    });
  const bytes = await readBounded(response.body, MAX_ANSWER_BYTES).catch(() => undefined);
  if (!response.ok) throw new GithubError(`${host} answered with status ${response.status}`, statusOf(response, bytes));
  try {
    if (bytes !== undefined) return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Reported below.
  }
  throw new GithubError(`${host} sent an answer that cannot be read; try again`, 0);
}

/**
 * The status of a refusal; 429 where GitHub says 403 because of too many requests. The headers need not tell: of a secondary rate limit only the
 * message may ("Rate limits for the REST API" in GitHub's documentation).
 */
function statusOf({ status, headers }: Response, body: Uint8Array = new Uint8Array()): number {
  if (status !== 403) return status;
  const isLimited =
    headers.has("Retry-After") ||
    headers.get("X-RateLimit-Remaining") === "0" ||
    /"message"\s*:\s*"[^"]{0,200}rate limit/i.test(new TextDecoder().decode(body.subarray(0, MAX_REFUSAL_BYTES)));
  return isLimited ? 429 : status;
}

function apiOf(origin: string): string {
  return origin === GITHUB_ORIGIN ? "https://api.github.com" : `${origin}/api/v3`;
}

/**
 * The origin of a GitHub that a person names: empty for github.com, else the address or host of a GitHub Enterprise Server. Throws `GitError`
 * for an address that is not allowed.
 */
export function githubOrigin(named: string, gitHosts: GitHostPolicy): string {
  const text = named.trim();
  const address = text === "" ? GITHUB_ORIGIN : text.includes("://") ? text : `https://${text}`;
  const { origin, hostname } = checkRemoteUrl(address, gitHosts);
  return hostname === "www.github.com" ? GITHUB_ORIGIN : origin;
}
