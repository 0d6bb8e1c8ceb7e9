import type { Hash } from "node:crypto";
import { applyDelta, type DeltaHeader, readDeltaHeader } from "./delta.ts";
import { corrupt, overLimit } from "../errors.ts";
import { INFLATE_DONE, INFLATE_NEED_INPUT, Inflater, WINDOW_BYTES } from "./inflate.ts";
import type { GitLimits } from "../limits.ts";
import {
  HEADER_ROOM_BYTES,
  hashInPlace,
  newHash,
  OBJ_BLOB,
  OBJ_COMMIT,
  OBJ_OFS_DELTA,
  OBJ_REF_DELTA,
  OBJ_TAG,
  OBJ_TREE,
  type ObjectFormat,
  type ObjectType,
  oidBytes,
  toHex,
  writeHeader,
} from "../object.ts";
import type { PackSink } from "./pack-sink.ts";
import type { PackSource } from "./pack-source.ts";
import type { PendingDelta, PendingDeltas } from "./pending.ts";
import type { ObjectRing, RingEntry } from "./ring.ts";

const NEED_INPUT = 0;
const NEED_ROOM = 1;
const WAIT = 2;
const FINISHED = 3;

/** Reads one pack from a stream, an object at a time, in constant memory. */
export class PackReader {
  objects = 0;
  deltas = 0;
  readonly #source: PackSource;
  readonly #sink: PackSink;
  readonly #format: ObjectFormat;
  readonly #limits: GitLimits;
  readonly #ring: ObjectRing;
  readonly #pending: PendingDeltas;
  readonly #maxBlobBytes: number;
  readonly #inflater = new Inflater();
  #left = 0;
  #wait: Promise<void> | undefined;
  /** By pack offset: ids of objects that were never in the ring, and entries that are pending or lost. */
  readonly #outside = new Map<number, string>();
  readonly #waiting = new Map<number, PendingDelta>();
  readonly #lostOffsets = new Set<number>();
  #scratch = new Uint8Array(64 * 1024);
  // The entry being read.
  #inEntry = false;
  #entryOffset = 0;
  #type = 0;
  #size = 0;
  #baseOffset = 0;
  #baseOid = "";
  #out: Uint8Array = new Uint8Array(0);
  #outStart = 0;
  #inRing = false;
  #sliding: Hash | undefined;
  #slidFrom = 0;
  #slidBytes = 0;

  constructor(
    source: PackSource,
    sink: PackSink,
    format: ObjectFormat,
    limits: GitLimits,
    ring: ObjectRing,
    pending: PendingDeltas,
    maxBlobBytes: number,
  ) {
    this.#source = source;
    this.#sink = sink;
    this.#format = format;
    this.#limits = limits;
    this.#ring = ring;
    this.#pending = pending;
    this.#maxBlobBytes = maxBlobBytes;
  }

