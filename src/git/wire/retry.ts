import { GitError } from "../errors.ts";
import { RETRY_BASE_MS, RETRY_MAX_MS } from "../limits.ts";
import type { Scope } from "../scope.ts";

/**
 * Runs `work` again after failures in the network, at most `attempts` times in all, with doubled and jittered delays,
 * as long as `mayRepeat` sees sense in it.
 */
export async function withRetries<T>(
  scope: Scope,
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
    const delay = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** (attempt - 1));
    await scope.sleep(delay * (0.5 + Math.random() / 2));
  }
}
