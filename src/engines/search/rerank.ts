import { outlinesOf, type Definition } from "./definitions.ts";
import { nameWords, splitPath, tellingStem, TRAIT } from "./paths.ts";
import type { Mention, ParsedQuery } from "./query.ts";
import type { ContentRecord } from "./record.ts";
import { scanTerms, stemOf } from "./scanner.ts";
import type { ChunkScores, Scores, ScoredTerm } from "./score.ts";
import type { SearchIndex } from "./search-index.ts";

/**
 * The second stage: the best files by evidence, definitions and mentions, scored again with features of the file as a whole.
 * Weights were fitted on public queries and rounded; see docs/ranking.md.
 */

const CANDIDATES = 80;
/** Queries with more terms are long: no path can contain a large share of them. */
const LONG_TERMS = 20;

const WEIGHT = {
  base: 4.95,
  focus: 1.5,
  coverage: 2.0,
  stemShare: 1.76,
  stemPrefix: 5.57,
  parentShare: 1.17,
  functionName: 1.67,
  definition: 2.39,
  stemLength: -2.0,
  mention: 2.0,
  frame: 1.0,
} as const;
/** If no path contains this share of the query, paths are no evidence and single chunks decide. */
const TELLING_PATH = 0.03;
const PATHLESS = { base: 1, focus: 8 } as const;
const STEM_LENGTH_UNIT = 3;

const PENALTIES: readonly [trait: number, penalty: number][] = [
  [TRAIT.test, 4],
  [TRAIT.example, 4],
  [TRAIT.docs, 5],
  [TRAIT.data, 2.5],
  [TRAIT.old, 3.64],
  [TRAIT.header, 3.9],
  [TRAIT.internal, 1.3],
  [TRAIT.generated, 2.5],
];

const SECOND_CHUNK = 0.4;
const MIN_PREFIX = 3;
const MIN_NAME_PREFIX = 4;
const NAME_PREFIX_SHARE = 0.7;

export interface RankedFile {
  file: number;
  score: number;
  definition: Definition | undefined;
  isMentioned: boolean;
  /** Has no symbols until `addSymbols` has read them. */
  record: ContentRecord;
  /** Focus of each of its documents, to which similarity adds. */
  focus: Float64Array;
  /** Words of the query in the file's name, as written in the query. */
  pathWords: string[];
}

/** A file of the first stage, with all that the second one needs to know of its documents. */
interface Candidate {
  file: number;
  /** Score without what its record and the words of its path add. */
  score: number;
  definition: Definition | undefined;
  isMentioned: boolean;
  focus: Float64Array;
}

/**
 * The files to rank, best first by evidence, definitions and mentions. Synchronous; keeps nothing of `scores`. `allowed`, where given,
 * leaves files out; `similar` is the similarity of each document by its vector, 0 to 1.
 */
export function chooseFiles(
  index: SearchIndex,
  query: ParsedQuery,
  scores: Scores,
  {
    definitions,
    allowed,
    similar,
  }: {
    definitions: ReadonlyMap<number, Definition>;
    allowed?: ((file: number) => boolean) | undefined;
    similar?: Float64Array | undefined;
  },
): Candidate[] {
  const mentions = findMentions(index, query.mentions);
  // Plain loops over all files: iterators and callbacks make an object of each number.
  const firsts = baseScores(index, scores.evidence);
  let maxBase = 0;
  for (let file = 0; file < firsts.length; file++) maxBase = Math.max(maxBase, firsts[file] as number);
  const isLong = query.terms.length > LONG_TERMS;
  const pathless = isLong ? 0 : Math.max(0, 1 - scores.pathShare / TELLING_PATH);
  const baseWeight = WEIGHT.base + pathless * (PATHLESS.base - WEIGHT.base);
  const focusWeight = WEIGHT.focus + pathless * (PATHLESS.focus - WEIGHT.focus);
  for (let file = 0; file < firsts.length; file++)
    firsts[file] = (baseWeight * (firsts[file] as number)) / (maxBase || 1);
  const add = (file: number, score: number): void => {
    firsts[file] = (firsts[file] as number) + score;
  };
  for (const [file, { score }] of definitions) add(file, WEIGHT.definition * score);
  for (const [file, score] of mentions) add(file, score);
  if (similar) {
    // As much as the words at their best: what shares no word with the query is found by its vector alone.
    const weight = baseWeight + focusWeight + WEIGHT.coverage;
    for (let file = 0; file < index.fileCount; file++) add(file, weight * bestOf(index, similar, file));
  }
  if (allowed)
    for (let file = 0; file < firsts.length; file++)
      if ((firsts[file] as number) > 0 && !allowed(file)) firsts[file] = 0;
  const files = highest(firsts, CANDIDATES);
  const chunks = scores.chunksOf(files);
  const bestFocus = chunks.map(({ focus }) => focus.reduce((best, value) => Math.max(best, value), 0));
  const maxFocus = Math.max(1e-9, ...bestFocus);
  return files.map((file, i): Candidate => {
    const { focus, coverage } = chunks[i] as ChunkScores;
    // The most similar chunk gets as much again as the one of most focus.
    const start = index.firstDocuments[file] as number;
    if (similar)
      for (let k = 0; k < focus.length; k++)
        focus[k] = (focus[k] as number) + maxFocus * (similar[start + k] as number);
    return {
      file,
      score:
        (firsts[file] as number) +
        WEIGHT.coverage * (coverage.reduce((best, value) => Math.max(best, value), 0) / (scores.total || 1)) +
        (focusWeight * (bestFocus[i] as number)) / maxFocus,
      definition: definitions.get(file),
      isMentioned: mentions.has(file),
      focus,
    };
  });
}