  /**
   * Reads the pack to its end and checks its trailing hash, or stops as soon as the sink is satisfied.
   * @returns false when it stopped early
   * @throws GitError CORRUPT, NETWORK (cut off), LIMIT
   */
  async run(): Promise<boolean> {
    const source = this.#source;
    while (source.end - source.pos < 12) if (!(await source.fill())) throw source.truncated();
    const { buf, pos } = source;
    const view = new DataView(buf.buffer, buf.byteOffset + pos, 12);
    if (view.getUint32(0) !== 0x5041434b) throw corrupt("not a pack");
    if (view.getUint32(4) !== 2 && view.getUint32(4) !== 3) throw corrupt(`pack version ${view.getUint32(4)}`);
    this.#left = view.getUint32(8);
    if (this.#left > this.#limits.objects) throw overLimit(`pack of more than ${this.#limits.objects} objects`);
    source.pos += 12;
    for (;;) {
      const status = this.#advance();
      if (status === FINISHED) break;
      if (status === NEED_INPUT) {
        if (!(await source.fill())) throw source.truncated();
        this.#sink.progress();
      } else if (status === NEED_ROOM) {
        await this.#sink.pressure();
      } else {
        const wait = this.#wait;
        this.#wait = undefined;
        await wait;
      }
    }
    if (this.#left > 0) return false;
    await source.verifyTrailer();
    return true;
  }

  /** Reads as many entries as the buffered input holds. */
  #advance(): number {
    while (this.#left > 0) {
      if (this.#sink.satisfied()) return FINISHED;
      if (!this.#inEntry && !this.#entryHeader()) return NEED_INPUT;
      if (this.#out.length === 0) {
        if (!this.#prepare()) return NEED_ROOM;
      }
      if (!this.#inflate()) return NEED_INPUT;
      if (!this.#finish()) return NEED_ROOM;
      this.#inEntry = false;
      this.#out = NOTHING;
      this.#left--;
      this.objects++;
      if (this.#wait !== undefined) return WAIT;
    }
    return FINISHED;
  }

  /** Reads a complete entry header; consumes nothing and returns false when more input is needed. */
  #entryHeader(): boolean {
    const source = this.#source;
    const { buf, end } = source;
    let p = source.pos;
    if (p >= end) return false;
    let byte = buf[p++]!;
    const type = (byte >> 4) & 7;
    let size = byte & 15;
    for (let scale = 16; byte >= 128; scale *= 128) {
      if (scale > 2 ** 46) throw corrupt("object size out of range");
      if (p >= end) return false;
      byte = buf[p++]!;
      size += (byte & 127) * scale;
    }
    if (type === OBJ_OFS_DELTA) {
      if (p >= end) return false;
      byte = buf[p++]!;
      let distance = byte & 127;
      while (byte >= 128) {
        if (distance > 2 ** 45) throw corrupt("delta offset out of range");
        if (p >= end) return false;
        byte = buf[p++]!;
        distance = (distance + 1) * 128 + (byte & 127);
      }
      this.#baseOffset = source.base + source.pos - distance;
      if (distance <= 0 || this.#baseOffset < 12) throw corrupt("delta base offset out of range");
    } else if (type === OBJ_REF_DELTA) {
      const length = oidBytes(this.#format);
      if (p + length > end) return false;
      this.#baseOid = toHex(buf, p, length);
      p += length;
    } else if (type < OBJ_COMMIT || type > OBJ_TAG) throw corrupt(`pack entry of type ${type}`);
    this.#checkSize(type, size);
    this.#type = type;
    this.#size = size;
    this.#entryOffset = source.base + source.pos;
    this.#inEntry = true;
    source.pos = p;
    return true;
  }

  #checkSize(type: number, size: number): void {
    const limits = this.#limits;
    if (type === OBJ_TREE && size > limits.treeBytes) throw overLimit(`tree of ${size} bytes`);
    if ((type === OBJ_COMMIT || type === OBJ_TAG) && size > limits.commitBytes) {
      throw overLimit(`commit or tag of ${size} bytes`);
    }
  }

  /** Chooses the buffer for the entry. Returns false if held objects leave no room. */
  #prepare(): boolean {
    const size = this.#size;
    const ring = this.#ring;
    this.#sliding = undefined;
    this.#inRing = false;
    if (this.#type === OBJ_OFS_DELTA || this.#type === OBJ_REF_DELTA) {
      if (size > this.#limits.deltaBytes) this.#slide();
      else {
        if (size > this.#scratch.length) this.#scratch = new Uint8Array(Math.max(size, this.#scratch.length * 2));
        this.#out = this.#scratch;
        this.#outStart = 0;
      }
    } else if (size <= ring.maxObjectBytes) {
      if (ring.blocked(size)) return false;
      this.#outStart = ring.reserve(size);
      this.#out = ring.buf;
      this.#inRing = true;
    } else if (this.#type !== OBJ_BLOB || size <= this.#maxBlobBytes) {
      this.#out = new Uint8Array(size + HEADER_ROOM_BYTES);
      this.#outStart = HEADER_ROOM_BYTES;
    } else this.#slide();
    this.#inflater.reset(this.#outStart);
    return true;
  }

  /** Inflates through a window, hashing what slides out of it. */
  #slide(): void {
    this.#out = new Uint8Array(4 * WINDOW_BYTES);
    this.#outStart = 0;
    this.#slidFrom = 0;
    this.#slidBytes = 0;
    this.#sliding = newHash(this.#format);
    if (this.#type === OBJ_BLOB) {
      const header = new Uint8Array(HEADER_ROOM_BYTES);
      this.#sliding.update(header.subarray(writeHeader(OBJ_BLOB, this.#size, header, HEADER_ROOM_BYTES)));
    }
  }

  #inflate(): boolean {
    const source = this.#source;
    const inflater = this.#inflater;
    const out = this.#out;
    const sliding = this.#sliding;
    const outEnd = sliding === undefined ? this.#outStart + this.#size : out.length;
    for (;;) {
      const status = inflater.run(
        source.buf,
        source.pos,
        source.end,
        out,
        this.#outStart,
        outEnd,
        sliding !== undefined,
      );
      source.pos = inflater.inPos;
      if (status === INFLATE_NEED_INPUT) return false;
      if (sliding !== undefined) {
        sliding.update(out.subarray(this.#slidFrom, inflater.outPos));
        this.#slidBytes += inflater.outPos - this.#slidFrom;
        if (this.#slidBytes > this.#size) throw corrupt("object is longer than announced");
        if (status !== INFLATE_DONE) {
          out.copyWithin(0, inflater.outPos - WINDOW_BYTES, inflater.outPos);
          inflater.outPos = WINDOW_BYTES;
          this.#slidFrom = WINDOW_BYTES;
          continue;
        }
      }
      const produced = sliding === undefined ? inflater.outPos - this.#outStart : this.#slidBytes;
      if (produced !== this.#size) throw corrupt(`object of ${produced} bytes was announced with ${this.#size}`);
      return true;
    }
  }

  /** Handles the inflated entry. Returns false if held objects leave no room for its result. */
  #finish(): boolean {
    if (this.#type === OBJ_OFS_DELTA || this.#type === OBJ_REF_DELTA) return this.#finishDelta();
    if (this.#sliding !== undefined) {
      const oid = this.#sliding.digest("hex");
      this.#lostOffsets.add(this.#entryOffset);
      this.#sink.oversize(oid, this.#size);
      for (const waiting of this.#pending.take(oid)) this.#abandon(waiting);
      return true;
    }
    this.#deliver(this.#type as ObjectType, this.#out, this.#outStart, this.#size, this.#inRing);
    return true;
  }

  /** Hashes, records and delivers an object at its final place. */
  #deliver(type: ObjectType, buf: Uint8Array, start: number, length: number, inRing: boolean): void {
    const end = start + length;
    const oid = hashInPlace(this.#format, type, buf, start, end);
    let entry: RingEntry | undefined;
    if (inRing) {
      entry = { offset: this.#entryOffset, start, length, type, oid, held: false };
      this.#ring.add(entry);
    } else this.#outside.set(this.#entryOffset, oid);
    const handed = this.#sink.object(type, oid, buf, start, end, entry);
    if (this.#pending.size > 0 && this.#pending.has(oid)) {
      // The base may be overwritten while the consumer is awaited, so its dependants use a copy.
      const base = buf.slice(start, end);
      this.#wait = (async (): Promise<void> => {
        await handed;
        await this.#resolve(type, oid, base);
      })();
    } else if (handed !== undefined) this.#wait = handed;
  }

  #finishDelta(): boolean {
    this.deltas++;
    const ofs = this.#type === OBJ_OFS_DELTA;
    if (this.#sliding !== undefined || (ofs && this.#lostOffsets.has(this.#baseOffset))) return this.#lose();
    const entry = ofs ? this.#ring.find(this.#baseOffset) : this.#ring.findOid(this.#baseOid);
    if (entry !== undefined) return this.#apply(entry.type, this.#ring.buf, entry.start, entry.length);
    const parent = ofs ? this.#waiting.get(this.#baseOffset) : undefined;
    const oid = ofs ? (this.#outside.get(this.#baseOffset) ?? this.#ring.goneId(this.#baseOffset)) : this.#baseOid;
    if (parent === undefined && oid === undefined) throw corrupt("delta against an entry that does not exist");
    const tree = oid === undefined ? undefined : this.#sink.tree(oid);
    if (tree !== undefined) return this.#apply(OBJ_TREE, tree, 0, tree.length);
    const kept = this.#pending.add(parent ?? oid!, this.#out.subarray(0, this.#size));
    if (kept === undefined) return this.#lose();
    this.#waiting.set(this.#entryOffset, kept);
    return true;
  }

  #lose(): boolean {
    this.#lostOffsets.add(this.#entryOffset);
    this.#sink.lost();
    return true;
  }

  /** Whether the result of a delta is needed. */
  #acceptable(type: ObjectType, header: DeltaHeader, baseLength: number): boolean {
    if (header.baseSize !== baseLength) throw corrupt("delta base has the wrong size");
    this.#checkSize(type, header.resultSize);
    return type !== OBJ_BLOB || header.resultSize <= Math.max(this.#maxBlobBytes, this.#ring.maxObjectBytes);
  }

  #apply(type: ObjectType, base: Uint8Array, baseStart: number, baseLength: number): boolean {
    const ring = this.#ring;
    const scratch = this.#scratch;
    const header = readDeltaHeader(scratch, this.#size);
    if (!this.#acceptable(type, header, baseLength)) return this.#lose();
    const length = header.resultSize;
    if (length > ring.maxObjectBytes) {
      const out = new Uint8Array(length + HEADER_ROOM_BYTES);
      applyDelta(header, scratch, this.#size, base, baseStart, out, HEADER_ROOM_BYTES);
      this.#deliver(type, out, HEADER_ROOM_BYTES, length, false);
      return true;
    }
    if (ring.blocked(length)) {
      this.deltas--;
      return false;
    }
    const start = ring.reserve(length);
    let from = base;
    let fromStart = baseStart;
    // The result may be written over its own base.
    if (base === ring.buf && baseStart < start + length && baseStart + baseLength > start - HEADER_ROOM_BYTES) {
      from = base.slice(baseStart, baseStart + baseLength);
      fromStart = 0;
    }
    applyDelta(header, scratch, this.#size, from, fromStart, ring.buf, start);
    this.#deliver(type, ring.buf, start, length, true);
    return true;
  }

  /** Applies all deltas that waited for `oid`, then those that waited for their results. */
  async #resolve(type: ObjectType, oid: string, base: Uint8Array): Promise<void> {
    const stack = this.#pending.take(oid).map((pending) => ({ pending, base }));
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { pending } = next;
      const { delta } = pending;
      const header = readDeltaHeader(delta, delta.length);
      if (!this.#acceptable(type, header, next.base.length)) {
        this.#abandon(pending);
        continue;
      }
      this.#pending.release(pending);
      const end = HEADER_ROOM_BYTES + header.resultSize;
      const out = new Uint8Array(end);
      applyDelta(header, delta, delta.length, next.base, 0, out, HEADER_ROOM_BYTES);
      const result = hashInPlace(this.#format, type, out, HEADER_ROOM_BYTES, end);
      const content = out.subarray(HEADER_ROOM_BYTES);
      await this.#sink.object(type, result, out, HEADER_ROOM_BYTES, end, undefined);
      for (const child of [...pending.children, ...this.#pending.take(result)])
        stack.push({ pending: child, base: content });
    }
  }

  /** Drops a pending delta and all deltas that wait for its result. */
  #abandon(pending: PendingDelta): void {
    const stack = [pending];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      this.#pending.release(next);
      this.#sink.lost();
      stack.push(...next.children);
    }
  }
}

const NOTHING = new Uint8Array(0);
