import type { Matcher } from "./matcher.ts";
import { type NgramQuery, queryOfBytes } from "./ngrams.ts";
import { lineEndAt, lineStartAt } from "./line-offsets.ts";
import { isWordAt, isWordBefore } from "./utf8.ts";

/** Finds a text, or one that no word characters surround. */
export class LiteralMatcher implements Matcher {
  readonly query: NgramQuery;
  /** Finding the lines that hold it is all that there is to do. */
  readonly required = undefined;
  readonly hasLineEnd = false;
  readonly #literal: Uint8Array;
  readonly #isWord: boolean;

  constructor(literal: Uint8Array, isWord: boolean) {
    this.query = queryOfBytes(literal);
    this.#literal = literal;
    this.#isWord = isWord;
  }

  matches(text: Uint8Array): number[] {
    const found: number[] = [];
    this.#find(text, (start, end) => {
      found.push(start, end);
      return end;
    });
    return found;
  }

  lines(text: Uint8Array): number[] {
    const found: number[] = [];
    this.#find(text, (start, end) => {
      const lineEnd = lineEndAt(text, end);
      found.push(lineStartAt(text, start), lineEnd);
      return lineEnd;
    });
    return found;
  }

  /** Calls `onMatch` for each match; the search goes on at the offset that it returns. */
  #find(text: Uint8Array, onMatch: (start: number, end: number) => number): void {
    const next = searcher(text, this.#literal);
    for (let at = next(0); at >= 0;) {
      const end = at + this.#literal.length;
      const matches = !this.#isWord || (!isWordBefore(text, at) && !isWordAt(text, end));
      at = next(matches ? onMatch(at, end) : at + 1);
    }
  }

  free(): void {
    // It holds nothing.
  }
}

/** A function that finds the first place of `part` from an offset; -1 if there is none. */
export function searcher(text: Uint8Array, part: Uint8Array): (from: number) => number {
  const buffer = Buffer.from(text.buffer, text.byteOffset, text.length);
  return (from) => buffer.indexOf(part, from);
}
