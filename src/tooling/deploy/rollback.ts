/** `npm run deploy -- rollback`: puts the Workers back to the version before the current one, within seconds and without a build. */
import type { WorkerName } from "../local/bundles/bundles.ts";
import type { Cloudflare } from "./cloudflare.ts";
import type { Step } from "./context.ts";
import { OperatorError } from "../errors.ts";
import { DEPLOY_ORDER, workerConfig } from "./workers.ts";

/** Marks a deployment that a rollback made, so that repeating one after a failure does not undo it. */
const MESSAGE = "code-context rollback";

/** One step a Worker, in the opposite order of a deployment: no Worker is ever newer than the api that it calls. */
export const rollbacks: Step[] = DEPLOY_ORDER.toReversed().map((worker) => ({
  title: `${worker} Worker`,
  plan: async (context) => {
    const target = await previousVersion(context.cloudflare, context.settings.environment, worker);
    return target === undefined ? undefined : `back to version ${target}`;
  },
  apply: async (context) => {
    const { name } = workerConfig(worker, context.settings.environment);
    const target = await previousVersion(context.cloudflare, context.settings.environment, worker);
    if (target === undefined) return;
    const warning = await context.cloudflare.deployVersion(name, target, MESSAGE);
    if (warning !== undefined) context.say(`  the version has secrets of its own: ${warning}`);
  },
}));

/**
 * The version of the release before the current one. Undefined if a rollback has brought it back already, or if the Worker is of that
 * release still because a deployment was interrupted.
 */
export async function previousVersion(
  cloudflare: Cloudflare,
  environment: string,
  worker: WorkerName,
): Promise<string | undefined> {
  const script = workerConfig(worker, environment).name;
  const [current, ...older] = await cloudflare.deployments(script);
  if (!current) throw new OperatorError(`${script} is not deployed`);
  // The api Worker is deployed first and goes back last.
  const [newest] = await cloudflare.deployments(workerConfig("api", environment).name);
  if (current.message === MESSAGE || newest?.message === MESSAGE) return undefined;
  if (current.message !== undefined && newest?.message !== undefined && current.message !== newest.message)
    return undefined;
  // Uploads of one release have the same message: one that was interrupted and repeated has several.
  const target = older.find(
    ({ versionId, message }) =>
      versionId !== undefined &&
      versionId !== current.versionId &&
      (message === undefined || message !== current.message),
  );
  if (target?.versionId === undefined) throw new OperatorError(`${script} has no earlier version to go back to`);
  return target.versionId;
}
