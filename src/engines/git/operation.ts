import { GitError } from "./errors.ts";

/**
 * Time limit and cancellation of one operation: a wall-clock timer, the caller's signal, and every wait. It uses timers,
 * not clock arithmetic, because clocks do not advance during CPU work in Workers.
 */
export class Operation {
  #failure: GitError | undefined;
  readonly #waiting = new Set<(error: GitError) => void>();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#fail(new GitError("ABORTED", "the operation was aborted"));

  constructor(wallMs: number, signal: AbortSignal | undefined) {
    this.#timer = setTimeout(() => {
      this.#fail(new GitError("TIMEOUT", `the operation took longer than ${wallMs} ms`, { retryable: false }));
    }, wallMs);
    this.#signal = signal;
    if (signal?.aborted === true) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  #fail(error: GitError): void {
    this.#failure ??= error;
    for (const reject of this.#waiting) reject(this.#failure);
    this.#waiting.clear();
  }

  /** @throws GitError when the operation has ended */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits for `work`, but not longer than `ms` (none: only the wall limit) nor beyond the operation's end. */
  race<T>(work: Promise<T>, ms?: number, what?: string): Promise<T> {
    if (this.#failure !== undefined) {
      work.catch(() => undefined);
      return Promise.reject(this.#failure);
    }
    return new Promise<T>((resolve, reject) => {
      const settle = (): void => {
        if (timer !== undefined) clearTimeout(timer);
        this.#waiting.delete(reject);
      };
      const timer =
        ms === undefined
          ? undefined
          : setTimeout(() => {
              settle();
              reject(new GitError("TIMEOUT", `${what ?? "no answer"} within ${ms} ms`));
            }, ms);
      this.#waiting.add(reject);
      const follow = async (): Promise<void> => {
        try {
          const value = await work;
          settle();
          resolve(value);
        } catch (error) {
          settle();
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      void follow();
    });
  }

  /** Waits `ms`, or until the operation ends. */
  sleep(ms: number): Promise<void> {
    return this.race(new Promise((resolve) => setTimeout(resolve, ms)));
  }

  /** Releases timer and listener; call in a finally. */
  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
