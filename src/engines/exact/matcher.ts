import type { NgramQuery } from "./ngrams.ts";

/** Finds matches in whole lines of a text. */
export interface Matcher {
  /** What a text must hold. */
  readonly query: NgramQuery;
  /** A text that every matching line holds; undefined if there is none. */
  readonly required: Uint8Array | undefined;
  /** There is a `$`, which matches before a CR at the end of a line. */
  readonly hasLineEnd: boolean;
  /** Offsets of all matches: start and end in turns, ascending. `text` begins and ends with a line. */
  matches(text: Uint8Array): number[];
  /**
   * As `matches`, for who counts the lines of matches within lines: of several matches on a line all but the first may be left out, and
   * the first may reach to the line's end.
   */
  lineMatches(text: Uint8Array): number[];
  /** Frees what the matcher holds. */
  free(): void;
}
