/** Entry of the indexer Worker: drains the indexing queue, its dead-letter queue, and cleans up once a day. */
import type { Db } from "../../service/db/client.ts";
import { accountsDatabase, databaseOf, tenantDatabases } from "../../service/db/databases.ts";
import { MONITOR_NAME } from "../../service/health/index.ts";
import { coordinatorOf } from "../../service/runs/coordinator.ts";
import { QueueMessage, type StepMessage } from "../../service/runs/messages.ts";
import { queueOf } from "../../service/runs/queues.ts";
import { settleOrphanedRuns } from "../../service/runs/start.ts";
import { runStep } from "../../service/indexing/steps.ts";
import { sweepIndex } from "../../service/indexing/sweep.ts";
import { sweepSnapshots } from "../../service/snapshots/sweep.ts";
import { limitBucket } from "../../service/indexing/staging.ts";
import { sweepSearch } from "../../service/hosted-index/sweep.ts";
import { requestRebuilds } from "../../service/hosted-index/rebuilds.ts";
import { repairRevision } from "../../service/hosted-index/repair.ts";
import type { IndexedRevision } from "../../service/hosted-index/write.ts";
import { sweepPeople } from "../../service/users/sweep.ts";
import { finishErasures } from "../../service/tenancy/erase.ts";
import { repairTexts } from "../../service/hosted-index/whole-texts/repair.ts";
import { sweepTexts } from "../../service/hosted-index/whole-texts/sweep.ts";
import { failOverlay, makeOverlay } from "../../service/overlays/make.ts";
import { sweepOverlays } from "../../service/overlays/sweep.ts";
import { overlayStep, parserOf, sharedOf, stepDeps } from "./deps.ts";
import { runJobs } from "./jobs.ts";

/** Ends the name of the dead-letter queue, in every environment. */
const DEAD_LETTERS = "-index-dead";
/** The cron of wrangler.toml that cleans up. */
const DAILY = "17 3 * * *";
const COORDINATOR_RETRY_SEC = 5;
const REBUILD_RETRY_SEC = 10;

export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      if (batch.queue.endsWith(DEAD_LETTERS)) await failOrphanedRun(message, env);
      else await handle(message, env);
    }
  },

  async scheduled({ cron }, env) {
    const { log } = sharedOf(env);
    const inEach = (job: (db: Db) => Promise<void>) => async () => {
      for (const db of tenantDatabases(env)) await job(db);
    };
    const frequent = {
      orphaned_runs: inEach(async (db) => {
        const { submitted, failed } = await settleOrphanedRuns({ db, coordinators: env.WORKSPACE_RUNS }, Date.now());
        if (submitted > 0) log.warn("orphaned_runs_submitted", { runs: submitted });
        if (failed > 0) log.warn("orphaned_runs_failed", { runs: failed });
      }),
      erasures: inEach(async (db) => {
        const erased = await finishErasures({
          db,
          snapshots: env.SNAPSHOTS,
          staging: env.STAGING,
          eraseGate: (tenantId) => env.TENANT_GATE.get(env.TENANT_GATE.idFromName(tenantId)).erase(),
          eraseRuns: (workspaceId) => coordinatorOf(env.WORKSPACE_RUNS, workspaceId).erase(),
        });
        for (const [tenantId, report] of Object.entries(erased)) log.info("tenant_erased", { tenantId, ...report });
      }),
      overlays: inEach(async (db) => {
        const removed = await sweepOverlays(db, env.SNAPSHOTS);
        if (removed > 0) log.info("overlays_expired", { overlays: removed });
      }),
      search_rebuilds: inEach(async (db) => {
        const revisions = await requestRebuilds(db, (message) => queueOf(env, message.workspaceId).send(message));
        if (revisions > 0) log.info("search_rebuilds_requested", { revisions });
      }),
    };
    const daily = {
      sweep_snapshots: inEach(async (db) =>
        log.info("swept_snapshots", { ...(await sweepSnapshots({ db, bucket: env.SNAPSHOTS, now: Date.now })) }),
      ),
      sweep_index: inEach(async (db) =>
        log.info("swept_index", { ...(await sweepIndex(db, env.STAGING, Date.now())) }),
      ),
      sweep_search: inEach(async (db) =>
        log.info("swept_search", { objects: await sweepSearch(db, env.SNAPSHOTS, Date.now()) }),
      ),
      sweep_texts: inEach(async (db) =>
        log.info("swept_texts", { ...(await sweepTexts(db, limitBucket(env.SNAPSHOTS), Date.now())) }),
      ),
      sweep_people: () => sweepPeople(accountsDatabase(env)),
    };
    await runJobs(cron === DAILY ? { ...frequent, ...daily } : frequent, log);
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
  if (parsed.data.kind === "overlay") return indexOverlay(message, parsed.data, env);
  if (parsed.data.kind === "rebuild_search") return rebuildSearch(message, parsed.data, env);
  await handleStep(message, parsed.data, env);
}

