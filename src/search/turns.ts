import { pause } from "../pause.ts";

const POLL_MS = 2;
/** One that has not looked for its turn for so long belongs to a request that was cancelled. */
const MAX_SILENT_MS = 1_000;

interface Ticket {
  bytes: number;
  /** When it last looked for its turn, or began to work, in milliseconds. */
  seenAt: number;
}

/**
 * Lets works that take memory run as long as there is room for them, first come, first served. One that is larger than all the room runs
 * alone. They look for their turn again and again instead of awaiting each other: in Workers a request must not wait for a promise of
 * another one, which never settles if that is cancelled.
 */
export class Turns {
  readonly #roomBytes: number;
  readonly #maxWorkMs: number;
  readonly #waiting: Ticket[] = [];
  readonly #working = new Set<Ticket>();

  /** A work that has not ended after `maxWorkMs` belongs to a request that was cancelled. */
  constructor(roomBytes: number, maxWorkMs: number) {
    this.#roomBytes = roomBytes;
    this.#maxWorkMs = maxWorkMs;
  }

  /** Runs a work that takes so many bytes, once it is its turn. Throws what the work throws. */
  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const own: Ticket = { bytes, seenAt: Date.now() };
    this.#waiting.push(own);
    while (!this.#isTurnOf(own)) {
      await pause(POLL_MS);
      own.seenAt = Date.now();
      // Taken for cancelled after a long computation of another request.
      if (!this.#waiting.includes(own)) this.#waiting.push(own);
    }
    this.#waiting.shift();
    this.#working.add(own);
    try {
      return await work();
    } finally {
      this.#working.delete(own);
    }
  }

  #isTurnOf(own: Ticket): boolean {
    const now = Date.now();
    for (let [first] = this.#waiting; first !== own; [first] = this.#waiting) {
      if (!first || now - first.seenAt <= MAX_SILENT_MS) return false;
      this.#waiting.shift();
    }
    let taken = 0;
    for (const ticket of this.#working) {
      if (now - ticket.seenAt > this.#maxWorkMs) this.#working.delete(ticket);
      else taken += ticket.bytes;
    }
    return this.#working.size === 0 || taken + own.bytes <= this.#roomBytes;
  }
}
