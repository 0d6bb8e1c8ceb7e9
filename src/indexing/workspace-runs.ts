// oxlint-disable-next-line no-restricted-imports -- a Durable Object; the rest of the folder is platform-free
import { DurableObject } from "cloudflare:workers";
import { and, eq, inArray } from "drizzle-orm";
import { recordAuditStatement } from "../audit/index.ts";
import type { RunPhase, RunStatus } from "../contract/index.ts";
import { type Db, openDb } from "../db/client.ts";
import { runs } from "../db/schema.ts";
import { createLogger } from "../log.ts";
import type { StepMessage } from "./messages.ts";
import {
  beginAttempt,
  claimStep,
  endRun,
  isEnded,
  isReady,
  LEASE_MS,
  LOST_ERROR,
  MAX_ATTEMPTS,
  newRun,
  QUEUE_LEASE_MS,
  type RunError,
  type RunRecord,
  type RunSpec,
  sumWork,
  toStatus,
  type WorkCounters,
} from "./run-state.ts";
import { sseStream } from "./sse.ts";

/** Ended runs stay readable here this long; afterwards Postgres alone knows them. */
const KEEP_ENDED_MS = 24 * 3_600_000;
const RECORD_RETRY_MS = 5_000;
/** Puts the alarm just past the end of a lease. */
const LEASE_SLACK_MS = 50;
/** A waiting RPC is answered at least this often, so that a broken waiter is noticed. */
const MAX_WAIT_MS = 60_000;

/**
 * Coordinates the runs of one workspace: one at a time, in the order they came. It counts the shards of the active run,
 * drives a run again whose step fell silent, wakes those who wait, and streams progress. The work itself happens in the
 * indexer; whatever arrives there from an attempt that was given up is refused here.
 */
export class WorkspaceRuns extends DurableObject<ApiEnv> {
  private readonly sql: SqlStorage;
  private readonly log = createLogger({ worker: "api", object: "WorkspaceRuns" });
  private readonly listeners = new Set<(run: RunRecord) => void>();
  /** The run that is being worked on, if any; written through to storage. */
  private active: RunRecord | undefined;

