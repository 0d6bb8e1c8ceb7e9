/** Flags and environment variables of a deployment, validated before anything is done. */
import { parseArgs } from "node:util";
import { readPublicUrl } from "../../lib/config.ts";
import { readTrustedProxies } from "../../service/gate/proxies.ts";
import { checkEmail } from "../../service/users/email.ts";
import { readSignUp } from "../../service/users/sign-up.ts";
import { checkEncryptionKey } from "../local/admin/encryption-key.ts";
import { CLOUDFLARE_API } from "./cloudflare.ts";
import { OperatorError } from "../errors.ts";
import { NEON_API } from "./neon.ts";

export interface Settings {
  command: "deploy" | "rollback" | "destroy";
  dryRun: boolean;
  /** `production`, or the name given with `--env`; part of every resource's name. */
  environment: string;
  cloudflare: { apiUrl: string; token: string; accountId: string | undefined };
  neon: { apiUrl: string; apiKey: string; orgId: string | undefined; region: string | undefined } | undefined;
  /** An existing database, used instead of creating one on Neon. */
  databaseUrl: string | undefined;
  /** Origins that may download snapshots from a browser; undefined leaves the bucket's rules as they are. */
  corsOrigins: string[] | undefined;
  /** Name of the first tenant, and the address of its owner. */
  tenantName: string;
  ownerEmail: string | undefined;
  /** Given variables of the Workers, by their names in `wrangler.toml`, and the public addresses `API_URL` and `SITE_URL`. */
  vars: Record<string, string>;
  /** Given secrets of the Workers. */
  secrets: Record<string, string>;
  /** Given custom domains. */
  domains: Partial<Record<"api" | "site", string>>;
  /** Names of settings that go back to their defaults. All others that are not given stay as they are. */
  unset: ReadonlySet<string>;
}

export const USAGE = `Usage: npm run deploy [-- [rollback | destroy] [--env NAME] [--dry-run] [--unset NAME]…]

  --env NAME   a second, separate deployment (staging); its resources carry the name
  --dry-run    check credentials and say what would be done
  --unset NAME put a setting back to its default; settings that are not given stay as they are
  rollback     put the Workers back to the version before the current one; data and migrations stay
  destroy      remove the Workers and queues, then, asked again, the data

Environment:
  CLOUDFLARE_API_TOKEN       required
  CLOUDFLARE_ACCOUNT_ID      required for the token of an account, or if the token can access several accounts
  NEON_API_KEY               creates the database (NEON_ORG_ID with the key of a person in several organizations), or
  DATABASE_URL               names one that exists
  R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY   an R2 key for the snapshot bucket, or the token may create one
  OWNER_EMAIL, TENANT_NAME   the first user and tenant
  EMBED_*, RERANK_*, MAIL_*, RATE_LIMITS, REGION, GIT_HOSTS, … as docs/operations.md lists them
  CORS_ORIGINS               origins whose pages may download snapshots
  API_DOMAIN, SITE_DOMAIN    custom domains, in a zone of the Cloudflare account
  API_URL, SITE_URL          public addresses, if they are neither workers.dev nor these domains`;

const ADDRESSES = ["API_URL", "SITE_URL"];
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;

const SECRET_NAMES = [
  "EMBED_API_KEY",
  "RERANK_API_KEY",
  "METRICS_TOKEN",
  "MAIL_API_KEY",
  "GITHUB_CLIENT_SECRET",
  "R2_ACCESS_KEY_ID",
  "R2_SECRET_ACCESS_KEY",
  "ENCRYPTION_KEY",
];

/**
 * Reads flags and environment. `varNames` are the variables that the Workers' configurations declare; values of the environment
 * override theirs. Throws `OperatorError`, naming the flag or variable.
 */
