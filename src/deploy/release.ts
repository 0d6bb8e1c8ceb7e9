/** Steps that upload the Workers and check that they are healthy. */
import { asc } from "drizzle-orm";
import { openDb } from "../db/client.ts";
import { users } from "../db/people-schema.ts";
import { tenants } from "../db/schema.ts";
import { pause } from "../pause.ts";
import { createTenant, saveCredentialKey } from "../tenancy/index.ts";
import { addUser } from "../users/accounts.ts";
import type { DeployContext, Step } from "./context.ts";
import { DeployError } from "./errors.ts";
import { declaredResources, DEPLOY_ORDER, type Upload, uploadWorker } from "./workers.ts";

/** A new Worker takes some seconds to be reachable everywhere, and its first health probes up to 30 s. */
const HEALTHY_WITHIN_MS = 120_000;
const PROBE_EVERY_MS = 2_000;
const PROBE_TIMEOUT_MS = 10_000;

/** Value of declared but unused secrets, which wrangler requires. */
const UNUSED_SECRET = "unset";

/** One step per Worker, in order of dependency. */
export const uploads: Step[] = DEPLOY_ORDER.map((worker) => ({
  title: `${worker} Worker`,
  plan: async () => "build and upload",
  apply: async (context) => uploadWorker(worker, uploadOf(context)),
}));

function uploadOf(context: DeployContext): Upload {
  const { settings, accountId, databaseUrl, state } = context;
  if (databaseUrl === undefined) throw new DeployError("the database does not exist yet");
  const { encryptionKey, r2 } = state.read();
  const snapshots = declaredResources(settings.environment).buckets.get("SNAPSHOTS") ?? "";
  return {
    settings,
    accountId,
    vars: {
      SNAPSHOTS_S3_URL: `https://${accountId}.r2.cloudflarestorage.com/${snapshots}`,
      API_URL: context.apiUrl,
      SITE_URL: context.siteUrl,
      ...settings.vars,
    },
    secrets: {
      EMBED_API_KEY: UNUSED_SECRET,
      RERANK_API_KEY: UNUSED_SECRET,
      METRICS_TOKEN: UNUSED_SECRET,
      MAIL_API_KEY: UNUSED_SECRET,
      DATABASE_URL: databaseUrl,
      ...(encryptionKey !== undefined && { ENCRYPTION_KEY: encryptionKey }),
      ...(r2 && { R2_ACCESS_KEY_ID: r2.accessKeyId, R2_SECRET_ACCESS_KEY: r2.secretAccessKey }),
      ...settings.secrets,
    },
  };
}

export const firstTenant: Step = {
  title: "first tenant",
  plan: async ({ databaseUrl, settings }) => {
    if (databaseUrl !== undefined && (await hasRows(databaseUrl, tenants))) return undefined;
    return `create "${settings.tenantName}"`;
  },
  apply: async ({ databaseUrl, settings, state, say }) => {
    if (databaseUrl === undefined) throw new DeployError("the database does not exist yet");
    const db = openDb(databaseUrl);
    const encryptionKey = settings.secrets["ENCRYPTION_KEY"] ?? state.read().encryptionKey;
    if (encryptionKey !== undefined) await saveCredentialKey(db, encryptionKey);
    const tenant = await createTenant(db, { name: settings.tenantName });
    say(`  tenant        ${tenant.tenantId}`);
    say(`  API key       ${tenant.apiKey}`);
    say(`  worker token  ${tenant.workerToken}`);
    say("  Keep both: they are not shown again (npm run admin -- key create makes others).");
  },
};

/** Makes the given person the owner of the first tenant, if there are no users yet. */
export const firstOwner: Step = {
  title: "first owner",
  plan: async ({ databaseUrl, settings: { ownerEmail } }) => {
    if (ownerEmail === undefined || (databaseUrl !== undefined && (await hasRows(databaseUrl, users))))
      return undefined;
    return `add ${ownerEmail}`;
  },
  apply: async ({ databaseUrl, settings: { ownerEmail: email, vars }, say }) => {
    if (databaseUrl === undefined || email === undefined) throw new DeployError("the database does not exist yet");
    const db = openDb(databaseUrl);
    const [tenant] = await db.select({ id: tenants.id }).from(tenants).orderBy(asc(tenants.createdAt)).limit(1);
    await addUser(db, { email, tenantId: tenant?.id ?? "", role: "owner" });
    if ((vars["MAIL_PROVIDER"] ?? "none") === "none") {
      say(`  ${email} cannot sign in to the dashboard yet: set MAIL_PROVIDER and MAIL_FROM, and deploy again.`);
    }
  },
};

/** Whether a table has rows; false if the tables do not exist yet. */
async function hasRows(databaseUrl: string, table: typeof tenants | typeof users): Promise<boolean> {
  try {
    return (await openDb(databaseUrl).$count(table)) > 0;
  } catch {
    return false;
  }
}

export const health: Step = {
  title: "health",
  plan: async ({ apiUrl }) => `ask ${apiUrl}/healthz`,
  apply: async ({ apiUrl, say }) => {
    const deadline = Date.now() + HEALTHY_WITHIN_MS;
    for (;;) {
      const problem = await probe(apiUrl);
      if (problem === undefined) return;
      if (Date.now() > deadline) {
        say(`  ${apiUrl}/healthz: ${problem}`);
        throw new DeployError(`the service is deployed but not healthy: ${problem}`);
      }
      await pause(PROBE_EVERY_MS);
    }
  },
};

/** Describes what is unhealthy; undefined if all dependencies answer. */
async function probe(apiUrl: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${apiUrl}/healthz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    const text = await response.text();
    return response.ok && text.includes('"ok":true') ? undefined : `${response.status} ${text.slice(0, 300)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
