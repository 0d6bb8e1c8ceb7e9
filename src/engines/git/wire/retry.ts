import { backoffMs } from "../../../lib/backoff.ts";
import { GitError } from "../errors.ts";
import { RETRY_BASE_MS, RETRY_MAX_MS } from "../limits.ts";
import type { Operation } from "../operation.ts";

/**
 * Runs `work` and retries it after network failures while `mayRepeat` allows it, at most `attempts` times in all, with growing and
 * jittered delays.
 */
export async function withRetries<T>(
  operation: Operation,
  attempts: number,
  work: () => Promise<T>,
  mayRepeat: (error: GitError) => boolean = () => true,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const again = error instanceof GitError && error.code === "NETWORK" && error.retryable;
      if (!again || attempt >= attempts || !mayRepeat(error)) throw error;
    }
    await operation.sleep(backoffMs(attempt, { baseMs: RETRY_BASE_MS, capMs: RETRY_MAX_MS }));
  }
}
