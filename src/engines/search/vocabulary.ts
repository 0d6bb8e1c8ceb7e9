import type { BlockWriter, Blocks } from "./blocks.ts";
import { BLOCK_BYTES } from "./blocks.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { foldCase } from "./names.ts";
import { utf8Prefix } from "./order.ts";
import { scanTerms, stemOf } from "./scanner.ts";

/**
 * The words of a segment's names. Terms are stored as hashes, so these, and those of the paths, are the only words that a misspelt one can be compared
 * with. They follow from the symbols alone, so the same contents give the same words, whether their segment was built or merged.
 */

/** Shorter words are within a slip of too many others. */
const MIN_UNITS = 4;
const MAX_UNITS = 24;
const WORD = /^[a-z]+$/;

/** Collects the words of names. */
export class Vocabulary {
  readonly #words = new Set<string>();

  /** Adds the words of an identifier or heading: those of 4 to 24 ASCII letters, in lower case. */
  add(name: string): void {
    scanTerms(name, {
      word: (_, start, end) => {
        if (end - start < MIN_UNITS || end - start > MAX_UNITS) return;
        const word = foldCase(name.slice(start, end));
        if (WORD.test(word)) this.#words.add(word);
      },
      whole: () => undefined,
    });
  }

  /** The words, in order. */
  words(): string[] {
    return [...this.#words].sort();
  }

  /**
   * Writes blocks of words in order: the number of letters a word shares with the one before it in the block (varint), the rest (string). A
   * block's key and detail are the first eight bytes of its first word.
   */
  write(blocks: BlockWriter): void {
    const block = new ByteWriter();
    let [first, previous] = ["", ""];
    const end = (): void => {
      const [key, detail] = utf8Prefix(first);
      if (block.length > 0) blocks.add(key, block.view(), detail);
      block.clear();
    };
    for (const word of this.words()) {
      if (block.length === 0) [first, previous] = [word, ""];
      let shared = 0;
      while (shared < word.length && word[shared] === previous[shared]) shared++;
      block.varint(shared);
      block.string(word.slice(shared));
      previous = word;
      if (block.length >= BLOCK_BYTES) end();
    }
    end();
  }
}

/** The words of a segment, in order. Reads all of their blocks: some 100 KB for 50,000 chunks. */
export async function readWords(blocks: Blocks): Promise<string[]> {
  const loading = Array.from({ length: blocks.count }, (_, block) => blocks.read(block));
  const words: string[] = [];
  for (const block of loading) {
    let word = "";
    for (const reader = new ByteReader(await block); !reader.atEnd;) {
      word = word.slice(0, reader.varint()) + reader.string();
      words.push(word);
    }
  }
  return words;
}

/** Shorter words are within a slip of too many real ones. Endings do not count: "pooling" is not "polling". */
const MIN_MISSPELT_UNITS = 5;
const ENDING = /(?:ing|ed|s)$/;
/** In words of up to so many letters only slips are forgiven that hardly lead to another word. */
const SHORT_UNITS = 6;
/** From so many letters on, two slips are forgiven, and a wrong letter may be any. */
const TWO_SLIPS_UNITS = 8;
const LONG_UNITS = 10;
/** By how much a word and its stem differ in length at most. */
const MAX_ENDING = 4;
/** More than any word may have. */
const TOO_MANY = 3;

const VOWELS = "aeiouy";
/** Letters that are mistaken for each other. */
const CONFUSED = [VOWELS, "cksz", "mn", "bp", "dt", "fv"];

/** A word to find near ones of. */
export class MisspeltWord {
  readonly #word: string;
  readonly #stem: string;
  /** Letters without the ending. */
  readonly #units: number;
  readonly #slips: number;
  readonly #letters: number;

  /** `word` in lower case. */
  constructor(word: string) {
    this.#word = word;
    this.#stem = stemOf(word);
    this.#units = word.replace(ENDING, "").length;
    this.#slips = this.#units < MIN_MISSPELT_UNITS ? 0 : this.#units < TWO_SLIPS_UNITS ? 1 : 2;
    this.#letters = lettersOf(word);
  }

