import { ByteReader, ByteWriter, bytesOf, checksum, copyU32 } from "./bytes.ts";
import { SearchFormatError, type RangeReader } from "./types.ts";

/**
 * Blocks of some two kilobytes, each with a checksum, and their directory. The directory is read when the file is opened, a block when a
 * query needs it.
 */

/**
 * A block is closed when it has reached this size; a single entry may be larger. A query needs a few entries of many blocks, so what is
 * read and cached in vain grows with the block; the directory, which is in memory, takes 16 bytes a block.
 */
export const BLOCK_BYTES = 2 * 1024;

/**
 * Collects blocks, at the end of `body`. `key` is the first key of a block; keys ascend. `detail` is one more number that readers can
 * see without reading the block.
 */
export class BlockWriter {
  readonly #body: ByteWriter;
  readonly #start: number;
  readonly #keys: number[] = [];
  readonly #details: number[] = [];
  readonly #ends: number[] = [];
  readonly #checksums: number[] = [];

  constructor(body = new ByteWriter()) {
    this.#body = body;
    this.#start = body.length;
  }

  add(key: number, block: Uint8Array, detail = 0): void {
    this.#keys.push(key);
    this.#details.push(detail);
    this.#body.bytes(block);
    this.#ends.push(this.#body.length - this.#start);
    this.#checksums.push(checksum(block));
  }

  /** Bytes of the blocks. */
  get byteLength(): number {
    return this.#ends.at(-1) ?? 0;
  }

  /** A view of the blocks, until the next one is added. */
  body(): Uint8Array<ArrayBuffer> {
    return this.#body.view().subarray(this.#start, this.#start + this.byteLength);
  }

  /** Count, then keys, ends, checksums and details, four bytes each. */
  directory(): Uint8Array<ArrayBuffer> {
    const writer = new ByteWriter();
    writer.u32(this.#keys.length);
    for (const column of [this.#keys, this.#ends, this.#checksums, this.#details])
      writer.bytes(bytesOf(Uint32Array.from(column)));
    return writer.finish();
  }
}

/** The blocks of one kind in a file. */
export class Blocks {
  readonly #bytes: RangeReader;
  readonly #offset: number;
  readonly keys: Uint32Array;
  readonly details: Uint32Array;
  readonly #ends: Uint32Array;
  readonly #checksums: Uint32Array;
  /** 1 for blocks whose checksum was verified; they are not checked again. */
  readonly #checked: Uint8Array;

  /** `directory` from `BlockWriter.directory`; `offset` is where the body begins in `bytes`. */
  constructor(bytes: RangeReader, offset: number, directory: Uint8Array) {
    const count = new ByteReader(directory).u32();
    this.#bytes = bytes;
    this.#offset = offset;
    this.keys = copyU32(directory, 4, count);
    this.#ends = copyU32(directory, 4 + 4 * count, count);
    this.#checksums = copyU32(directory, 4 + 8 * count, count);
    this.details = copyU32(directory, 4 + 12 * count, count);
    this.#checked = new Uint8Array(count);
  }

  get count(): number {
    return this.keys.length;
  }

  /** Index of the only block that can hold `key`; -1 if `key` is lower than every block's first key. */
  find(key: number): number {
    return this.lastWhere((block) => (this.keys[block] as number) <= key);
  }

  /** Index of the last block for which `isBefore` holds, as it does for all blocks before that one; -1 if there is none. */
  lastWhere(isBefore: (block: number) => boolean): number {
    let low = -1;
    let high = this.keys.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (isBefore(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  byteLengthOf(index: number): number {
    return (this.#ends[index] as number) - this.#startOf(index);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] as number);
  }

  /** The bytes of a block. Throws `SearchFormatError` if they are damaged. */
  read(index: number): Uint8Array | Promise<Uint8Array> {
    const bytes = this.#bytes.read(this.#offset + this.#startOf(index), this.byteLengthOf(index));
    return bytes instanceof Promise ? bytes.then((read) => this.#check(index, read)) : this.#check(index, bytes);
  }

  #check(index: number, bytes: Uint8Array): Uint8Array {
    if (this.#checked[index] === 1) return bytes;
    if (checksum(bytes) !== this.#checksums[index])
      throw new SearchFormatError("a block has a wrong checksum", this.#bytes.name);
    this.#checked[index] = 1;
    return bytes;
  }
}
