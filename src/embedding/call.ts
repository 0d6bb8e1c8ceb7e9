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
  /** Aborts on the caller's signal, on the deadline, and once the request has failed. */
  readonly signal: AbortSignal;
  readonly fetch: FetchLike;
  /** Runs `attempt`, again after a retryable failure, as long as retries and deadline allow. */
  retrying<T>(attempt: () => Promise<T>): Promise<T>;
}

export interface DeadlineOptions {
  timeoutMs: number;
  maxRetries: number | undefined;
  signal: AbortSignal | undefined;
}

/** Waits `ms`; returns early, without an error, when `signal` aborts. */
function timerSleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

/**
 * Runs `work` under one deadline for all its calls and retries. Rejects with `UpstreamError`, and at once when the
 * deadline passes or the caller aborts, even if a call below ignores its signal. Whatever is still in flight when the
 * first call fails is aborted.
 */
export async function withDeadline<T>(
  deps: ProviderDeps,
  options: DeadlineOptions,
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const now = deps.now ?? Date.now;
  const endsAt = now() + options.timeoutMs;
  let stopWith: ((error: UpstreamError) => void) | undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stopWith = (error) => {
      reject(error);
      controller.abort(error);
    };
  });
  const onCallerAbort = (): void => stopWith?.(new UpstreamError("ABORTED"));
  const timer = setTimeout(
    () => stopWith?.(new UpstreamError("UPSTREAM_TIMEOUT", { retryable: true })),
    options.timeoutMs,
  );
  options.signal?.addEventListener("abort", onCallerAbort);

  const retrying = async <R>(attempt: () => Promise<R>): Promise<R> => {
    const maxRetries = options.maxRetries ?? deps.maxRetries ?? DEFAULT_MAX_RETRIES;
    for (let retry = 0; ; retry++) {
      signal.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        signal.throwIfAborted();
        // Anything else is a mistake of ours, which a repetition would only hide.
        if (!(error instanceof UpstreamError)) throw error;
        const waitMs = retryWaitMs(retry, error.retryAfterMs, deps.random ?? Math.random);
        // A wait that outlives the deadline cannot end in an answer: say now what went wrong.
        if (!error.retryable || retry >= maxRetries || now() + waitMs >= endsAt) throw error;
        await (deps.sleep ?? timerSleep)(waitMs, signal);
      }
    }
  };

  try {
    if (options.signal?.aborted === true) throw new UpstreamError("ABORTED");
    return await Promise.race([work({ signal, fetch: deps.fetch, retrying }), stopped]);
  } catch (error) {
    // After a success nothing is left to be given up, and an abort costs as much as a small request.
    controller.abort(error);
    throw error;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onCallerAbort);
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
