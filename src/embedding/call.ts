import { type TimeLimit, withTimer } from "../time-limit.ts";
import { UpstreamError } from "./errors.ts";
import type { FetchLike, ProviderDeps } from "./types.ts";

/** One upstream call of a request, with everything around it: deadline, retries, abort. */

export const DEFAULT_CONCURRENCY = 4;
export const DEFAULT_MAX_RETRIES = 2;
const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 8_000;
/** Jitter on top of the wait the upstream asked for. */
const RETRY_AFTER_JITTER = 0.25;

/** What a running request hands to its upstream calls. */
export interface CallContext {
  /** Aborts on the caller's signal, on the deadline, and once the request has failed; undefined where the platform sees to that. */
  readonly signal: AbortSignal | undefined;
  readonly fetch: FetchLike;
  /** Runs `attempt`, again after a retryable failure, as long as retries and deadline allow. */
  retrying<T>(attempt: () => Promise<T>): Promise<T>;
  /** Throws why nothing more is to be asked, if that is so: a call that broke because it was given up did not fail. */
  throwIfStopped(): void;
}

export interface DeadlineOptions {
  timeoutMs: number;
  maxRetries: number | undefined;
  signal: AbortSignal | undefined;
  /** Default: a timer. */
  within?: TimeLimit | undefined;
}

/** Waits `ms`; returns early, without an error, when `signal` aborts. */
function timerSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    if (signal?.aborted === true) done();
  });
}

/**
 * Runs `work` under one deadline for all its calls and retries. Rejects with `UpstreamError`, and at once when the
 * deadline passes or the caller aborts, even if a call below ignores its signal. Whatever is still in flight when the
 * first call fails is aborted.
 *
 * With `deps.callsEndWithRequest` and no signal of the caller's nothing is aborted: it all ends with the request, when that
 * is answered or its client leaves.
 */
export async function withDeadline<T>(
  deps: ProviderDeps,
  {
    timeoutMs,
    maxRetries = deps.maxRetries ?? DEFAULT_MAX_RETRIES,
    signal: asked,
    within = withTimer,
  }: DeadlineOptions,
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const now = deps.now ?? Date.now;
  const endsAt = now() + timeoutMs;
  const controller = asked === undefined && deps.callsEndWithRequest === true ? undefined : new AbortController();
  const signal = controller?.signal;
  let failure: unknown;
  const throwIfStopped = () => {
    if (asked?.aborted === true) failure ??= new UpstreamError("ABORTED");
    if (failure !== undefined) throw failure;
  };

  const retrying = async <R>(attempt: () => Promise<R>): Promise<R> => {
    for (let retry = 0; ; retry++) {
      throwIfStopped();
      try {
        return await attempt();
      } catch (error) {
        throwIfStopped();
        // Anything else is a mistake of ours, which a repetition would only hide.
        if (!(error instanceof UpstreamError)) throw error;
        const waitMs = retryWaitMs(retry, error.retryAfterMs, deps.random ?? Math.random);
        // A wait that outlives the deadline cannot end in an answer: say now what went wrong.
        if (!error.retryable || retry >= maxRetries || now() + waitMs >= endsAt) throw error;
        await (deps.sleep ?? timerSleep)(waitMs, signal);
      }
    }
  };

  const run = async () => {
    throwIfStopped();
    return await work({ signal, fetch: deps.fetch, retrying, throwIfStopped });
  };
  const expired = (): never => {
    throw new UpstreamError("UPSTREAM_TIMEOUT", { retryable: true });
  };
  try {
    return await within(timeoutMs, asked ? () => orAborted(asked, run) : run, expired);
  } catch (error) {
    failure ??= error;
    // After a success nothing is left to be given up, and an abort costs as much as a small request.
    controller?.abort(error);
    throw error;
  }
}

/** Runs `work`, and rejects as soon as `signal` aborts. */
async function orAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(new UpstreamError("ABORTED"));
  });
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Wait before retry number `retry` (from 0). At least what the upstream asked for plus up to 25 %; else exponential
 * backoff with equal jitter (half fixed, half random), capped.
 */
function retryWaitMs(retry: number, retryAfterMs: number | undefined, random: () => number): number {
  if (retryAfterMs !== undefined) return retryAfterMs * (1 + RETRY_AFTER_JITTER * random());
  const backoffMs = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** retry);
  return backoffMs * (0.5 + 0.5 * random());
}

/**
 * Runs `tasks` with at most `concurrency` at a time and returns their results in task order. The first failure rejects;
 * tasks not yet started are then never started.
 */
export async function runBounded<T>(tasks: readonly (() => Promise<T>)[], concurrency: number): Promise<T[]> {
  const [only] = tasks;
  if (only !== undefined && tasks.length === 1) return [await only()];
  const results: T[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < tasks.length && !failed) {
      const position = next++;
      try {
        results[position] = await (tasks[position] as () => Promise<T>)();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, worker));
  return results;
}
