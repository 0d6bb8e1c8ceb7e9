/** `npm run deploy -- destroy`: removes a deployment, and its data after a second confirmation. */
import type { DeployContext } from "./context.ts";
import { OperatorError } from "../errors.ts";
import { PlatformError } from "./errors.ts";
import { deploymentName } from "./names.ts";
import { EXPIRE_ALL } from "./resources.ts";
import { declaredResources, DEPLOY_ORDER, workerConfig } from "./workers.ts";

/** Age at which objects expire; the minimum of R2's lifecycle rules. */
const EXPIRE_AFTER_SEC = 86_400;

const HTTP_CONFLICT = 409;

/** Asks a question and returns the answer. */
type Ask = (question: string) => Promise<string>;

/** Destroys a deployment and says what was removed and what is left. Returns false if the operator did not confirm. */
export async function destroy(context: DeployContext, ask: Ask): Promise<boolean> {
  const { settings, state, neon, say } = context;
  const name = deploymentName(settings.environment);
  const { neonProjectId, isNeonProjectUnfinished } = state.read();
  if ((neonProjectId !== undefined || isNeonProjectUnfinished === true) && !neon) {
    throw new OperatorError(`NEON_API_KEY is not set: this deployment has the Neon project ${name}`);
  }
  const answer = await ask(
    `This removes the Workers and queues of ${name}; clients are refused from then on.\nType ${name} to go on: `,
  );
  if (answer !== name) return false;
  await destroyService(context);
  const second = await ask(
    `The data is still there: index, snapshots, usage, tenants.\nType "delete ${name} data" to delete it for good: `,
  );
  if (second !== `delete ${name} data`) {
    const buckets = [...declaredResources(settings.environment).buckets.values()].join(", ");
    say(`  data kept: the database, the buckets ${buckets}, and ${state.path}; npm run deploy brings the service back`);
    return true;
  }
  await destroyData(context, name);
  return true;
}

async function destroyService({ cloudflare, settings, say }: DeployContext): Promise<void> {
  for (const worker of DEPLOY_ORDER.toReversed()) {
    const script = workerConfig(worker, settings.environment).name;
    for (const { id, hostname } of await cloudflare.domains({ service: script })) {
      await cloudflare.detachDomain(id);
      say(`  detached ${hostname}`);
    }
    say((await cloudflare.deleteScript(script)) ? `  removed ${script}` : `  ${script} does not exist`);
  }
  for (const queue of declaredResources(settings.environment).queues) {
    say((await cloudflare.deleteQueue(queue)) ? `  removed queue ${queue}` : `  queue ${queue} does not exist`);
  }
}

async function destroyData(context: DeployContext, name: string): Promise<void> {
  const { settings, state, say } = context;
  await removeBucketKey(context, `${name}-r2`);
  let isEmpty = true;
  for (const bucket of declaredResources(settings.environment).buckets.values()) {
    if (!(await removeBucket(context, bucket))) isEmpty = false;
  }
  await removeDatabase(context, name);
  if (!isEmpty) return say(`  ${state.path} is kept until the buckets are empty`);
  state.remove();
  say(`  removed ${state.path}: the encryption key is gone`);
}

/** Removes the R2 token that a deployment created. The deployment's own token may be one that cannot even list tokens. */
async function removeBucketKey({ cloudflare, state, say }: DeployContext, name: string): Promise<void> {
  const { r2 } = state.read();
  try {
    const token = await cloudflare.findToken(name);
    if (token !== undefined) {
      await cloudflare.deleteToken(token);
      say(`  removed R2 token ${name}`);
    }
  } catch (error) {
    if (!(error instanceof PlatformError && (error.status === 401 || error.status === 403))) throw error;
    if (r2?.isGiven !== true)
      say(`  R2 token ${name} could not be looked for (${error.message}): delete it if it exists`);
  }
  if (r2?.isGiven === true) say(`  R2 key ${r2.accessKeyId} was given: delete it in Cloudflare's dashboard`);
  state.update({ r2: undefined });
}

async function removeDatabase({ neon, databaseUrl, state, say }: DeployContext, name: string): Promise<void> {
  if (databaseUrl !== undefined) say("  DATABASE_URL was given: drop that database yourself");
  const { neonProjectId, isNeonProjectUnfinished } = state.read();
  const found = neonProjectId ?? (await neon?.findProject(name));
  if (found === undefined || !neon) return;
  if (neonProjectId === undefined && isNeonProjectUnfinished !== true) {
    return say(
      `  Neon project ${name} was not created by this deployment: delete it in Neon's console if nothing else needs it`,
    );
  }
  const isRemoved = await neon.deleteProject(found);
  state.update({ neonProjectId: undefined, isNeonProjectUnfinished: undefined });
  say(isRemoved ? `  removed Neon project ${name}` : `  Neon project ${name} does not exist`);
}

/** Removes a bucket if it is empty (R2 deletes no others); else lets its objects expire. */
async function removeBucket({ cloudflare, say }: DeployContext, bucket: string): Promise<boolean> {
  try {
    say((await cloudflare.deleteBucket(bucket)) ? `  removed bucket ${bucket}` : `  bucket ${bucket} does not exist`);
    return true;
  } catch (error) {
    if (!(error instanceof PlatformError && error.status === HTTP_CONFLICT)) throw error;
    const condition = { type: "Age", maxAge: EXPIRE_AFTER_SEC };
    await cloudflare.setLifecycle(bucket, [
      { id: EXPIRE_ALL, enabled: true, conditions: { prefix: "" }, deleteObjectsTransition: { condition } },
    ]);
    say(`  bucket ${bucket} still holds objects: they expire within a day; run destroy again then`);
    return false;
  }
}
