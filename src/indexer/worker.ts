/** Entry of the indexer Worker: drains the indexing queue, its dead-letter queue, and cleans up once a day. */
import { UpstreamError } from "../embedding/index.ts";
import { MONITOR_NAME } from "../health/index.ts";
import { QueueMessage, type StepMessage } from "../indexing/messages.ts";
import { judgeFailure, runStep } from "../indexing/steps.ts";
import { sweepIndex } from "../indexing/sweep.ts";
import { sweepSnapshots } from "../snapshot/publish/sweep.ts";
import { sweepPeople } from "../users/sweep.ts";
import { sharedOf, stepDeps } from "./deps.ts";

const DEAD_LETTERS = "code-context-index-dead";

export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      if (batch.queue === DEAD_LETTERS) await bury(message, env);
      else await handle(message, env);
    }
  },

  async scheduled(_controller, env) {
    const { db, log } = sharedOf(env);
    const snapshots = await sweepSnapshots({ db, bucket: env.SNAPSHOTS, now: Date.now });
    log.info("swept_snapshots", { ...snapshots });
    await sweepPeople(db);
    log.info("swept_index", { ...(await sweepIndex(db, env.STAGING, Date.now())) });
  },
} satisfies ExportedHandler<IndexerEnv>;

async function handle(message: Message, env: IndexerEnv): Promise<void> {
  const parsed = QueueMessage.safeParse(message.body);
  if (!parsed.success) {
    sharedOf(env).log.warn("message_not_understood", { id: message.id });
    return message.ack();
  }
  if (parsed.data.kind === "health") {
    await env.HEALTH_MONITOR.get(env.HEALTH_MONITOR.idFromName(MONITOR_NAME)).queueSeen(parsed.data.sentAt);
    return message.ack();
  }
  await handleStep(message, parsed.data, env);
}

/** One step, acknowledged or retried on its own: a batch's other messages are none of its business. */
async function handleStep(message: Message, step: StepMessage, env: IndexerEnv): Promise<void> {
  const deps = stepDeps(env, step.workspaceId);
  try {
    await runStep(step, deps);
    message.ack();
  } catch (error) {
    const verdict = judgeFailure(error, step.kind, step.kind === "plan" ? step.attempt : message.attempts);
    deps.log.error("step_failed", error, {
      runId: step.runId,
      kind: step.kind,
      delivery: message.attempts,
      action: verdict.action,
      detail: error instanceof UpstreamError ? error.detail : undefined,
    });
    const { action, error: reason, delaySec } = verdict;
    try {
      if (action === "retry") await deps.runs.retrying(step.runId, step.attempt, reason, delaySec);
      else if (action === "restart") await deps.runs.restart(step.runId, step.attempt, reason, delaySec);
      else await deps.runs.fail(step.runId, step.attempt, reason);
    } finally {
      if (action === "retry") message.retry({ delaySeconds: delaySec });
      else message.ack();
    }
  }
}

/** A step that could not even fail in order (its isolate died every time): its run ends with what is known. */
async function bury(message: Message, env: IndexerEnv): Promise<void> {
  const parsed = QueueMessage.safeParse(message.body);
  if (parsed.success && parsed.data.kind !== "health") {
    const { runId, attempt, workspaceId } = parsed.data;
    await stepDeps(env, workspaceId).runs.fail(runId, attempt, null);
  }
  message.ack();
}
