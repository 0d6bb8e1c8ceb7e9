import { and, eq, inArray } from "drizzle-orm";
import { recordAuditStatement } from "../audit/index.ts";
import type { Db } from "../db/client.ts";
import { databaseOf } from "../db/databases.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { runs } from "../db/schema.ts";
import type { Logger } from "../../lib/log.ts";
import { raceTimeout } from "../../lib/pause.ts";
import { shardKey, type StepMessage } from "./messages.ts";
import { queueOf } from "./queues.ts";
import type { RunSpec } from "../db/run-spec.ts";
import { type RunRecord, SHARDS_IN_FLIGHT } from "./state.ts";
import type { RunStore } from "./store.ts";
import type { TenantLine } from "./tenant-runs.ts";

const CALL_TIMEOUT_MS = 10_000;

/**
 * Outgoing calls of a run coordinator: steps to the queue, outcomes to Postgres, calls and tokens to the tenant's gate, slots from `TenantRuns`. A failed call
 * is logged and stays due; the coordinator's alarm retries it.
 */
export class RunOutbox {
  readonly #store: RunStore;
  readonly #env: ApiEnv;
  readonly #log: Logger;

  constructor(store: RunStore, env: ApiEnv, log: Logger) {
    this.#store = store;
    this.#env = env;
    this.#log = log;
  }

  /** Requests a slot. Returns false if none is free or `TenantRuns` is unreachable; the next tick retries. */
  async requestSlot({ tenantId, runId, workspaceId }: RunSpec): Promise<boolean> {
    try {
      return await raceTimeout(this.#tenantLine(tenantId).request(runId, workspaceId), CALL_TIMEOUT_MS);
    } catch (error) {
      this.#log.error("slot_not_requested", error, { runId });
      return false;
    }
  }

  async releaseSlot({ tenantId, runId }: RunSpec): Promise<void> {
    try {
      await raceTimeout(this.#tenantLine(tenantId).release(runId), CALL_TIMEOUT_MS);
    } catch (error) {
      // `TenantRuns` checks its slots periodically and releases this one.
      this.#log.error("slot_not_released", error, { runId });
    }
  }

  /** Puts the message of a step into the queue, after a delay in seconds. False if that failed. */
  async sendStep(message: StepMessage, delaySeconds = 0): Promise<boolean> {
    try {
      await raceTimeout(queueOf(this.#env, message.workspaceId).send(message, { delaySeconds }), CALL_TIMEOUT_MS);
      return true;
    } catch (error) {
      this.#log.error("queue_send_failed", error, { runId: message.runId, kind: message.kind });
      return false;
    }
  }

  /** Puts staged shards into the queue, as many as may be there at a time. */
  async sendShards(run: RunRecord): Promise<void> {
    for (const shard of this.#store.takeShards(run.spec.runId, run.attempt, SHARDS_IN_FLIGHT)) {
      await this.sendShard(run, shard);
    }
  }

  /** Puts a shard into the queue, after a delay in seconds. If that fails, the shard stays staged for the next `sendShards`. */
  async sendShard({ spec: { runId, workspaceId }, attempt }: RunRecord, shard: number, delaySec = 0): Promise<void> {
    const key = shardKey(runId, attempt, shard);
    const sent = await this.sendStep({ kind: "shard", workspaceId, runId, attempt, shard, key }, delaySec);
    if (!sent) this.#store.setShard(runId, attempt, shard, "staged");
  }

  #tenantLine(tenantId: string): TenantLine {
    return this.#env.TENANT_RUNS.get(this.#env.TENANT_RUNS.idFromName(tenantId));
  }

  /** Writes histories and failed outcomes to Postgres; success is written by the statement that switches the revision. */
  async recordOutcomes(): Promise<void> {
    for (const run of this.#store.unrecorded()) {
      const done = () => this.#store.save({ ...run, recorded: true, historyRecorded: true });
      try {
        const db = databaseOf(this.#env, run.spec.tenantId);
        if (run.recorded) await db.update(runs).set({ history: run.history }).where(eq(runs.id, run.spec.runId));
        else await this.#recordFailure(db, run);
        done();
      } catch (error) {
        // The tenant is gone, and the run's row with it.
        if (pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION) done();
        this.#log.error("run_outcome_not_recorded", error, { runId: run.spec.runId });
      }
    }
  }

  async #recordFailure(db: Db, { spec, error, endedAt, history }: RunRecord): Promise<void> {
    const { runId, tenantId, workspaceId, actor, kind } = spec;
    const at = new Date(endedAt ?? Date.now());
    const details = { runId, workspaceId, code: error?.code ?? "INTERNAL" };
    const event = kind === "index" ? "INDEX_RUN_FAILED" : "SNAPSHOT_FAILED";
    await db.batch([
      db
        .update(runs)
        .set({ state: "failed", error, history, finishedAt: at })
        .where(and(eq(runs.id, runId), inArray(runs.state, ["queued", "running"]))),
      recordAuditStatement(db, { event, tenantId, actor, at, details }),
    ]);
  }

  /** Counts runs as calls at the tenant's gate, each once. */
  async countRuns(): Promise<void> {
    for (const { runId, tenantId, kind } of this.#store.uncounted()) {
      try {
        const gate = this.#env.TENANT_GATE.get(this.#env.TENANT_GATE.idFromName(tenantId));
        await raceTimeout(gate.count(`run:${runId}`, kind), CALL_TIMEOUT_MS);
        this.#store.counted(runId);
      } catch (error) {
        this.#log.error("run_not_counted", error, { runId });
      }
    }
  }

  /** Reports the tokens that runs have used to the tenant's gate, including those of failed runs. */
  async reportUsage(): Promise<void> {
    for (const { batch, tenantId, tokens } of this.#store.usageToReport(() => crypto.randomUUID())) {
      try {
        const gate = this.#env.TENANT_GATE.get(this.#env.TENANT_GATE.idFromName(tenantId));
        await raceTimeout(gate.count(`tokens:${batch}`, null, tokens), CALL_TIMEOUT_MS);
        this.#store.usageReported(batch);
      } catch (error) {
        this.#log.error("usage_not_reported", error, { tenantId });
      }
    }
  }
}
