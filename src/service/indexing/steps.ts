/**
 * The consumer's side of a run: processes the step of a message and decides what a failure means for the run.
 * Platform-free: the run coordinator is passed in.
 */
import type { RunPhase } from "../../contract/index.ts";
import { isUnreachable, PG_FOREIGN_KEY_VIOLATION, PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { UpstreamError } from "../../engines/embedding/index.ts";
import { ApiError } from "../../lib/errors.ts";
import { GitError } from "../../engines/git/index.ts";
import { GlobError } from "../../lib/globs.ts";
import type { Logger } from "../../lib/log.ts";
import { RunCancelledError, StaleAttemptError, StalePlanError, type StepContext } from "./context.ts";
import { cleanUp, finish, finishUnchanged } from "./finish.ts";
import type { StepMessage } from "../runs/messages.ts";
import { isIndexed, plan } from "./plan.ts";
import type { RunsClient, Verdict } from "../runs/coordinator.ts";
import type { RunError } from "../runs/history.ts";
import { GIT_SILENT_TRIES, type StepProgress, type StepUsage } from "../runs/state.ts";
import type { RunSpec } from "../db/run-spec.ts";
import { processShard } from "./shard.ts";
import { DamagedObjectError, StagingError } from "./staging.ts";

export interface StepDeps {
  runs: RunsClient;
  /** Builds the part of a step's context that does not depend on the claim. */
  context: (
    run: RunSpec,
    attempt: number,
  ) => Omit<StepContext, "run" | "attempt" | "beat" | "mark" | "usage" | "enter">;
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

/** Interval at which a step renews its lease if it has made progress. */
const HEARTBEAT_MS = 4_000;
/** From when on a step reports that it makes no progress. */
const SILENT_MS = 10_000;
/**
 * A step without progress for this long is given up. Longer than any single call may take: an upstream call with its retries
 * has 60 s, a query 30 s, an object 10 s.
 */
const STALL_MS = 90_000;

/**
 * Processes one step and reports its outcome. A step of a stale attempt ends without a report. Throws only when the
 * coordinator cannot be reached.
 */
export async function runStep(message: StepMessage, deps: StepDeps): Promise<void> {
  const { runId, attempt } = message;
  const claim = await deps.runs.claim(runId, attempt, PHASE_OF[message.kind]);
  if (!claim) return;
  const usage: StepUsage = { token: claim.token, embedded: 0, embedMs: 0, tokens: 0 };
  const lifeline = new Lifeline(deps.runs, runId, attempt, PHASE_OF[message.kind]);
  try {
    const step: StepContext = {
      ...deps.context(claim.spec, attempt),
      run: claim.spec,
      attempt,
      usage,
      beat: (progress) => lifeline.beat(progress),
      mark: () => lifeline.mark(),
      enter: async (phase) => {
        if (!(await deps.runs.claim(runId, attempt, phase, lifeline.phase)))
          throw new StaleAttemptError("the step is done elsewhere");
        lifeline.phase = phase;
      },
    };
    await Promise.race([perform(message, step, deps), lifeline.stalled]);
  } catch (error) {
    await reportFailure(error, message, deps, usage);
  } finally {
    lifeline.end();
  }
}

/** Renews the lease of a step for as long as it makes progress. */
class Lifeline {
  phase: RunPhase;
  /** Rejects when the step has made no progress for {@link STALL_MS}. */
  readonly stalled: Promise<never>;
  #lastMark = Date.now();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #runs: RunsClient;
  readonly #runId: string;
  readonly #attempt: number;

  constructor(runs: RunsClient, runId: string, attempt: number, phase: RunPhase) {
    this.#runs = runs;
    this.#runId = runId;
    this.#attempt = attempt;
    this.phase = phase;
    const { promise, reject } = Promise.withResolvers<never>();
    this.stalled = promise;
    this.#timer = setInterval(() => {
      const silentMs = Date.now() - this.#lastMark;
      if (silentMs > STALL_MS) reject(new Error(`no progress for ${STALL_MS / 1_000} s`));
      else {
        const silentSec = silentMs < SILENT_MS ? 0 : Math.floor(silentMs / 1_000);
        runs.beat(runId, attempt, this.phase, { silentSec }).catch(() => {});
      }
    }, HEARTBEAT_MS);
    // Not awaited after the step is done.
    promise.catch(() => {});
  }

  mark(): void {
    this.#lastMark = Date.now();
  }

  async beat(progress: StepProgress): Promise<void> {
    this.mark();
    const wanted = await this.#runs.beat(this.#runId, this.#attempt, this.phase, progress);
    if (!wanted) throw new StaleAttemptError("the attempt was abandoned");
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

async function reportFailure(
  error: unknown,
  message: StepMessage,
  { runs, log }: StepDeps,
  usage: StepUsage,
): Promise<void> {
  const { runId, attempt, kind } = message;
  if (error instanceof StaleAttemptError) return runs.spent(runId, usage);
  if (error instanceof RunCancelledError) {
    await runs.spent(runId, usage);
    await runs.cancel(runId);
    return;
  }
  const verdict = classifyFailure(error, kind);
  log.error("step_failed", error, {
    runId,
    kind,
    action: verdict.action,
    detail: error instanceof UpstreamError ? error.detail : undefined,
  });
  await runs.failed(runId, attempt, kind === "shard" ? { kind, shard: message.shard } : { kind }, verdict, usage);
}

async function perform(message: StepMessage, step: StepContext, deps: StepDeps): Promise<void> {
  const { runId, attempt } = message;
  switch (message.kind) {
    case "plan": {
      const { kind, source } = step.run;
      if (kind === "snapshot" && source.ref !== undefined && (await isIndexed(step, source.ref))) {
        return deps.runs.handOver(runId, attempt, "build");
      }
      return planAndStart(step, deps);
    }
    case "shard": {
      const files = await processShard(step, message.key);
      return files === null ? undefined : deps.runs.shardDone(runId, attempt, message.shard, files, step.usage);
    }
    case "finish":
      return completeIndex(step, deps);
    case "build":
      return deps.runs.succeed(runId, attempt, await deps.buildSnapshot(step));
  }
}

/**
 * Plans the run and announces its shards once a second one exists. A run of a single shard, as is usual after a push, is
 * processed in place without further messages.
 */
async function planAndStart(step: StepContext, deps: StepDeps): Promise<void> {
  const { attempt } = step;
  const { runId } = step.run;
  let first: string | undefined;
  const outcome = await plan(step, async (shard, key) => {
    if (shard === 0) {
      first = key;
      return;
    }
    if (first !== undefined) await deps.runs.shardStaged(runId, attempt, 0);
    first = undefined;
    await deps.runs.shardStaged(runId, attempt, shard);
  });
  if (outcome.outcome === "unchanged")
    return conclude(step, deps, await finishUnchanged(step, outcome.revision, outcome.ref));
  let { shards } = outcome;
  if (first !== undefined) {
    await step.beat({ filesTotal: outcome.filesTotal });
    await step.enter("indexing");
    await processShard(step, first);
    shards = 0;
  }
  const ready = await deps.runs.planned(runId, attempt, { ...outcome, shards }, step.usage);
  if (!ready) return;
  await step.enter("finishing");
  await completeIndex(step, deps);
}

async function completeIndex(step: StepContext, deps: StepDeps): Promise<void> {
  const work = await deps.runs.work(step.run.runId, step.attempt);
  if (!work) return;
  await conclude(step, deps, await finish(step, work));
  await cleanUp(step);
}

async function conclude(step: StepContext, deps: StepDeps, result: Record<string, unknown>): Promise<void> {
  if (step.run.kind === "snapshot") await deps.runs.handOver(step.run.runId, step.attempt, "build");
  else await deps.runs.succeed(step.run.runId, step.attempt, result);
}

/** Tries per step, by kind of failure. A failed clone is reported early, because a client may be waiting. */
const GIT_TRIES = 3;
const UPSTREAM_TRIES = 2;
const STAGING_TRIES = 4;
const STALE_TRIES = 5;
/** Violations that show that rows have changed since the plan. */
const CONFLICTING_ROWS = new Set([PG_FOREIGN_KEY_VIOLATION, PG_UNIQUE_VIOLATION]);
/** About four minutes, including the delays between tries. */
const DATABASE_TRIES = 13;

/** Maps the failure of a step to its consequence for the run. */
export function classifyFailure(error: unknown, kind: StepMessage["kind"]): Verdict {
  const again = kind === "plan" ? "restart" : "retry";
  const verdict = (runError: RunError, limit: number, action: Verdict["action"] = again): Verdict => ({
    action: limit > 1 ? action : "fail",
    error: runError,
    limit,
  });
  if (error instanceof GitError) {
    const details = { gitStderr: error.stderr === "" ? error.message : error.stderr, reason: error.code };
    const tries = error.code === "TIMEOUT" ? GIT_SILENT_TRIES : GIT_TRIES;
    return verdict({ code: "CLONE_FAILED", error: `git: ${error.message}`, details }, error.retryable ? tries : 1);
  }
  if (error instanceof GlobError) {
    const details = { issues: [{ path: error.field, message: error.problem }] };
    return verdict({ code: "INVALID_BODY", error: error.message, details }, 1);
  }
  if (error instanceof UpstreamError) {
    const text = `the embedding provider failed: ${error.message}`;
    return verdict({ code: "EMBED_FAILED", error: text }, error.retryable ? UPSTREAM_TRIES : 1);
  }
  if (error instanceof ApiError && error.code === "EMBED_UNAVAILABLE") {
    return verdict({ code: "EMBED_FAILED", error: "no embedding provider is configured" }, 1);
  }
  if (error instanceof StagingError) {
    return verdict({ code: "STORAGE_UNAVAILABLE", error: error.message }, STAGING_TRIES);
  }
  if (error instanceof DamagedObjectError) {
    const text = "the object store returns damaged data; try again later";
    return verdict({ code: "STORAGE_UNAVAILABLE", error: text }, STAGING_TRIES, "restart");
  }
  if (isUnreachable(error)) {
    const text = "the database cannot be reached; try again later";
    return verdict({ code: "STORAGE_UNAVAILABLE", error: text }, DATABASE_TRIES);
  }
  const unexpected: RunError = { code: "INTERNAL", error: "an unexpected error while indexing; try again" };
  // A sweep removed a content since the plan, an earlier attempt is still writing, or the model changed: a new plan takes that into account.
  if (error instanceof StalePlanError || CONFLICTING_ROWS.has(pgErrorCode(error) ?? "")) {
    return verdict(unexpected, STALE_TRIES, "restart");
  }
  return verdict(unexpected, UPSTREAM_TRIES);
}