export function readSettings(args: string[], env: NodeJS.ProcessEnv, varNames: readonly string[]): Settings {
  const { values, command } = parseFlags(args);
  const environment = values.env ?? "production";
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(environment)) {
    throw new OperatorError(`--env ${environment}: expected up to 20 lower-case letters, digits and hyphens`);
  }
  const token = env["CLOUDFLARE_API_TOKEN"];
  if (!token)
    throw new OperatorError(
      "CLOUDFLARE_API_TOKEN is not set: create an API token (docs/operations.md lists its permissions)",
    );
  const databaseUrl = env["DATABASE_URL"] || undefined;
  if (databaseUrl !== undefined && (!/^postgres(?:ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl))) {
    throw new OperatorError("DATABASE_URL: expected postgres://user:password@host/database");
  }
  const neonKey = env["NEON_API_KEY"];
  const accountId = env["CLOUDFLARE_ACCOUNT_ID"] || undefined;
  if (accountId !== undefined && !/^[\w-]{1,64}$/.test(accountId)) {
    throw new OperatorError(
      "CLOUDFLARE_ACCOUNT_ID: expected the 32 hexadecimal digits that Cloudflare's dashboard shows",
    );
  }
  if (env["ENCRYPTION_KEY"]) checkEncryptionKey(env["ENCRYPTION_KEY"]);
  if (!env["R2_ACCESS_KEY_ID"] !== !env["R2_SECRET_ACCESS_KEY"]) {
    throw new OperatorError("R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY belong together: set both, or neither");
  }
  return {
    command,
    dryRun: values["dry-run"] ?? false,
    environment,
    cloudflare: { apiUrl: env["CLOUDFLARE_API_BASE_URL"] || CLOUDFLARE_API, token, accountId },
    neon: neonKey
      ? {
          apiUrl: env["NEON_API_BASE_URL"] || NEON_API,
          apiKey: neonKey,
          orgId: env["NEON_ORG_ID"] || undefined,
          region: env["NEON_REGION"] || undefined,
        }
      : undefined,
    databaseUrl,
    corsOrigins: env["CORS_ORIGINS"] ? readOrigins(env["CORS_ORIGINS"]) : undefined,
    tenantName: env["TENANT_NAME"] || "default",
    ownerEmail: readEmail(env["OWNER_EMAIL"]),
    vars: { ...pick(env, varNames), ...readPublic(env) },
    secrets: pick(env, SECRET_NAMES),
    domains: { ...readDomain(env, "API_DOMAIN", "api"), ...readDomain(env, "SITE_DOMAIN", "site") },
    unset: readUnset(values.unset ?? [], env, [...varNames, ...ADDRESSES]),
  };
}

function readEmail(given: string | undefined): string | undefined {
  if (!given) return undefined;
  try {
    return checkEmail(given);
  } catch {
    throw new OperatorError(`OWNER_EMAIL ${given}: expected an address such as name@example.com`);
  }
}

/** The public addresses. Throws `OperatorError` for them and for other variables that the Workers would refuse at their first request. */
function readPublic(env: NodeJS.ProcessEnv): Record<string, string> {
  readSetting(() => readSignUp(env["SIGN_UP"]));
  readSetting(() => readTrustedProxies(env["TRUSTED_PROXIES"]));
  readSetting(() => readPublicUrl("GITHUB_URL", env["GITHUB_URL"]));
  const given: Record<string, string> = {};
  for (const name of ADDRESSES) {
    const url = readSetting(() => readPublicUrl(name, env[name]));
    if (url !== undefined) given[name] = url;
  }
  return given;
}

function readOrigins(list: string): string[] {
  const origins = list.split(",").map((origin) => origin.trim());
  return origins
    .filter(Boolean)
    .map((origin) => (origin === "*" ? origin : (readSetting(() => readPublicUrl("CORS_ORIGINS", origin)) ?? origin)));
}

/** Runs a reader; what it throws becomes a `OperatorError`. */
function readSetting<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error));
  }
}

function readDomain(env: NodeJS.ProcessEnv, name: string, worker: "api" | "site"): Settings["domains"] {
  const value = env[name];
  if (!value) return {};
  if (!DOMAIN.test(value)) throw new OperatorError(`${name} ${value}: expected a host name, such as api.example.com`);
  return { [worker]: value };
}

/** Settings that `--unset` takes, besides the Workers' variables. */
const UNSETTABLE = [
  "EMBED_API_KEY",
  "RERANK_API_KEY",
  "METRICS_TOKEN",
  "MAIL_API_KEY",
  "GITHUB_CLIENT_SECRET",
  "CORS_ORIGINS",
  "DATABASE_URL",
  "API_DOMAIN",
  "SITE_DOMAIN",
];

function readUnset(names: readonly string[], env: NodeJS.ProcessEnv, varNames: Iterable<string>): Set<string> {
  const known = new Set([...varNames, ...UNSETTABLE]);
  for (const name of names) {
    if (!known.has(name))
      throw new OperatorError(`--unset ${name}: expected one of ${[...known].toSorted().join(", ")}`);
    if (env[name]) throw new OperatorError(`--unset ${name}: the environment has a value for it; unset it there, too`);
  }
  return new Set(names);
}

function parseFlags(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        env: { type: "string" },
        "dry-run": { type: "boolean" },
        unset: { type: "string", multiple: true },
      },
    });
    const [command = "deploy", ...rest] = positionals;
    if ((command !== "deploy" && command !== "rollback" && command !== "destroy") || rest.length > 0) {
      throw new OperatorError(`unknown command "${positionals.join(" ")}": expected nothing, rollback or destroy`);
    }
    return { values, command } as const;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(error instanceof Error ? (error.message.split(". ")[0] ?? error.message) : String(error));
  }
}

function pick(env: NodeJS.ProcessEnv, names: Iterable<string>): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value !== "") picked[name] = value;
  }
  return picked;
}
