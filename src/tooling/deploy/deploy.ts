/** `npm run deploy`: creates what is missing, migrates, uploads the Workers and checks that they answer. Safe to repeat. */
import { createInterface } from "node:readline/promises";
import { runMain } from "../local/commands/main.ts";
import { Cloudflare } from "./cloudflare.ts";
import type { DeployContext, Step } from "./context.ts";
import { destroy } from "./destroy.ts";
import { OperatorError } from "../errors.ts";
import { PlatformError } from "./errors.ts";
import { Neon } from "./neon.ts";
import { customDomains } from "./domains.ts";
import { health } from "./health.ts";
import { firstOwner, firstTenant } from "./people.ts";
import { settingsStep, uploads } from "./release.ts";
import { bucketKey, buckets, cors, database, encryptionKey, lifecycle, migrations, queues } from "./resources.ts";
import { rollbacks } from "./rollback.ts";
import { readSettings, type Settings, USAGE } from "./settings.ts";
import { type DeployState, StateFile } from "./state.ts";
import { resolveVariables } from "./variables.ts";
import { declaredVars, workerConfig } from "./workers.ts";

/**
 * The order matters: keys and queues before the Workers that use them, migrations before the code that needs them. Migrations are
 * compatible with the previous version, which is still running.
 */
const STEPS: Step[] = [
  settingsStep,
  encryptionKey,
  database,
  migrations,
  buckets,
  lifecycle,
  cors,
  queues,
  bucketKey,
  ...uploads,
  customDomains,
  firstTenant,
  firstOwner,
  health,
];

async function openContext(settings: Settings): Promise<DeployContext> {
  const { environment } = settings;
  const state = new StateFile(environment, process.env["DEPLOY_STATE_DIR"] || undefined);
  const kept = state.read();
  const accountId = await findAccount(settings, kept.accountId);
  const cloudflare = new Cloudflare({ ...settings.cloudflare, accountId });
  const variables = await resolveVariables(cloudflare, settings, kept);
  const domains = keptDomains(settings, kept);
  const address = await addresses(cloudflare, settings, domains, variables.values);
  Object.assign(variables.values, { API_URL: address.apiUrl, SITE_URL: address.siteUrl });
  return {
    settings,
    cloudflare,
    accountId,
    neon: settings.neon && new Neon(settings.neon),
    state,
    variables,
    domains,
    databaseUrl: settings.databaseUrl ?? (settings.unset.has("DATABASE_URL") ? undefined : kept.databaseUrl),
    ...address,
    say: (line) => console.log(line),
  };
}

/**
 * The account to deploy to. It is looked up only if it is not known: Cloudflare lists no accounts for a token that belongs to one, or
 * that may not read account settings.
 */
async function findAccount({ cloudflare, environment }: Settings, kept: string | undefined): Promise<string> {
  const given = cloudflare.accountId ?? kept;
  if (kept !== undefined && given !== kept) {
    throw new OperatorError(
      `${environment} is deployed in account ${kept}: unset CLOUDFLARE_ACCOUNT_ID, or use --env for another deployment`,
    );
  }
  if (given !== undefined) return given;
  const accounts = await Cloudflare.accounts(cloudflare.apiUrl, cloudflare.token).catch((error: unknown) => {
    if (!(error instanceof PlatformError)) throw error;
    throw new OperatorError(
      `the token cannot list its accounts: set CLOUDFLARE_ACCOUNT_ID, which Cloudflare's dashboard shows (${error.message})`,
    );
  });
  const [only] = accounts;
  if (only && accounts.length === 1) return only.id;
  const names = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
  throw new OperatorError(
    `the token can access ${accounts.length} accounts: set CLOUDFLARE_ACCOUNT_ID to one of ${names || "yours"}`,
  );
}

function keptDomains({ domains, unset }: Settings, kept: DeployState): Settings["domains"] {
  const of = (worker: "api" | "site", name: string) =>
    domains[worker] ?? (unset.has(name) ? undefined : kept.domains?.[worker]);
  const [api, site] = [of("api", "API_DOMAIN"), of("site", "SITE_DOMAIN")];
  return { ...(api !== undefined && { api }), ...(site !== undefined && { site }) };
}

/** The public addresses: a given one, that of a custom domain, the one in use, or else that of `workers.dev`. */
async function addresses(
  api: Cloudflare,
  { vars, environment }: Settings,
  domains: Settings["domains"],
  inUse: Readonly<Record<string, string>>,
): Promise<{ apiUrl: string; siteUrl: string }> {
  const find = async (worker: "api" | "site", variable: string): Promise<string> => {
    const domain = domains[worker];
    const known = vars[variable] ?? (domain === undefined ? inUse[variable] : `https://${domain}`);
    // The account's name at workers.dev may have changed.
    if (known && (vars[variable] !== undefined || !known.endsWith(".workers.dev"))) return known;
    const subdomain = await api.workersSubdomain();
    if (subdomain !== undefined) return `https://${workerConfig(worker, environment).name}.${subdomain}.workers.dev`;
    throw new OperatorError(
      `the account has no workers.dev subdomain: choose one in Cloudflare's dashboard, or set ${variable}`,
    );
  };
  return { apiUrl: await find("api", "API_URL"), siteUrl: await find("site", "SITE_URL") };
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
  const settings = readSettings(args, process.env, [...declaredVars().keys()]);
  const context = await openContext(settings);
  context.say(`${settings.command} ${settings.environment} in Cloudflare account ${context.accountId}`);
  if (settings.command === "deploy") return runSteps(context, STEPS);
  if (settings.command === "rollback") return runSteps(context, [...rollbacks, health]);
  if (settings.dryRun) throw new OperatorError("destroy has no dry run: it asks before it does anything");
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
