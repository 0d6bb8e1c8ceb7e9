/** Steps that create what wrangler does not: buckets and their rules, queues, the R2 key, the database. */
import { isDeepStrictEqual } from "node:util";
import { randomBytes } from "node:crypto";
import { migrate, pendingMigrations, pendingSettings } from "../local/database/migrations.ts";
import type { DeployContext, Step } from "./context.ts";
import { readKeyRing } from "../../lib/key-ring.ts";
import { OperatorError } from "../errors.ts";
import { PlatformError } from "./errors.ts";
import { deploymentName } from "./names.ts";
import type { Settings } from "./settings.ts";
import type { DeployState } from "./state.ts";
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
    if (!context.neon) {
      throw new OperatorError(
        neonProjectId === undefined && isNeonProjectUnfinished !== true
          ? "no database: set NEON_API_KEY to have one created, or DATABASE_URL to use one"
          : `NEON_API_KEY is not set: this deployment has the Neon project ${name}`,
      );
    }
    const id = neonProjectId ?? (await context.neon.findProject(name));
    if (id === undefined) {
      // State of version 1 did not keep a given DATABASE_URL.
      if (isNeonProjectUnfinished !== true && (await deployedSecrets(context)).has("DATABASE_URL")) {
        throw new OperatorError("the Workers use a database that is not known here: set DATABASE_URL to it");
      }
      return `create Neon project ${name}`;
    }
    if (isNeonProjectUnfinished === true) return `finish creating Neon project ${name}`;
    context.databaseUrl = await context.neon.connectionString(id);
    return undefined;
  },
  apply: async (context) => {
    const { neon, settings, state } = context;
    if (!neon) throw new OperatorError("no database: set NEON_API_KEY or DATABASE_URL");
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
    const settings = await pendingSettings(databaseUrl);
    const todo = [...(count > 0 ? [`apply ${count}`] : []), ...settings.map((name) => `set ${name} of the role`)];
    return todo.length === 0 ? undefined : todo.join(", ");
  },
  apply: async ({ databaseUrl }) => {
    if (databaseUrl === undefined) throw new OperatorError("the database does not exist yet");
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
  if (name === undefined) throw new OperatorError(`no wrangler.toml binds the bucket ${binding}`);
  return name;
}

/** Id of the rule with which `destroy` empties a bucket. */
export const EXPIRE_ALL = "expire-all";

export const lifecycle: Step = {
  title: "lifecycle of objects",
  plan: async (context) => {
    const todo = (await pendingRules(context)).map(({ todo }) => todo);
    return todo.length === 0 ? undefined : todo.join(", ");
  },
  apply: async (context) => {
    for (const { name, rules } of await pendingRules(context)) await context.cloudflare.setLifecycle(name, rules);
  },
};

/** Buckets whose rules are to be replaced. The operator's own rules stay. */
async function pendingRules({ cloudflare, settings }: DeployContext) {
  const pending: { name: string; rules: unknown[]; todo: string }[] = [];
  for (const [binding, name] of declaredResources(settings.environment).buckets) {
    const present = await cloudflare.lifecycle(name);
    // A deployment after `destroy` keeps what has not expired yet.
    const rules = present.filter((rule) => !hasId(rule, EXPIRE_ALL));
    if (rules.length < present.length) pending.push({ name, rules, todo: `keep the objects of ${name}` });
    if (binding !== "STAGING" || rules.some((rule) => hasId(rule, stagingRule.id))) continue;
    pending.push({ name, rules: [...rules, stagingRule], todo: `delete runs/ of ${name} after ${STAGING_DAYS} days` });
  }
  return pending;
}

function hasId(rule: unknown, id: string): boolean {
  return typeof rule === "object" && rule !== null && "id" in rule && rule.id === id;
}

/** Id of our CORS rule; a bucket's other rules are the operator's. */
const CORS_RULE = "snapshots";

