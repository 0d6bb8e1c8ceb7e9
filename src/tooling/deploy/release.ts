/** Steps that keep the settings and upload the Workers with them. */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { WorkerName } from "../local/bundles/bundles.ts";
import type { DeployContext, Step } from "./context.ts";
import { OperatorError } from "../errors.ts";
import { changedVariables, keptSecrets } from "./variables.ts";
import {
  declaredResources,
  DEPLOY_ORDER,
  requiredSecrets,
  type Upload,
  uploadWorker,
  workerConfig,
  workerVars,
} from "./workers.ts";

/** Value of declared but unused secrets, which wrangler requires. */
const UNUSED_SECRET = "unset";

/** Says which settings change and keeps them, so that a later deployment needs none of them again. */
export const settingsStep: Step = {
  title: "settings",
  plan: async (context) => {
    const { cloudflare, settings, state, variables, domains, accountId } = context;
    const secrets = await keptSecrets(cloudflare, settings, state.read());
    const uploaded = Object.assign({}, ...DEPLOY_ORDER.map((worker) => workerVars(worker, uploadedVars(context))));
    const changes = [
      ...changedVariables(variables, uploaded),
      ...Object.keys(settings.secrets).map((name) => `${name}: as given`),
      ...[...settings.unset].map((name) => `${name}: back to its default`),
    ];
    if (changes.length > 0) return changes.join("; ");
    const kept = state.read();
    const isKept =
      kept.accountId === accountId &&
      isDeepStrictEqual(kept.vars, variables.values) &&
      isDeepStrictEqual(kept.secrets ?? [], secrets) &&
      isDeepStrictEqual(kept.domains ?? {}, domains);
    return isKept ? undefined : `keep them in ${state.path}`;
  },
  apply: async ({ cloudflare, settings, state, variables, domains, accountId }) => {
    const secrets = await keptSecrets(cloudflare, settings, state.read());
    const { databaseUrl } = settings;
    const database = databaseUrl !== undefined || settings.unset.has("DATABASE_URL") ? { databaseUrl } : {};
    state.update({ accountId, vars: variables.values, secrets, domains, ...database });
  },
};

/** One step per Worker, in order of dependency. */
export const uploads: Step[] = DEPLOY_ORDER.map((worker) => ({
  title: `${worker} Worker`,
  plan: async () => "build and upload",
  apply: async (context) => uploadWorker(worker, await uploadOf(context, worker)),
}));

async function uploadOf(context: DeployContext, worker: WorkerName): Promise<Upload> {
  const { settings, accountId, databaseUrl, state } = context;
  if (databaseUrl === undefined) throw new OperatorError("the database does not exist yet");
  const { encryptionKey, r2 } = state.read();
  // Repeated after an interruption, a deployment uploads under the same name: a rollback must not return to its own first half.
  const release = state.read().release ?? `code-context release ${randomBytes(6).toString("hex")}`;
  state.update({ release });
  return {
    settings,
    accountId,
    release,
    vars: uploadedVars(context),
    secrets: {
      ...(await unusedSecrets(context, worker)),
      DATABASE_URL: databaseUrl,
      ...settings.secrets,
      ...(encryptionKey !== undefined && { ENCRYPTION_KEY: encryptionKey }),
      ...(r2 && { R2_ACCESS_KEY_ID: r2.accessKeyId, R2_SECRET_ACCESS_KEY: r2.secretAccessKey }),
    },
  };
}

function uploadedVars({ settings, accountId, variables }: DeployContext): Record<string, string> {
  const snapshots = declaredResources(settings.environment).buckets.get("SNAPSHOTS") ?? "";
  return {
    SNAPSHOTS_S3_URL: `https://${accountId}.r2.cloudflarestorage.com/${snapshots}`,
    ...variables.values,
  };
}

/** The secrets that the Worker lacks, or that are to be unset. All others keep their values, which nobody can read. */
async function unusedSecrets(
  { cloudflare, settings }: DeployContext,
  worker: WorkerName,
): Promise<Record<string, string>> {
  const present = await cloudflare.secretNames(workerConfig(worker, settings.environment).name);
  const unused = requiredSecrets(worker).filter((name) => settings.unset.has(name) || present?.includes(name) !== true);
  return Object.fromEntries(unused.map((name) => [name, UNUSED_SECRET]));
}
