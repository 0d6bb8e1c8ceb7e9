import { outlinesOf, type Definition } from "./definitions.ts";
import { nameWords, tellingStem } from "./paths.ts";
import { splitPath, TRAIT } from "./traits.ts";
import type { Mention, ParsedQuery } from "./query.ts";
import type { ContentRecord } from "./record.ts";
import type { ChunkScores, Scores, ScoredTerm } from "./score.ts";
import type { SearchIndex } from "./search-index.ts";
import { WordEvidence } from "./word-evidence.ts";

/**
 * The second stage: the best files by evidence, definitions and mentions, scored again with features of the file as a whole.
 * Weights were fitted on public queries and rounded; see docs/ranking.md.
 */

const CANDIDATES = 80;
/** Every file that has a quoted text is to be found, wherever its words rank it. */
const LITERAL_CANDIDATES = 500;
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

export interface RankedFile {
  file: number;
  score: number;
  definition: Definition | undefined;
  isMentioned: boolean;
  /** Has no symbols until `addSymbols` has read them. */
  record: ContentRecord;
  /** Focus of each of its documents, to which similarity adds. */
  focus: Float64Array;
  /** Sum of weight × idf of the terms that each of its documents has, or its path. */
  coverage: Float64Array;
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
  coverage: Float64Array;
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
  const files = highest(firsts, query.literals.length > 0 ? LITERAL_CANDIDATES : CANDIDATES);
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
      coverage,
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
