/** A delta that waits for its base. Others may wait for its result. */
export interface PendingDelta {
  readonly delta: Uint8Array;
  readonly children: PendingDelta[];
}

/** Deltas whose base has not arrived or has left the ring, by the base's id. They are kept across the packs of one pull. */
export class PendingDeltas {
  /** Bytes held. */
  bytes = 0;
  readonly #maxBytes: number;
  readonly #byBase = new Map<string, PendingDelta[]>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#byBase.size;
  }

  /** Ids of the missing bases. */
  bases(): string[] {
    return [...this.#byBase.keys()];
  }

  has(base: string): boolean {
    return this.#byBase.has(base);
  }

  /** Stores a copy of `delta`, to be applied to `base`. Undefined when there is no room. */
  add(base: string | PendingDelta, delta: Uint8Array): PendingDelta | undefined {
    if (this.bytes + delta.length > this.#maxBytes) return undefined;
    this.bytes += delta.length;
    const pending: PendingDelta = { delta: delta.slice(), children: [] };
    if (typeof base !== "string") base.children.push(pending);
    else {
      const list = this.#byBase.get(base);
      if (list === undefined) this.#byBase.set(base, [pending]);
      else list.push(pending);
    }
    return pending;
  }

  /** Removes and returns the deltas that wait for `base`. */
  take(base: string): PendingDelta[] {
    const list = this.#byBase.get(base) ?? [];
    this.#byBase.delete(base);
    return list;
  }

  /** Releases the bytes of a delta that was removed by {@link take}. */
  release(pending: PendingDelta): void {
    this.bytes -= pending.delta.length;
  }

  clear(): void {
    this.#byBase.clear();
    this.bytes = 0;
  }
}
