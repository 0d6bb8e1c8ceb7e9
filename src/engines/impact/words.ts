/** The words of a change. */
import { foldCase } from "../search/names.ts";
import type { QueryTerm } from "../search/query.ts";
import { scanTerms, stemOf } from "../search/scanner.ts";

/** Characters of a change that are read, and different words that are looked up. */
const MAX_CHARACTERS = 1_000_000;
const MAX_WORDS = 1_000;
const MAX_TERMS = 400;
/** A joined identifier counts more than one of its words, as in a query. */
const WHOLE_WEIGHT = 1.3;

/** Checksums, as lock files have them: their letters are no words. */
const CHECKSUM = /\b(?:[0-9a-f]{20,}|sha\d{1,3}-[a-z0-9+/=]{20,})/gi;

/** Words of languages and of test frameworks: they say nothing of what a change is about. */
const COMMON = new Set(
  (
    "abstract and any as assert async await bool boolean break byte case catch char class const constructor continue " +
    "def default defer del describe do double elif else end enum equal equals error except expect export extends extern false final " +
    "finally float fn for foreach from func function get given go goto if impl implements import in include inline instanceof int " +
    "interface is it lambda let list long loop map match mod module mut namespace new nil none not null number object " +
    "of or override package param params pass print private protected pub public pytest raise raises ref require return returns self set short " +
    "should signed sizeof src static str string struct suite super switch template test tests this throw throws to " +
    "true try type typedef typename typeof undefined union unit unsafe unsigned use using val value values var vec virtual void " +
    "when where while with yield args kwargs key keys len data name"
  )
    .split(" ")
    .map((word) => stemOf(word)),
);

/** Collects the words of texts, with how often they occur. */
export class WordCounts {
  readonly #terms = new Map<number, QueryTerm & { count: number }>();
  #characters = 0;

  /** Counts the words of a text `times` times. */
  add(text: string, times: number): void {
    const room = MAX_CHARACTERS - this.#characters;
    if (room <= 0) return;
    const read = text.slice(0, room).replace(CHECKSUM, " ");
    this.#characters += read.length;
    const put = (hash: number, start: number, end: number, isWhole: boolean): void => {
      const known = this.#terms.get(hash);
      if (known) known.count += times;
      else if (this.#terms.size < MAX_WORDS) {
        const shown = read.slice(start, end);
        const stem = isWhole ? foldCase(shown) : stemOf(shown);
        if (!isWhole && (COMMON.has(stem) || /^\d/.test(stem))) return;
        this.#terms.set(hash, { hash, stem, shown, isWhole, weight: isWhole ? WHOLE_WEIGHT : 1, count: times });
      }
    };
    scanTerms(read, {
      word: (hash, start, end) => put(hash, start, end, false),
      whole: (hash, parts, start, end) => {
        if (parts > 1) put(hash, start, end, true);
      },
    });
  }

  /** The words as terms of a query; one that occurs often counts more, by the logarithm. */
  terms(): QueryTerm[] {
    return [...this.#terms.values()]
      .map(({ count, weight, hash, stem, shown, isWhole }): QueryTerm => {
        return { hash, stem, shown, isWhole, weight: weight * Math.log2(1 + count) };
      })
      .sort((a, b) => b.weight - a.weight)
      .slice(0, MAX_TERMS);
  }
}
