import { ByteReader, ByteWriter, bytesOf, checksum, copyU32 } from "./bytes.ts";
import { beginFile, HEADER_BYTES, readHotPart } from "./file-header.ts";
import { SearchFormatError, type RangeReader } from "./types.ts";

/**
 * Sign bits of the vectors of one segment's chunks under one model. Comparing bits finds the few chunks whose vectors are worth
 * reading: two vectors differ in a share of their signs that grows with the angle between them (random hyperplane hashing; Charikar
 * 2002). A file of its own, because the same segment serves tenants without a model.
 */

/** Raised with every change of the format. */
export const VECTOR_SECTION_VERSION = 1;
/** The magic number is "CCVS". */
const SECTION_FORMAT = { name: "vector section", magic: 0x53564343, version: VECTOR_SECTION_VERSION };

/** Components whose sign is kept. More bits order the candidates better, but those are scored by their vectors anyway. */
export const MAX_SIGN_BITS = 512;
/** Rows are read in strides that begin at multiples of this offset in the file, so that a cache of pages need not copy. */
const STRIDE_BYTES = 64 * 1024;
/** The rows begin at a multiple of this, which is a multiple of every row's length. */
const ROW_ALIGNMENT = 64;

/** How many 32-bit words a row of sign bits has for vectors of this dimension: a power of two, so that no row crosses a stride. */
function wordsPerRow(dimension: number): number {
  const needed = Math.ceil(Math.min(dimension, MAX_SIGN_BITS) / 32);
  let words = 1;
  while (words < needed) words *= 2;
  return words;
}

/** Signs of the first components of a vector: bit `i % 32` of word `i / 32` is set where component `i` is above zero. */
export function signBits(vector: Float32Array): Uint32Array {
  const signs = new Uint32Array(wordsPerRow(vector.length));
  const count = Math.min(vector.length, MAX_SIGN_BITS);
  for (let i = 0; i < count; i++) {
    if ((vector[i] as number) > 0) signs[i >> 5] = ((signs[i >> 5] as number) | (1 << (i & 31))) >>> 0;
  }
  return signs;
}

/** What a section is built from. */
interface VectorSectionInput {
  /** Id of the segment. */
  segment: string;
  chunkCount: number;
  /** Components of each vector; 0 if no chunk has one. */
  dimension: number;
  /** `signBits` of the chunk's vector; undefined if it has none. */
  signsOf: (chunk: number) => Uint32Array | undefined;
}

/** Writes a section. */
export function buildVectorSection(input: VectorSectionInput): Uint8Array<ArrayBuffer> {
  const { segment, chunkCount, dimension, signsOf } = input;
  const words = wordsPerRow(dimension);
  const present = new Uint8Array(Math.ceil(chunkCount / 8));
  const rows = new Uint32Array(words * chunkCount);
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const signs = signsOf(chunk);
    if (!signs) continue;
    rows.set(signs, chunk * words);
    present[chunk >> 3] = (present[chunk >> 3] as number) | (1 << (chunk & 7));
  }
  const body = bytesOf(rows);
  const prefix = new ByteWriter();
  prefix.string(segment);
  prefix.varint(chunkCount);
  prefix.varint(dimension);
  prefix.bytes(present);
  // The number of strides depends on where the rows begin, which depends on the number of checksums: one more is enough.
  const hotBytes = (strides: number): number => prefix.length + 4 * strides;
  const startOf = (strides: number): number =>
    Math.ceil((HEADER_BYTES + hotBytes(strides)) / ROW_ALIGNMENT) * ROW_ALIGNMENT;
  let count = 0;
  while (strideCount(startOf(count), body.length) > count) count++;
  const start = startOf(count);
  const checksums = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const [from, to] = strideAt(start, body.length, i);
    checksums[i] = checksum(body.subarray(from - start, to - start));
  }
  prefix.bytes(bytesOf(checksums));
  const hot = prefix.finish();
  const file = beginFile(SECTION_FORMAT, hot);
  file.bytes(new Uint8Array(start - HEADER_BYTES - hot.length));
  file.bytes(body);
  return file.finish();
}

function strideCount(start: number, length: number): number {
  if (length === 0) return 0;
  return Math.floor((start + length - 1) / STRIDE_BYTES) - Math.floor(start / STRIDE_BYTES) + 1;
}

