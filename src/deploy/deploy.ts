/** `npm run deploy`: creates what is missing, migrates, uploads the Workers and checks that they answer. Safe to repeat. */
import { createInterface } from "node:readline/promises";
import { runMain } from "../local/commands/main.ts";
import { Cloudflare } from "./cloudflare.ts";
import type { DeployContext, Step } from "./context.ts";
import { destroy } from "./destroy.ts";
import { DeployError } from "./errors.ts";
import { Neon } from "./neon.ts";
import { firstOwner, firstTenant, health, uploads } from "./release.ts";
import { bucketKey, buckets, cors, database, encryptionKey, lifecycle, migrations, queues } from "./resources.ts";
import { rollbacks } from "./rollback.ts";
import { readSettings, type Settings, USAGE } from "./settings.ts";
import { StateFile } from "./state.ts";
import { declaredVars, workerConfig } from "./workers.ts";

/**
 * The order matters: keys and queues before the Workers that use them, migrations before the code that needs them. Migrations are
 * compatible with the previous version, which is still running.
 */
const STEPS: Step[] = [
  encryptionKey,
  database,
  migrations,
  buckets,
  lifecycle,
  cors,
  queues,
  bucketKey,
  ...uploads,
  firstTenant,
  firstOwner,
  health,
];

async function openContext(settings: Settings): Promise<DeployContext> {
  const { cloudflare, environment } = settings;
  const accounts = await Cloudflare.accounts(cloudflare.apiUrl, cloudflare.token);
  const accountId = cloudflare.accountId ?? (accounts.length === 1 ? accounts[0]?.id : undefined);
  if (accountId === undefined) {
    const names = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
    throw new DeployError(
      `the token can access ${accounts.length} accounts: set CLOUDFLARE_ACCOUNT_ID to one of ${names || "yours"}`,
    );
  }
  if (!accounts.some(({ id }) => id === accountId)) {
    throw new DeployError(`the token has no access to account ${accountId}: check CLOUDFLARE_ACCOUNT_ID`);
  }
  const api = new Cloudflare({ apiUrl: cloudflare.apiUrl, token: cloudflare.token, accountId });
  const address = await addresses(api, settings);
  return {
    settings,
    cloudflare: api,
    accountId,
    neon: settings.neon && new Neon(settings.neon),
    state: new StateFile(environment, process.env["DEPLOY_STATE_DIR"] || undefined),
    databaseUrl: settings.databaseUrl,
    ...address,
    say: (line) => console.log(line),
  };
}

async function addresses(
  api: Cloudflare,
  { urls, environment }: Settings,
): Promise<{ apiUrl: string; siteUrl: string }> {
  const subdomain = await api.workersSubdomain();
  const url = (given: string | undefined, worker: "api" | "site", variable: string): string => {
    if (given !== undefined) return given.replace(/\/$/, "");
    if (subdomain !== undefined) return `https://${workerConfig(worker, environment).name}.${subdomain}.workers.dev`;
    throw new DeployError(
      `the account has no workers.dev subdomain: choose one in Cloudflare's dashboard, or set ${variable}`,
    );
  };
  return { apiUrl: url(urls.api, "api", "API_URL"), siteUrl: url(urls.site, "site", "SITE_URL") };
}

async function runSteps(context: DeployContext, steps: readonly Step[]): Promise<void> {
  const { settings, say } = context;
  const width = Math.max(...steps.map(({ title }) => title.length));
  for (const step of steps) {
    const todo = await step.plan(context);
    const verb = todo === undefined ? "nothing to do" : todo;
    say(`${step.title.padEnd(width)}  ${verb}`);
    if (todo !== undefined && !settings.dryRun) await step.apply(context);
  }
  if (settings.dryRun) return say("\nDry run: nothing was changed.");
  say(`\napi   ${context.apiUrl}\nsite  ${context.siteUrl}`);
}

await runMain(async () => {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) return console.log(USAGE);
  const settings = readSettings(args, process.env, declaredVars());
  const context = await openContext(settings);
  context.say(`${settings.command} ${settings.environment} in Cloudflare account ${context.accountId}`);
  if (settings.command === "deploy") return runSteps(context, STEPS);
  if (settings.command === "rollback") return runSteps(context, [...rollbacks, health]);
  if (settings.dryRun) throw new DeployError("destroy has no dry run: it asks before it does anything");
  const terminal = createInterface({ input: process.stdin });
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    process.stdout.write(question);
    const line = await lines.next();
    return line.done === true ? "" : line.value.trim();
  };
  try {
    if (!(await destroy(context, ask))) context.say("nothing was changed");
  } finally {
    terminal.close();
  }
});
