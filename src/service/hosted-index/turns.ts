import { pause } from "../../lib/pause.ts";

const POLL_MS = 2;
/** Longest pause of one that has many of its owner before it: below `MAX_SILENT_MS`, with a margin for a busy isolate. */
const MAX_POLL_MS = 200;
/** Works of an owner take at least so long on average. */
const WORK_MS = 0.5;
/** How often a work at work shows that its request has not been cancelled: the timers of a cancelled one never fire. */
const BEAT_MS = 200;
/** One that has not been heard of for so long belongs to a request that was cancelled. */
const MAX_SILENT_MS = 1_000;

interface Ticket {
  owner: string;
  bytes: number;
  /** When it was last heard of, in milliseconds. */
  seenAt: number;
  /** When it began to work. */
  startedAt?: number;
}

export interface TurnOptions {
  /** What all works together may take. */
  room: number;
  /** After so many milliseconds a work does not count any more. */
  maxWorkMs: number;
  /** What the works of one owner together may take; default: all the room. */
  share?: number;
}

/**
 * Lets works run as long as there is room for them, in turn by owner: next is the first in line of the owner that has least at work, so
 * that one who asks for much waits behind themselves. A work that is larger than all the room runs alone. Works look for their turn again
 * and again instead of awaiting each other: in Workers a request must not wait for a promise of another one, which never settles if that
 * is cancelled.
 */
export class Turns {
  readonly #room: number;
  readonly #share: number;
  readonly #maxWorkMs: number;
  #waiting: Ticket[] = [];
  readonly #working = new Set<Ticket>();

  constructor({ room, maxWorkMs, share = room }: TurnOptions) {
    this.#room = room;
    this.#share = share;
    this.#maxWorkMs = maxWorkMs;
  }

  /** Runs a work of an owner that takes so many bytes, once it is its turn. Throws what the work throws. */
  async run<T>(owner: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const own: Ticket = { owner, bytes, seenAt: Date.now() };
    this.#waiting.push(own);
    for (;;) {
      const before = this.#beforeOf(own);
      if (before === 0 && this.#isTurnOf(own)) break;
      // Only the first of an owner can be next. The others look less often: hundreds that all do at once would take the whole processor.
      await pause(Math.min(Math.max(POLL_MS, before * WORK_MS), MAX_POLL_MS));
      own.seenAt = Date.now();
      // Taken for cancelled after a long computation of another request.
      if (!this.#waiting.includes(own)) this.#waiting.push(own);
    }
    this.#waiting = this.#waiting.filter((ticket) => ticket !== own);
    this.#working.add(own);
    own.startedAt = Date.now();
    const beat = setInterval(() => (own.seenAt = Date.now()), BEAT_MS);
    try {
      return await work();
    } finally {
      clearInterval(beat);
      this.#working.delete(own);
    }
  }

  /** Number of works of the same owner that are before it in the line. */
  #beforeOf(own: Ticket): number {
    const now = Date.now();
    let before = 0;
    for (const ticket of this.#waiting) {
      if (ticket === own) break;
      if (ticket.owner === own.owner && now - ticket.seenAt <= MAX_SILENT_MS) before++;
    }
    return before;
  }

  #isTurnOf(own: Ticket): boolean {
    const now = Date.now();
    this.#waiting = this.#waiting.filter((ticket) => ticket === own || now - ticket.seenAt <= MAX_SILENT_MS);
    const taken = new Map<string, number>();
    let all = 0;
    for (const ticket of this.#working) {
      if (now - ticket.seenAt > MAX_SILENT_MS || now - (ticket.startedAt ?? now) > this.#maxWorkMs) {
        this.#working.delete(ticket);
        continue;
      }
      all += ticket.bytes;
      taken.set(ticket.owner, (taken.get(ticket.owner) ?? 0) + ticket.bytes);
    }
    const takenBy = (owner: string): number => taken.get(owner) ?? 0;
    const may = ({ owner, bytes }: Ticket): boolean => takenBy(owner) === 0 || takenBy(owner) + bytes <= this.#share;
    let next: Ticket | undefined;
    const owners = new Set<string>();
    for (const ticket of this.#waiting) {
      if (owners.has(ticket.owner)) continue;
      owners.add(ticket.owner);
      if (may(ticket) && (!next || takenBy(ticket.owner) < takenBy(next.owner))) next = ticket;
    }
    return next === own && (this.#working.size === 0 || all + own.bytes <= this.#room);
  }
}
