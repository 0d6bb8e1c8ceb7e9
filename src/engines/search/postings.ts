import { BlockWriter, type Blocks } from "./blocks.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { SearchFormatError } from "./types.ts";

/**
 * Postings by term. A block holds the terms of a range of hashes: their number (varint), their hashes (4 bytes each, ascending),
 * for each the number of its postings and their length in bytes (varints), then the postings one after another: the number
 * of the document less that of the one before (varint), and its counts (1 byte). A long list of postings has a block of its own. The
 * detail of a block of one term is the number of its postings, that of other blocks 0: so without reading anything a query knows how
 * frequent the frequent terms are.
 */

/** Postings are collected as document * 256 + counts, so documents stay below 2^24. */
export const MAX_DOCUMENTS = 2 ** 24;

/** As `BLOCK_BYTES`; a query needs one term of a block, so there are fewer in vain. Postings of so many bytes do not share a block. */
export const TERM_BLOCK_BYTES = 1024;
/** Of a posting: the number of the document and its counts. */
const MIN_POSTING_BYTES = 2;

/** Postings sorted at a time. A sort takes 24 bytes for each, so that the memory of a build does not grow with the segment. */
const MAX_SORTED_POSTINGS = 2 ** 19;
const HASHES = 2 ** 32;

/** Passes for `writePostings`. */
export function passesFor(postingCount: number): number {
  return Math.max(1, Math.ceil(postingCount / MAX_SORTED_POSTINGS));
}

/**
 * Writes postings, sorted by term and document. They are sorted in passes, each over a range of hashes, so `addAll` is called once
 * per pass and must add the same postings each time, in any order. The bytes do not depend on the number of passes.
 */
export function writePostings(
  passes: number,
  addAll: (postings: PostingsCollector) => void,
  blocks = new BlockWriter(),
): BlockWriter {
  const writer = new TermWriter(blocks);
  for (let pass = 0; pass < passes; pass++) {
    const [first, end] = [pass, pass + 1].map((n) => Math.floor((HASHES * n) / passes));
    const postings = new PostingsCollector(first as number, end as number);
    addAll(postings);
    postings.write(writer);
  }
  writer.end();
  return blocks;
}

/** Collects the postings of one pass. */
export class PostingsCollector {
  /** First hash of the pass, unsigned. */
  readonly first: number;
  /** End of the pass's hashes, exclusive. */
  readonly end: number;
  #hashes = new Int32Array(1 << 16);
  #values = new Uint32Array(1 << 16);
  #count = 0;

  constructor(first: number, end: number) {
    this.first = first;
    this.end = end;
  }