  /**
   * Whether the candidate may be near: by its first letter, its length and the letters it has. Tells most words apart, in some nanoseconds. The
   * first letter is nearly always right, so only a swap may change it.
   */
  mayBe(candidate: string): boolean {
    const [word, slips] = [this.#word, this.#slips];
    if (slips === 0 || Math.abs(candidate.length - word.length) > slips + MAX_ENDING) return false;
    const isSwapped = candidate[0] === word[1] && candidate[1] === word[0];
    if (candidate[0] !== word[0] && !isSwapped) return false;
    const letters = lettersOf(candidate);
    // A slip changes a letter of either word at most; endings change some more of one of them.
    return bitCount(letters & ~this.#letters) <= slips || bitCount(this.#letters & ~letters) <= slips;
  }

  /**
   * Slips between the words or their stems: letters too many or too few, wrong, or swapped with their neighbour. Undefined if there are more than one in words
   * of five to seven letters (without an ending), or more than two in longer ones.
   */
  slipsTo(candidate: string): number | undefined {
    if (!this.mayBe(candidate)) return undefined;
    const stem = stemOf(candidate);
    const isStem = Math.min(stem.length, this.#stem.length) >= MIN_MISSPELT_UNITS;
    const least = Math.min(this.#between(this.#word, candidate), isStem ? this.#between(this.#stem, stem) : TOO_MANY);
    return least <= this.#slips ? least : undefined;
  }

  /** Slips between `a`, a form of the word, and `b`; `TOO_MANY` if there are more than are forgiven. Time is linear in the length. */
  #between(a: string, b: string): number {
    const most = this.#slips;
    if (Math.abs(a.length - b.length) > most) return TOO_MANY;
    let before: number[] = [];
    let last = Array.from({ length: Math.min(b.length, most) + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
      const row: number[] = [];
      let least = TOO_MANY;
      // Each letter more or less is a slip, so only places near the diagonal are within the limit.
      for (let j = Math.max(0, i - most); j <= Math.min(b.length, i + most); j++) {
        let slips = j === 0 ? i : TOO_MANY;
        slips = Math.min(slips, (last[j] ?? TOO_MANY) + this.#oddLetter(a, i - 1));
        if (j > 0) {
          slips = Math.min(slips, (row[j - 1] ?? TOO_MANY) + this.#oddLetter(b, j - 1));
          slips = Math.min(slips, (last[j - 1] ?? TOO_MANY) + this.#wrongLetter(a[i - 1] ?? "", b[j - 1] ?? ""));
        }
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          slips = Math.min(slips, (before[j - 2] ?? TOO_MANY) + 1);
        row[j] = slips;
        least = Math.min(least, slips);
      }
      if (least > most && last.every((slips) => slips > most)) return TOO_MANY;
      [before, last] = [last, row];
    }
    return Math.min(TOO_MANY, last[b.length] ?? TOO_MANY);
  }

  /** A letter that one of two forms lacks. In a short word it must be a vowel or one of two equal letters, and not the last one. */
  #oddLetter(word: string, at: number): number {
    if (this.#units > SHORT_UNITS) return 1;
    const letter = word[at] ?? "";
    const isSlip = VOWELS.includes(letter) || letter === word[at - 1] || letter === word[at + 1];
    return isSlip && at < word.length - 1 ? 1 : TOO_MANY;
  }

  /** One letter for another. In a short word that leads to other words too often. */
  #wrongLetter(a: string, b: string): number {
    if (a === b) return 0;
    if (this.#units <= SHORT_UNITS) return TOO_MANY;
    if (CONFUSED.some((letters) => letters.includes(a) && letters.includes(b))) return 1;
    return this.#units < LONG_UNITS ? TOO_MANY : 2;
  }
}

/** A bit for each letter that the word has. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) letters |= 1 << (word.charCodeAt(i) & 31);
  return letters;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
