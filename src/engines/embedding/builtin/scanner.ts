import { classOf, DIGIT, IDEOGRAPH, isLetter, JOINER, lowerOf, OTHER, UPPER } from "./characters.ts";
import type { Pacer } from "../../../lib/pause.ts";
import { stemLength } from "./stem.ts";

/**
 * Splits code and prose into sub-tokens in one pass over the UTF-16 units, without creating strings: `parseHTTPHeader`,
 * `parse_http_header` and `ParseHttpHeader` all give the hashes of parse, http, header. Uses integer arithmetic only, so the
 * result is the same on every engine.
 */

/** Longer sub-tokens (blobs, hashes) are split. */
const MAX_SUBTOKEN_UNITS = 48;
/** Shorter sub-tokens get no n-grams. */
const MIN_GRAM_WORD_UNITS = 4;
const GRAM_UNITS = 4;

/** FNV-1a with MurmurHash3's finaliser, which improves its weak high bits. */
export const FNV_OFFSET = 0x811c9dc5 | 0;
export const FNV_PRIME = 0x01000193;

export function mix(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Growable column of 32-bit hashes. */
class HashColumn {
  values = new Int32Array(1024);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Int32Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }
}

/** Length from which texts are cut for `scanInSlices`. */
export const PIECE_UNITS = 8_192;

/** The end of the piece that begins at `start`: after a unit that ends every word, so that the pieces scan like the whole. */
function endOfPiece(text: string, start: number): number {
  let end = start + PIECE_UNITS;
  while (end < text.length && classOf(text.charCodeAt(end - 1)) !== OTHER) end++;
  return Math.min(end, text.length);
}

/** Scans texts. The results of `scan` are valid until its next call. */
export class Scanner {
  /** Hash of every stemmed sub-token, in text order. */
  readonly words = new HashColumn();
  /** Hash of each identifier with two or more sub-tokens, independent of its spelling. */
  readonly identifiers = new HashColumn();
  /** Hashes of character n-grams within sub-tokens. */
  readonly grams = new HashColumn();

  readonly #units = new Uint16Array(MAX_SUBTOKEN_UNITS);
  #length = 0;
  #identifierHash = 0;
  #identifierParts = 0;

  /** Scans `text`; n-grams only with `withGrams`. */
  scan(text: string, withGrams: boolean): void {
    this.#clear();
    this.#append(text, withGrams);
  }

  /** Scans a text of any length like `scan`, in slices: no other scan may begin before it has ended. */
  async scanInSlices(text: string, withGrams: boolean, pacer: Pacer): Promise<void> {
    this.#clear();
    for (let start = 0; start < text.length;) {
      const end = endOfPiece(text, start);
      this.#append(text.slice(start, end), withGrams);
      await pacer.spend(end - start);
      start = end;
    }
  }

  #clear(): void {
    this.words.length = 0;
    this.identifiers.length = 0;
    this.grams.length = 0;
  }

  #append(text: string, withGrams: boolean): void {
    this.#length = 0;
    this.#identifierHash = 0;
    this.#identifierParts = 0;
    const units = this.#units;
    let previous = OTHER;
    let ideograph = 0;
    for (let i = 0; i < text.length; i++) {
      let unit = text.charCodeAt(i);
      let kind = classOf(unit);
      if (kind === OTHER) {
        if (previous !== OTHER) this.#endIdentifier(withGrams);
        previous = OTHER;
        continue;
      }
      if (kind === IDEOGRAPH) {
        // Ideographic text has no spaces: every pair of neighbours counts as a word.
        if (previous !== IDEOGRAPH) this.#endIdentifier(withGrams);
        else this.words.push(mix(Math.imul(ideograph, FNV_PRIME) ^ unit));
        ideograph = unit;
        previous = IDEOGRAPH;
        continue;
      }
      if (kind === JOINER) {
        this.#endWord(withGrams);
      } else if (kind === UPPER) {
        if (previous !== UPPER) this.#endWord(withGrams);
        unit = lowerOf(unit);
      } else if (kind === DIGIT) {
        if (previous !== DIGIT) this.#endWord(withGrams);
      } else if (previous === DIGIT) {
        this.#endWord(withGrams);
      } else if (previous === UPPER && this.#length > 1) {
        if (unit === 0x73 && !isLetter(text, i + 1)) {
          // The plural of an acronym, as in URLs.
          kind = UPPER;
        } else {
          // HTTPServer: the last capital begins the next word.
          const last = units[--this.#length] as number;
          this.#endWord(withGrams);
          units[this.#length++] = last;
        }
      }
      previous = kind;
      if (kind === JOINER) continue;
      if (this.#length === MAX_SUBTOKEN_UNITS) this.#endWord(withGrams);
      units[this.#length++] = unit;
    }
    this.#endIdentifier(withGrams);
  }

  #endWord(withGrams: boolean): void {
    const length = this.#length;
    if (length === 0) return;
    this.#length = 0;
    const units = this.#units;
    const stem = stemLength(units, length);
    let hash = FNV_OFFSET;
    for (let i = 0; i < stem; i++) hash = Math.imul(hash ^ (units[i] as number), FNV_PRIME);
    hash = mix(hash);
    this.words.push(hash);
    this.#identifierHash = Math.imul(this.#identifierHash, 31) + hash;
    this.#identifierParts++;
    if (!withGrams || length < MIN_GRAM_WORD_UNITS) return;
    for (let end = GRAM_UNITS; end <= length; end++) {
      let gram = FNV_OFFSET;
      for (let i = end - GRAM_UNITS; i < end; i++) gram = Math.imul(gram ^ (units[i] as number), FNV_PRIME);
      this.grams.push(mix(gram));
    }
  }

  #endIdentifier(withGrams: boolean): void {
    this.#endWord(withGrams);
    if (this.#identifierParts > 1) this.identifiers.push(mix(this.#identifierHash));
    this.#identifierHash = 0;
    this.#identifierParts = 0;
  }
}
