import { isEnded, type RunRecord, toStatus } from "./state.ts";
import { sseStream } from "./sse.ts";

/** A waiting call is answered at least this often, so that a broken connection is noticed. */
const MAX_WAIT_MS = 60_000;

/** Those who wait for runs of one workspace or follow them. */
export class RunWatchers {
  readonly #listeners = new Set<(run: RunRecord) => void>();

  /** Tells them that a run has changed. */
  notify(run: RunRecord): void {
    for (const listener of this.#listeners) listener(run);
  }

  /** Resolves when the run has ended, or after a minute. */
  async untilEnded(runId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = (changed: RunRecord) => {
      if (changed.spec.runId === runId && isEnded(changed)) resolve();
    };
    this.#listeners.add(listener);
    const timer = setTimeout(resolve, MAX_WAIT_MS);
    await promise;
    clearTimeout(timer);
    this.#listeners.delete(listener);
  }

  /** The run's status as server-sent events, until it ends. */
  stream(run: RunRecord): ReadableStream<Uint8Array> {
    return sseStream(toStatus(run), (push) => {
      const listener = (changed: RunRecord) => {
        if (changed.spec.runId === run.spec.runId) push(toStatus(changed));
      };
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    });
  }
}
