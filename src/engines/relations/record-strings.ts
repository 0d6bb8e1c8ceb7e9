/** The strings of a record of uses, made when they are asked for: a question reads thousands of records, and asks for few strings of most. */
import type { ByteReader } from "../search/bytes.ts";
import { SearchFormatError } from "../search/types.ts";

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const encoder = new TextEncoder();
/** A power of two. Of dozens of names, one mark in a hundred is taken. */
const MARKS = 4_096;

/** Names that are looked for in many records. */
export class WantedNames {
  readonly #names: ReadonlySet<string>;
  readonly #marks = new Uint8Array(MARKS);

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
    for (const name of names) {
      const bytes = encoder.encode(name);
      this.#marks[markOf(bytes, 0, bytes.length)] = 1;
    }
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether some bytes may be one of the names. */
  mayBe(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#marks[markOf(bytes, start, end)] === 1;
  }
}

function markOf(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) return 0;
  const [first = 0, last = 0] = [bytes[start], bytes[end - 1]];
  return ((end - start) * 131 + first * 17 + last * 67) & (MARKS - 1);
}

export class RecordStrings {
  readonly #bytes: Uint8Array;
  /** Where each begins and where it ends, in turns. */
  readonly #places: Uint32Array;
  /** All of them as one text, if every character takes one byte; null if not. */
  #text: string | null | undefined;

  /** Skips the strings of a record that `reader` reads. */
  constructor(reader: ByteReader, bytes: Uint8Array) {
    this.#bytes = bytes;
    const count = reader.varint();
    // A damaged count must not take memory.
    if (count > bytes.length) throw new SearchFormatError("a record of uses is damaged: its strings");
    this.#places = new Uint32Array(2 * count);
    for (let i = 0; i < 2 * count; i += 2) {
      const length = reader.varint();
      this.#places[i] = reader.position;
      reader.skip(length);
      this.#places[i + 1] = reader.position;
    }
    if (reader.position > bytes.length) throw new SearchFormatError("the data ends too early");
  }

  at(position: number): string {
    const [start, end] = [this.#places[2 * position], this.#places[2 * position + 1]];
    if (start === undefined || end === undefined) throw new SearchFormatError("a record of uses is damaged: a string");
    // One call of the decoder for all: a call for each takes longer than the rest of reading a record.
    const first = this.#places[0] as number;
    if (this.#text === undefined) this.#text = this.#decoded(first);
    const text = this.#text;
    return text === null ? decoder.decode(this.#bytes.subarray(start, end)) : text.slice(start - first, end - first);
  }

  #decoded(first: number): string | null {
    const bytes = this.#bytes.subarray(first, this.#places.at(-1));
    const text = decoder.decode(bytes);
    return text.length === bytes.length ? text : null;
  }

  /** For each string whether it is one of some names; undefined if none is. */
  among(names: WantedNames): Uint8Array | undefined {
    let among: Uint8Array | undefined;
    const places = this.#places;
    for (let i = 0; i < places.length; i += 2) {
      if (!names.mayBe(this.#bytes, places[i] as number, places[i + 1] as number)) continue;
      if (!names.has(this.at(i / 2))) continue;
      among ??= new Uint8Array(places.length / 2);
      among[i / 2] = 1;
    }
    return among;
  }
}