const OVERLAY_RETRY_SEC = 1;
/** Deliveries of a message about an overlay, whose sender waits for it. */
const OVERLAY_TRIES = 3;

/** Indexes the edits of an overlay. */
async function indexOverlay(
  message: Message,
  { tenantId, overlayId }: { tenantId: string; overlayId: string },
  env: IndexerEnv,
): Promise<void> {
  const { log } = sharedOf(env);
  const db = databaseOf(env, tenantId);
  try {
    const usage = await makeOverlay(
      { db, edits: limitBucket(env.SNAPSHOTS), stepOf: (run) => overlayStep(env, run) },
      tenantId,
      overlayId,
    );
    const gate = env.TENANT_GATE.get(env.TENANT_GATE.idFromName(tenantId));
    if (usage && usage.tokens > 0) await gate.count(`overlay:${overlayId}`, null, usage.tokens);
    message.ack();
  } catch (error) {
    log.error("overlay_not_made", error, { tenantId, overlayId, attempt: message.attempts });
    if (message.attempts < OVERLAY_TRIES) return message.retry({ delaySeconds: OVERLAY_RETRY_SEC });
    await failOverlay(db, overlayId);
    message.ack();
  }
}

/** Repairs the search index of a revision that is damaged, or of another version. Idempotent: a second message finds nothing to do. */
async function rebuildSearch(
  message: Message,
  revision: Omit<IndexedRevision, "baseSeq">,
  env: IndexerEnv,
): Promise<void> {
  const own = sharedOf(env);
  const { log, embedder } = own;
  const { tenantId, workspaceId, seq } = revision;
  const model = embedder?.isModel === true ? embedder.fingerprint : null;
  try {
    const writer = {
      db: databaseOf(env, tenantId),
      bucket: limitBucket(env.SNAPSHOTS),
      model,
      parser: () => parserOf(own),
      beat: async () => {},
    };
    const outcome = await repairRevision(writer, revision);
    if (outcome === "impossible") log.warn("search_waits_for_next_run", { workspaceId, seq });
    else log.info(outcome === "rebuilt" ? "search_rebuilt" : "search_found_whole", { workspaceId, seq });
    if ((await repairTexts(writer, revision)) === "marked") log.warn("texts_wait_for_next_run", { workspaceId, seq });
    message.ack();
  } catch (error) {
    log.error("search_not_rebuilt", error, { workspaceId, seq });
    message.retry({ delaySeconds: REBUILD_RETRY_SEC });
  }
}

/**
 * Runs one step. The coordinator decides what follows from a failure, so the message is acknowledged either way; it is retried
 * only when the coordinator could not be reached.
 */
async function handleStep(message: Message, step: StepMessage, env: IndexerEnv): Promise<void> {
  const deps = stepDeps(env, step.workspaceId);
  try {
    await runStep(step, deps);
    message.ack();
  } catch (error) {
    deps.log.error("coordinator_not_reached", error, { runId: step.runId, kind: step.kind });
    message.retry({ delaySeconds: COORDINATOR_RETRY_SEC });
  }
}

/** Fails the run of a step that could not even report its failure, because its isolate died every time. */
async function failOrphanedRun(message: Message, env: IndexerEnv): Promise<void> {
  const parsed = QueueMessage.safeParse(message.body);
  if (parsed.success && "runId" in parsed.data) {
    const { runId, attempt, workspaceId } = parsed.data;
    await stepDeps(env, workspaceId).runs.failOrphaned(runId, attempt);
  }
  message.ack();
}
