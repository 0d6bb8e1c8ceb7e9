/** `npm run deploy -- destroy`: removes a deployment, and its data after a second confirmation. */
import type { DeployContext } from "./context.ts";
import { DeployError, PlatformError } from "./errors.ts";
import { deploymentName } from "./names.ts";
import { declaredResources, DEPLOY_ORDER, workerConfig } from "./workers.ts";

/** Age at which objects expire; the minimum of R2's lifecycle rules. */
const EXPIRE_AFTER_SEC = 86_400;

const HTTP_CONFLICT = 409;

/** Asks a question and returns the answer. */
export type Ask = (question: string) => Promise<string>;

/** Destroys a deployment. Returns false if the operator did not confirm. */
export async function destroy(context: DeployContext, ask: Ask): Promise<boolean> {
  const { cloudflare, settings, state, neon, say } = context;
  const name = deploymentName(settings.environment);
  const { neonProjectId, isNeonProjectUnfinished } = state.read();
  if ((neonProjectId !== undefined || isNeonProjectUnfinished === true) && !neon) {
    throw new DeployError(`NEON_API_KEY is not set: this deployment has the Neon project ${name}`);
  }
  const answer = await ask(
    `This removes the Workers and queues of ${name}; clients are refused from then on.\nType ${name} to go on: `,
  );
  if (answer !== name) return false;
  for (const worker of DEPLOY_ORDER.toReversed()) {
    const script = workerConfig(worker, settings.environment).name;
    await cloudflare.deleteScript(script);
    say(`  removed ${script}`);
  }
  for (const queue of declaredResources(settings.environment).queues) {
    await cloudflare.deleteQueue(queue);
    say(`  removed queue ${queue}`);
  }
  const second = await ask(
    `The data is still there: index, snapshots, usage, tenants.\nType "delete ${name} data" to delete it for good: `,
  );
  if (second !== `delete ${name} data`) {
    say("  data kept; npm run deploy brings the service back");
    return true;
  }
  await destroyData(context, name);
  return true;
}

async function destroyData(context: DeployContext, name: string): Promise<void> {
  const { cloudflare, settings, state } = context;
  const token = await cloudflare.findToken(`${name}-r2`);
  if (token !== undefined) await cloudflare.deleteToken(token);
  state.update({ r2: undefined });
  let isEmpty = true;
  for (const bucket of declaredResources(settings.environment).buckets.values()) {
    if (!(await removeBucket(context, bucket))) isEmpty = false;
  }
  await removeDatabase(context, name);
  if (isEmpty) state.remove();
}

async function removeDatabase({ neon, settings, state, say }: DeployContext, name: string): Promise<void> {
  if (settings.databaseUrl !== undefined) return say("  DATABASE_URL was given: drop that database yourself");
  const { neonProjectId, isNeonProjectUnfinished } = state.read();
  const found = await neon?.findProject(name);
  const id = neonProjectId ?? (isNeonProjectUnfinished === true ? found : undefined);
  if (id !== undefined && neon) {
    await neon.deleteProject(id);
    state.update({ neonProjectId: undefined, isNeonProjectUnfinished: undefined });
    say(`  removed Neon project ${name}`);
  } else if (found !== undefined) {
    say(
      `  Neon project ${name} was not created by this deployment: delete it in Neon's console if nothing else needs it`,
    );
  }
}

/** Removes a bucket if it is empty (R2 deletes no others); else lets its objects expire. */
async function removeBucket({ cloudflare, say }: DeployContext, bucket: string): Promise<boolean> {
  try {
    await cloudflare.deleteBucket(bucket);
    say(`  removed bucket ${bucket}`);
    return true;
  } catch (error) {
    if (!(error instanceof PlatformError && error.status === HTTP_CONFLICT)) throw error;
    const condition = { type: "Age", maxAge: EXPIRE_AFTER_SEC };
    await cloudflare.setLifecycle(bucket, [
      { id: "expire-all", enabled: true, conditions: { prefix: "" }, deleteObjectsTransition: { condition } },
    ]);
    say(`  bucket ${bucket} still holds objects: they expire within a day; run destroy again then`);
    return false;
  }
}
