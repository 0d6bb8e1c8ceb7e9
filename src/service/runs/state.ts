/**
 * The states of one run as plain data: what the coordinator stores, what the consumer reports, what clients see. Pure
 * functions; the coordinator's Durable Object adds storage, clock and queue.
 */
import type { RunPhase, RunStatus } from "../../contract/index.ts";
import { backoffMs } from "../../lib/backoff.ts";
import type { RunSpec } from "../db/run-spec.ts";
import { addRetry, enterPhase, leavePhase, NO_HISTORY, type Retry, type RunError, type RunHistory } from "./history.ts";
import type { StepMessage } from "./messages.ts";

/** Embedding work done for a run. */
export interface WorkCounters {
  embedded: number;
  embedMs: number;
  tokens: number;
}

/** The work of one claim of a step, reported once however the step ends. */
export interface StepUsage extends WorkCounters {
  /** The token of the {@link StepClaim}; work reported twice under one token counts once. */
  token: string;
}

/** Given to the worker that may process a step. */
export interface StepClaim {
  spec: RunSpec;
  /** Identifies this claim. */
  token: string;
}

export interface RunRecord {
  spec: RunSpec;
  state: RunStatus["state"];
  phase: RunPhase;
  attempt: number;
  filesDone: number;
  filesTotal: number;
  /** Seconds without progress, as the step last reported; 0 if it makes progress. */
  silentSec: number;
  /** Known once the plan is complete. */
  shards: number | null;
  shardsDone: number;
  /** When the current step, or the message that starts it, is given up (Unix milliseconds). */
  leaseUntil: number;
  /** The step that a worker has claimed exclusively; null while none is claimed. */
  held: RunPhase | null;
  /** The message to send at the next alarm, because sending it has failed. */
  unsent: StepMessage | null;
  /** Attempts whose worker stopped reporting. An attempt that only waited in the queue does not count. */
  lostAttempts: number;
  /** Restarts that a step after the plan has asked for. */
  restarts: number;
  /** Consecutive failures of the plan, the finish or the build with the same code. Shards count their own. */
  failures: { code: string; count: number };
  /** The last failure that was retried: the error of the run when its retries are used up. */
  lastError: RunError | null;
  result: Record<string, unknown> | null;
  error: RunError | null;
  endedAt: number | null;
  /** Whether the outcome is in Postgres. Success is written there by the statement that switches the revision. */
  recorded: boolean;
  history: RunHistory;
  /** Whether the history of a run that has ended is in Postgres. */
  historyRecorded: boolean;
}

/** How long a claimed step may go without a report before the run restarts from its plan. */
export const LEASE_MS = 15_000;
/** How long a message may wait in the queue, behind those of other workspaces, before it is considered lost. */
export const QUEUE_LEASE_MS = 10 * 60_000;
/** Attempts that may time out, the first included, before the run fails. */
export const MAX_LOST_ATTEMPTS = 4;
/** Pulls of a run from a git host that sends nothing; each waits as long as the git client does. */
export const GIT_SILENT_TRIES = 2;
/** Shards of one run in the queue at a time, so that a large run does not fill it. */
export const SHARDS_IN_FLIGHT = 8;

export const LOST_ERROR: RunError = { code: "INTERNAL", error: "the run was interrupted too often; start it again" };
/** Why an attempt is given up whose worker has stopped reporting, or whose message no worker has taken. */
export const SILENT_ERROR: RunError = { code: "LOST", error: "the worker stopped reporting" };
export const UNTAKEN_ERROR: RunError = { code: "LOST", error: "no worker took the step from the queue" };
const CANCELLED_ERROR: RunError = { code: "RUN_CANCELLED", error: "the run was cancelled" };

const NO_FAILURES = { code: "", count: 0 };

/** Creates the record of a queued run. */
export function newRun(spec: RunSpec): RunRecord {
  return {
    spec,
    state: "queued",
    phase: "queued",
    attempt: 0,
    filesDone: 0,
    filesTotal: 0,
    silentSec: 0,
    shards: null,
    shardsDone: 0,
    leaseUntil: 0,
    held: null,
    unsent: null,
    lostAttempts: 0,
    restarts: 0,
    failures: NO_FAILURES,
    lastError: null,
    result: null,
    error: null,
    endedAt: null,
    recorded: false,
    history: NO_HISTORY,
    historyRecorded: false,
  };
}

/** Begins the next attempt, from the plan. Data stored by earlier attempts is reused. */
export function beginAttempt(run: RunRecord, now: number): RunRecord {
  return {
    ...run,
    state: "running",
    phase: run.phase === "queued" ? "queued" : "pulling",
    attempt: run.attempt + 1,
    filesDone: 0,
    silentSec: 0,
    shards: null,
    shardsDone: 0,
    leaseUntil: now + QUEUE_LEASE_MS,
    held: null,
    unsent: null,
    history: leavePhase(run.history, now),
  };
}

