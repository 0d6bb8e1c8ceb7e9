/**
 * The life of one run as plain data: what the run coordinator stores, what the consumer reports, what clients see.
 * Pure; the Durable Object around it brings storage, clock and queue.
 */
import type { IndexOptions, RunPhase, RunStatus } from "../contract/index.ts";

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

/** Work that was done for a run, summed over its shards and attempts. */
export interface WorkCounters {
  embedded: number;
  embedMs: number;
  tokens: number;
}

/** Work that was done in parts, as one. */
export function sumWork(a: WorkCounters, b: WorkCounters): WorkCounters {
  return { embedded: a.embedded + b.embedded, embedMs: a.embedMs + b.embedMs, tokens: a.tokens + b.tokens };
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
  work: WorkCounters;
  /** Until when the current step, or the message that will start it, is believed to be alive (Unix milliseconds). */
  leaseUntil: number;
  /** The step that has been claimed and may be done by one worker only; null while none is at work. */
  held: RunPhase | null;
  /** Attempts that a worker has begun on. One that only waited in the queue does not count against the run. */
  starts: number;
  /** The last failure that was retried: what the run ends with when its retries are used up. */
  lastError: RunError | null;
  result: Record<string, unknown> | null;
  error: RunError | null;
  endedAt: number | null;
  /** The outcome of a failed run is written to Postgres by the coordinator; false until it is there. */
  recorded: boolean;
}

/** How long a step at work may stay silent before the run is driven again from its plan. */
export const LEASE_MS = 15_000;
/** How long a message may wait in the queue, behind those of other workspaces, before it is taken for lost. */
export const QUEUE_LEASE_MS = 10 * 60_000;
/** Attempts of a run, the first included. */
export const MAX_ATTEMPTS = 4;

export const LOST_ERROR: RunError = { code: "INTERNAL", error: "the run was interrupted too often; start it again" };

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
    work: { embedded: 0, embedMs: 0, tokens: 0 },
    leaseUntil: 0,
    held: null,
    starts: 0,
    lastError: null,
    result: null,
    error: null,
    endedAt: null,
    recorded: false,
  };
}

/** Begins the next attempt: from the plan, with what earlier attempts stored still counting. */
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
  };
}

/**
 * Claims a step of the run for one worker. Null when another one holds it: the plan and the finish must not be done twice at
 * the same time, and a message may be delivered twice. Shards may.
 */
export function claimStep(run: RunRecord, phase: RunPhase, now: number): RunRecord | null {
  if (phase !== "indexing" && run.held === phase && run.leaseUntil > now) return null;
  // A plan that is complete is not made again in its attempt: its shards are on their way.
  if (phase === "pulling" && (run.shards !== null || run.held !== null)) return null;
  const first = phase === "pulling";
  return {
    ...run,
    phase,
    held: phase === "indexing" ? run.held : phase,
    starts: run.starts + (first ? 1 : 0),
    leaseUntil: now + LEASE_MS,
  };
}

/** Ends a run. The sealed credential goes with it. */
export function endRun(
  run: RunRecord,
  now: number,
  outcome: { result: Record<string, unknown> } | { error: RunError },
): RunRecord {
  const { auth: _gone, ...source } = run.spec.source;
  const succeeded = "result" in outcome;
  return {
    ...run,
    spec: { ...run.spec, source },
    state: succeeded ? "succeeded" : "failed",
    phase: "done",
    filesDone: succeeded ? run.filesTotal : run.filesDone,
    result: succeeded ? outcome.result : null,
    error: succeeded ? null : outcome.error,
    endedAt: now,
    recorded: succeeded,
  };
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
