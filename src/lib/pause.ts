/** Resolves after `ms` milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Settles like `promise`, or rejects with a `TimeoutError` after `ms`. For work that takes no `AbortSignal`. */
export async function raceTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DOMException(`no answer within ${ms} ms`, "TimeoutError")), Math.max(0, ms));
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Interrupts a long computation from time to time, so that others of the same thread are not held up for all of it. */
export class Pacer {
  readonly #sliceUnits: number;
  #left: number;

  /** `sliceUnits`: work between two interruptions, in the unit of `spend`. */
  constructor(sliceUnits: number) {
    this.#sliceUnits = sliceUnits;
    this.#left = sliceUnits;
  }

  /** Counts work that was done; lets others work once a slice is full. */
  async spend(units: number): Promise<void> {
    this.#left -= units;
    if (this.#left > 0) return;
    this.#left = this.#sliceUnits;
    await pause(0);
  }
}
