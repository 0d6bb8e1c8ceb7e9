/** Files with a place that has the words of one changed line: an edit is often made in several places. */
import { eachPosting } from "../search/postings.ts";
import type { QueryTerm } from "../search/query.ts";
import type { QueryPostings } from "../search/score.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { inverseFrequency } from "../search/select-terms.ts";
import { WordCounts } from "./words.ts";

/** Different lines that are compared, characters of a line, and words of one; fewer words than these are no likeness. */
const MAX_LINES = 150;
const MAX_CHARACTERS = 400;
const MAX_WORDS = 40;
const MIN_WORDS = 2;
/** A word that more of the places have tells nothing of a line. */
const COMMON_SHARE = 0.3;
/** Places that are looked at for all lines together. */
const MAX_VISITED = 2_000_000;

/** How much a file has of the changed line that it has most of. */
export interface LineLike {
  score: number;
  /** How much of the line it has: 0 to 1. Words that no file has, or that are not looked at, count as missing. */
  share: number;
  /** The line, without the space around it. */
  line: string;
}

/**
 * The files with a place, by which a chunk is meant, that has the words of one of the lines. With the sum `s` of the inverse frequencies of the
 * words that the place has, and `t` of all the words of the line, the score is s² / t: the whole of a line counts, and that its words are rare.
 * Of the words only those in `terms` are looked at, whose `postings` were read.
 */
export function filesWithLines(
  index: SearchIndex,
  terms: readonly QueryTerm[],
  { segments }: QueryPostings,
  lines: readonly string[],
): Map<string, LineLike> {
  const words = new Map<number, Word>();
  const wordOf = (position: number): Word => {
    const known = words.get(position) ?? readWord(index, segments, position);
    words.set(position, known);
    return known;
  };
  const positions = new Map(terms.map(({ hash }, position) => [hash, position]));
  const sums = new Float64Array(index.documentCount);
  const found = new Map<number, LineLike>();
  let left = MAX_VISITED;
  for (const line of differentLines(lines)) {
    const hashes = hashesOf(line);
    if (hashes.length > MAX_WORDS) continue;
    const known = hashes
      .flatMap((hash) => positions.get(hash) ?? [])
      .map(wordOf)
      .filter(({ idf }) => idf > 0);
    if (known.length < MIN_WORDS) continue;
    const total = known.reduce((sum, { idf }) => sum + idf, 0);
    const touched: number[] = [];
    for (const { idf, documents } of known)
      for (const document of documents) {
        if (sums[document] === 0) touched.push(document);
        sums[document] = (sums[document] as number) + idf;
        left--;
      }
    for (const document of touched) {
      const sum = sums[document] as number;
      sums[document] = 0;
      const file = index.fileOfDocument[document] as number;
      const score = sum ** 2 / total;
      if (score <= (found.get(file)?.score ?? 0)) continue;
      found.set(file, { score, share: ((sum / total) * known.length) / hashes.length, line });
    }
    if (left <= 0) break;
  }
  return new Map([...found].map(([file, like]) => [index.path(file), like]));
}

interface Word {
  /** 0 if no file has it. */
  idf: number;
  /** Documents that have it; none if it is common. */
  documents: readonly number[];
}

function readWord(index: SearchIndex, segments: QueryPostings["segments"], position: number): Word {
  const documents: number[] = [];
  for (const [s, lists] of segments.entries()) {
    const list = lists[position];
    if (!list) continue;
    const documentOfChunk = index.documentOfChunk[s] as Int32Array;
    eachPosting(list, (chunk) => {
      for (let d = documentOfChunk[chunk] ?? -1; d >= 0; d = index.nextDocument[d] as number) documents.push(d);
    });
  }
  if (documents.length === 0) return { idf: 0, documents };
  const isCommon = documents.length > COMMON_SHARE * index.documentCount;
  return { idf: inverseFrequency(documents.length, index.documentCount), documents: isCommon ? [] : documents };
}

function differentLines(lines: readonly string[]): string[] {
  return [...new Set(lines.map((line) => line.slice(0, MAX_CHARACTERS).trim()))].slice(0, MAX_LINES);
}

function hashesOf(line: string): number[] {
  const words = new WordCounts();
  words.add(line, 1);
  return words.terms().map(({ hash }) => hash);
}
