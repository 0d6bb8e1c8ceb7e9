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
   * Offsets of the lines with a match: start and end, before the line break, in turns, ascending. `text` as above; no match may reach over
   * lines. Much faster than `matches` where many match.
   */
  lines(text: Uint8Array): number[];
  /** Frees what the matcher holds. */
  free(): void;
}