  /** Adds a posting, unless another pass has its hash. `counts` is a byte. A term is added to a document at most once. */
  add(hash: number, document: number, counts: number): void {
    const unsigned = hash >>> 0;
    if (unsigned < this.first || unsigned >= this.end) return;
    if (this.#count === this.#hashes.length) {
      const [hashes, values] = [new Int32Array(this.#count * 2), new Uint32Array(this.#count * 2)];
      hashes.set(this.#hashes);
      values.set(this.#values);
      this.#hashes = hashes;
      this.#values = values;
    }
    this.#hashes[this.#count] = hash;
    this.#values[this.#count++] = document * 256 + counts;
  }

  /** Writes the terms of the pass. */
  write(writer: TermWriter): void {
    const { ids, sorted } = this.#distinct();
    const ends = new Uint32Array(sorted.length + 1);
    for (let i = 0; i < this.#count; i++) ends[(ids[i] as number) + 1] = (ends[(ids[i] as number) + 1] as number) + 1;
    for (let i = 1; i < ends.length; i++) ends[i] = (ends[i] as number) + (ends[i - 1] as number);
    const next = ends.slice(0, -1);
    const placed = new Uint32Array(this.#count);
    for (let i = 0; i < this.#count; i++) {
      const id = ids[i] as number;
      placed[next[id] as number] = this.#values[i] as number;
      next[id] = (next[id] as number) + 1;
    }
    for (let id = 0; id < sorted.length; id++)
      writer.add(sorted[id] as number, placed.subarray(ends[id], ends[id + 1]).sort());
  }

  /** The distinct hashes in ascending order (unsigned), and for each posting the position of its hash among them. */
  #distinct(): { ids: Uint32Array; sorted: Uint32Array } {
    const hashes = Uint32Array.from(this.#hashes.subarray(0, this.#count)).sort();
    let size = 0;
    for (let i = 0; i < hashes.length; i++)
      if (i === 0 || hashes[i] !== hashes[size - 1]) hashes[size++] = hashes[i] as number;
    const sorted = hashes.slice(0, size);
    // Open addressing: hashes are well spread, so a look-up takes little more than one step.
    let capacity = 1024;
    while (capacity < size * 2) capacity *= 2;
    const slots = new Int32Array(capacity).fill(-1);
    for (let id = 0; id < size; id++) {
      let slot = (sorted[id] as number) & (capacity - 1);
      while (slots[slot] !== -1) slot = (slot + 1) & (capacity - 1);
      slots[slot] = id;
    }
    const ids = new Uint32Array(this.#count);
    for (let i = 0; i < this.#count; i++) {
      const hash = (this.#hashes[i] as number) >>> 0;
      let slot = hash & (capacity - 1);
      while (sorted[slots[slot] as number] !== hash) slot = (slot + 1) & (capacity - 1);
      ids[i] = slots[slot] as number;
    }
    return { ids, sorted };
  }
}

/** Writes blocks of terms, which are added in ascending order of their hashes (unsigned). */
export class TermWriter {
  readonly #blocks: BlockWriter;
  readonly #hashes: number[] = [];
  readonly #sizes = new ByteWriter();
  readonly #postings = new ByteWriter();
  /** The postings of the term that is being added. */
  readonly #added = new ByteWriter();
  /** Of the term added last. */
  #lastCount = 0;

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  /** Adds a term. `values` holds document * 256 + counts of each posting, ascending. */
  add(hash: number, values: Uint32Array): void {
    const added = this.#added;
    added.clear();
    let previous = 0;
    for (const value of values) {
      const document = value >>> 8;
      added.varint(document - previous);
      added.u8(value & 0xff);
      previous = document;
    }
    if (added.length >= TERM_BLOCK_BYTES) this.end();
    this.#hashes.push(hash);
    this.#sizes.varint(values.length);
    this.#sizes.varint(added.length);
    this.#postings.bytes(added.view());
    this.#lastCount = values.length;
    if (this.#hashes.length * 4 + this.#sizes.length + this.#postings.length >= TERM_BLOCK_BYTES) this.end();
  }

  /** Writes the last block. */
  end(): void {
    const first = this.#hashes[0];
    if (first === undefined) return;
    const block = new ByteWriter();
    block.varint(this.#hashes.length);
    for (const hash of this.#hashes) block.u32(hash);
    block.bytes(this.#sizes.view());
    block.bytes(this.#postings.view());
    this.#blocks.add(first, block.view(), this.#hashes.length === 1 ? this.#lastCount : 0);
    this.#hashes.length = 0;
    this.#sizes.clear();
    this.#postings.clear();
  }
}

/** The postings of one term. */
export interface PostingList {
  count: number;
  bytes: Uint8Array;
}

/** The block that may hold a term; -1 if no block does. */
export function blockOfTerm(blocks: Blocks, hash: number): number {
  const block = blocks.find(hash >>> 0);
  const isOther = block >= 0 && blocks.details[block] !== 0 && blocks.keys[block] !== hash >>> 0;
  return isOther ? -1 : block;
}

/** Bounds of a number, both inclusive. */
export interface Bounds {
  least: number;
  most: number;
}

/** How many postings a term has, as far as that is known without reading its block. */
export function postingBounds(blocks: Blocks, hash: number): Bounds {
  const block = blockOfTerm(blocks, hash);
  if (block < 0) return { least: 0, most: 0 };
  const count = blocks.details[block] as number;
  if (count > 0) return { least: count, most: count };
  const bytes = Math.min(blocks.byteLengthOf(block), TERM_BLOCK_BYTES);
  return { least: 0, most: Math.floor(bytes / MIN_POSTING_BYTES) };
}

/** Postings of each wanted term; undefined if a term does not occur. Each block is read once. */
export async function readPostings(blocks: Blocks, hashes: readonly number[]): Promise<(PostingList | undefined)[]> {
  const wanted = hashes.map((hash) => blockOfTerm(blocks, hash));
  const loading = new Map<number, Uint8Array | Promise<Uint8Array>>();
  for (const index of wanted) if (index >= 0 && !loading.has(index)) loading.set(index, blocks.read(index));
  const loaded = new Map<number, Uint8Array>();
  for (const [index, bytes] of loading) loaded.set(index, bytes instanceof Promise ? await bytes : bytes);
  return hashes.map((hash, i) => {
    const block = loaded.get(wanted[i] as number);
    return block && findTerm(block, hash >>> 0);
  });
}

function findTerm(block: Uint8Array, hash: number): PostingList | undefined {
  const reader = new ByteReader(block);
  const count = reader.varint();
  const hashes = reader.position;
  reader.position += 4 * count;
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const at = hashes + 4 * i;
    const postings = reader.varint();
    const length = reader.varint();
    const candidate =
      ((block[at] as number) |
        ((block[at + 1] as number) << 8) |
        ((block[at + 2] as number) << 16) |
        ((block[at + 3] as number) << 24)) >>>
      0;
    if (candidate === hash) return { count: postings, bytes: skipTo(block, reader, count - i - 1, offset, length) };
    offset += length;
  }
  return undefined;
}

/** The bytes of a posting list: they begin `offset` bytes behind the sizes, of which `left` are still to be read. */
function skipTo(block: Uint8Array, reader: ByteReader, left: number, offset: number, length: number): Uint8Array {
  for (let i = 0; i < 2 * left; i++) reader.varint();
  const start = reader.position + offset;
  return new ByteReader(block, start).bytes(length);
}

/** A term of a block, with its postings. */
export interface Term extends PostingList {
  /** Unsigned. */
  hash: number;
}

/** The terms of a block, in order. Throws `SearchFormatError` if they do not fit into it. */
export function termsOfBlock(block: Uint8Array): Term[] {
  const reader = new ByteReader(block);
  const hashes = Array.from({ length: reader.varint() }, () => reader.u32());
  const sizes = hashes.map(() => ({ count: reader.varint(), byteLength: reader.varint() }));
  return hashes.map((hash, i) => {
    const { count, byteLength } = sizes[i] as (typeof sizes)[number];
    if (count > byteLength) throw new SearchFormatError("a term has more postings than bytes");
    return { hash, count, bytes: reader.bytes(byteLength) };
  });
}

/** Calls `visit` for each posting of a list, in order. */
export function eachPosting({ bytes }: PostingList, visit: (document: number, counts: number) => void): void {
  let document = 0;
  for (let at = 0; at < bytes.length;) {
    let byte = bytes[at++] as number;
    let delta = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++] as number;
      delta |= (byte & 0x7f) << shift;
    }
    document += delta;
    visit(document, bytes[at++] as number);
  }
}
