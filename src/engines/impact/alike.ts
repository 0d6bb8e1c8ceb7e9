/** The files of an index that are like a change: by all of its words, and by those of one line. */
import { eachPosting, readPostings } from "../search/postings.ts";
import type { QueryTerm } from "../search/query.ts";
import { type QueryPostings, readQueryPostings, scoreDocuments } from "../search/score.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { selectTerms } from "../search/select-terms.ts";
import { filesWithLines, type LineLike } from "./lines.ts";

/** Of the strongest words it is looked up which files have them. */
const NAMED_WORDS = 40;

/** A file that shares words with a change. */
interface AlikeFile {
  path: string;
  score: number;
  /** Words that it shares, the most telling first. */
  words: string[];
}

/** Files that are like a change. */
export interface Alike {
  /** Those that share most with its words, the best first. */
  files: AlikeFile[];
  /** Those that have the words of one line. */
  withLines: Map<string, LineLike>;
}

/** The files that share most with some words, and those that have the words of one of some lines. `index` holds one revision. */
export async function filesAlike(
  index: SearchIndex,
  words: readonly QueryTerm[],
  limit: number,
  lines: readonly string[] = [],
): Promise<Alike> {
  const selected = selectTerms(index, words);
  const postings = await readQueryPostings(index, selected);
  const { terms, files } = bestFiles(index, selected, postings, limit);
  const withLines = filesWithLines(index, selected, postings, lines);
  const shared = await wordsOf(index, terms.slice(0, NAMED_WORDS), new Set(files.map(({ file }) => file)));
  const named = files.map(({ file, score }) => ({ path: index.path(file), score, words: shared.get(file) ?? [] }));
  return { files: named, withLines };
}

/** Synchronous: only what it returns is kept of the arrays over all documents. */
function bestFiles(index: SearchIndex, selected: readonly QueryTerm[], postings: QueryPostings, limit: number) {
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
