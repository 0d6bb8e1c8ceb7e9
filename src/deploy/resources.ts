/** Steps that create what wrangler does not: buckets and their rules, queues, the R2 key, the database. */
import { isDeepStrictEqual } from "node:util";
import { randomBytes } from "node:crypto";
import { migrate, pendingMigrations } from "../local/database/migrations.ts";
import type { DeployContext, Step } from "./context.ts";
import { DeployError } from "./errors.ts";
import { deploymentName } from "./names.ts";
import { declaredResources, DEPLOY_ORDER, workerConfig } from "./workers.ts";

/** Staged shards are needed for minutes; leftovers of killed runs expire after two days. */
const STAGING_DAYS = 2;

const stagingRule = {
  id: "expire-staged-runs",
  enabled: true,
  conditions: { prefix: "runs/" },
  deleteObjectsTransition: { condition: { type: "Age", maxAge: STAGING_DAYS * 86_400 } },
};

export const database: Step = {
  title: "database",
  plan: async (context) => {
    if (context.databaseUrl !== undefined) return undefined;
    const name = deploymentName(context.settings.environment);
    const { neonProjectId, isNeonProjectUnfinished } = context.state.read();
    const id = neonProjectId ?? (await context.neon?.findProject(name));
    if (id === undefined) return `create Neon project ${name}`;
    if (isNeonProjectUnfinished === true) return `finish creating Neon project ${name}`;
    context.databaseUrl = await context.neon?.connectionString(id);
    return undefined;
  },
  apply: async (context) => {
    const { neon, settings, state } = context;
    if (!neon) throw new DeployError("no database: set NEON_API_KEY or DATABASE_URL");
    const name = deploymentName(settings.environment);
    // A run that is killed before it knows the id leaves a project that the next one finds by name, and destroy may delete.
    state.update({ isNeonProjectUnfinished: true });
    const id = (await neon.findProject(name)) ?? (await neon.createProject(name, settings.neon?.region));
    await neon.waitUntilReady(id);
    state.update({ neonProjectId: id, isNeonProjectUnfinished: undefined });
    context.databaseUrl = await neon.connectionString(id);
  },
};

export const migrations: Step = {
  title: "migrations",
  plan: async ({ databaseUrl }) => {
    if (databaseUrl === undefined) return "apply all";
    const count = await pendingMigrations(databaseUrl);
    return count === 0 ? undefined : `apply ${count}`;
  },
  apply: async ({ databaseUrl }) => {
    if (databaseUrl === undefined) throw new DeployError("the database does not exist yet");
    await migrate(databaseUrl);
  },
};

export const buckets: Step = {
  title: "buckets",
  plan: async (context) => {
    const missing = await missingBuckets(context);
    return missing.length === 0 ? undefined : `create ${missing.join(", ")}`;
  },
  apply: async (context) => {
    for (const name of await missingBuckets(context)) await context.cloudflare.createBucket(name);
  },
};

async function missingBuckets({ cloudflare, settings }: DeployContext): Promise<string[]> {
  const missing: string[] = [];
  for (const name of declaredResources(settings.environment).buckets.values()) {
    if (!(await cloudflare.hasBucket(name))) missing.push(name);
  }
  return missing;
}

function bucket({ settings }: DeployContext, binding: string): string {
  const name = declaredResources(settings.environment).buckets.get(binding);
  if (name === undefined) throw new DeployError(`no wrangler.toml binds the bucket ${binding}`);
  return name;
}

export const lifecycle: Step = {
  title: "lifecycle of staged shards",
  plan: async (context) => {
    const rules = await context.cloudflare.lifecycle(bucket(context, "STAGING"));
    return rules.some((rule) => hasId(rule, stagingRule.id)) ? undefined : `delete runs/ after ${STAGING_DAYS} days`;
  },
  apply: async (context) => {
    const name = bucket(context, "STAGING");
    // Keep the operator's own rules.
    await context.cloudflare.setLifecycle(name, [...(await context.cloudflare.lifecycle(name)), stagingRule]);
  },
};

function hasId(rule: unknown, id: string): boolean {
  return typeof rule === "object" && rule !== null && "id" in rule && rule.id === id;
}