  constructor(ctx: DurableObjectState, env: ApiEnv) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec(
      "create table if not exists runs (position integer primary key autoincrement, run_id text unique, ended integer, record text)",
    );
    this.sql.exec(
      "create table if not exists shards (run_id text, attempt integer, shard integer, primary key (run_id, attempt, shard))",
    );
    this.active = this.load("select record from runs where ended = 0 order by position limit 1");
    if (this.active && this.active.state === "queued") this.active = undefined;
    // After a restart of everything the queue may be empty: do not wait as long as for a message that is known to be in it.
    if (this.active) {
      this.active = { ...this.active, leaseUntil: Math.min(this.active.leaseUntil, Date.now() + LEASE_MS) };
    }
    // Whatever was to happen next must not depend on somebody calling.
    if (this.load("select record from runs limit 1")) void ctx.storage.setAlarm(this.nextLook(Date.now()));
  }

  /** Accepts a run. Asking again for the same run changes nothing. */
  async submit(spec: RunSpec): Promise<void> {
    if (!this.find(spec.runId)) this.save(newRun(spec));
    await this.startNext();
  }

  /** What a step needs to know, or null when its attempt no longer counts. */
  claim(runId: string, attempt: number, phase: RunPhase): RunSpec | null {
    const run = this.current(runId, attempt);
    if (!run) return null;
    const claimed = claimStep(run, phase, Date.now());
    if (!claimed) return null;
    this.update(claimed);
    return run.spec;
  }

  /** A sign of life, with progress. False tells the step to stop. */
  beat(runId: string, attempt: number, progress: { filesDone?: number; filesTotal?: number }): boolean {
    const run = this.current(runId, attempt);
    if (!run) return false;
    this.update({ ...run, ...progress, leaseUntil: Date.now() + LEASE_MS });
    return true;
  }

  /** The plan is complete. True when nothing is left but to finish: the caller does it; else the last shard triggers it. */
  planned(runId: string, attempt: number, plan: { shards: number; filesTotal: number }): boolean {
    const run = this.current(runId, attempt);
    if (!run) return false;
    const { shards, filesTotal } = plan;
    const next: RunRecord = {
      ...run,
      shards,
      filesTotal,
      phase: "indexing",
      leaseUntil: Date.now() + QUEUE_LEASE_MS,
    };
    this.update(next);
    return isReady(next);
  }

  /** A shard is stored. Counted once, however often it is reported. */
  async shardDone(
    runId: string,
    attempt: number,
    shard: number,
    work: WorkCounters & { files: number },
  ): Promise<void> {
    const run = this.current(runId, attempt);
    if (!run) return;
    const fresh = this.sql.exec("insert or ignore into shards values (?, ?, ?)", runId, attempt, shard).rowsWritten > 0;
    if (!fresh) return;
    const next: RunRecord = {
      ...run,
      shardsDone: run.shardsDone + 1,
      filesDone: run.filesDone + work.files,
      work: sumWork(run.work, work),
      leaseUntil: Date.now() + QUEUE_LEASE_MS,
    };
    this.update(next);
    if (isReady(next)) await this.send({ kind: "finish", workspaceId: run.spec.workspaceId, runId, attempt });
  }

  /** Adds work that was done outside of a shard message. */
  addWork(runId: string, attempt: number, work: WorkCounters): void {
    const run = this.current(runId, attempt);
    if (run) this.update({ ...run, work: sumWork(run.work, work) });
  }

  /** All work of the run so far. */
  work(runId: string, attempt: number): WorkCounters | null {
    return this.current(runId, attempt)?.work ?? null;
  }

  /** Passes a run on to another step, such as the building of a snapshot after its indexing. */
  async handOver(runId: string, attempt: number, kind: "build"): Promise<void> {
    const run = this.current(runId, attempt);
    if (!run) return;
    this.update({ ...run, phase: "building", held: null, leaseUntil: Date.now() + QUEUE_LEASE_MS });
    await this.send({ kind, workspaceId: run.spec.workspaceId, runId, attempt });
  }

  /** A step failed and will be delivered again after `delaySec`. */
  retrying(runId: string, attempt: number, error: RunError, delaySec: number): void {
    const run = this.current(runId, attempt);
    const leaseUntil = Date.now() + delaySec * 1_000 + QUEUE_LEASE_MS;
    if (run) this.update({ ...run, lastError: error, held: null, leaseUntil });
  }

  /** Gives the attempt up and begins the next one, from its plan, after `delaySec`; fails the run after its last attempt. */
  async restart(runId: string, attempt: number, error: RunError, delaySec: number): Promise<void> {
    const run = this.current(runId, attempt);
    if (!run) return;
    if (run.starts >= MAX_ATTEMPTS) await this.end(endRun(run, Date.now(), { error }));
    else await this.drive({ ...run, lastError: error }, delaySec);
  }

  async succeed(runId: string, attempt: number, result: Record<string, unknown>): Promise<void> {
    const run = this.current(runId, attempt);
    if (run) await this.end(endRun(run, Date.now(), { result }));
  }

  /** Fails the run for good; `error` null means its last retried failure. */
  async fail(runId: string, attempt: number, error: RunError | null): Promise<void> {
    const run = this.current(runId, attempt);
    if (run) await this.end(endRun(run, Date.now(), { error: error ?? run.lastError ?? LOST_ERROR }));
  }

  status(runId: string): RunStatus | null {
    const run = this.find(runId);
    return run ? toStatus(run) : null;
  }

  /** Resolves with the run's status when it has ended, or as it stands after a minute; null for an unknown run. */
  async wait(runId: string): Promise<RunStatus | null> {
    const run = this.find(runId);
    if (!run || isEnded(run)) return run ? toStatus(run) : null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = (changed: RunRecord) => {
      if (changed.spec.runId === runId && isEnded(changed)) resolve();
    };
    this.listeners.add(listener);
    const timer = setTimeout(resolve, MAX_WAIT_MS);
    await promise;
    clearTimeout(timer);
    this.listeners.delete(listener);
    return this.status(runId);
  }

  /** The run's status as server-sent events, from now until it has ended; null for an unknown run. */
  events(runId: string): ReadableStream<Uint8Array> | null {
    const run = this.find(runId);
    if (!run) return null;
    return sseStream(toStatus(run), (push) => {
      const listener = (changed: RunRecord) => {
        if (changed.spec.runId === runId) push(toStatus(changed));
      };
      this.listeners.add(listener);
      return () => this.listeners.delete(listener);
    });
  }

  /** Looks after runs whose step fell silent, outcomes not yet recorded, and old records. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    if (this.active && this.active.leaseUntil <= now) {
      const run = this.active;
      this.log.warn("run_silent", { runId: run.spec.runId, attempt: run.attempt });
      if (run.starts >= MAX_ATTEMPTS) await this.end(endRun(run, now, { error: run.lastError ?? LOST_ERROR }));
      else await this.drive(run);
    }
    await this.startNext();
    await this.recordFailures();
    this.sql.exec(
      "delete from runs where ended > 0 and ended < ? and json_extract(record, '$.recorded') = 1",
      now - KEEP_ENDED_MS,
    );
    if (this.load("select record from runs limit 1")) await this.ctx.storage.setAlarm(this.nextLook(now));
  }

  /** When the alarm should ring next: as the active run's lease ends, soon for an outcome to be recorded, else to forget. */
  private nextLook(now: number): number {
    if (this.unrecorded().length > 0) return now + RECORD_RETRY_MS;
    return this.active ? Math.max(this.active.leaseUntil, now) + LEASE_SLACK_MS : now + KEEP_ENDED_MS;
  }

  private async startNext(): Promise<void> {
    if (this.active) return;
    const next = this.load("select record from runs where ended = 0 order by position limit 1");
    if (next) await this.drive(next);
  }

  private async drive(run: RunRecord, delaySec = 0): Promise<void> {
    const started = beginAttempt(run, Date.now());
    this.active = started;
    this.sql.exec("delete from shards where run_id = ?", run.spec.runId);
    this.update(started);
    await this.ctx.storage.setAlarm(this.nextLook(Date.now()));
    const { workspaceId, runId } = run.spec;
    await this.send({ kind: "plan", workspaceId, runId, attempt: started.attempt }, delaySec);
  }

  private async end(ended: RunRecord): Promise<void> {
    this.active = undefined;
    this.sql.exec("delete from shards where run_id = ?", ended.spec.runId);
    this.save(ended);
    this.notify(ended);
    await this.recordFailures();
    await this.startNext();
    await this.ctx.storage.setAlarm(this.nextLook(Date.now()));
  }

  /** Writes failed outcomes to Postgres; success is written by the statement that switches the revision. */
  private async recordFailures(): Promise<void> {
    for (const run of this.unrecorded()) {
      try {
        const db = this.db();
        const { runId, tenantId, workspaceId, actor, kind } = run.spec;
        const at = new Date(run.endedAt ?? Date.now());
        const details = { runId, workspaceId, code: run.error?.code ?? "INTERNAL" };
        await db.batch([
          db
            .update(runs)
            .set({ state: "failed", error: run.error, finishedAt: at })
            .where(and(eq(runs.id, runId), inArray(runs.state, ["queued", "running"]))),
          recordAuditStatement(db, {
            event: kind === "index" ? "INDEX_RUN_FAILED" : "SNAPSHOT_FAILED",
            tenantId,
            actor,
            at,
            details,
          }),
        ]);
        // What was embedded is paid for, whatever became of the run.
        const gate = this.env.TENANT_GATE.get(this.env.TENANT_GATE.idFromName(tenantId));
        if (run.work.tokens > 0) await gate.count(`tokens:${runId}`, null, run.work.tokens);
        this.save({ ...run, recorded: true });
      } catch (error) {
        this.log.error("run_outcome_not_recorded", error, { runId: run.spec.runId });
      }
    }
  }

  private unrecorded(): RunRecord[] {
    return this.sql
      .exec<{ record: string }>("select record from runs where ended > 0 and json_extract(record, '$.recorded') = 0")
      .toArray()
      .map((row) => JSON.parse(row.record) as RunRecord);
  }

  private async send(message: StepMessage, delaySeconds = 0): Promise<void> {
    try {
      await this.env.INDEX_QUEUE.send(message, { delaySeconds });
    } catch (error) {
      // The lease runs out without this message, and the alarm drives the run again.
      this.log.error("queue_send_failed", error, { runId: message.runId, kind: message.kind });
    }
  }

  private current(runId: string, attempt: number): RunRecord | undefined {
    const run = this.active;
    return run && run.spec.runId === runId && run.attempt === attempt ? run : undefined;
  }

  private find(runId: string): RunRecord | undefined {
    if (this.active?.spec.runId === runId) return this.active;
    return this.load("select record from runs where run_id = ?", runId);
  }

  private load(query: string, ...bindings: string[]): RunRecord | undefined {
    const row = this.sql.exec<{ record: string }>(query, ...bindings).toArray()[0];
    return row && (JSON.parse(row.record) as RunRecord);
  }

  private update(run: RunRecord): void {
    this.active = run;
    this.save(run);
    this.notify(run);
  }

  private save(run: RunRecord): void {
    this.sql.exec(
      "insert into runs (run_id, ended, record) values (?, ?, ?) on conflict (run_id) do update set ended = excluded.ended, record = excluded.record",
      run.spec.runId,
      run.endedAt ?? 0,
      JSON.stringify(run),
    );
  }

  private notify(run: RunRecord): void {
    for (const listener of this.listeners) listener(run);
  }

  private db(): Db {
    return openDb(this.env.DATABASE_URL);
  }
}
