/**
 * The consumer's side of a run: which step a message means, and what a failure of it means for the run. Platform-free:
 * the queue and the run coordinator are passed in.
 */
import type { RunPhase } from "../contract/index.ts";
import { isUnreachable, PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { UpstreamError } from "../embedding/index.ts";
import { ApiError } from "../errors.ts";
import { GitError } from "../git/index.ts";
import type { Logger } from "../log.ts";
import { StaleAttemptError, StalePlanError, type StepContext } from "./context.ts";
import { cleanUp, finish, finishUnchanged } from "./finish.ts";
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
  /** Gives the attempt up and begins the next one from its plan. */
  restart(runId: string, attempt: number, error: RunError, delaySec: number): Promise<void>;
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
  await cleanUp(step);
}

async function conclude(step: StepContext, deps: StepDeps, result: Record<string, unknown>): Promise<void> {
  if (step.run.kind === "snapshot") await deps.runs.handOver(step.run.runId, step.attempt, "build");
  else await deps.runs.succeed(step.run.runId, step.attempt, result);
}

/**
 * What a failed step means. `retry`: the message comes again. `restart`: the run begins anew from its plan, in another attempt;
 * a plan is never repeated within its attempt, because shards of it are on their way.
 */
export interface Verdict {
  action: "retry" | "restart" | "fail";
  error: RunError;
  delaySec: number;
}

/** First wait before another try; doubles with each. */
const RETRY_BASE_SEC = 1;
const RETRY_CAP_SEC = 30;
/** Tries of one step, by kind of failure: a client may be waiting on a clone, nobody on a database that is away. */
const MAX_GIT_TRIES = 3;
const MAX_UPSTREAM_TRIES = 2;
const MAX_TRIES = 5;

/** Judges the failure of a step. `tries` counts from 1: deliveries of a message, attempts of a plan. */
export function judgeFailure(
  error: unknown,
  kind: StepMessage["kind"],
  tries: number,
  random: () => number = Math.random,
): Verdict {
  const delaySec = Math.ceil(Math.min(RETRY_CAP_SEC, RETRY_BASE_SEC * 2 ** (tries - 1)) * (1 + random() * 0.25));
  const again = kind === "plan" ? "restart" : "retry";
  const verdict = (runError: RunError, limit: number, action: Verdict["action"] = again): Verdict => ({
    action: tries < limit ? action : "fail",
    error: runError,
    delaySec,
  });
  if (error instanceof GitError) {
    const details = { gitStderr: error.stderr === "" ? error.message : error.stderr, reason: error.code };
    const limit = error.retryable ? MAX_GIT_TRIES : 0;
    return verdict({ code: "CLONE_FAILED", error: `git: ${error.message}`, details }, limit);
  }
  if (error instanceof UpstreamError) {
    const limit = error.retryable ? MAX_UPSTREAM_TRIES : 0;
    return verdict({ code: "EMBED_FAILED", error: `the embedding provider failed: ${error.message}` }, limit);
  }
  if (error instanceof ApiError && error.code === "EMBED_UNAVAILABLE") {
    return verdict({ code: "EMBED_FAILED", error: "no embedding provider is configured" }, 0);
  }
  if (isUnreachable(error)) {
    const text = "the database cannot be reached; try again later";
    return verdict({ code: "STORAGE_UNAVAILABLE", error: text }, MAX_TRIES);
  }
  const unexpected: RunError = { code: "INTERNAL", error: "an unexpected error while indexing; try again" };
  // A content that a sweep removed since the plan, or a model that changed under the run: the next plan knows.
  if (error instanceof StalePlanError || pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION) {
    return verdict(unexpected, MAX_TRIES, "restart");
  }
  return verdict(unexpected, MAX_UPSTREAM_TRIES);
}
