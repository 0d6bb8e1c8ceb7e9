/** Values of known size up to a budget, least recently used out. A value above the budget is kept alone. */
export class LruCache<Value> {
  readonly #budget: number;
  readonly #sizeOf: (value: Value) => number;
  /** In order of use: a `Map` keeps the order of insertion. */
  readonly #values = new Map<string, { value: Value; bytes: number }>();
  #bytes = 0;

  constructor(budgetBytes: number, sizeOf: (value: Value) => number) {
    this.#budget = budgetBytes;
    this.#sizeOf = sizeOf;
  }

  /** Bytes that are left of the budget. */
  get room(): number {
    return Math.max(0, this.#budget - this.#bytes);
  }

  /** Whether a value is kept; it does not count as used. */
  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): Value | undefined {
    const entry = this.#values.get(key);
    if (!entry) return undefined;
    this.#values.delete(key);
    this.#values.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    const bytes = this.#sizeOf(value);
    this.#values.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= this.#budget || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#values.get(key)?.bytes ?? 0;
    this.#values.delete(key);
  }

  /** Deletes the values whose keys begin so. */
  deletePrefix(prefix: string): void {
    this.deleteWhere((key) => key.startsWith(prefix));
  }

  /** Deletes the values that a condition holds for. */
  deleteWhere(condition: (key: string, value: Value) => boolean): void {
    for (const [key, { value }] of this.#values) if (condition(key, value)) this.delete(key);
  }

  clear(): void {
    this.#values.clear();
    this.#bytes = 0;
  }
}
