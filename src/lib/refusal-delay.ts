/** So many refusals of an owner in a second are answered at once. */
const PROMPT = 40;
const DELAY_MS = 100;

/** Delays for senders who go on although they are refused: a refusal costs little, hundreds a second do not. */
export class RefusalDelay {
  #second = 0;
  readonly #counts = new Map<string, number>();

  /** Counts a refusal of an owner. Returns the milliseconds by which its answer should be delayed. */
  delayOf(owner: string, now = Date.now()): number {
    const second = Math.floor(now / 1_000);
    if (this.#second !== second) {
      this.#second = second;
      this.#counts.clear();
    }
    const count = (this.#counts.get(owner) ?? 0) + 1;
    this.#counts.set(owner, count);
    return count > PROMPT ? DELAY_MS : 0;
  }
}
