/** So many refusals of an owner in a row are answered at once. */
const PROMPT = 8;
/** Time between two refusals of an owner after that. */
const SPACING_MS = 25;
const MAX_DELAY_MS = 100;
/** More are forgotten together, which costs a few prompt refusals. */
const MAX_OWNERS = 10_000;

/**
 * Delays for senders who go on although they are refused: a refusal costs little, hundreds a second do not. Refusals are spaced evenly,
 * as by a leaky bucket: a budget renewed each second is spent at its beginning, and forty refusals of large bodies in a row delayed the
 * requests of others by 100 to 200 ms.
 */
export class RefusalDelay {
  /** When the next refusal of an owner is due, in milliseconds since the epoch. */
  readonly #dueAt = new Map<string, number>();

  /** Counts a refusal of an owner. Returns the milliseconds, at most 100, by which its answer should be delayed. */
  delayOf(owner: string, now = Date.now()): number {
    if (this.#dueAt.size >= MAX_OWNERS) this.#dueAt.clear();
    const dueAt = Math.max(this.#dueAt.get(owner) ?? 0, now);
    const delayMs = Math.max(0, dueAt - now - (PROMPT - 1) * SPACING_MS);
    // Not counted while the longest delay holds, so that a flood does not delay its sender after it has ended.
    if (delayMs < MAX_DELAY_MS) this.#dueAt.set(owner, dueAt + SPACING_MS);
    return Math.min(delayMs, MAX_DELAY_MS);
  }
}