/**
 * Claims a step of the run for one worker. Null if another worker holds it: a message may be delivered twice, and plan,
 * finish and build must not run concurrently. Shards may. `left`: the phase that the same worker leaves for this one.
 */
export function claimStep(run: RunRecord, phase: RunPhase, now: number, left?: RunPhase): RunRecord | null {
  const before = left === undefined ? run.history : leavePhase(run.history, now, left);
  const history = enterPhase(before, phase, run.attempt, now);
  if (phase === "indexing") return { ...run, phase, history, leaseUntil: Math.max(run.leaseUntil, now + LEASE_MS) };
  if (run.held === phase && run.leaseUntil > now) return null;
  // An attempt is planned only once: its shards are already in the queue.
  if (phase === "pulling" && (run.shards !== null || run.held !== null)) return null;
  return { ...run, phase, history, held: phase, leaseUntil: now + LEASE_MS };
}

export interface StepProgress {
  filesDone?: number;
  filesTotal?: number;
  silentSec?: number;
}

/** Applies a progress report. A late report from a step that has ended renews no lease. */
export function recordProgress(run: RunRecord, phase: RunPhase, progress: StepProgress, now: number): RunRecord {
  const next = { ...run, silentSec: 0, ...progress };
  if (phase === "indexing") return { ...next, leaseUntil: Math.max(run.leaseUntil, now + LEASE_MS) };
  return run.held === phase && run.phase === phase ? { ...next, leaseUntil: now + LEASE_MS } : next;
}

/** Records that the plan is complete. The finish follows when all shards are done. */
export function recordPlan(run: RunRecord, plan: { shards: number; filesTotal: number }, now: number): RunRecord {
  const { shards, filesTotal } = plan;
  return {
    ...run,
    shards,
    filesTotal,
    silentSec: 0,
    phase: "indexing",
    failures: NO_FAILURES,
    history: leavePhase(run.history, now, "pulling"),
    leaseUntil: now + QUEUE_LEASE_MS,
  };
}

/** Counts a failure of an exclusive step (plan, finish or build). */
export function recordFailure(run: RunRecord, error: RunError): RunRecord {
  const count = run.failures.code === error.code ? run.failures.count + 1 : 1;
  return { ...run, lastError: error, failures: { code: error.code, count } };
}

/** Notes in the run's history that it goes on after a failure. */
export function noteRetry(
  run: RunRecord,
  error: RunError,
  retry: Pick<Retry, "step" | "action" | "waitSec">,
  now: number,
): RunRecord {
  return { ...run, history: addRetry(run.history, error, { ...retry, at: now, attempt: run.attempt }) };
}

/** Moves the run to its next step, which a message will start. */
export function handOver(run: RunRecord, phase: RunPhase, now: number): RunRecord {
  const history = leavePhase(run.history, now);
  return { ...run, phase, history, silentSec: 0, held: null, failures: NO_FAILURES, leaseUntil: now + QUEUE_LEASE_MS };
}

export type RunOutcome = { result: Record<string, unknown> } | { error: RunError } | "cancelled";

/** Ends a run and deletes its sealed credential. */
export function endRun(run: RunRecord, now: number, outcome: RunOutcome): RunRecord {
  const { auth: _dropped, ...source } = run.spec.source;
  const history = leavePhase(run.history, now);
  const ended = { ...run, spec: { ...run.spec, source }, phase: "done" as const, unsent: null, endedAt: now, history };
  if (outcome === "cancelled") return { ...ended, state: "cancelled", error: CANCELLED_ERROR, recorded: true };
  if ("error" in outcome) return { ...ended, state: "failed", error: outcome.error };
  return { ...ended, state: "succeeded", filesDone: run.filesTotal, result: outcome.result, recorded: true };
}

export const isEnded = (run: RunRecord): boolean => run.endedAt !== null;

/** Whether the plan is complete and every shard of the attempt is done. */
export const isReady = (run: RunRecord): boolean => run.shards !== null && run.shardsDone >= run.shards;

/** The wire form of a run. */
export function toStatus(run: RunRecord): RunStatus {
  return {
    ok: true,
    runId: run.spec.runId,
    state: run.state,
    progress: {
      filesDone: run.filesDone,
      filesTotal: run.filesTotal,
      phase: run.phase,
      ...(run.silentSec > 0 && !isEnded(run) ? { silentSec: run.silentSec } : {}),
    },
    ...(run.result ? { result: run.result } : {}),
    ...(run.error ? { error: run.error } : {}),
  };
}

const RETRY_BACKOFF = { baseMs: 1_000, capMs: 30_000 };

/** Seconds to wait before retry number `failures`. */
export function retryDelaySec(failures: number): number {
  return Math.ceil(backoffMs(failures, RETRY_BACKOFF) / 1_000);
}
