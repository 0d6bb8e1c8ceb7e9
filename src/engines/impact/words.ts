/** The words of a change, and the files of an index that share them. */
import { foldCase } from "../search/names.ts";
import { eachPosting, readPostings } from "../search/postings.ts";
import type { QueryTerm } from "../search/query.ts";
import { readQueryPostings, scoreDocuments } from "../search/score.ts";
import { scanTerms, stemOf } from "../search/scanner.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { selectTerms } from "../search/select-terms.ts";

/** Characters of a change that are read, and different words that are looked up. */
const MAX_CHARACTERS = 1_000_000;
const MAX_WORDS = 1_000;
const MAX_TERMS = 400;
/** A joined identifier counts more than one of its words, as in a query. */
const WHOLE_WEIGHT = 1.3;
/** Of the strongest words it is looked up which files have them. */
const NAMED_WORDS = 40;

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

/** A file that shares words with a change. */
export interface AlikeFile {
  path: string;
  score: number;
  /** Words that it shares, the most telling first. */
  words: string[];
}

/** The files that share most with the words, the best first. `index` holds one revision. */
export async function filesAlike(index: SearchIndex, words: readonly QueryTerm[], limit: number): Promise<AlikeFile[]> {
  const selected = selectTerms(index, words);
  const postings = await readQueryPostings(index, selected);
  const { terms, files } = bestFiles(index, selected, postings, limit);
  const shared = await wordsOf(index, terms.slice(0, NAMED_WORDS), new Set(files.map(({ file }) => file)));
  return files.map(({ file, score }) => ({ path: index.path(file), score, words: shared.get(file) ?? [] }));
}

/** Synchronous: only what it returns is kept of the arrays over all documents. */
function bestFiles(
  index: SearchIndex,
  selected: readonly QueryTerm[],
  postings: Awaited<ReturnType<typeof readQueryPostings>>,
  limit: number,
) {
  const { terms, evidence } = scoreDocuments(index, selected, postings);
  const files: { file: number; score: number }[] = [];
  for (let file = 0; file < index.fileCount; file++) {
    let [best, second] = [0, 0];
    for (let d = index.firstDocuments[file] as number; d < (index.endDocuments[file] as number); d++) {
      const score = evidence[d] as number;
      if (score > best) [best, second] = [score, best];
      else if (score > second) second = score;
    }
    if (best > 0) files.push({ file, score: best + SECOND_PLACE * second });
  }
  const strongest = terms.toSorted((a, b) => b.weight * b.idf - a.weight * a.idf);
  return { terms: strongest, files: files.sort((a, b) => b.score - a.score || a.file - b.file).slice(0, limit) };
}

/** What the second best place of a file adds. */
const SECOND_PLACE = 0.5;

/** Which of the words each of some files has, in the order of the words. */
async function wordsOf(
  index: SearchIndex,
  terms: readonly QueryTerm[],
  wanted: ReadonlySet<number>,
): Promise<Map<number, string[]>> {
  const found = new Map<number, string[]>();
  const hashes = terms.map(({ hash }) => hash);
  for (const [s, segment] of index.segments.entries()) {
    const documents = index.documentOfChunk[s] as Int32Array;
    for (const [t, list] of (await readPostings(segment.terms, hashes)).entries()) {
      if (!list) continue;
      const word = terms[t]?.shown ?? "";
      eachPosting(list, (chunk) => {
        for (let d = documents[chunk] ?? -1; d >= 0; d = index.nextDocument[d] as number) {
          const file = index.fileOfDocument[d] as number;
          if (!wanted.has(file)) continue;
          const own = found.get(file) ?? [];
          found.set(file, own);
          if (!own.includes(word)) own.push(word);
        }
      });
    }
  }
  const order = new Map(terms.map(({ shown }, i) => [shown, i]));
  for (const own of found.values()) own.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  return found;
}
