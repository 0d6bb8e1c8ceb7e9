/** Reads the environment of the local commands (docs: "Running it"). */
import { isIP } from "node:net";
import path from "node:path";
import { readFlag, readPublicUrl } from "../../../lib/config.ts";
import { readTrustedProxies } from "../../../service/gate/proxies.ts";
import { readGithubSignIn } from "../../../service/github/sign-in.ts";
import { readSignUp } from "../../../service/users/sign-up.ts";
import { OperatorError } from "../../errors.ts";
import { PROJECT_ROOT } from "../project.ts";
import { parseJson } from "./local-secrets.ts";

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 8787;
const DEFAULT_DATA_DIR = ".data";
const MAX_CONNECTIONS = 500;

/** Variables of the Workers that are passed through from the environment. */
const WORKER_VARS = [
  "REGION",
  "EMBED_PROVIDER",
  "EMBED_BASE_URL",
  "EMBED_MODEL",
  "EMBED_API_KEY",
  "EMBED_DIMENSION",
  "EMBED_SPACE",
  "RERANK_PROVIDER",
  "RERANK_BASE_URL",
  "RERANK_MODEL",
  "RERANK_API_KEY",
  "METRICS_TOKEN",
  "UPSTREAM_TIMEOUT_MS",
  "GIT_ALLOW_LOCAL",
  "GIT_HOSTS",
  "RATE_LIMITS",
  "STORAGE_LIMIT_BYTES",
  "MAIL_PROVIDER",
  "MAIL_FROM",
  "MAIL_API_KEY",
  "MAIL_BASE_URL",
  "SIGN_UP",
  "GITHUB_CLIENT_ID",
  "GITHUB_CLIENT_SECRET",
  "GITHUB_URL",
  "TRUSTED_PROXIES",
] as const;

interface LocalEnvironment {
  /** Address to listen on. */
  host: string;
  /** Public addresses of the api and the site, if not at 127.0.0.1; without a trailing slash. */
  publicApiUrl: string | undefined;
  publicSiteUrl: string | undefined;
  port: number;
  sitePort: number;
  dataDir: string;
  databaseUrl: string | undefined;
  databaseConnections: number | undefined;
  vars: Record<string, string>;
  logToConsole: boolean;
}

/** `defaults`: variables of the Workers, overridden by the environment. Throws `OperatorError` that names the variable. */
export function readEnvironment(
  env: NodeJS.ProcessEnv,
  defaults: Readonly<Record<string, string>> = {},
): LocalEnvironment {
  const port = readPort(env, "PORT", DEFAULT_PORT);
  return {
    host: readHost(env),
    publicApiUrl: checked(() => readPublicUrl("API_URL", env["API_URL"])),
    publicSiteUrl: checked(() => readPublicUrl("SITE_URL", env["SITE_URL"])),
    port,
    sitePort: readPort(env, "SITE_PORT", port === 0 ? 0 : port + 1),
    dataDir: readDataDir(env),
    databaseUrl: readDatabaseUrl(env),
    databaseConnections: readDatabaseConnections(env),
    vars: readWorkerVars(env, defaults),
    logToConsole: env["LOG"] === "1",
  };
}

function readHost(env: NodeJS.ProcessEnv): string {
  const host = env["HOST"] || DEFAULT_HOST;
  if (isIP(host) !== 4)
    throw new OperatorError("HOST: expected an IPv4 address to listen on, such as 127.0.0.1 or 0.0.0.0");
  return host;
}

/** Runs a reader of a variable, so that what it throws ends the start with one line. */
function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error));
  }
}

/** Relative paths are resolved against the checkout, not the current folder. */
export function readDataDir(env: NodeJS.ProcessEnv): string {
  return path.resolve(PROJECT_ROOT, env["DATA_DIR"] || DEFAULT_DATA_DIR);
}

/** The largest number of connections to the server that DATABASE_URL names. */
function readDatabaseConnections(env: NodeJS.ProcessEnv): number | undefined {
  const text = env["DATABASE_CONNECTIONS"];
  if (!text) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 2 && count <= MAX_CONNECTIONS) return count;
  throw new OperatorError(`DATABASE_CONNECTIONS: expected a number from 2 to ${MAX_CONNECTIONS}`);
}

/** The database to use instead of the embedded one. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string | undefined {
  const url = env["DATABASE_URL"];
  if (!url) return undefined;
  // The folder of a socket is given as a parameter, after an empty host.
  const isSocket = /[?&]host=(?:\/|%2F)/i.test(url);
  if (!/^postgres(?:ql)?:\/\//.test(url) || !(isSocket || (/:\/\/[^/]/.test(url) && URL.canParse(url)))) {
    throw new OperatorError("DATABASE_URL: expected postgres://user:password@host/database");
  }
  return url;
}

/** For services of a developer: everyone may sign up, and repositories of this machine may be indexed. The environment overrides them. */
export const DEVELOPMENT_VARS = { SIGN_UP: "open", GIT_ALLOW_LOCAL: "true" } as const;

/** Variables for the Workers. */
export function readWorkerVars(
  env: NodeJS.ProcessEnv,
  defaults: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const vars: Record<string, string> = { ...defaults };
  for (const name of WORKER_VARS) {
    const value = env[name];
    if (value !== undefined) vars[name] = value;
  }
  if (vars["RATE_LIMITS"] && typeof parseJson(vars["RATE_LIMITS"]) !== "object") {
    throw new OperatorError('RATE_LIMITS: expected JSON such as {"index":{"limit":60}}');
  }
  checked(() => {
    readSignUp(vars["SIGN_UP"]);
    readGithubSignIn(vars);
    readTrustedProxies(vars["TRUSTED_PROXIES"]);
    readFlag("GIT_ALLOW_LOCAL", vars["GIT_ALLOW_LOCAL"]);
  });
  return vars;
}

function readPort(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name];
  if (text === undefined || text === "") return fallback;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new OperatorError(`${name}: expected a port from 0 (any free one) to 65535`);
}
