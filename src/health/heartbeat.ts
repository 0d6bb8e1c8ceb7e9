import { ProbeError, PROBE_INTERVAL_MS } from "./probe.ts";
import type { HealthHeartbeat } from "./types.ts";

/** A heartbeat that came back later than this says nothing about now. Longer than one round: a busy queue is not a broken one. */
const HEARTBEAT_VALID_MS = 3 * PROBE_INTERVAL_MS;

/** Follows heartbeats through the queue: each probe sends one and is content when that one, or a recent one, came back. */
export class QueueHeartbeat {
  readonly #send: (message: HealthHeartbeat) => Promise<unknown>;
  readonly #now: () => number;
  #lastSeenMs = -Infinity;
  #waiting: { sentAt: number; arrived: () => void } | undefined;

  constructor(send: (message: HealthHeartbeat) => Promise<unknown>, now: () => number = Date.now) {
    this.#send = send;
    this.#now = now;
  }

  /** A probe: sends a heartbeat and waits until it is back or the signal, or `patienceMs`, ends the wait. */
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
      throw new ProbeError("takes no messages");
    });
    if ((await back) || this.#now() - this.#lastSeenMs <= HEARTBEAT_VALID_MS) return;
    throw new ProbeError("messages are not delivered");
  }

  /** Notes a heartbeat that came back; false when it is too old to count. */
  seen(sentAt: number): boolean {
    const now = this.#now();
    if (sentAt > now || now - sentAt > HEARTBEAT_VALID_MS) return false;
    this.#lastSeenMs = Math.max(this.#lastSeenMs, sentAt);
    if (this.#waiting && sentAt >= this.#waiting.sentAt) this.#waiting.arrived();
    return true;
  }
}