/** Where stride `i` of the rows begins and ends in the file. */
function strideAt(start: number, length: number, i: number): [from: number, to: number] {
  const first = (Math.floor(start / STRIDE_BYTES) + i) * STRIDE_BYTES;
  return [Math.max(start, first), Math.min(start + length, first + STRIDE_BYTES)];
}

/** An open section: what it covers in memory, the rows read by stride. */
export class VectorSection {
  /** Id of the segment. */
  readonly segment: string;
  readonly chunkCount: number;
  readonly dimension: number;
  /** Bits that are compared. */
  readonly bits: number;
  readonly #present: Uint8Array;
  readonly #words: number;
  readonly #start: number;
  readonly #checksums: Uint32Array;
  readonly #checked: Uint8Array;
  readonly #bytes: RangeReader;

  private constructor(bytes: RangeReader, hot: Uint8Array) {
    const reader = new ByteReader(hot);
    this.#bytes = bytes;
    this.segment = reader.string();
    this.chunkCount = reader.varint();
    this.dimension = reader.varint();
    this.bits = Math.min(this.dimension, MAX_SIGN_BITS);
    this.#words = wordsPerRow(this.dimension);
    this.#present = reader.bytes(Math.ceil(this.chunkCount / 8)).slice();
    this.#start = Math.ceil((HEADER_BYTES + hot.length) / ROW_ALIGNMENT) * ROW_ALIGNMENT;
    if (this.#start + this.rowBytes !== bytes.size)
      throw new SearchFormatError("the vector section is truncated", bytes.name);
    const strides = strideCount(this.#start, this.rowBytes);
    this.#checksums = copyU32(hot, reader.position, strides);
    this.#checked = new Uint8Array(strides);
  }

  /** Opens a section. Throws `SearchFormatError` if the hot part is damaged or of another version. */
  static async open(bytes: RangeReader): Promise<VectorSection> {
    return new VectorSection(bytes, await readHotPart(bytes, SECTION_FORMAT));
  }

  /** Bytes of all rows. */
  get rowBytes(): number {
    return 4 * this.#words * this.chunkCount;
  }

  /** Whether the chunk has a vector. */
  has(chunk: number): boolean {
    return (((this.#present[chunk >> 3] as number) >> (chunk & 7)) & 1) === 1;
  }

  /** How many of `count` chunks from `first` on have a vector. */
  countVectors(first: number, count: number): number {
    let vectors = 0;
    for (let chunk = first; chunk < first + count; chunk++) if (this.has(chunk)) vectors++;
    return vectors;
  }

  /**
   * The number of signs in which each chunk differs from `query` (`signBits`); meaningless for chunks without a vector. Throws
   * `SearchFormatError` if rows are damaged.
   */
  async distances(query: Uint32Array): Promise<Uint16Array> {
    const words = this.#words;
    const result = new Uint16Array(this.chunkCount);
    const strides = this.#checksums.length;
    const reading = Array.from({ length: strides }, (_, i) => this.#stride(i));
    let chunk = 0;
    for (const read of reading) {
      const bytes = read instanceof Promise ? await read : read;
      const rows = asWords(bytes);
      for (let at = 0; at < rows.length; at += words) {
        let distance = 0;
        for (let word = 0; word < words; word++)
          distance += countBits(((rows[at + word] as number) ^ (query[word] as number)) >>> 0);
        result[chunk++] = distance;
      }
    }
    return result;
  }

  #stride(i: number): Uint8Array | Promise<Uint8Array> {
    const [from, to] = strideAt(this.#start, this.rowBytes, i);
    const bytes = this.#bytes.read(from, to - from);
    return bytes instanceof Promise ? bytes.then((read) => this.#check(i, read)) : this.#check(i, bytes);
  }

  #check(i: number, bytes: Uint8Array): Uint8Array {
    if (this.#checked[i] === 1) return bytes;
    if (checksum(bytes) !== this.#checksums[i])
      throw new SearchFormatError("rows of a vector section are damaged", this.#bytes.name);
    this.#checked[i] = 1;
    return bytes;
  }
}

function asWords(bytes: Uint8Array): Uint32Array {
  return bytes.byteOffset % 4 === 0
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    : copyU32(bytes, 0, bytes.length / 4);
}

/** Set bits of an unsigned 32-bit number (Warren, Hacker's Delight, figure 5-2). */
function countBits(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
