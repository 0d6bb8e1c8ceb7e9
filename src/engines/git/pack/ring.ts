import { Buffer } from "node:buffer";
import { HEADER_ROOM_BYTES, type ObjectType } from "../object.ts";

/** An inflated object in the ring. */
export interface RingEntry {
  /** Offset of its entry in the pack. */
  readonly offset: number;
  readonly start: number;
  readonly length: number;
  readonly type: ObjectType;
  readonly oid: string;
  /** Protected from being overwritten: a blob that waits for the plan. */
  held: boolean;
}

/**
 * A fixed buffer of the most recent objects of one pack, overwritten oldest first. Objects inflate straight into it,
 * are delivered from it and serve as delta bases until they are overwritten. Offset and id of overwritten objects are kept.
 */
export class ObjectRing {
  readonly buf: Uint8Array;
  /** Larger objects are not stored in the ring. */
  readonly maxObjectBytes: number;
  #write = 0;
  #queue: RingEntry[] = [];
  #head = 0;
  #byOid: Map<string, RingEntry> | undefined;
  readonly #idBytes: number;
  #goneCount = 0;
  #goneOffsets = new Float64Array(1024);
  #goneIds: Buffer;

  constructor(bytes: number, idBytes: number) {
    this.buf = new Uint8Array(bytes);
    this.maxObjectBytes = Math.floor(bytes / 4);
    this.#idBytes = idBytes;
    this.#goneIds = Buffer.alloc(1024 * idBytes);
  }

  /** Resets the ring for another pack. */
  clear(): void {
    this.#write = 0;
    this.#queue = [];
    this.#head = 0;
    this.#byOid = undefined;
    this.#goneCount = 0;
  }

  #place(length: number): { start: number; wrapped: boolean } {
    const wrapped = this.#write + HEADER_ROOM_BYTES + length > this.buf.length;
    return { start: (wrapped ? 0 : this.#write) + HEADER_ROOM_BYTES, wrapped };
  }

  #inTheWay(entry: RingEntry, start: number, wrapped: boolean, end: number): boolean {
    if (wrapped && entry.start >= this.#write) return true;
    return entry.start - HEADER_ROOM_BYTES < end && entry.start + entry.length > start - HEADER_ROOM_BYTES;
  }

  /** Whether an object of this length would overwrite a held one. */
  blocked(length: number): boolean {
    const { start, wrapped } = this.#place(length);
    for (let i = this.#head; i < this.#queue.length; i++) {
      const entry = this.#queue[i]!;
      if (!this.#inTheWay(entry, start, wrapped, start + length)) return false;
      if (entry.held) return true;
    }
    return false;
  }

  /** Makes room for `length` bytes and the header before them; returns where they start. */
  reserve(length: number): number {
    const { start, wrapped } = this.#place(length);
    while (this.#head < this.#queue.length) {
      const entry = this.#queue[this.#head]!;
      if (!this.#inTheWay(entry, start, wrapped, start + length)) break;
      this.remember(entry.offset, entry.oid);
      if (this.#byOid?.get(entry.oid) === entry) this.#byOid.delete(entry.oid);
      this.#head++;
    }
    if (this.#head > 4096 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    this.#write = start - HEADER_ROOM_BYTES;
    return start;
  }

  /** Records the object written at the most recently reserved place. */
  add(entry: RingEntry): void {
    this.#write = entry.start + entry.length;
    this.#queue.push(entry);
    this.#byOid?.set(entry.oid, entry);
  }

  /** Records the id of an object that is not in the ring. Offsets must be ascending. */
  remember(offset: number, oid: string): void {
    if (this.#goneCount === this.#goneOffsets.length) {
      const offsets = new Float64Array(this.#goneCount * 2);
      offsets.set(this.#goneOffsets);
      this.#goneOffsets = offsets;
      this.#goneIds = Buffer.concat([this.#goneIds, Buffer.alloc(this.#goneIds.length)]);
    }
    this.#goneOffsets[this.#goneCount] = offset;
    this.#goneIds.write(oid, this.#goneCount * this.#idBytes, "hex");
    this.#goneCount++;
  }

  /** The object whose pack entry starts at `offset`, unless it was overwritten. */
  find(offset: number): RingEntry | undefined {
    let low = this.#head;
    let high = this.#queue.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const entry = this.#queue[middle]!;
      if (entry.offset === offset) return entry;
      if (entry.offset < offset) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  findOid(oid: string): RingEntry | undefined {
    if (this.#byOid === undefined) {
      this.#byOid = new Map();
      for (let i = this.#head; i < this.#queue.length; i++) this.#byOid.set(this.#queue[i]!.oid, this.#queue[i]!);
    }
    return this.#byOid.get(oid);
  }

  /** Id of an object that was overwritten. */
  goneId(offset: number): string | undefined {
    let low = 0;
    let high = this.#goneCount - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const at = this.#goneOffsets[middle]!;
      if (at === offset) return this.#goneIds.toString("hex", middle * this.#idBytes, (middle + 1) * this.#idBytes);
      if (at < offset) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  /** Objects held, oldest first. */
  *held(): Generator<RingEntry> {
    for (let i = this.#head; i < this.#queue.length; i++) if (this.#queue[i]!.held) yield this.#queue[i]!;
  }
}
