/**
 * Tells quickly which texts do not occur in another one: by the pairs of characters that do, case folded. Most rules need a word that few
 * files contain, and a look at the pairs costs less than a search for each of some two hundred words.
 */
const CODES = 128;

export class Hints {
  readonly #text: string;
  readonly #pairs = new Uint8Array(CODES * CODES);

  constructor(text: string) {
    this.#text = text;
    const pairs = this.#pairs;
    let before = 0;
    for (let at = 0; at < text.length; at++) {
      const code = FOLDED[text.charCodeAt(at) & 127]!;
      pairs[before * CODES + code] = 1;
      before = code;
    }
  }

  /** Whether one of the texts occurs. */
  hasOne(hints: readonly string[]): boolean {
    return hints.some((hint) => this.mayHave(hint) && this.#text.includes(hint));
  }

  /** Whether a text, whose characters are ASCII, may occur in lower or upper case. False is certain. */
  mayHave(hint: string): boolean {
    for (let at = 1; at < hint.length; at++) {
      const pair = FOLDED[hint.charCodeAt(at - 1)]! * CODES + FOLDED[hint.charCodeAt(at)]!;
      if (this.#pairs[pair] === 0) return false;
    }
    return true;
  }
}

/** The codes of the characters of ASCII in lower case. */
const FOLDED = Uint8Array.from({ length: CODES }, (_, code) => (code >= 65 && code <= 90 ? code | 32 : code));
