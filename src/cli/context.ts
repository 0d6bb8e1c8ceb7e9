import type { CodeContextClient } from "../interface/client/client.ts";
import type { WaitEvent } from "../interface/client/transport.ts";
import { readConfig, type Config } from "./machine/config.ts";
import { CliError, EXIT } from "./exit-codes.ts";
import type { Environment } from "./machine/paths.ts";
import { formatDuration, type Ui } from "./terminal/ui.ts";

/** Shorter waits are not reported. */
const NOTED_WAIT_MS = 1_500;

/** Default service: the local one of `npm start`. */
const DEFAULT_API_URL = "http://127.0.0.1:8787";

/** Global options. */
export interface GlobalOptions {
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
  apiUrl?: string;
}

/** Context of a command. */
export interface Context {
  env: Environment;
  cwd: string;
  ui: Ui;
  global: GlobalOptions;
  /** First Ctrl-C: finish requests in flight, start nothing new. */
  stop: AbortSignal;
  /** Second Ctrl-C, or some seconds after the first: stop at once. */
  abort: AbortSignal;
  /** Called while files are indexed, with the number of those that are done. */
  onIndexing?: ((done: number, total: number) => void) | undefined;
}

/** Address of the service: from the option, the environment, the configuration, or the default. */
export function apiUrlOf(context: Context, config: Config = readConfig(context.env)): string {
  const value = context.global.apiUrl ?? context.env["CODECTX_API_URL"] ?? config.apiUrl ?? DEFAULT_API_URL;
  return checkApiUrl(value);
}

const isLocal = ({ hostname }: URL): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(hostname);

/** What to write instead of an address without a scheme, such as `localhost:8787`, which URL takes for one of the scheme `localhost`. */
function schemeHint(value: string): string {
  if (!/^[\w.-]+(?::\d+)?(?:\/|$)/.test(value) || !URL.canParse(`https://${value}`)) return "";
  const scheme = isLocal(new URL(`https://${value}`)) ? "http" : "https";
  return `; an address starts with its scheme: ${scheme}://${value}`;
}

/**
 * Rejects what would expose the key: plain HTTP except to this machine, and credentials in the address, which is stored, printed and
 * logged. The messages do not repeat those.
 */
export function checkApiUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    const shown = value.replace(/^.*@/s, "…@");
    throw new CliError(EXIT.usage, "BAD_API_URL", `not a URL of a service: ${shown}${schemeHint(value)}`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    const text = `the address of the service is its origin and path alone, such as ${url.origin}: leave out user, password, ? and #`;
    throw new CliError(EXIT.usage, "BAD_API_URL", text);
  }
  if (url.protocol === "http:" && !isLocal(url)) {
    throw new CliError(
      EXIT.usage,
      "BAD_API_URL",
      `${value}: use https, because a key sent over http can be read in transit`,
    );
  }
  return value.replace(/\/+$/, "");
}

export interface Credentials {
  apiUrl: string;
  apiKey: string | undefined;
  workerToken: string | undefined;
}

/** Credentials for the current service. A stored key is sent only to the service it was stored for. */
export function credentialsOf(context: Context): Credentials {
  const config = readConfig(context.env);
  const apiUrl = apiUrlOf(context, config);
  const stored = config.services[apiUrl];
  return {
    apiUrl,
    apiKey: context.env["CODECTX_API_KEY"] || stored?.apiKey,
    workerToken: context.env["CODECTX_WORKER_TOKEN"] || stored?.workerToken,
  };
}

export function requireApiKey(credentials: Credentials): string {
  if (credentials.apiKey !== undefined) return credentials.apiKey;
  throw new CliError(
    EXIT.auth,
    "NOT_LOGGED_IN",
    `no API key for ${credentials.apiUrl}: run \`codectx login\` or set CODECTX_API_KEY`,
  );
}

/** Creates the typed client, which only commands that call the service load. */
export async function createClient(
  context: Context,
  credentials: { apiUrl: string; apiKey?: string | undefined; workerToken?: string | undefined },
): Promise<CodeContextClient> {
  const [{ CodeContextClient }, { httpFetch }] = await Promise.all([
    import("../interface/client/client.ts"),
    import("./remote/http.ts"),
  ]);
  const { apiUrl, apiKey, workerToken } = credentials;
  return new CodeContextClient({
    baseUrl: apiUrl,
    fetch: httpFetch,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(workerToken === undefined ? {} : { workerToken }),
    // One retry after a second, for a service that is just starting.
    maxConnectRetries: 1,
    headers: { "User-Agent": "codectx" },
    onWait: (event) => noteWait(context.ui, event),
    onFingerprintChange: () =>
      context.ui.warn(
        "the service's embedding space changed: indexes are re-embedded by `codectx index --local` and `codectx publish`",
      ),
  });
}

function noteWait(ui: Ui, { reason, waitMs }: WaitEvent): void {
  if (waitMs < NOTED_WAIT_MS) return;
  const why = {
    "slow-down": "close to the rate limit",
    "rate-limited": "rate limit reached",
    unavailable: "the service is not available",
    failed: "the service did not answer",
  }[reason];
  ui.note(`${why}: waiting ${formatDuration(waitMs)}`);
}
