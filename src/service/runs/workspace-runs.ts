// oxlint-disable-next-line no-restricted-imports -- a Durable Object; the rest of the folder is platform-free
import { DurableObject } from "cloudflare:workers";
import type { RunPhase, RunStatus } from "../../contract/index.ts";
import { createLogger } from "../../lib/log.ts";
import { type StepMessage, stepMessage } from "./messages.ts";
import {
  beginAttempt,
  claimStep,
  endRun,
  handOver,
  isEnded,
  isReady,
  LEASE_MS,
  LOST_ERROR,
  MAX_LOST_ATTEMPTS,
  noteRetry,
  QUEUE_LEASE_MS,
  recordFailure,
  recordPlan,
  recordProgress,
  retryDelaySec,
  type RunOutcome,
  type RunRecord,
  SILENT_ERROR,
  type StepClaim,
  type StepProgress,
  type StepUsage,
  toStatus,
  UNTAKEN_ERROR,
  type WorkCounters,
} from "./state.ts";
import type { RunSpec } from "../db/run-spec.ts";
import type { RunHistory } from "./history.ts";
import { RunOutbox } from "./outbox.ts";
import { RunStore } from "./store.ts";
import { RunWatchers } from "./watchers.ts";
import type { StepRef, Verdict } from "./coordinator.ts";

/** How long ended runs are stored here; afterwards only Postgres has them. */
const KEEP_ENDED_MS = 24 * 3_600_000;
/**
 * Maximum interval between alarms while work is left. The alarm wakes this object after a restart, so the interval must not
 * exceed the time that a run may wait.
 */
const TICK_MS = 5_000;

/**
 * Coordinates the runs of one workspace, one at a time, in order of arrival. It sends the messages of the active run, counts
 * its shards, restarts it when its step stops reporting, answers waiting calls, and streams progress. The indexer does the
 * work; reports of an attempt that was given up are rejected here.
 */
export class WorkspaceRuns extends DurableObject<ApiEnv> {
  readonly #store: RunStore;
  readonly #outbox: RunOutbox;
  readonly #log = createLogger({ worker: "api", object: "WorkspaceRuns" });
  readonly #watchers = new RunWatchers();
  /** The active run, if any; written through to storage. */
  #active: RunRecord | undefined;
  #starting = false;