/** Ranks the chosen files, best first; files of equal score in order of path. */
export async function rankFiles(
  index: SearchIndex,
  query: ParsedQuery,
  terms: readonly ScoredTerm[],
  candidates: readonly Candidate[],
): Promise<RankedFile[]> {
  const words = new WordEvidence(terms);
  const records = await outlinesOf(index, candidates);
  const ranked = candidates.map((candidate, i): RankedFile => {
    const { file } = candidate;
    const record = records[i] as ContentRecord;
    const parts = splitPath(index.path(file));
    const name = tellingStem(parts);
    const stem = words.match(nameWords(name));
    const parent = words.match(nameWords(parts.folders.at(-1) ?? ""));
    let score =
      candidate.score +
      // The name of a folder counts once: as the parent's, not again as that of its `index` file.
      (name === parts.stem ? WEIGHT.stemShare * stem.share : 0) +
      WEIGHT.stemPrefix * stem.prefix +
      WEIGHT.parentShare * parent.share +
      WEIGHT.functionName * functionNames(record, words) +
      (WEIGHT.stemLength * stem.count) / STEM_LENGTH_UNIT;
    const traits = (index.traits[file] as number) & ~query.wanted;
    for (const [trait, penalty] of PENALTIES) if ((traits & trait) !== 0) score -= penalty;
    return { ...candidate, score, record, pathWords: stem.shown };
  });
  return ranked.sort((a, b) => b.score - a.score || a.file - b.file);
}

/** Positions of the `count` highest values above zero, the highest first; of equal values the first. */
export function highest(values: Float64Array, count: number): number[] {
  const best: number[] = [];
  let least = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value <= least) continue;
    let at = best.length;
    while (at > 0 && (values[best[at - 1] as number] as number) < value) at--;
    best.splice(at, 0, i);
    if (best.length > count) best.pop();
    if (best.length === count) least = values[best[count - 1] as number] as number;
  }
  return best;
}

/** For each file the score of its best chunk, plus a share of the second and third. */
function baseScores({ fileCount, firstDocuments, endDocuments }: SearchIndex, evidence: Float64Array): Float64Array {
  const bases = new Float64Array(fileCount);
  for (let file = 0; file < fileCount; file++) {
    let first = 0;
    let second = 0;
    let third = 0;
    for (let d = firstDocuments[file] as number; d < (endDocuments[file] as number); d++) {
      const score = evidence[d] as number;
      if (score <= third) continue;
      third = score;
      if (third > second) {
        third = second;
        second = score;
      }
      if (second > first) {
        second = first;
        first = score;
      }
    }
    bases[file] = first + SECOND_CHUNK * (second + third);
  }
  return bases;
}

/** The highest value of a document of the file. */
function bestOf({ firstDocuments, endDocuments }: SearchIndex, values: Float64Array, file: number): number {
  let best = 0;
  for (let d = firstDocuments[file] as number; d < (endDocuments[file] as number); d++)
    best = Math.max(best, values[d] as number);
  return best;
}

/**
 * Weighs matches between words of a name and words of the query. A long query matches any word by chance, so there a match counts by
 * the word's share of the query's weight; in queries of up to ten words it counts fully.
 */
class WordEvidence {
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
    for (const [i, { stem }] of this.#words.entries()) {
      const worth = exponent === 0 ? 1 : Math.min(1, ((values[i] as number) / sum / 0.2) ** exponent);
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

/** How well the best name of a top-level function matches the query: 0 to 1. */
function functionNames({ functions }: ContentRecord, words: WordEvidence): number {
  let best = 0;
  for (const name of functions) if (words.mayMatch(name)) best = Math.max(best, words.nameWorth(name));
  return best;
}

/** Score of each file that the query mentions by a path or name. */
function findMentions(index: SearchIndex, mentions: readonly Mention[]): Map<number, number> {
  const found = new Map<number, { mention: number; frame: number }>();
  for (const { folders, name, isFrame } of mentions) {
    for (const file of index.filesByName.get(name.toLowerCase()) ?? []) {
      const own = splitPath(index.path(file)).folders;
      let common = 0;
      while (common < Math.min(own.length, folders.length) && own.at(-1 - common) === folders.at(-1 - common)) common++;
      // A bare name, the whole path of either, or at least one folder in common.
      if (folders.length > 0 && common === 0 && own.length > 0) continue;
      const score = found.get(file) ?? { mention: 0, frame: 0 };
      if (isFrame) score.frame = WEIGHT.frame;
      else score.mention = WEIGHT.mention;
      found.set(file, score);
    }
  }
  return new Map([...found].map(([file, { mention, frame }]) => [file, mention + frame]));
}
