import { backoffMs, withJitter } from "../../lib/backoff.ts";
import { UpstreamError } from "./errors.ts";
import type { FetchLike, ProviderDeps } from "./types.ts";

/** Time limits, retries and abort of upstream requests. */

export const DEFAULT_CONCURRENCY = 4;
const DEFAULT_MAX_RETRIES = 2;
const BACKOFF = { baseMs: 250, capMs: 8_000 };
/** Cap of an upstream's `Retry-After`. */
const RETRY_AFTER_CAP_MS = 60_000;

/** Context that a request passes to its upstream calls. */
export interface CallContext {
  /** Aborts on the caller's signal, on the deadline, and once the request has failed. */
  readonly signal: AbortSignal;
  readonly fetch: FetchLike;
  /** Runs `attempt`; repeats it after a retryable failure while retries and deadline allow. */
  retrying<T>(attempt: (context: CallContext) => Promise<T>): Promise<T>;
}

interface DeadlineOptions {
  /** Time limit of one attempt. */
  timeoutMs: number;
  /** Time limit of the whole request, including retries; default: `timeoutMs`. */
  patienceMs?: number | undefined;
  maxRetries?: number | undefined;
  signal: AbortSignal | undefined;
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
 * Runs `work` under one deadline for all its calls and retries. Rejects with `UpstreamError`; at once if the deadline passes or
 * the caller aborts, even if a call ignores its signal. When one call fails, the others are aborted.
 */
export async function withDeadline<T>(
  deps: ProviderDeps,
  {
    timeoutMs,
    patienceMs = timeoutMs,
    maxRetries = deps.maxRetries ?? DEFAULT_MAX_RETRIES,
    signal: asked,
  }: DeadlineOptions,
  work: (context: CallContext) => Promise<T>,
): Promise<T> {
  const now = deps.now ?? Date.now;
  const endsAt = now() + patienceMs;
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, AbortSignal.timeout(patienceMs), ...(asked ? [asked] : [])]);
  const contextOf = (limit: AbortSignal): CallContext => ({ signal: limit, fetch: deps.fetch, retrying });

  const retrying = async <R>(attempt: (context: CallContext) => Promise<R>): Promise<R> => {
    for (let retry = 0; ; retry++) {
      try {
        throwIfStopped(signal);
        if (patienceMs <= timeoutMs) return await attempt(contextOf(signal));
        const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
        return await orStopped(limit, () => attempt(contextOf(limit)));
      } catch (error) {
        throwIfStopped(signal);
        // Any other error is a bug, which a retry would only hide.
        if (!(error instanceof UpstreamError)) throw error;
        // An unusable answer is likely to repeat, so it gets one retry.
        const isRetryable = error.retryable || (error.isUnusable && retry === 0);
        const waitMs = retryWaitMs(retry, error.retryAfterMs, deps.random ?? Math.random);
        // Fail now if the wait would pass the deadline.
        if (!isRetryable || retry >= maxRetries || now() + waitMs >= endsAt) throw error;
        await (deps.sleep ?? timerSleep)(waitMs, signal);
      }
    }
  };

  try {
    return await orStopped(signal, () => work(contextOf(signal)));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

/** Throws the reason if the signal has aborted, in place of the error that the abort caused. */
export function throwIfStopped(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  if (reason instanceof UpstreamError) throw reason;
  const isTimeout = reason instanceof DOMException && reason.name === "TimeoutError";
  throw isTimeout ? new UpstreamError("UPSTREAM_TIMEOUT", { retryable: true }) : new UpstreamError("ABORTED");
}

/** Runs `work`, and rejects as soon as `signal` aborts. */
async function orStopped<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  throwIfStopped(signal);
  let onAbort = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    onAbort = () => {
      try {
        throwIfStopped(signal);
      } catch (reason) {
        reject(reason);
      }
    };
  });
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work(), stopped]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Wait before retry number `retry` (from 0): the upstream's `Retry-After`, capped, if it sent one, else the back-off. */
function retryWaitMs(retry: number, retryAfterMs: number | undefined, random: () => number): number {
  if (retryAfterMs === undefined) return backoffMs(retry + 1, BACKOFF, random);
  return withJitter(Math.min(RETRY_AFTER_CAP_MS, retryAfterMs), random);
}

/**
 * Runs `tasks` with at most `concurrency` at a time and returns their results in task order. Rejects with the first failure, after
 * which no further task is started.
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