  constructor(ctx: DurableObjectState, env: ApiEnv) {
    super(ctx, env);
    this.#store = new RunStore(ctx.storage);
    this.#outbox = new RunOutbox(this.#store, env, this.#log);
    this.#active = this.#store.running();
    // A full restart may lose queued messages: wait for them no longer than for a silent step.
    if (this.#active) {
      this.#active = { ...this.#active, leaseUntil: Math.min(this.#active.leaseUntil, Date.now() + LEASE_MS) };
    }
    if (!this.#store.isEmpty()) void ctx.storage.setAlarm(this.#nextAlarm());
  }

  /** Accepts a run. Idempotent. */
  async submit(spec: RunSpec): Promise<void> {
    if (!this.#find(spec.runId)) this.#store.add(spec);
    await this.ctx.storage.setAlarm(this.#nextAlarm());
    await this.#startNext();
    await this.#outbox.countRuns();
  }

  /** Deletes all state after the workspace's tenant was erased. Later reports of running steps are rejected. */
  async erase(): Promise<void> {
    this.#active = undefined;
    await this.ctx.storage.deleteAll();
    await this.ctx.storage.deleteAlarm();
    // Later calls still need the tables.
    this.#store.createTables();
  }

  /** Called when a run of this workspace was granted one of its tenant's slots. */
  async slotGranted(): Promise<void> {
    await this.#startNext();
  }

  /** Claims a step for a worker. Null if its attempt was given up or another worker has claimed the step. */
  claim(runId: string, attempt: number, phase: RunPhase, left?: RunPhase): StepClaim | null {
    const run = this.#current(runId, attempt);
    const claimed = run && claimStep(run, phase, Date.now(), left);
    if (!run || !claimed) return null;
    this.#update(claimed);
    return { spec: run.spec, token: crypto.randomUUID() };
  }

  /** Applies a progress report. False if the step must stop. */
  beat(runId: string, attempt: number, phase: RunPhase, progress: StepProgress): boolean {
    const run = this.#current(runId, attempt);
    if (run) this.#update(recordProgress(run, phase, progress, Date.now()));
    return run !== undefined;
  }

  /** Called when a shard is staged; sends it as soon as few enough shards are in the queue. */
  async shardStaged(runId: string, attempt: number, shard: number): Promise<void> {
    const run = this.#current(runId, attempt);
    if (!run) return;
    this.#store.addShard(runId, attempt, shard);
    await this.#outbox.sendShards(run);
  }

  /** Called when the plan is complete. True if only the finish is left, which the caller then does; else the last shard triggers it. */
  planned(runId: string, attempt: number, plan: { shards: number; filesTotal: number }, usage: StepUsage): boolean {
    this.#addUsage(runId, usage);
    const run = this.#current(runId, attempt);
    if (!run) return false;
    const next = recordPlan(run, plan, Date.now());
    this.#update(next);
    return isReady(next);
  }

  /** Called when a shard is stored. Idempotent. */
  async shardDone(runId: string, attempt: number, shard: number, files: number, usage: StepUsage): Promise<void> {
    this.#addUsage(runId, usage);
    const run = this.#current(runId, attempt);
    if (!run || !this.#store.setShard(runId, attempt, shard, "done")) return;
    const counted = { ...run, shardsDone: run.shardsDone + 1, filesDone: run.filesDone + files };
    if (isReady(counted)) await this.#sendNext(counted, "finishing", "finish");
    else {
      // While the plan runs, its own reports renew the lease; after it, shards may wait in the queue.
      const lease = run.shards === null ? LEASE_MS : QUEUE_LEASE_MS;
      this.#update({ ...counted, leaseUntil: Math.max(run.leaseUntil, Date.now() + lease) });
      await this.#outbox.sendShards(counted);
    }
  }

  /** Adds work that no other call reports, such as that of an attempt that was given up. */
  spent(runId: string, usage: StepUsage): void {
    this.#addUsage(runId, usage);
  }

  /** Total work of the run so far; null if the attempt was given up. */
  work(runId: string, attempt: number): WorkCounters | null {
    return this.#current(runId, attempt) ? this.#store.work(runId) : null;
  }

  /** Moves a run to another step, such as the snapshot build after indexing. */
  async handOver(runId: string, attempt: number, kind: "build"): Promise<void> {
    const run = this.#current(runId, attempt);
    if (run) await this.#sendNext(run, "building", kind);
  }

  /** Called when a step failed: resends the step, restarts the run from its plan, or fails it, according to the verdict and its limit. */
  async failed(runId: string, attempt: number, step: StepRef, verdict: Verdict, usage?: StepUsage): Promise<void> {
    if (usage) this.#addUsage(runId, usage);
    const run = this.#current(runId, attempt);
    if (!run) return;
    const { error, action, limit } = verdict;
    // A complete plan resets the count of failures. The message of a plan may go on to the finish.
    if (action === "restart" && (step.kind !== "plan" || run.shards !== null)) return this.#restart(run, step, verdict);
    const counted = step.kind === "shard" ? { ...run, lastError: error } : recordFailure(run, error);
    const failures =
      step.kind === "shard" ? this.#store.countShardFailure(runId, attempt, step.shard) : counted.failures.count;
    if (action === "fail" || failures >= limit) return this.#end(counted, { error });
    const waitSec = retryDelaySec(failures);
    const noted = noteRetry(
      counted,
      error,
      { step: step.kind, action: action === "restart" ? "restart" : "repeat", waitSec },
      Date.now(),
    );
    if (action === "restart") await this.#drive(noted, waitSec);
    else await this.#resend(noted, step, waitSec);
  }

  async #restart(run: RunRecord, step: StepRef, { error, limit }: Verdict): Promise<void> {
    const counted = { ...run, lastError: error, restarts: run.restarts + 1 };
    if (counted.restarts >= limit) return this.#end(counted, { error });
    const waitSec = retryDelaySec(counted.restarts);
    await this.#drive(noteRetry(counted, error, { step: step.kind, action: "restart", waitSec }, Date.now()), waitSec);
  }

  async succeed(runId: string, attempt: number, result: Record<string, unknown>): Promise<void> {
    const run = this.#current(runId, attempt);
    if (run) await this.#end(run, { result });
  }

  /** Fails the run with its last retried error, after its message reached the dead-letter queue. */
  async failOrphaned(runId: string, attempt: number): Promise<void> {
    const run = this.#current(runId, attempt);
    if (run) await this.#end(run, { error: run.lastError ?? LOST_ERROR });
  }

  async cancel(runId: string): Promise<RunStatus | null> {
    const run = this.#find(runId);
    if (run && !isEnded(run)) await this.#end(run, "cancelled");
    return this.status(runId);
  }

  status(runId: string): RunStatus | null {
    const run = this.#find(runId);
    return run ? toStatus(run) : null;
  }

  /** History of a run; null for an unknown run. */
  history(runId: string): RunHistory | null {
    return this.#find(runId)?.history ?? null;
  }

  unfinished(): RunStatus[] {
    return this.#store.unfinished().map(toStatus);
  }

  isUnfinished(runId: string): boolean {
    const run = this.#find(runId);
    return run !== undefined && !isEnded(run);
  }

  /** Waits up to a minute for the run to end and returns its status; null for an unknown run. */
  async wait(runId: string): Promise<RunStatus | null> {
    const run = this.#find(runId);
    if (run && !isEnded(run)) await this.#watchers.untilEnded(runId);
    return this.status(runId);
  }

  /** Streams the run's status as server-sent events until it ends; null for an unknown run. */
  events(runId: string): ReadableStream<Uint8Array> | null {
    const run = this.#find(runId);
    return run ? this.#watchers.stream(run) : null;
  }

  /** Restarts silent runs, resends unsent messages, records outcomes, calls and usage, and deletes old runs. */
  override async alarm(): Promise<void> {
    // Set the next alarm first, so that failures below are retried.
    await this.ctx.storage.setAlarm(Date.now() + TICK_MS);
    await this.#restartIfSilent();
    if (this.#active?.unsent) await this.#send(this.#active, this.#active.unsent);
    if (this.#active) await this.#outbox.sendShards(this.#active);
    await this.#startNext();
    await this.#outbox.recordOutcomes();
    await this.#outbox.countRuns();
    await this.#outbox.reportUsage();
    this.#store.forget(Date.now() - KEEP_ENDED_MS);
    if (this.#store.isEmpty()) await this.ctx.storage.deleteAlarm();
    else await this.ctx.storage.setAlarm(this.#nextAlarm());
  }

  async #restartIfSilent(): Promise<void> {
    const run = this.#active;
    if (!run || run.leaseUntil > Date.now()) return;
    // An attempt without a claimed step has only waited in the queue.
    const begun = run.held !== null || run.shards !== null;
    const lost = { ...run, lostAttempts: run.lostAttempts + (begun ? 1 : 0) };
    this.#log.warn("run_silent", { runId: run.spec.runId, attempt: run.attempt, phase: run.phase });
    if (lost.lostAttempts >= MAX_LOST_ATTEMPTS) return this.#end(lost, { error: run.lastError ?? LOST_ERROR });
    await this.#drive(
      noteRetry(lost, begun ? SILENT_ERROR : UNTAKEN_ERROR, { step: null, action: "restart", waitSec: 0 }, Date.now()),
    );
  }

  #nextAlarm(): number {
    const now = Date.now();
    if (this.#active) return Math.min(Math.max(this.#active.leaseUntil, now), now + TICK_MS);
    const store = this.#store;
    const busy = store.unfinished().length + store.unrecorded().length + store.uncounted().length > 0;
    return now + (busy ? TICK_MS : KEEP_ENDED_MS);
  }

  /** Starts the next run in line as soon as its tenant has a free slot. */
  async #startNext(): Promise<void> {
    if (this.#active || this.#starting) return;
    this.#starting = true;
    try {
      const next = this.#store.unfinished()[0];
      if (!next || !(await this.#outbox.requestSlot(next.spec))) return;
      const run = this.#store.find(next.spec.runId);
      if (run?.state === "queued") await this.#drive(run);
    } finally {
      this.#starting = false;
    }
  }

  /** Begins an attempt of a run from its plan. */
  async #drive(run: RunRecord, delaySec = 0): Promise<void> {
    const started = beginAttempt(run, Date.now());
    this.#active = started;
    this.#store.clearShards(run.spec.runId);
    this.#update(started);
    await this.ctx.storage.setAlarm(this.#nextAlarm());
    await this.#send(started, stepMessage(started, "plan"), delaySec);
  }

  async #sendNext(run: RunRecord, phase: RunPhase, kind: "finish" | "build"): Promise<void> {
    const next = handOver(run, phase, Date.now());
    this.#update(next);
    await this.#send(next, stepMessage(next, kind));
  }

  async #resend(run: RunRecord, step: StepRef, delaySec: number): Promise<void> {
    if (step.kind === "shard") {
      this.#update({ ...run, leaseUntil: Math.max(run.leaseUntil, Date.now() + delaySec * 1_000 + LEASE_MS) });
      return this.#outbox.sendShard(run, step.shard, delaySec);
    }
    const waiting = { ...run, held: null, leaseUntil: handOver(run, run.phase, Date.now()).leaseUntil };
    this.#update(waiting);
    await this.#send(waiting, stepMessage(waiting, step.kind), delaySec);
  }

  /** Sends the message of a run's next step; if that fails, the next alarm sends it again. */
  async #send(run: RunRecord, message: StepMessage, delaySec = 0): Promise<void> {
    const sent = await this.#outbox.sendStep(message, delaySec);
    const now = this.#current(run.spec.runId, run.attempt);
    const unsent = sent ? null : message;
    if (now && now.unsent !== unsent) this.#update({ ...now, unsent });
  }

  async #end(run: RunRecord, outcome: RunOutcome): Promise<void> {
    const ended = endRun(run, Date.now(), outcome);
    const { runId } = ended.spec;
    if (this.#active?.spec.runId === runId) this.#active = undefined;
    this.#store.clearShards(runId);
    this.#store.save(ended);
    await this.ctx.storage.setAlarm(this.#nextAlarm());
    await this.#outbox.reportUsage();
    this.#watchers.notify(ended);
    await this.#outbox.releaseSlot(ended.spec);
    await this.#startNext();
    await this.#outbox.recordOutcomes();
    await this.ctx.storage.setAlarm(this.#nextAlarm());
  }

  #addUsage(runId: string, usage: StepUsage): void {
    const run = this.#find(runId);
    if (run) this.#store.addUsage(run, usage);
  }

  #current(runId: string, attempt: number): RunRecord | undefined {
    const run = this.#active;
    return run && run.spec.runId === runId && run.attempt === attempt ? run : undefined;
  }

  #find(runId: string): RunRecord | undefined {
    return this.#active?.spec.runId === runId ? this.#active : this.#store.find(runId);
  }

  #update(run: RunRecord): void {
    this.#active = run;
    this.#store.save(run);
    this.#watchers.notify(run);
  }
}
