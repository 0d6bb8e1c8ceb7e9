/**
 * Tells quickly which texts do not occur in another one: by the three-character sequences that do, case folded. Most rules need a word
 * that few files contain, and a look at the sequences costs less than a search for each of some two hundred words.
 */
const CLASS_BITS = 6;
const TRIGRAMS = 1 << (3 * CLASS_BITS);
const CODES = 128;
const MAX_MARK = 255;

/**
 * Sixty-four classes of characters: whitespace and what is not ASCII, letters in either case, digits and signs. Some signs share one,
 * which can only make a text seem to be present.
 */
const CLASS_OF = Uint8Array.from({ length: CODES }, (_, code) => {
  if (code <= 32) return 0;
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return 1 + ((isLetter ? code & 31 : code + 27) % ((1 << CLASS_BITS) - 1));
});

/** The sequences of the last text have its mark: the table is cleared only once in many texts. */
const marks = new Uint8Array(TRIGRAMS);
let lastMark = 0;

/** The sequences of a word in ASCII, for {@link Hints.mayHaveWord}. */
export function trigramsOf(word: string): Int32Array {
  return Int32Array.from({ length: word.length - 2 }, (_, at) =>
    Array.from(word.slice(at, at + 3)).reduce((code, one) => (code << CLASS_BITS) | classOf(one.charCodeAt(0)), 0),
  );
}

/** About one text at a time: valid until the next one is made. */
export class Hints {
  readonly #text: string;
  readonly #mark: number;
  readonly isAscii: boolean;

  constructor(text: string) {
    this.#text = text;
    if (++lastMark > MAX_MARK) {
      marks.fill(0);
      lastMark = 1;
    }
    const mark = lastMark;
    this.#mark = mark;
    let trigram = 0;
    let bits = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      bits |= code;
      trigram = ((trigram << CLASS_BITS) | classOf(code)) & (TRIGRAMS - 1);
      marks[trigram] = mark;
    }
    this.isAscii = bits < CODES;
  }

  /** Whether one of the texts occurs. */
  hasOne(hints: readonly string[]): boolean {
    for (const hint of hints) if (this.mayHave(hint) && this.#text.includes(hint)) return true;
    return false;
  }

  /** Whether one of the texts may occur in lower or upper case, as {@link mayHave} says. */
  mayHaveOne(hints: readonly string[]): boolean {
    for (const hint of hints) if (this.mayHave(hint)) return true;
    return false;
  }

  /** Whether one of several words, given by their sequences, may occur in lower or upper case. False is certain. */
  mayHaveWord(words: readonly Int32Array[]): boolean {
    const mark = this.#mark;
    for (const trigrams of words) {
      let at = 0;
      while (at < trigrams.length && marks[trigrams[at]!] === mark) at++;
      if (at === trigrams.length) return true;
    }
    return false;
  }

  /** Whether a text, whose characters are ASCII, may occur in lower or upper case. False is certain; of two characters nothing is. */
  mayHave(hint: string): boolean {
    const mark = this.#mark;
    let before = (classOf(hint.charCodeAt(0)) << CLASS_BITS) | classOf(hint.charCodeAt(1));
    for (let at = 2; at < hint.length; at++) {
      const trigram = ((before << CLASS_BITS) | classOf(hint.charCodeAt(at))) & (TRIGRAMS - 1);
      if (marks[trigram] !== mark) return false;
      before = trigram;
    }
    return true;
  }
}

function classOf(code: number): number {
  return code < CODES ? CLASS_OF[code]! : 0;
}
