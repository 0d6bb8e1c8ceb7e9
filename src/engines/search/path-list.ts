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
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) this.#starts[++found] = at + 1;
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

  /** Position of a path; -1 if it is not there. */
  find(path: string): number {
    const wanted = encoder.encode(path + PATH_END);
    let low = 0;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = compareBytes(this.at(middle), wanted);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

const encoder = new TextEncoder();

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
