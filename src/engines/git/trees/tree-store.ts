import { corrupt, overLimit } from "../errors.ts";
import { DEFAULT_GIT_LIMITS } from "../limits.ts";
import { hashObject, OBJ_TREE, type ObjectFormat, oidBytes } from "../object.ts";
import { TreeCursor } from "./tree.ts";

const CHUNK_BYTES = 256 * 1024;
/** Size of the parts in which encoded trees are yielded; a larger tree is a part of its own. */
const PART_BYTES = 64 * 1024;
/** Maximum bytes of a tree's encoded length; the limit on trees is far below 2^28. */
const MAX_VARINT_BYTES = 4;
const MAGIC = [0x47, 0x54, 0x53, 0x31]; // "GTS1"

interface Slot {
  readonly chunk: Uint8Array;
  readonly start: number;
  readonly length: number;
}

/**
 * Raw tree objects by id, packed into large chunks; each takes its own size plus about a hundred bytes. A store may be
 * layered on another one (`under`), from which it reads without copying.
 */
export class TreeStore {
  readonly objectFormat: ObjectFormat;
  readonly #slots = new Map<string, Slot>();
  readonly #under: TreeStore | undefined;
  #chunk = new Uint8Array(0);
  #used = 0;
  /** Raw bytes in this store, excluding `under`. */
  bytes = 0;

  constructor(objectFormat: ObjectFormat, under?: TreeStore) {
    this.objectFormat = objectFormat;
    this.#under = under;
  }

  /** Trees in this store, excluding `under`. */
  get size(): number {
    return this.#slots.size;
  }

  has(oid: string): boolean {
    return this.#slots.has(oid) || (this.#under?.has(oid) ?? false);
  }

  /** The raw tree object, as a view into the store that must not be modified. */
  get(oid: string): Uint8Array | undefined {
    const slot = this.#slots.get(oid);
    return slot === undefined ? this.#under?.get(oid) : slot.chunk.subarray(slot.start, slot.start + slot.length);
  }

  /** Stores a copy of `buf[start, end)` under the id that the caller has computed. */
  add(oid: string, buf: Uint8Array, start: number, end: number): void {
    if (this.has(oid)) return;
    const length = end - start;
    if (this.#used + length > this.#chunk.length) {
      // A tree that would waste much of a chunk gets one of its own.
      if (length > CHUNK_BYTES / 4) {
        this.#put(oid, { chunk: buf.slice(start, end), start: 0, length });
        return;
      }
      this.#chunk = new Uint8Array(CHUNK_BYTES);
      this.#used = 0;
    }
    this.#chunk.set(buf.subarray(start, end), this.#used);
    this.#put(oid, { chunk: this.#chunk, start: this.#used, length });
    this.#used += length;
  }

  #put(oid: string, slot: Slot): void {
    this.#slots.set(oid, slot);
    this.bytes += slot.length;
  }

  /** Ids reachable from `root`, each once, parents first, in tree order. @throws GitError CORRUPT when one is missing */
  *reachable(root: string): Generator<string> {
    const seen = new Set<string>([root]);
    const stack = [root];
    const idBytes = oidBytes(this.objectFormat);
    for (let oid = stack.pop(); oid !== undefined; oid = stack.pop()) {
      yield oid;
      const cursor = new TreeCursor(this.require(oid), idBytes);
      const children: string[] = [];
      while (cursor.next()) {
        if (!cursor.isTree) continue;
        const child = cursor.oid();
        if (!seen.has(child)) {
          seen.add(child);
          children.push(child);
        }
      }
      for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]!);
    }
  }

  /** As {@link get}. @throws GitError CORRUPT when it is missing */
  require(oid: string): Uint8Array {
    const raw = this.get(oid);
    if (raw === undefined) throw corrupt(`tree ${oid} is missing`);
    return raw;
  }

  /**
   * The trees reachable from `root`, as bytes: magic, id length, then length (LEB128) and raw content of each, parents
   * first. Deterministic, not compressed; ids are not stored, {@link decode} recomputes them. Parts are not changed afterwards: a
   * stream may read one after it has asked for the next.
   */
  *encode(root: string): Generator<Uint8Array> {
    let part = new Uint8Array(PART_BYTES);
    part.set(MAGIC);
    part[MAGIC.length] = oidBytes(this.objectFormat);
    let used = MAGIC.length + 1;
    for (const oid of this.reachable(root)) {
      const raw = this.require(oid);
      if (used + MAX_VARINT_BYTES + raw.length > PART_BYTES) {
        yield part.subarray(0, used);
        part = new Uint8Array(PART_BYTES);
        used = 0;
      }
      let rest = raw.length;
      for (; rest > 127; rest = Math.floor(rest / 128)) part[used++] = (rest % 128) + 128;
      part[used++] = rest;
      if (used + raw.length <= PART_BYTES) {
        part.set(raw, used);
        used += raw.length;
      } else {
        yield part.subarray(0, used);
        part = new Uint8Array(PART_BYTES);
        used = 0;
        yield raw;
      }
    }
    if (used > 0) yield part.subarray(0, used);
  }

  /**
   * Reads what {@link encode} wrote; the store keeps views into `bytes`. Every id is recomputed, so a tree looked up
   * by its id is genuine. Missing trees are detected when a root is walked.
   * @throws GitError CORRUPT
   */
  static decode(bytes: Uint8Array, objectFormat: ObjectFormat): TreeStore {
    const idBytes = oidBytes(objectFormat);
    if (MAGIC.some((byte, i) => bytes[i] !== byte)) throw corrupt("not an encoded tree store");
    if (bytes[MAGIC.length] !== idBytes) throw corrupt(`encoded tree store is not ${objectFormat}`);
    const store = new TreeStore(objectFormat);
    let p = MAGIC.length + 1;
    while (p < bytes.length) {
      let length = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = bytes[p++];
        if (byte === undefined || scale > 2 ** 28) throw corrupt("truncated tree store");
        length += (byte & 127) * scale;
        if (byte < 128) break;
      }
      if (p + length > bytes.length) throw corrupt("truncated tree store");
      if (length > DEFAULT_GIT_LIMITS.treeBytes) throw overLimit("tree object too large");
      const raw = bytes.subarray(p, p + length);
      const cursor = new TreeCursor(raw, idBytes);
      while (cursor.next());
      store.#put(hashObject(objectFormat, OBJ_TREE, raw), { chunk: bytes, start: p, length });
      p += length;
    }
    return store;
  }
}
