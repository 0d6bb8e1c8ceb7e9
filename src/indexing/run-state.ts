/**
 * The states of one run as plain data: what the coordinator stores, what the consumer reports, what clients see. Pure; the
 * Durable Object around it adds storage, clock and queue.
 */
import type { IndexOptions, RunPhase, RunStatus } from "../contract/index.ts";
import type { StepMessage } from "./messages.ts";

export interface SealedSource {
  url: string;
  ref?: string;
  auth?: { username?: string; /** Encrypted token. */ sealed: string };
}

export interface RunSpec {
  runId: string;
  tenantId: string;
  workspaceId: string;
  kind: "index" | "snapshot";
  source: SealedSource;
  options: IndexOptions;
  /** Public id of the credential that asked. */
  actor: string;
}

/** Embedding work done for a run. */
export interface WorkCounters {
  embedded: number;
  embedMs: number;
  tokens: number;
}

/** The work of one claim of a step, reported once however the step ends. */
export interface StepUsage extends WorkCounters {
  /** As {@link StepClaim} has it; work reported twice under one token counts once. */
  token: string;
}

/** What a worker gets that may do a step. */
export interface StepClaim {
  spec: RunSpec;
  /** Names this claim. */
  token: string;
}

export interface RunError {
  code: string;
  error: string;
  details?: Record<string, unknown>;
}

export interface RunRecord {
  spec: RunSpec;
  state: RunStatus["state"];
  phase: RunPhase;
  attempt: number;
  filesDone: number;
  filesTotal: number;
  /** Known once the plan is complete. */
  shards: number | null;
  shardsDone: number;
  /** When the current step, or the message that starts it, is given up (Unix milliseconds). */
  leaseUntil: number;
  /** The step that one worker has claimed and no other may do; null while none is claimed. */
  held: RunPhase | null;
  /** The message to send when the alarm fires next, because sending it has failed. */
  unsent: StepMessage | null;
  /** Attempts whose worker fell silent. One that only waited in the queue does not count. */
  lostAttempts: number;
  /** Consecutive failures of the plan, the finish or the build with the same code. Shards count their own. */
  failures: { code: string; count: number };
  /** The last failure that was retried: the error of the run when its retries are used up. */
  lastError: RunError | null;
  result: Record<string, unknown> | null;
  error: RunError | null;
  endedAt: number | null;
  /** Whether the outcome is in Postgres. Success is written there by the statement that switches the revision. */
  recorded: boolean;
}

/** How long a claimed step may stay silent before the run starts over from its plan. */
export const LEASE_MS = 15_000;
/** How long a message may wait in the queue, behind those of other workspaces, before it is taken for lost. */
export const QUEUE_LEASE_MS = 10 * 60_000;
/** Attempts that may fall silent, the first included, before the run fails. */
export const MAX_LOST_ATTEMPTS = 4;
/** Shards of one run in the queue at a time, so that a large run does not fill it. */
export const SHARDS_IN_FLIGHT = 8;

export const LOST_ERROR: RunError = { code: "INTERNAL", error: "the run was interrupted too often; start it again" };
export const CANCELLED_ERROR: RunError = { code: "RUN_CANCELLED", error: "the run was cancelled" };

const NO_FAILURES = { code: "", count: 0 };

/** A run as it stands in the queue. */
export function newRun(spec: RunSpec): RunRecord {
  return {
    spec,
    state: "queued",
    phase: "queued",
    attempt: 0,
    filesDone: 0,
    filesTotal: 0,
    shards: null,
    shardsDone: 0,
    leaseUntil: 0,
    held: null,
    unsent: null,
    lostAttempts: 0,
    failures: NO_FAILURES,
    lastError: null,
    result: null,
    error: null,
    endedAt: null,
    recorded: false,
  };
}

