import type { Matcher } from "./matcher.ts";
import { type NgramQuery, queryOfBytes } from "./ngrams.ts";
import { isWordAt, isWordBefore } from "./utf8.ts";

const LINE_BREAK = 10;

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
    return this.#find(text, (end) => end);
  }

  lineMatches(text: Uint8Array): number[] {
    return this.#find(text, (end) => {
      const lineEnd = text.indexOf(LINE_BREAK, end);
      return lineEnd < 0 ? text.length : lineEnd;
    });
  }

  /** `resume`: where to go on after a match that ends at an offset. */
  #find(text: Uint8Array, resume: (end: number) => number): number[] {
    const found: number[] = [];
    const next = searcher(text, this.#literal);
    for (let at = next(0); at >= 0;) {
      const end = at + this.#literal.length;
      const matches = !this.#isWord || (!isWordBefore(text, at) && !isWordAt(text, end));
      if (matches) found.push(at, end);
      at = next(matches ? resume(end) : at + 1);
    }
    return found;
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
