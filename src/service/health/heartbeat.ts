import { ProbeError, PROBE_INTERVAL_MS } from "./probe.ts";
import type { HealthHeartbeat } from "./types.ts";

/** Later heartbeats are ignored. Longer than one round, because a busy queue is not a broken one. */
const HEARTBEAT_VALID_MS = 3 * PROBE_INTERVAL_MS;

/** Sends heartbeats through the queue. A probe passes when its own heartbeat, or a recent one, has arrived. */
export class QueueHeartbeat {
  readonly #send: (message: HealthHeartbeat) => Promise<unknown>;
  readonly #now: () => number;
  #lastSeenMs = -Infinity;
  #waiting: { sentAt: number; arrived: () => void } | undefined;

  constructor(send: (message: HealthHeartbeat) => Promise<unknown>, now: () => number = Date.now) {
    this.#send = send;
    this.#now = now;
  }

  /** Sends a heartbeat and waits for it until the signal aborts or `patienceMs` has passed. */
  async probe(signal: AbortSignal, patienceMs: number): Promise<void> {
    const sentAt = this.#now();
    const back = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), patienceMs);
      this.#waiting = {
        sentAt,
        arrived: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      signal.addEventListener("abort", () => resolve(false), { once: true });
    });
    await this.#send({ kind: "health", sentAt }).catch(() => {
      throw new ProbeError("does not accept messages");
    });
    if ((await back) || this.#now() - this.#lastSeenMs <= HEARTBEAT_VALID_MS) return;
    throw new ProbeError("messages are not delivered");
  }

  /** Records a heartbeat that arrived; returns false if it is too old to count. */
  seen(sentAt: number): boolean {
    const now = this.#now();
    if (sentAt > now || now - sentAt > HEARTBEAT_VALID_MS) return false;
    this.#lastSeenMs = Math.max(this.#lastSeenMs, sentAt);
    if (this.#waiting && sentAt >= this.#waiting.sentAt) this.#waiting.arrived();
    return true;
  }
}
