/** Creates the Workers' configurations for an environment and uploads their bundles with wrangler. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { parse as parseToml } from "smol-toml";
import * as z from "zod";
import { buildBundles, bundleEntry, configPath, WORKERS, type WorkerName } from "../local/bundles/bundles.ts";
import { PROJECT_ROOT } from "../local/project.ts";
import { writePrivateJson } from "../local/stack/local-secrets.ts";
import { OperatorError } from "../errors.ts";
import { resourceName } from "./names.ts";
import { startRelay } from "./relay.ts";
import type { Settings } from "./settings.ts";

/** The api Worker comes first: the others bind to its Durable Objects and its service. */
export const DEPLOY_ORDER = WORKERS;

/** Includes the waits that Cloudflare asks for. */
const UPLOAD_TIMEOUT_MS = 900_000;
/** Variables of the shell that wrangler would use in place of ours, or that it has no need to see. */
const NOT_FOR_WRANGLER =
  /^(?:CLOUDFLARE_|CF_|WRANGLER_|NEON_)|^DATABASE_URL$|^ENCRYPTION_KEY$|_API_KEY$|_ACCESS_KEY|_TOKEN$/;
const MAX_OUTPUT = 2_000;

/** Keys whose values are names of resources. */
const NAME_KEYS = new Set(["name", "script_name", "service", "queue", "dead_letter_queue", "bucket_name"]);

const Config = z.looseObject({
  name: z.string(),
  main: z.string(),
  vars: z.record(z.string(), z.string()).default({}),
  secrets: z.looseObject({ required: z.array(z.string()) }).optional(),
  queues: z
    .object({
      producers: z.array(z.looseObject({ queue: z.string() })).optional(),
      consumers: z.array(z.looseObject({ queue: z.string() })).optional(),
    })
    .optional(),
  r2_buckets: z.array(z.looseObject({ binding: z.string(), bucket_name: z.string() })).optional(),
});
type WorkerConfig = z.infer<typeof Config>;

/** The configuration of a Worker's bundle with the names of the environment and absolute paths. */
export function workerConfig(worker: WorkerName, environment: string): WorkerConfig {
  // Not with wrangler, which takes a second to load.
  const config = Config.parse(renamed(parseToml(readFileSync(configPath(worker), "utf8")), environment));
  return {
    ...config,
    $schema: undefined,
    build: undefined,
    minify: undefined,
    main: bundleEntry(worker),
    no_bundle: true,
  };
}

function renamed(value: unknown, environment: string, key?: string): unknown {
  if (typeof value === "string")
    return key !== undefined && NAME_KEYS.has(key) ? resourceName(value, environment) : value;
  if (Array.isArray(value)) return value.map((item) => renamed(item, environment, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, renamed(item, environment, name)]));
}

/** The variables that any Worker declares, with their defaults. */
export function declaredVars(): Map<string, string> {
  return new Map(WORKERS.flatMap((worker) => Object.entries(workerConfig(worker, "production").vars)));
}

/** Names of all queues and buckets of an environment. */
export function declaredResources(environment: string): { queues: string[]; buckets: Map<string, string> } {
  const configs = WORKERS.map((worker) => workerConfig(worker, environment));
  const queues = configs.flatMap(({ queues }) => [...(queues?.producers ?? []), ...(queues?.consumers ?? [])]);
  const buckets = configs.flatMap((config) => config.r2_buckets ?? []);
  return {
    queues: [...new Set(queues.map(({ queue }) => queue))],
    buckets: new Map(buckets.map(({ binding, bucket_name: name }) => [binding, name])),
  };
}

export interface Upload {
  settings: Settings;
  accountId: string;
  vars: Readonly<Record<string, string>>;
  /** Of these, those that the Worker requires are uploaded; its other secrets stay unchanged. */
  secrets: Readonly<Record<string, string>>;
  /** Name of the release; uploads of one release have the same. */
  release: string;
}

/** The values that an upload gives to a Worker's variables. */
export function workerVars(worker: WorkerName, vars: Readonly<Record<string, string>>): Record<string, string> {
  const defaults = workerConfig(worker, "production").vars;
  return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, vars[name] ?? value]));
}

/** Names of the secrets that a Worker requires. */
export function requiredSecrets(worker: WorkerName): string[] {
  return workerConfig(worker, "production").secrets?.required ?? [];
}

/**
 * Uploads the bundle of a Worker, which is built if it is missing or out of date: the files that `npm start` runs. Throws `OperatorError`
 * with wrangler's reason.
 */
export async function uploadWorker(worker: WorkerName, upload: Upload): Promise<void> {
  const { settings, accountId, release } = upload;
  await buildBundles();
  const config = workerConfig(worker, settings.environment);
  const vars = workerVars(worker, upload.vars);
  const secrets = Object.fromEntries(
    requiredSecrets(worker).flatMap((name) =>
      upload.secrets[name] === undefined ? [] : [[name, upload.secrets[name]]],
    ),
  );
  const folder = path.join(PROJECT_ROOT, "dist", "deploy", settings.environment, worker);
  const secretsFile = path.join(folder, "secrets.json");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, "wrangler.json");
  const ai = usesWorkersAi(vars) ? { ai: { binding: "AI" } } : {};
  writeFileSync(file, JSON.stringify({ ...config, ...ai, vars }, null, 2));
  const relay = await startRelay(settings.cloudflare.apiUrl);
  try {
    writePrivateJson(secretsFile, secrets);
    await runWrangler(["deploy", "--config", file, "--secrets-file", secretsFile, "--message", release], {
      CLOUDFLARE_API_TOKEN: settings.cloudflare.token,
      CLOUDFLARE_API_BASE_URL: relay.url,
      CLOUDFLARE_ACCOUNT_ID: accountId,
    });
  } finally {
    relay.close();
    rmSync(secretsFile, { force: true });
  }
}

function usesWorkersAi({ EMBED_PROVIDER: embed, RERANK_PROVIDER: rerank }: Record<string, string>): boolean {
  return embed === "workers-ai" || rerank === "workers-ai";
}

async function runWrangler(args: readonly string[], env: Record<string, string>): Promise<void> {
  const folder = path.dirname(createRequire(import.meta.url).resolve("wrangler/package.json"));
  const child = spawn(process.execPath, [path.join(folder, "bin", "wrangler.js"), ...args], {
    cwd: PROJECT_ROOT,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_FOR_WRANGLER.test(name))),
      // Empty, so that a .env file does not set them: wrangler prefers them to the token.
      CLOUDFLARE_API_KEY: "",
      CLOUDFLARE_EMAIL: "",
      // The relay is on this machine.
      no_proxy: "127.0.0.1",
      ...env,
      CI: "1",
      NO_COLOR: "1",
      WRANGLER_SEND_METRICS: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.timeout(UPLOAD_TIMEOUT_MS),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT * 4);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).catch((error: unknown) => {
    throw new OperatorError(`wrangler did not finish: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (code === 0) return;
  const text = stripVTControlCharacters(output);
  const start = text.search(/(?:✘ )?\[ERROR\]/);
  throw new OperatorError(`wrangler failed:\n${text.slice(Math.max(0, start)).slice(0, MAX_OUTPUT).trim()}`);
}
