import { JITTER_SHARE } from "../../lib/backoff.ts";
import {
  RATE_LIMIT_HEADER,
  RATE_REMAINING_HEADER,
  RATE_RESET_HEADER,
  RETRY_AFTER_HEADER,
} from "../../contract/headers.ts";

/** Cap of the doubling. A longer `Retry-After` is still honoured, or reported to the caller. */
export const MAX_BACKOFF_MS = 5 * 60_000;
/** First wait when the service sends no `Retry-After`. */
export const MIN_BACKOFF_MS = 1_000;
/** At or below this share of the budget, the remaining requests are spread over the rest of the window. */
export const SLOW_DOWN_SHARE = 0.1;
/** Longest window of the service; a later reset comes from a wrong clock. */
const MAX_WINDOW_MS = 24 * 3_600_000;

/** One rate-limit window, on this machine's clock. */
interface RateWindow {
  limit: number;
  remaining: number;
  /** Milliseconds since the epoch. */
  resetsAtMs: number;
}

/**
 * Reads the rate-limit headers of a response; undefined if they are missing or malformed. The reset is taken relative to
 * the response's `Date`, so that a wrong local clock does no harm.
 */
export function readRateWindow(headers: Pick<Headers, "get">, nowMs: number): RateWindow | undefined {
  const limit = wholeNumber(headers.get(RATE_LIMIT_HEADER));
  const remaining = wholeNumber(headers.get(RATE_REMAINING_HEADER));
  const resetSec = wholeNumber(headers.get(RATE_RESET_HEADER));
  if (limit === undefined || remaining === undefined || resetSec === undefined) return undefined;
  const serverNowMs = Date.parse(headers.get("Date") ?? "");
  const leftMs = resetSec * 1_000 - (Number.isNaN(serverNowMs) ? nowMs : serverNowMs);
  return { limit, remaining, resetsAtMs: nowMs + Math.min(Math.max(leftMs, 0), MAX_WINDOW_MS) };
}

/** `Retry-After` (seconds or an HTTP date) in milliseconds; undefined if there is none. */
export function readRetryAfterMs(headers: Pick<Headers, "get">, nowMs: number): number | undefined {
  const value = headers.get(RETRY_AFTER_HEADER);
  if (value === null) return undefined;
  const seconds = wholeNumber(value);
  if (seconds !== undefined) return seconds * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(at - nowMs, 0);
}

function wholeNumber(value: string | null): number | undefined {
  return value !== null && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : undefined;
}

/**
 * Wait before the next attempt: at least `retryAfterMs`, and at least twice the previous wait (up to {@link MAX_BACKOFF_MS}),
 * with up to 25 % jitter on top.
 *
 * @param previousMs previous wait without its jitter; 0 for the first
 * @param random uniform in [0, 1)
 * @returns `waitMs` to wait now, and `baseMs` to pass as `previousMs` next time
 */
export function nextWait(
  previousMs: number,
  retryAfterMs: number | undefined,
  random: number,
): { baseMs: number; waitMs: number } {
  const floorMs = retryAfterMs ?? 0;
  const baseMs = Math.max(floorMs, Math.min(Math.max(previousMs * 2, MIN_BACKOFF_MS), MAX_BACKOFF_MS));
  const factor = 1 + JITTER_SHARE * random;
  return { baseMs, waitMs: Math.ceil(Math.max(floorMs * factor, Math.min(baseMs * factor, MAX_BACKOFF_MS))) };
}

/**
 * Paces the requests of one rate-limit bucket. Shared by all requests of a client to that bucket, so that concurrent requests
 * neither overtake each other nor double the wait once each.
 */
export class Pacer {
  #window: RateWindow | undefined;
  /** No request is sent before this time; set by a 429. */
  #blockedUntilMs = 0;
  #blockedAtMs = -1;
  #backoffMs = 0;
  /** The last slot assigned while slowing down. */
  #slotMs = 0;

  /**
   * Milliseconds that a new request must wait. While the budget is low, each call takes one of the slots into which the rest
   * of the window is divided.
   */
  reserve(nowMs: number): number {
    return Math.max(this.blockedMs(nowMs), this.#spreadMs(nowMs));
  }

  /** Milliseconds left of the wait that a 429 asked for. */
  blockedMs(nowMs: number): number {
    return Math.max(this.#blockedUntilMs - nowMs, 0);
  }

  #spreadMs(nowMs: number): number {
    const window = this.#window;
    if (!window || window.resetsAtMs <= nowMs || window.remaining > window.limit * SLOW_DOWN_SHARE) return 0;
    const leftMs = window.resetsAtMs - nowMs;
    if (window.remaining === 0) return Math.ceil(leftMs);
    this.#slotMs = Math.max(this.#slotMs, nowMs) + leftMs / window.remaining;
    // Slots after the end of the window belong to the next window, which has a new budget.
    return Math.ceil(Math.min(this.#slotMs, window.resetsAtMs) - nowMs);
  }

  /** Records a response's headers. Responses may arrive out of order: the lowest figure of the newest window counts. */
  observe(window: RateWindow | undefined): void {
    if (!window) return;
    const sameWindow = this.#window && Math.abs(this.#window.resetsAtMs - window.resetsAtMs) < 1_500;
    if (this.#window && sameWindow) window.remaining = Math.min(window.remaining, this.#window.remaining);
    else this.#slotMs = 0;
    this.#window = window;
  }

  /** Records a 2xx, which ends the doubling. */
  succeeded(): void {
    this.#backoffMs = 0;
  }

  /**
   * Records a 429: blocks the bucket and returns the wait. A request that was sent before the bucket was blocked does not
   * double the wait again.
   */
  refused(sentAtMs: number, nowMs: number, retryAfterMs: number | undefined, random: number): number {
    const sameRefusal = sentAtMs <= this.#blockedAtMs;
    const { baseMs, waitMs } = nextWait(sameRefusal ? this.#backoffMs / 2 : this.#backoffMs, retryAfterMs, random);
    this.#backoffMs = baseMs;
    if (!sameRefusal) this.#blockedAtMs = nowMs;
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, nowMs + waitMs);
    return this.#blockedUntilMs - nowMs;
  }
}
