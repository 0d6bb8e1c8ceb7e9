/**
 * The consumer's side of a run: which step a message means, and what a failure of it means for the run. Platform-free:
 * the queue and the run coordinator are passed in.
 */
import type { RunPhase } from "../contract/index.ts";
import { isUnreachable, PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { UpstreamError } from "../embedding/index.ts";
import { GitError } from "../git/index.ts";
import type { Logger } from "../log.ts";
import { StaleAttemptError, type StepContext } from "./context.ts";
import { finish, finishUnchanged } from "./finish.ts";
import type { StepMessage } from "./messages.ts";
import { isIndexed, plan } from "./plan.ts";
import type { RunError, RunSpec, WorkCounters } from "./run-state.ts";
import { processShard } from "./shard.ts";

/** The run coordinator as the consumer sees it. */
export interface RunsClient {
  claim(runId: string, attempt: number, phase: RunPhase): Promise<RunSpec | null>;
  beat(runId: string, attempt: number, progress: { filesDone?: number; filesTotal?: number }): Promise<boolean>;
  planned(runId: string, attempt: number, plan: { shards: number; filesTotal: number }): Promise<boolean>;
  shardDone(runId: string, attempt: number, shard: number, work: WorkCounters & { files: number }): Promise<void>;
  /** Adds work that was done without a shard message. */
  addWork(runId: string, attempt: number, work: WorkCounters): Promise<void>;
  work(runId: string, attempt: number): Promise<WorkCounters | null>;
  handOver(runId: string, attempt: number, kind: "build"): Promise<void>;
  retrying(runId: string, attempt: number, error: RunError, delaySec: number): Promise<void>;
  succeed(runId: string, attempt: number, result: Record<string, unknown>): Promise<void>;
  fail(runId: string, attempt: number, error: RunError | null): Promise<void>;
}

export interface StepDeps {
  runs: RunsClient;
  send: (message: StepMessage) => Promise<void>;
  /** Everything of a step's context but what belongs to the run itself. */
  context: (run: RunSpec, attempt: number) => Omit<StepContext, "run" | "attempt" | "beat">;
  /** Reports the tokens of a run to the tenant's gate; counted once a run. */
  countTokens: (run: RunSpec, tokens: number) => Promise<void>;
  /** Writes the artifact of a snapshot run; returns the run's result. */
  buildSnapshot: (step: StepContext) => Promise<Record<string, unknown>>;
  log: Logger;
}

const PHASE_OF: Record<StepMessage["kind"], RunPhase> = {
  plan: "pulling",
  shard: "indexing",
  finish: "finishing",
  build: "building",
};

/** Sign-of-life interval of a step that is waiting for something outside. */
const HEARTBEAT_MS = 4_000;

/** Does one step. Returns quietly when its attempt no longer counts; throws what `judgeFailure` then judges. */
export async function runStep(message: StepMessage, deps: StepDeps): Promise<void> {
  const { runId, attempt } = message;
  const run = await deps.runs.claim(runId, attempt, PHASE_OF[message.kind]);
  if (!run) return;
  const step: StepContext = {
    ...deps.context(run, attempt),
    run,
    attempt,
    beat: async (progress) => {
      if (!(await deps.runs.beat(runId, attempt, progress))) throw new StaleAttemptError("the attempt was given up");
    },
  };
  const heartbeat = setInterval(() => {
    deps.runs.beat(runId, attempt, {}).catch(() => {});
  }, HEARTBEAT_MS);
  try {
    await perform(message, step, deps);
  } catch (error) {
    if (!(error instanceof StaleAttemptError)) throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

async function perform(message: StepMessage, step: StepContext, deps: StepDeps): Promise<void> {
  const { runId, attempt } = message;
  switch (message.kind) {
    case "plan": {
      const { kind, source } = step.run;
      if (kind === "snapshot" && source.ref !== undefined && (await isIndexed(step, source.ref))) {
        return deps.runs.handOver(runId, attempt, "build");
      }
      return planAndStart(message, step, deps);
    }
    case "shard": {
      const work = await processShard(step, message.key);
      return work ? deps.runs.shardDone(runId, attempt, message.shard, work) : undefined;
    }
    case "finish":
      return completeIndex(step, deps);
    case "build":
      return deps.runs.succeed(runId, attempt, await deps.buildSnapshot(step));
  }
}

/**
 * Plans, and sends each shard as soon as a second one exists. A run of one shard, as most are that follow a change, is done
 * in place: it needs no messages.
 */
async function planAndStart(message: StepMessage, step: StepContext, deps: StepDeps): Promise<void> {
  const { runId, attempt, workspaceId } = message;
  const send = (shard: number, key: string) => deps.send({ kind: "shard", workspaceId, runId, attempt, shard, key });
  let held: { shard: number; key: string } | undefined;
  const outcome = await plan(step, async (shard, key) => {
    if (shard === 0) {
      held = { shard, key };
      return;
    }
    if (held) await send(held.shard, held.key);
    held = undefined;
    await send(shard, key);
  });
  if (outcome.outcome === "unchanged") return conclude(step, deps, await finishUnchanged(step, outcome.revision));
  let { shards } = outcome;
  if (held) {
    await step.beat({ filesTotal: outcome.filesTotal });
    const work = await processShard(step, held.key);
    if (work) await deps.runs.addWork(runId, attempt, work);
    shards = 0;
  }
  const ready = await deps.runs.planned(runId, attempt, { ...outcome, shards });
  return ready ? completeIndex(step, deps) : undefined;
}

async function completeIndex(step: StepContext, deps: StepDeps): Promise<void> {
  const work = await deps.runs.work(step.run.runId, step.attempt);
  if (!work) return;
  if (work.tokens > 0) await deps.countTokens(step.run, work.tokens);
  await conclude(step, deps, await finish(step, work));
}

async function conclude(step: StepContext, deps: StepDeps, result: Record<string, unknown>): Promise<void> {
  if (step.run.kind === "snapshot") await deps.runs.handOver(step.run.runId, step.attempt, "build");
  else await deps.runs.succeed(step.run.runId, step.attempt, result);
}

export type Verdict = { retry: true; error: RunError; delaySec: number } | { retry: false; error: RunError };

/** First wait before a message comes again; doubles with each delivery. */
const RETRY_BASE_SEC = 1;
const RETRY_CAP_SEC = 30;
/** Deliveries of one message, by kind of failure: a client may be waiting on a clone, nobody on a database that is away. */
const MAX_GIT_DELIVERIES = 3;
const MAX_UPSTREAM_DELIVERIES = 2;
const MAX_DELIVERIES = 5;

/** What a failed step means: try the message again, or fail the run, and with what. `delivery` counts from 1. */
export function judgeFailure(error: unknown, delivery: number, random: () => number = Math.random): Verdict {
  const delaySec = Math.ceil(Math.min(RETRY_CAP_SEC, RETRY_BASE_SEC * 2 ** (delivery - 1)) * (1 + random() * 0.25));
  const verdict = (runError: RunError, retryable: boolean, limit: number): Verdict =>
    retryable && delivery < limit ? { retry: true, error: runError, delaySec } : { retry: false, error: runError };
  if (error instanceof GitError) {
    const details = { gitStderr: error.stderr === "" ? error.message : error.stderr, reason: error.code };
    return verdict(
      { code: "CLONE_FAILED", error: `git: ${error.message}`, details },
      error.retryable,
      MAX_GIT_DELIVERIES,
    );
  }
  if (error instanceof UpstreamError) {
    return verdict(
      { code: "EMBED_FAILED", error: `the embedding provider failed: ${error.message}` },
      error.retryable,
      MAX_UPSTREAM_DELIVERIES,
    );
  }
  if (isUnreachable(error) && pgErrorCode(error) === undefined) {
    return verdict(
      { code: "STORAGE_UNAVAILABLE", error: "the database cannot be reached; try again later" },
      true,
      MAX_DELIVERIES,
    );
  }
  // A content that a sweep removed between plan and finish: the next attempt plans without it.
  const known = pgErrorCode(error);
  if (known !== undefined && known !== PG_FOREIGN_KEY_VIOLATION) {
    return verdict(
      { code: "STORAGE_UNAVAILABLE", error: "the database refused the write; try again later" },
      true,
      MAX_DELIVERIES,
    );
  }
  return verdict(
    { code: "INTERNAL", error: "an unexpected error while indexing; try again" },
    true,
    MAX_UPSTREAM_DELIVERIES,
  );
}
