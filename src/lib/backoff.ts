/** Largest jitter, as a share of the wait. It keeps clients from retrying at the same moment. */
export const JITTER_SHARE = 0.25;

interface Backoff {
  /** First wait, in milliseconds. */
  baseMs: number;
  /** Cap of the doubling, in milliseconds; jitter comes on top. */
  capMs: number;
}

/**
 * Wait in milliseconds before a retry: `baseMs`, doubled with each attempt up to `capMs`, plus jitter.
 *
 * @param attempt number of failed attempts, at least 1
 * @param random uniform in [0, 1)
 */
export function backoffMs(attempt: number, { baseMs, capMs }: Backoff, random: () => number = Math.random): number {
  return withJitter(Math.min(capMs, baseMs * 2 ** (attempt - 1)), random);
}

/** Adds up to {@link JITTER_SHARE} to a wait. */
export function withJitter(ms: number, random: () => number = Math.random): number {
  return ms * (1 + JITTER_SHARE * random());
}
