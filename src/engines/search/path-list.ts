import { firstWhere } from "./order.ts";
import { SearchFormatError } from "./types.ts";

/** Between paths. Git allows every other byte in them. */
export const PATH_END = "\0";

/** Paths in order of their UTF-8, each ended by a NUL, as bytes: those of a large revision take longer to decode than a change of it. */
export class PathList {
  readonly bytes: Uint8Array;
  /** Where each path begins, and where the last one ends. */
  readonly #starts: Uint32Array;

  /** Throws `SearchFormatError` if the bytes do not hold `count` paths. */
  constructor(bytes: Uint8Array, count: number) {
    this.bytes = bytes;
    this.#starts = new Uint32Array(count + 1);
    let found = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, end + 1)) this.#starts[++found] = end + 1;
    if (found !== count || this.#starts[count] !== bytes.length)
      throw new SearchFormatError("the table's paths do not fit its files");
  }

  get size(): number {
    return this.#starts.length - 1;
  }

  /** A path with the NUL at its end. */
  at(position: number): Uint8Array {
    return this.bytes.subarray(this.#starts[position], this.#starts[position + 1]);
  }

  /** A path as text. */
  text(position: number): string {
    return decoder.decode(this.at(position).subarray(0, -1));
  }

  /** The bytes of the paths from one position up to another. */
  range(from: number, to: number): Uint8Array {
    return this.bytes.subarray(this.#starts[from], this.#starts[to]);
  }

  /** Position of a path; -1 if it is not there. */
  find(path: string): number {
    const wanted = encoder.encode(path + PATH_END);
    const position = this.#firstFrom(wanted);
    return position < this.size && compareBytes(this.at(position), wanted) === 0 ? position : -1;
  }

  /** Position that a path has, or would have. */
  insertionOf(path: string): number {
    return this.#firstFrom(encoder.encode(path + PATH_END));
  }

  /** Positions of the paths that begin with a text. */
  beginningWith(text: string): number[] {
    const found: number[] = [];
    const wanted = encoder.encode(text);
    for (let file = this.#firstFrom(wanted); file < this.size; file++) {
      if (compareBytes(this.at(file).subarray(0, wanted.length), wanted) !== 0) break;
      found.push(file);
    }
    return found;
  }

  /** Position of the path that has the byte at an offset. */
  holding(offset: number): number {
    return firstWhere(this.size, (file) => (this.#starts[file + 1] as number) > offset);
  }

  /** The first position whose path is not before the bytes. */
  #firstFrom(wanted: Uint8Array): number {
    return firstWhere(this.size, (file) => compareBytes(this.at(file), wanted) >= 0);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
