/** `npm run deploy -- rollback`: puts the Workers back to the version before the current one, within seconds and without a build. */
import type { DeployContext, Step } from "./context.ts";
import { DeployError } from "./errors.ts";
import { DEPLOY_ORDER, workerConfig } from "./workers.ts";

/** Marks a deployment that a rollback made, so that repeating one after a failure does not undo it. */
const MESSAGE = "code-context rollback";

/** One step a Worker, in the opposite order of a deployment: no Worker is ever newer than the api that it calls. */
export const rollbacks: Step[] = DEPLOY_ORDER.toReversed().map((worker) => ({
  title: `${worker} Worker`,
  plan: async (context) => {
    const target = await previousVersion(context, workerConfig(worker, context.settings.environment).name);
    return target === undefined ? undefined : `back to version ${target}`;
  },
  apply: async (context) => {
    const { name } = workerConfig(worker, context.settings.environment);
    const target = await previousVersion(context, name);
    if (target !== undefined) await context.cloudflare.deployVersion(name, target, MESSAGE);
  },
}));

/** The version that was active before the current one; undefined if a rollback has brought it back already. */
async function previousVersion({ cloudflare }: DeployContext, script: string): Promise<string | undefined> {
  const [current, ...older] = await cloudflare.deployments(script);
  if (!current) throw new DeployError(`${script} is not deployed`);
  if (current.message === MESSAGE) return undefined;
  const target = older.find(({ versionId }) => versionId !== undefined && versionId !== current.versionId);
  if (target?.versionId === undefined) throw new DeployError(`${script} has no earlier version to go back to`);
  return target.versionId;
}
