/** Flags and environment variables of a deployment, validated before anything is done. */
import { parseArgs } from "node:util";
import { readPublicUrl } from "../config.ts";
import { readTrustedProxies } from "../gate/proxies.ts";
import { readSignUp } from "../users/sign-up.ts";
import { CLOUDFLARE_API } from "./cloudflare.ts";
import { DeployError } from "./errors.ts";
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
  /** Origins that may download snapshots from a browser. */
  corsOrigins: string[];
  /** Name of the first tenant, and the address of its owner. */
  tenantName: string;
  ownerEmail: string | undefined;
  /** Variables of the Workers, by their names in `wrangler.toml`. */
  vars: Record<string, string>;
  /** Secrets of the Workers that the operator chose. */
  secrets: Record<string, string>;
  /** Public addresses, if they are not `<worker>.<account>.workers.dev`. */
  urls: { api: string | undefined; site: string | undefined };
}

export const USAGE = `Usage: npm run deploy [-- [rollback | destroy] [--env NAME] [--dry-run]]

  --env NAME   a second, separate deployment (staging); its resources carry the name
  --dry-run    check credentials and say what would be done
  rollback     put the Workers back to the version before the current one; data and migrations stay
  destroy      remove the Workers and queues, then, asked again, the data

Environment:
  CLOUDFLARE_API_TOKEN       required; CLOUDFLARE_ACCOUNT_ID if the token can access several accounts
  NEON_API_KEY               creates the database (NEON_ORG_ID, NEON_REGION optional), or
  DATABASE_URL               names one that exists
  OWNER_EMAIL, TENANT_NAME   the first user and tenant
  EMBED_*, RERANK_*, MAIL_*, RATE_LIMITS, REGION, GIT_HOSTS, … as docs/operations.md lists them
  API_URL, SITE_URL          public addresses, if they are not workers.dev`;

const SECRET_NAMES = [
  "EMBED_API_KEY",
  "RERANK_API_KEY",
  "METRICS_TOKEN",
  "MAIL_API_KEY",
  "R2_ACCESS_KEY_ID",
  "R2_SECRET_ACCESS_KEY",
  "ENCRYPTION_KEY",
];

/**
 * Reads flags and environment. `varNames` are the variables that the Workers' configurations declare; values of the environment
 * override theirs. Throws `DeployError`, naming the flag or variable.
 */
export function readSettings(args: string[], env: NodeJS.ProcessEnv, varNames: Iterable<string>): Settings {
  const { values, command } = parseFlags(args);
  const environment = values.env ?? "production";
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(environment)) {
    throw new DeployError(`--env ${environment}: expected up to 20 lower-case letters, digits and hyphens`);
  }
  const token = env["CLOUDFLARE_API_TOKEN"];
  if (!token)
    throw new DeployError(
      "CLOUDFLARE_API_TOKEN is not set: create an API token (docs/operations.md lists its permissions)",
    );
  const databaseUrl = env["DATABASE_URL"] || undefined;
  if (databaseUrl !== undefined && (!/^postgres(?:ql)?:\/\//.test(databaseUrl) || !URL.canParse(databaseUrl))) {
    throw new DeployError("DATABASE_URL: expected postgres://user:password@host/database");
  }
  const neonKey = env["NEON_API_KEY"];
  if (databaseUrl === undefined && !neonKey && command === "deploy") {
    throw new DeployError("no database: set NEON_API_KEY to have one created, or DATABASE_URL to use one");
  }
  checkMail(env);
  const urls = checkPublic(env);
  if (!env["R2_ACCESS_KEY_ID"] !== !env["R2_SECRET_ACCESS_KEY"]) {
    throw new DeployError("R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY belong together: set both, or neither");
  }
  return {
    command,
    dryRun: values["dry-run"] ?? false,
    environment,
    cloudflare: {
      apiUrl: env["CLOUDFLARE_API_BASE_URL"] || CLOUDFLARE_API,
      token,
      accountId: env["CLOUDFLARE_ACCOUNT_ID"] || undefined,
    },
    neon: neonKey
      ? {
          apiUrl: env["NEON_API_BASE_URL"] || NEON_API,
          apiKey: neonKey,
          orgId: env["NEON_ORG_ID"] || undefined,
          region: env["NEON_REGION"] || undefined,
        }
      : undefined,
    databaseUrl,
    corsOrigins: (env["CORS_ORIGINS"] ?? "")
      .split(",")
      .map((origin) => origin.trim())
      .filter(Boolean),
    tenantName: env["TENANT_NAME"] || "default",
    ownerEmail: env["OWNER_EMAIL"] || undefined,
    vars: pick(env, varNames),
    secrets: pick(env, SECRET_NAMES),
    urls,
  };
}

/** Throws `DeployError` if a setting of the mail provider is missing; otherwise it would be noticed only when someone signs in. */
function checkMail({ MAIL_PROVIDER: provider, MAIL_FROM: from, MAIL_API_KEY: key }: NodeJS.ProcessEnv): void {
  if (!provider || provider === "none") return;
  if (provider !== "cloudflare" && provider !== "resend") {
    throw new DeployError(`MAIL_PROVIDER ${provider}: expected cloudflare, resend or none`);
  }
  if (!from)
    throw new DeployError("MAIL_FROM is not set: mail needs a sender, such as Code Context <noreply@example.com>");
  if (provider === "resend" && !key) throw new DeployError("MAIL_API_KEY is not set: resend needs it");
}

/** Throws `DeployError` for variables that the Workers would refuse at their first request. */
function checkPublic(env: NodeJS.ProcessEnv): Settings["urls"] {
  try {
    readSignUp(env["SIGN_UP"]);
    readTrustedProxies(env["TRUSTED_PROXIES"]);
    return { api: readPublicUrl("API_URL", env["API_URL"]), site: readPublicUrl("SITE_URL", env["SITE_URL"]) };
  } catch (error) {
    throw new DeployError(error instanceof Error ? error.message : String(error));
  }
}

function parseFlags(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { env: { type: "string" }, "dry-run": { type: "boolean" } },
    });
    const [command = "deploy", ...rest] = positionals;
    if ((command !== "deploy" && command !== "rollback" && command !== "destroy") || rest.length > 0) {
      throw new DeployError(`unknown command "${positionals.join(" ")}": expected nothing, rollback or destroy`);
    }
    return { values, command } as const;
  } catch (error) {
    if (error instanceof DeployError) throw error;
    throw new DeployError(error instanceof Error ? (error.message.split(". ")[0] ?? error.message) : String(error));
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