export const cors: Step = {
  title: "CORS of snapshots",
  plan: async (context) => {
    const wanted = corsRules(context.settings.corsOrigins);
    if (wanted.length === 0) return undefined;
    const rules = await context.cloudflare.cors(bucket(context, "SNAPSHOTS"));
    return isDeepStrictEqual(rules, wanted) ? undefined : `allow ${context.settings.corsOrigins.join(", ")}`;
  },
  apply: (context) => context.cloudflare.setCors(bucket(context, "SNAPSHOTS"), corsRules(context.settings.corsOrigins)),
};

function corsRules(origins: readonly string[]): unknown[] {
  if (origins.length === 0) return [];
  const allowed = { origins, methods: ["GET", "HEAD"], headers: ["Range"] };
  return [{ id: "snapshots", allowed, exposeHeaders: ["Content-Range", "ETag"], maxAgeSeconds: 3600 }];
}

export const queues: Step = {
  title: "queues",
  plan: async (context) => {
    const missing = await missingQueues(context);
    return missing.length === 0 ? undefined : `create ${missing.join(", ")}`;
  },
  apply: async (context) => {
    for (const name of await missingQueues(context)) await context.cloudflare.createQueue(name);
  },
};

async function missingQueues({ cloudflare, settings }: DeployContext): Promise<string[]> {
  const missing: string[] = [];
  for (const name of declaredResources(settings.environment).queues) {
    if (!(await cloudflare.findQueue(name))) missing.push(name);
  }
  return missing;
}

export const bucketKey: Step = {
  title: "R2 key",
  plan: async (context) => {
    const { settings, state } = context;
    const given = settings.secrets["R2_ACCESS_KEY_ID"];
    const kept = state.read().r2;
    if (given !== undefined) return given === kept?.accessKeyId ? undefined : "keep the given one";
    if (kept) return undefined;
    if ((await deployedSecrets(context)).has("R2_SECRET_ACCESS_KEY")) return undefined;
    return `create token ${deploymentName(settings.environment)}-r2`;
  },
  apply: async (context) => {
    const { cloudflare, settings, state } = context;
    const { R2_ACCESS_KEY_ID: accessKeyId, R2_SECRET_ACCESS_KEY: secretAccessKey } = settings.secrets;
    if (accessKeyId !== undefined && secretAccessKey !== undefined) {
      // So that a later run without the variables does not bring the one before back.
      state.update({ r2: { accessKeyId, secretAccessKey } });
      return;
    }
    const name = `${deploymentName(settings.environment)}-r2`;
    // Replace a token whose value was lost when a deployment was killed.
    const lost = await cloudflare.findToken(name);
    if (lost !== undefined) await cloudflare.deleteToken(lost);
    state.update({ r2: await cloudflare.createBucketToken(name, bucket(context, "SNAPSHOTS")) });
  },
};

export const encryptionKey: Step = {
  title: "encryption key",
  plan: async (context) => {
    const { settings, state } = context;
    if (settings.secrets["ENCRYPTION_KEY"] !== undefined || state.read().encryptionKey !== undefined) return undefined;
    if ((await deployedSecrets(context)).has("ENCRYPTION_KEY")) {
      const incomplete = await workersWithout(context, "ENCRYPTION_KEY");
      if (incomplete.length === 0) return undefined;
      throw new DeployError(
        `${context.state.path} is gone, and ${incomplete.join(", ")} has no ENCRYPTION_KEY yet: restore the file, or set ENCRYPTION_KEY to the value in use`,
      );
    }
    return "make one";
  },
  apply: async ({ state }) => {
    state.update({ encryptionKey: randomBytes(32).toString("base64") });
  },
};

/** Names of the secrets that the deployed api Worker has. */
async function deployedSecrets({ cloudflare, settings }: DeployContext): Promise<Set<string>> {
  return new Set(await cloudflare.secretNames(workerConfig("api", settings.environment).name));
}

async function workersWithout({ cloudflare, settings }: DeployContext, secret: string): Promise<string[]> {
  const incomplete: string[] = [];
  for (const worker of DEPLOY_ORDER) {
    const config = workerConfig(worker, settings.environment);
    if (config.secrets?.required.includes(secret) !== true) continue;
    if ((await cloudflare.secretNames(config.name))?.includes(secret) !== true) incomplete.push(config.name);
  }
  return incomplete;
}
