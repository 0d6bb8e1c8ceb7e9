/** Fixed windows aligned to the Unix epoch: pure arithmetic, the clock is an argument. */
import type { RateBudget } from "./budgets.ts";
import type { RateState, TakeResult } from "./types.ts";

/** One window of one bucket. */
export interface RateWindow {
  /** Unix time in milliseconds; a multiple of the window's length. */
  startMs: number;
  windowSec: number;
  /** Requests taken; never above the budget that was in force. */
  used: number;
}

/** The window that `nowMs` falls into, still unused. */
export function windowAt(budget: RateBudget, nowMs: number): RateWindow {
  const lengthMs = budget.windowSec * 1_000;
  return { startMs: Math.floor(nowMs / lengthMs) * lengthMs, windowSec: budget.windowSec, used: 0 };
}

/**
 * The window to count in: `last` while it lasts, a fresh one after it. A clock that goes back stays in `last`, so that no
 * window is ever opened twice. A window of another length (the budget was reconfigured) is not carried over.
 */
export function currentWindow(last: RateWindow | undefined, budget: RateBudget, nowMs: number): RateWindow {
  const fresh = windowAt(budget, nowMs);
  return last && last.windowSec === fresh.windowSec && last.startMs >= fresh.startMs ? last : fresh;
}

/** Takes one request from a window, in place. */
export function takeFrom(window: RateWindow, budget: RateBudget, nowMs: number): TakeResult {
  const allowed = window.used < budget.limit;
  if (allowed) window.used++;
  return { allowed, rate: rateState(window, budget), retryAfterSec: retryAfterSec(windowEndMs(window), nowMs) };
}

export function windowEndMs(window: RateWindow): number {
  return window.startMs + window.windowSec * 1_000;
}

export function rateState(window: RateWindow, budget: RateBudget): RateState {
  return {
    limit: budget.limit,
    remaining: Math.max(0, budget.limit - window.used),
    resetSec: windowEndMs(window) / 1_000,
  };
}

/** Whole seconds to wait until `atMs`, at least one. */
export function retryAfterSec(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000));
}
