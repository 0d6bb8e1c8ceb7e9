import { STOP_WORDS } from "./common-words.ts";
import type { InputType } from "../types.ts";
import type { FeatureTable } from "./features.ts";
import { Scanner } from "./scanner.ts";

/**
 * A trained vector and two weights for each of the commonest words of code: `terms.bin`, which `bench/table/train.py` writes. A text is
 * the sum of the vectors of its words, so words that stand for each other in code and in what people say of it bring texts together.
 * Uses additions, multiplications and roots only, which IEEE 754 defines exactly: the same text gives the same bits everywhere.
 *
 * The file, little-endian: "CCTT", version, number of terms and dimension (u32), weights of words that are not in the table (2 × f32); the
 * terms' hashes in ascending order (i32), their weights in questions, their weights in code (f32), and their vectors (i8).
 */

const MAGIC = 0x54544343;
const TERM_TABLE_VERSION = 1;
const HEADER_BYTES = 24;
const MAX_DIMENSION = 1_024;
/** Words that are not in the table share so many fixed vectors. */
const BUCKETS = 0x1_0000;

/** Words that the training leaves out: stop words and single characters. */
const SKIPPED = hashesOf(`${STOP_WORDS} a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9`);

/** Dimension of the vectors in `terms.bin`. */
export const TERM_TABLE_DIMENSION = 128;
/** Beginning of the SHA-256 of `terms.bin`: fingerprints cover it. */
export const TERM_TABLE_ID = "ec8f763417ca73f7";

/** Reads the bytes of `terms.bin`, when they are first needed. */
export type TableSource = () => Promise<ArrayBuffer>;

const loaded = new WeakMap<TableSource, Promise<TermTable>>();

/** The table of the source, which is read once. Rejects with what the source throws, and then reads again. */
export function loadTable(source: TableSource): Promise<TermTable> {
  let table = loaded.get(source);
  if (table === undefined) {
    table = source().then((bytes) => new TermTable(bytes));
    table.catch(() => loaded.delete(source));
    loaded.set(source, table);
  }
  return table;
}

export class TermTable {
  readonly dimension: number;
  readonly #hashes: Int32Array;
  readonly #weights: Readonly<Record<InputType, Float32Array>>;
  readonly #unknown: Readonly<Record<InputType, number>>;
  readonly #vectors: Int8Array;

  /** Reads a table, which it keeps without a copy. Throws `Error` if the bytes are none of this version. */
  constructor(bytes: ArrayBuffer) {
    const view = new DataView(bytes);
    const isWhole = bytes.byteLength >= HEADER_BYTES && view.getUint32(0, true) === MAGIC;
    const [count, dimension] = isWhole ? [view.getUint32(8, true), view.getUint32(12, true)] : [0, 0];
    if (!isWhole || view.getUint32(4, true) !== TERM_TABLE_VERSION || dimension === 0 || dimension > MAX_DIMENSION)
      throw new Error(`the term table is damaged or not of version ${TERM_TABLE_VERSION}: build the bundles again`);
    if (bytes.byteLength !== HEADER_BYTES + count * (12 + dimension))
      throw new Error(`the term table has ${bytes.byteLength} bytes, which is not its length: build the bundles again`);
    this.dimension = dimension;
    this.#unknown = { query: view.getFloat32(16, true), document: view.getFloat32(20, true) };
    this.#hashes = new Int32Array(bytes, HEADER_BYTES, count);
    this.#weights = {
      query: new Float32Array(bytes, HEADER_BYTES + 4 * count, count),
      document: new Float32Array(bytes, HEADER_BYTES + 8 * count, count),
    };
    this.#vectors = new Int8Array(bytes, HEADER_BYTES + 12 * count);
  }

  /** The vector of a text with these words, of norm 1; zero without any. */
  embed(words: FeatureTable, side: InputType): Float64Array {
    const { dimension } = this;
    const sums = new Float64Array(dimension);
    const weights = this.#weights[side];
    words.forEach((hash, _weight, count) => {
      if (SKIPPED.has(hash)) return;
      const at = this.#find(hash);
      if (at < 0) {
        addUnknown(sums, hash, (this.#unknown[side] * Math.sqrt(count)) / Math.sqrt(dimension));
        return;
      }
      const factor = (weights[at] as number) * Math.sqrt(count);
      const row = at * dimension;
      for (let j = 0; j < dimension; j++) sums[j] = (sums[j] as number) + factor * (this.#vectors[row + j] as number);
    });
    let squares = 0;
    for (const sum of sums) squares += sum * sum;
    const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
    for (let j = 0; j < dimension; j++) sums[j] = (sums[j] as number) * scale;
    return sums;
  }

  /** Position of the hash; -1 if it is not there. */
  #find(hash: number): number {
    let [low, high] = [0, this.#hashes.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#hashes[middle] as number;
      if (found === hash) return middle;
      if (found < hash) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

/** Adds the fixed vector of a word's bucket: signs of a xorshift generator, as in training. */
function addUnknown(sums: Float64Array, hash: number, factor: number): void {
  let state = (Math.imul(hash & (BUCKETS - 1), 0x9e3779b1) + 1) >>> 0 || 1;
  for (let j = -4; j < sums.length; j++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    if (j >= 0) sums[j] = (sums[j] as number) + (((state >>> 7) & 1) === 0 ? -factor : factor);
  }
}

function hashesOf(words: string): ReadonlySet<number> {
  const scanner = new Scanner();
  scanner.scan(words, false);
  return new Set(scanner.words.values.subarray(0, scanner.words.length));
}