/** Begins the next attempt, from the plan. What earlier attempts stored still counts. */
export function beginAttempt(run: RunRecord, now: number): RunRecord {
  return {
    ...run,
    state: "running",
    phase: run.phase === "queued" ? "queued" : "pulling",
    attempt: run.attempt + 1,
    filesDone: 0,
    shards: null,
    shardsDone: 0,
    leaseUntil: now + QUEUE_LEASE_MS,
    held: null,
    unsent: null,
  };
}

/**
 * Claims a step of the run for one worker. Null when another one holds it: plan, finish and build must not be done twice at
 * the same time, and a message may be delivered twice. Shards may.
 */
export function claimStep(run: RunRecord, phase: RunPhase, now: number): RunRecord | null {
  if (phase === "indexing") return { ...run, phase, leaseUntil: Math.max(run.leaseUntil, now + LEASE_MS) };
  if (run.held === phase && run.leaseUntil > now) return null;
  // A plan is made once an attempt: its shards are on their way.
  if (phase === "pulling" && (run.shards !== null || run.held !== null)) return null;
  return { ...run, phase, held: phase, leaseUntil: now + LEASE_MS };
}

/** Takes a report of progress. A late one, from a step that has handed over, changes no lease. */
export function recordProgress(
  run: RunRecord,
  phase: RunPhase,
  progress: { filesDone?: number; filesTotal?: number },
  now: number,
): RunRecord {
  const next = { ...run, ...progress };
  if (phase === "indexing") return { ...next, leaseUntil: Math.max(run.leaseUntil, now + LEASE_MS) };
  return run.held === phase && run.phase === phase ? { ...next, leaseUntil: now + LEASE_MS } : next;
}

/** The plan is complete: shards may still be at work, the finish comes when they are done. */
export function recordPlan(run: RunRecord, plan: { shards: number; filesTotal: number }, now: number): RunRecord {
  const { shards, filesTotal } = plan;
  return { ...run, shards, filesTotal, phase: "indexing", failures: NO_FAILURES, leaseUntil: now + QUEUE_LEASE_MS };
}

/** Counts a failure of a step that one worker does at a time. */
export function recordFailure(run: RunRecord, error: RunError): RunRecord {
  const count = run.failures.code === error.code ? run.failures.count + 1 : 1;
  return { ...run, lastError: error, failures: { code: error.code, count } };
}

/** Passes the run on to its next step, which a message will start. */
export function handOver(run: RunRecord, phase: RunPhase, now: number): RunRecord {
  return { ...run, phase, held: null, failures: NO_FAILURES, leaseUntil: now + QUEUE_LEASE_MS };
}

export type RunOutcome = { result: Record<string, unknown> } | { error: RunError } | "cancelled";

/** Ends a run. The sealed credential goes with it. */
export function endRun(run: RunRecord, now: number, outcome: RunOutcome): RunRecord {
  const { auth: _dropped, ...source } = run.spec.source;
  const ended = { ...run, spec: { ...run.spec, source }, phase: "done" as const, unsent: null, endedAt: now };
  if (outcome === "cancelled") return { ...ended, state: "cancelled", error: CANCELLED_ERROR, recorded: true };
  if ("error" in outcome) return { ...ended, state: "failed", error: outcome.error };
  return { ...ended, state: "succeeded", filesDone: run.filesTotal, result: outcome.result, recorded: true };
}

export const isEnded = (run: RunRecord): boolean => run.endedAt !== null;

/** Every shard of the attempt is done, and no further one will come. */
export const isReady = (run: RunRecord): boolean => run.shards !== null && run.shardsDone >= run.shards;

/** The wire form of a run. */
export function toStatus(run: RunRecord): RunStatus {
  return {
    ok: true,
    runId: run.spec.runId,
    state: run.state,
    progress: { filesDone: run.filesDone, filesTotal: run.filesTotal, phase: run.phase },
    ...(run.result ? { result: run.result } : {}),
    ...(run.error ? { error: run.error } : {}),
  };
}