export const cors: Step = {
  title: "CORS of snapshots",
  plan: async (context) => {
    const { corsOrigins, unset } = context.settings;
    if (corsOrigins === undefined && !unset.has("CORS_ORIGINS")) return undefined;
    const { present, wanted } = await corsRules(context);
    if (isDeepStrictEqual(present, wanted)) return undefined;
    return corsOrigins === undefined ? "allow no origin" : `allow ${corsOrigins.join(", ")}`;
  },
  apply: async (context) => {
    const { wanted } = await corsRules(context);
    await context.cloudflare.setCors(bucket(context, "SNAPSHOTS"), wanted);
  },
};

async function corsRules(context: DeployContext): Promise<{ present: unknown[]; wanted: unknown[] }> {
  const present = await context.cloudflare.cors(bucket(context, "SNAPSHOTS"));
  const wanted = present.filter((rule) => !hasId(rule, CORS_RULE));
  const { corsOrigins: origins } = context.settings;
  if (origins !== undefined) {
    const allowed = { origins, methods: ["GET", "HEAD"], headers: ["Range"] };
    wanted.push({ id: CORS_RULE, allowed, exposeHeaders: ["Content-Range", "ETag"], maxAgeSeconds: 3600 });
  }
  return { present, wanted };
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
    const given = givenKey(settings);
    const kept = state.read().r2;
    if (given) return isDeepStrictEqual(given, kept) ? undefined : "keep the given one";
    if (kept) return undefined;
    if ((await deployedSecrets(context)).has("R2_SECRET_ACCESS_KEY")) return undefined;
    // Asked now, so that a dry run finds out, too.
    await explained(context, context.cloudflare.bucketWriteGroup());
    return `create token ${deploymentName(settings.environment)}-r2`;
  },
  apply: async (context) => {
    const { cloudflare, settings, state } = context;
    const given = givenKey(settings);
    // So that a later run without the variables does not bring the one before back.
    if (given) return void state.update({ r2: given });
    const name = `${deploymentName(settings.environment)}-r2`;
    // Replace a token whose value was lost when a deployment was killed.
    const lost = await explained(context, cloudflare.findToken(name));
    if (lost !== undefined) await cloudflare.deleteToken(lost);
    const key = await explained(context, cloudflare.createBucketToken(name, bucket(context, "SNAPSHOTS")));
    state.update({ r2: { ...key, isGiven: false } });
  },
};

function givenKey({ secrets }: Settings): DeployState["r2"] {
  const { R2_ACCESS_KEY_ID: accessKeyId, R2_SECRET_ACCESS_KEY: secretAccessKey } = secrets;
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, isGiven: true } : undefined;
}

/** Says what to do if the deployment's own token may not make tokens, which few may: Cloudflare answers 403 with code 9109. */
async function explained<T>(context: DeployContext, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PlatformError && (error.status === 401 || error.status === 403))) throw error;
    throw new OperatorError(
      `the token may not create an R2 key (${error.message}): create one in Cloudflare's dashboard (R2, Manage API tokens) with Object Read & Write on the bucket ${bucket(context, "SNAPSHOTS")}, and set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY; or give the token the permission Account API Tokens: Edit`,
    );
  }
}

export const encryptionKey: Step = {
  title: "encryption key",
  plan: async (context) => {
    const { settings, state } = context;
    const given = settings.secrets["ENCRYPTION_KEY"];
    const kept = state.read().encryptionKey;
    if (given !== undefined) {
      if (given === kept) return undefined;
      if (kept !== undefined && readKeyRing(given).ids !== readKeyRing(kept).ids) {
        throw new OperatorError(
          "ENCRYPTION_KEY does not continue the key in use: all credentials would stop working. Rotate it with npm run admin -- encryption-key",
        );
      }
      return "keep the given one";
    }
    if (kept !== undefined) return undefined;
    if ((await deployedSecrets(context)).has("ENCRYPTION_KEY")) {
      const incomplete = await workersWithout(context, "ENCRYPTION_KEY");
      if (incomplete.length === 0) return undefined;
      throw new OperatorError(
        `${context.state.path} is gone, and ${incomplete.join(", ")} has no ENCRYPTION_KEY yet: restore the file, or set ENCRYPTION_KEY to the value in use`,
      );
    }
    return "make one";
  },
  apply: async ({ settings, state }) => {
    state.update({ encryptionKey: settings.secrets["ENCRYPTION_KEY"] ?? randomBytes(32).toString("base64") });
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
