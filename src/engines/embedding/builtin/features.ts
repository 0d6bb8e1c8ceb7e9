/** Counts features by 32-bit key: a hash table with open addressing over typed arrays. */
export class FeatureTable {
  #capacity = 4096;
  #keys = new Int32Array(this.#capacity);
  #weights = new Float64Array(this.#capacity);
  #counts = new Uint32Array(this.#capacity);
  #slots = new Int32Array(this.#capacity / 2);
  #used = 0;

  clear(): void {
    for (let i = 0; i < this.#used; i++) this.#counts[this.#slots[i] as number] = 0;
    this.#used = 0;
  }

  /** Counts one occurrence of `key`; keeps the weight of the first. */
  add(key: number, weight: number): void {
    const mask = this.#capacity - 1;
    let slot = key & mask;
    while (this.#counts[slot] !== 0) {
      if (this.#keys[slot] === key) {
        this.#counts[slot] = (this.#counts[slot] as number) + 1;
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#keys[slot] = key;
    this.#weights[slot] = weight;
    this.#counts[slot] = 1;
    this.#slots[this.#used++] = slot;
    if (this.#used === this.#slots.length) this.#grow();
  }

  /** Visits every feature in order of first occurrence, so that sums are reproducible. */
  forEach(visit: (key: number, weight: number, count: number) => void): void {
    for (let i = 0; i < this.#used; i++) {
      const slot = this.#slots[i] as number;
      visit(this.#keys[slot] as number, this.#weights[slot] as number, this.#counts[slot] as number);
    }
  }

  #grow(): void {
    const [keys, weights, counts, slots, used] = [this.#keys, this.#weights, this.#counts, this.#slots, this.#used];
    this.#capacity *= 2;
    this.#keys = new Int32Array(this.#capacity);
    this.#weights = new Float64Array(this.#capacity);
    this.#counts = new Uint32Array(this.#capacity);
    this.#slots = new Int32Array(this.#capacity / 2);
    const mask = this.#capacity - 1;
    for (let i = 0; i < used; i++) {
      const from = slots[i] as number;
      let slot = (keys[from] as number) & mask;
      while (this.#counts[slot] !== 0) slot = (slot + 1) & mask;
      this.#keys[slot] = keys[from] as number;
      this.#weights[slot] = weights[from] as number;
      this.#counts[slot] = counts[from] as number;
      this.#slots[i] = slot;
    }
  }
}
