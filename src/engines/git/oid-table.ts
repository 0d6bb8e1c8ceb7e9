import { Buffer } from "node:buffer";

const INITIAL_ROWS = 1024;
/** Hash slots per row, so that at most half of the slots are used. */
const SLOTS_PER_ROW = 2;
const ABSENT = -1;

/**
 * Numbers object ids in insertion order. An id takes its own length plus eight bytes, outside the garbage collector's reach; as a
 * string in a `Map` it takes about a hundred bytes of heap.
 */
export class OidTable {
  #ids: Buffer;
  /** Row + 1 per slot, 0 for a free slot; open addressing with linear probing. */
  #slots: Int32Array;
  #count = 0;
  readonly #idBytes: number;
  readonly #key: Uint8Array;
  /** Random hash seed, because a repository's author can choose its object ids. */
  readonly #seed = (Math.random() * 2 ** 32) | 0;

  constructor(idBytes: number) {
    this.#idBytes = idBytes;
    this.#key = new Uint8Array(idBytes);
    this.#ids = Buffer.alloc(INITIAL_ROWS * idBytes);
    this.#slots = new Int32Array(INITIAL_ROWS * SLOTS_PER_ROW);
  }

  /** Number of rows; rows are numbered from 0. */
  get size(): number {
    return this.#count;
  }

  /** The id's row, or -1. */
  find(oid: string): number {
    return this.#read(oid) ? this.#slots[this.#probe(this.#key, 0)]! - 1 : ABSENT;
  }

  /** Returns the id's row; adds one if the id is new. @throws RangeError for text that is not an id in lower-case hex */
  add(oid: string): number {
    if (!this.#read(oid)) throw new RangeError(`not an object id: ${JSON.stringify(oid)}`);
    let slot = this.#probe(this.#key, 0);
    const row = this.#slots[slot]! - 1;
    if (row !== ABSENT) return row;
    if ((this.#count + 1) * SLOTS_PER_ROW > this.#slots.length) {
      this.#grow();
      slot = this.#probe(this.#key, 0);
    }
    this.#ids.set(this.#key, this.#count * this.#idBytes);
    this.#slots[slot] = ++this.#count;
    return this.#count - 1;
  }

  /** The id of a row, as hex. */
  oidAt(row: number): string {
    return this.#ids.toString("hex", row * this.#idBytes, (row + 1) * this.#idBytes);
  }

  #read(oid: string): boolean {
    return oid.length === this.#idBytes * 2 && readHex(oid, this.#key, 0);
  }

  /** The slot that holds the id at `from[at, …)`, or the free slot in which it would be stored. */
  #probe(from: Uint8Array, at: number): number {
    const ids = this.#ids;
    const slots = this.#slots;
    const idBytes = this.#idBytes;
    const mask = slots.length - 1;
    let slot = this.#hash(from, at) & mask;
    for (;;) {
      const row = slots[slot]! - 1;
      if (row === ABSENT) return slot;
      const start = row * idBytes;
      let i = 0;
      while (i < idBytes && ids[start + i] === from[at + i]) i++;
      if (i === idBytes) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #hash(from: Uint8Array, at: number): number {
    let hash = this.#seed;
    for (let i = 0; i < 8; i++) hash = Math.imul(hash ^ from[at + i]!, 0x01000193);
    return hash ^ (hash >>> 15);
  }

  #grow(): void {
    const ids = Buffer.alloc(this.#ids.length * 2);
    ids.set(this.#ids);
    this.#ids = ids;
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let row = 0; row < this.#count; row++) this.#slots[this.#probe(ids, row * this.#idBytes)] = row + 1;
  }
}

/** A set of object ids that supports removal. */
export class OidSet {
  readonly #table: OidTable;
  #alive = new Uint8Array(INITIAL_ROWS);
  #living = 0;

  constructor(idBytes: number, oids: Iterable<string>) {
    this.#table = new OidTable(idBytes);
    for (const oid of oids) {
      const row = this.#table.add(oid);
      if (row >= this.#alive.length) {
        const alive = new Uint8Array(this.#alive.length * 2);
        alive.set(this.#alive);
        this.#alive = alive;
      }
      if (this.#alive[row] === 0) this.#living++;
      this.#alive[row] = 1;
    }
  }

  get size(): number {
    return this.#living;
  }

  has(oid: string): boolean {
    const row = this.#table.find(oid);
    return row >= 0 && this.#alive[row] === 1;
  }

  /** Removes the id; true if it was in the set. */
  delete(oid: string): boolean {
    const row = this.#table.find(oid);
    if (row < 0 || this.#alive[row] === 0) return false;
    this.#alive[row] = 0;
    this.#living--;
    return true;
  }

  clear(): void {
    this.#alive.fill(0);
    this.#living = 0;
  }

  *[Symbol.iterator](): Generator<string> {
    for (let row = 0; row < this.#table.size; row++) if (this.#alive[row] === 1) yield this.#table.oidAt(row);
  }
}

/** Decodes lower-case hex into `into` at `at`; false if the text is not lower-case hex. */
export function readHex(hex: string, into: Uint8Array, at: number): boolean {
  for (let i = 0; i < hex.length; i += 2) {
    const high = hexDigit(hex.charCodeAt(i));
    const low = hexDigit(hex.charCodeAt(i + 1));
    if (high < 0 || low < 0) return false;
    into[at + (i >> 1)] = high * 16 + low;
  }
  return true;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}
