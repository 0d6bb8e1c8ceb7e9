import { scanTerms, stemOf } from "./scanner.ts";
import type { ScoredTerm } from "./score.ts";

const MIN_PREFIX = 3;
const MIN_NAME_PREFIX = 4;
const NAME_PREFIX_SHARE = 0.7;
/** A word with a lower inverse frequency over files counts less in names. Three quarters of all files have it, often because it is the project's name. */
const TELLING_IDF = 0.3;
/** Worth of a word of the file's path in the names of its definitions. */
const PATH_WORD_SHARE = 0.4;

/**
 * Weighs matches between words of a name and words of the query. A long query matches any word by chance, so there a match counts by
 * the word's share of the query's weight; in queries of up to ten words it counts fully. A word that nearly all files have counts less.
 */
export class WordEvidence {
  readonly #worth = new Map<string, number>();
  readonly #words: ScoredTerm[];
  readonly #total: number;
  /** Results of `#partWorth` by the hash of the word. */
  readonly #parts = new Map<number, number>();
  /** Matches the first letters of the query's words: every name that matches a word, whole or by prefix, contains them. */
  readonly #beginnings: RegExp;

  constructor(terms: readonly ScoredTerm[]) {
    this.#words = terms.filter(({ isWhole }) => !isWhole);
    this.#total = this.#words.reduce((sum, { weight, idf }) => sum + weight * idf, 0);
    const values = this.#words.map(({ weight, fileIdf }) => weight * fileIdf);
    const sum = values.reduce((a, b) => a + b, 0);
    const squares = values.reduce((a, b) => a + b * b, 0);
    const effective = squares === 0 ? 0 : (sum * sum) / squares;
    const exponent = 0.75 * Math.max(0, 1 - 10 / Math.max(effective, 1));
    const beginnings = new Set(this.#words.map(({ stem }) => stem.slice(0, stem.length <= MIN_NAME_PREFIX ? 2 : 4)));
    this.#beginnings = beginnings.size === 0 ? /$^/ : new RegExp([...beginnings].map(escapeRegExp).join("|"), "i");
    for (const [i, { stem, fileIdf }] of this.#words.entries()) {
      const share = exponent === 0 ? 1 : Math.min(1, ((values[i] as number) / sum / 0.2) ** exponent);
      const worth = share * Math.min(1, fileIdf / TELLING_IDF);
      this.#worth.set(stem, Math.max(this.#worth.get(stem) ?? 0, worth));
    }
  }

  /** False if no word of the name can match. A cheap filter, since a file may have thousands of functions. */
  mayMatch(name: string): boolean {
    return this.#beginnings.test(name);
  }

  /** How much a match with this word of the query counts: 0 to 1. */
  worth(word: string): number {
    return this.#worth.get(word) ?? 0;
  }

  /** Shares of a name's words that occur in the query, whole and by prefix. */
  match(words: readonly string[]): { share: number; prefix: number; count: number; shown: string[] } {
    let matched = 0;
    const shown: string[] = [];
    const others: string[] = [];
    for (const word of words) {
      const worth = this.worth(word);
      matched += worth;
      if (worth > 0) shown.push(word);
      else if (word.length >= MIN_PREFIX) others.push(word);
    }
    let prefix = 0;
    for (const { stem, weight, idf } of this.#words) {
      const hit = others.some((word) => stem.startsWith(word) || (stem.length >= MIN_PREFIX && word.startsWith(stem)));
      if (hit) prefix += weight * idf;
    }
    return {
      share: words.length === 0 ? 0 : matched / words.length,
      prefix: this.#total === 0 ? 0 : prefix / this.#total,
      count: words.length,
      shown,
    };
  }

  /** How well the words of a function's name match the query: 0 to 1. */
  nameWorth(name: string): number {
    const seen: number[] = [];
    let matched = 0;
    scanTerms(name, {
      word: (hash, start, end) => {
        if (seen.includes(hash)) return;
        seen.push(hash);
        matched += this.#partWorth(hash, name, start, end);
      },
      whole: () => undefined,
    });
    return seen.length === 0 ? 0 : (matched / seen.length) * Math.min(1, matched / 2);
  }

  /**
   * How well the name of a definition answers within its file: the share of the query's weight that its words have, times the root of
   * the share of its words that the query has. Words of the path tell one definition of the file from another less. 0 to 1.
   */
  placeWorth(name: string, pathWords: ReadonlySet<string>): number {
    const seen = new Set<number>();
    const worthOf = ({ stem, weight, idf }: ScoredTerm): number =>
      (pathWords.has(stem) ? PATH_WORD_SHARE : 1) * weight * idf;
    const matched = new Set<ScoredTerm>();
    scanTerms(name, {
      word: (hash, start, end) => {
        if (seen.has(hash)) return;
        seen.add(hash);
        const term = this.#termOf(stemOf(name.slice(start, end)));
        if (term) matched.add(term);
      },
      whole: () => undefined,
    });
    if (matched.size === 0) return 0;
    const total = this.#words.reduce((sum, term) => sum + worthOf(term), 0);
    const share = [...matched].reduce((sum, term) => sum + worthOf(term), 0) / total;
    return share * Math.sqrt(matched.size / seen.size);
  }

  /** The word of the query that is the word, else one that shares a prefix with it. */
  #termOf(word: string): ScoredTerm | undefined {
    const isNear = ({ stem }: ScoredTerm): boolean =>
      stem.length >= MIN_NAME_PREFIX && (stem.startsWith(word) || word.startsWith(stem));
    const same = this.#words.find(({ stem }) => stem === word);
    return same ?? (word.length >= MIN_NAME_PREFIX ? this.#words.find(isNear) : undefined);
  }

  /** Worth of a word of a name; less if the word and a word of the query only share a prefix. */
  #partWorth(hash: number, name: string, start: number, end: number): number {
    let best = this.#parts.get(hash);
    if (best !== undefined) return best;
    const word = stemOf(name.slice(start, end));
    best = this.worth(word);
    if (best === 0 && word.length >= MIN_NAME_PREFIX) {
      for (const { stem } of this.#words)
        if (stem.length >= MIN_NAME_PREFIX && (stem.startsWith(word) || word.startsWith(stem)))
          best = Math.max(best, NAME_PREFIX_SHARE * this.worth(stem));
    }
    this.#parts.set(hash, best);
    return best;
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, String.raw`\$&`);
}
