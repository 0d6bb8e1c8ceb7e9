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

/** About one text at a time: valid until the next one is made. */
export class Hints {
  readonly #text: string;
  readonly #mark: number;

  constructor(text: string) {
    this.#text = text;
    if (++lastMark > MAX_MARK) {
      marks.fill(0);
      lastMark = 1;
    }
    const mark = lastMark;
    this.#mark = mark;
    let trigram = 0;
    for (let at = 0; at < text.length; at++) {
      trigram = ((trigram << CLASS_BITS) | classOf(text.charCodeAt(at))) & (TRIGRAMS - 1);
      marks[trigram] = mark;
    }
  }

  /** Whether one of the texts occurs. */
  hasOne(hints: readonly string[]): boolean {
    return hints.some((hint) => this.mayHave(hint) && this.#text.includes(hint));
  }

  /** Whether a text, whose characters are ASCII, may occur in lower or upper case. False is certain; of two characters nothing is. */
  mayHave(hint: string): boolean {
    for (let at = 2; at < hint.length; at++) {
      const before = (classOf(hint.charCodeAt(at - 2)) << CLASS_BITS) | classOf(hint.charCodeAt(at - 1));
      if (marks[(before << CLASS_BITS) | classOf(hint.charCodeAt(at))] !== this.#mark) return false;
    }
    return true;
  }
}

function classOf(code: number): number {
  return code < CODES ? CLASS_OF[code]! : 0;
}
