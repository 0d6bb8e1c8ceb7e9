import { Pacer } from "../../../lib/pause.ts";
import { wordWeight } from "./common-words.ts";
import { Scanner } from "./scanner.ts";

/**
 * BM25 (Robertson & Zaragoza 2009) over the given documents, with identifiers split, plus two features: the share of the query's
 * words that a document contains, and whether neighbours in the query are neighbours in the document.
 */

const K1 = 1.2;
const B = 0.75;
const BM25_SHARE = 0.6;
const COVERAGE_SHARE = 0.25;
const PHRASE_SHARE = 0.15;

/** Limit of distinct query terms; bounds memory (terms × documents) when the query is a whole file. */
const MAX_QUERY_TERMS = 256;

/** Work between two interruptions, in UTF-16 units of text. */
const SLICE_UNITS = 16_384;
/** Work of one score, in the same unit. */
const SCORE_UNITS = MAX_QUERY_TERMS;

interface Query {
  /** Position of a term's hash among the distinct terms. */
  readonly terms: ReadonlyMap<number, number>;
  /** Pairs of distinct terms that follow one another in the query, as first * count + second. */
  readonly pairs: ReadonlySet<number>;
}

async function readQuery(scanner: Scanner, text: string, pacer: Pacer): Promise<Query> {
  await scanner.scanInSlices(text, false, pacer);
  const terms = new Map<number, number>();
  const pairs = new Set<number>();
  const { words } = scanner;
  for (let i = 0; i < words.length; i++) {
    const hash = words.values[i] as number;
    if (terms.size < MAX_QUERY_TERMS && !terms.has(hash)) terms.set(hash, terms.size);
  }
  for (let i = 1; i < words.length; i++) {
    const first = terms.get(words.values[i - 1] as number);
    const second = terms.get(words.values[i] as number);
    if (first === undefined || second === undefined || first === second) continue;
    pairs.add(first * terms.size + second);
  }
  return { terms, pairs };
}

/** Scores each of `documents` for `query`, in their order, from 0 (nothing in common) to below 1. Works in slices. */
export async function scoreDocuments(query: string, documents: readonly string[]): Promise<Float64Array> {
  const [scanner, pacer] = [new Scanner(), new Pacer(SLICE_UNITS)];
  const { terms, pairs } = await readQuery(scanner, query, pacer);
  const termCount = terms.size;
  const scores = new Float64Array(documents.length);
  if (termCount === 0) return scores;
  const counts = documents.map(() => new Uint32Array(termCount));
  const lengths = new Float64Array(documents.length);
  const phrases = new Float64Array(documents.length);
  const documentFrequency = new Float64Array(termCount);
  let totalLength = 0;
  for (const [d, document] of documents.entries()) {
    await scanner.scanInSlices(document, false, pacer);
    const { words } = scanner;
    const row = counts[d] as Uint32Array;
    const found = new Set<number>();
    let previous: number | undefined;
    for (let i = 0; i < words.length; i++) {
      const term = terms.get(words.values[i] as number);
      if (term !== undefined) {
        if (row[term] === 0) documentFrequency[term] = (documentFrequency[term] as number) + 1;
        row[term] = (row[term] as number) + 1;
        if (previous !== undefined && pairs.has(previous * termCount + term)) found.add(previous * termCount + term);
      }
      previous = term;
    }
    lengths[d] = words.length;
    totalLength += words.length;
    phrases[d] = pairs.size === 0 ? 0 : found.size / pairs.size;
  }
  const weights = new Float64Array(termCount);
  let weightSum = 0;
  for (const [hash, term] of terms) {
    const df = documentFrequency[term] as number;
    const weight = wordWeight(hash) * Math.log(1 + (documents.length - df + 0.5) / (df + 0.5));
    weights[term] = weight;
    weightSum += weight;
  }
  const meanLength = Math.max(1, totalLength / documents.length);
  for (let d = 0; d < documents.length; d++) {
    const norm = K1 * (1 - B + (B * (lengths[d] as number)) / meanLength);
    await pacer.spend(SCORE_UNITS);
    let bm25 = 0;
    let covered = 0;
    for (let term = 0; term < termCount; term++) {
      const count = (counts[d] as Uint32Array)[term] as number;
      if (count === 0) continue;
      bm25 += ((weights[term] as number) * count) / (count + norm);
      covered += weights[term] as number;
    }
    scores[d] =
      (BM25_SHARE * bm25 + COVERAGE_SHARE * covered) / weightSum +
      PHRASE_SHARE * (phrases[d] as number) * (covered / weightSum);
  }
  return scores;
}
