import { BODY_MASK, DOC_BIT, NAMES_MASK, NAMES_SHIFT } from "./analyze.ts";
import { readPostings, type PostingList } from "./postings.ts";
import type { QueryTerm } from "./query.ts";
import type { SearchIndex } from "./search-index.ts";
import { IN_NAME } from "./table.ts";

/**
 * The first stage: scores of all documents in one scan of the postings. Two scores are kept. `evidence` tells how much a file is
 * about the query (nearly linear in counts, with the path); `focus` tells which chunk of it answers (BM25 with names and docs). Both
 * were measured: with either alone, files or chunks are found worse.
 */

/** Terms that are scored: the strongest by weight and rarity. More gained nothing on whole issue texts. */
const MAX_SCORED_TERMS = 100;

const BODY_WEIGHT = 0.3;
const LENGTH_FLOOR = 0.4;
const LENGTH_SHARE = 0.6;
const NAMES_WEIGHT = 0.6;
const IN_NAME_WEIGHT = 12;
const IN_FOLDER_WEIGHT = 2.5;
const EVIDENCE_SATURATION = 3;

const FOCUS_K1 = 1.2;
const FOCUS_B = 0.75;
const FOCUS_NAMES = 2;
const FOCUS_DOC = 1;

/** A term with what the index says of it. */
export interface ScoredTerm extends QueryTerm {
  /** Over documents. */
  idf: number;
  /** Over files. */
  fileIdf: number;
}

export interface Scores {
  terms: readonly ScoredTerm[];
  evidence: Float64Array;
  focus: Float64Array;
  /** Sum of weight × idf of the terms a document has, divided by that of all terms: 0 to 1. */
  coverage: Float64Array;
  /** The largest share, by weight × idf, of the terms that the path of a file has: 0 to 1. */
  pathShare: number;
}

/** Postings of a term as documents: pool[start … end) holds document * 256 + counts. */
interface Decoded {
  start: number;
  end: number;
  files: number;
  /** File and field of each path that has the term, as file * 4 + field. */
  paths: number[];
}

/** Scores every document for the terms. Reads all postings first, then scores without waiting. */
export async function scoreDocuments(index: SearchIndex, terms: readonly QueryTerm[]): Promise<Scores> {
  const hashes = terms.map(({ hash }) => hash);
  const [segments, tables] = await Promise.all([
    Promise.all(index.segments.map((segment) => readPostings(segment.terms, hashes))),
    Promise.all(index.tables.map((table) => readPostings(table.terms, hashes))),
  ]);
  const pool = new Pool();
  const stamps = new Int32Array(index.fileCount).fill(-1);
  const decoded = terms.map((_, t) => decode(index, pool, segments, tables, stamps, t));
  const known = terms.map((term, t): ScoredTerm & { decoded: Decoded } => {
    const { start, end, files, paths } = decoded[t] as Decoded;
    return {
      ...term,
      idf: inverseFrequency(Math.max(end - start, paths.length), index.documentCount),
      fileIdf: inverseFrequency(Math.max(files, paths.length), index.fileCount),
      decoded: decoded[t] as Decoded,
    };
  });
  const strongest = known
    .map((term, i) => ({ term, i }))
    .sort((a, b) => b.term.weight * b.term.idf - a.term.weight * a.term.idf || a.i - b.i)
    .slice(0, MAX_SCORED_TERMS)
    .sort((a, b) => a.i - b.i)
    .map(({ term }) => term);
  return accumulate(index, pool.values, strongest);
}

function inverseFrequency(count: number, total: number): number {
  return Math.log(1 + (Math.max(total, count) - count + 0.5) / (count + 0.5));
}

/** Growing list of decoded postings. */
class Pool {
  values = new Uint32Array(1 << 15);
  length = 0;

  reserve(more: number): void {
    if (this.length + more <= this.values.length) return;
    const grown = new Uint32Array(Math.max(this.values.length * 2, this.length + more));
    grown.set(this.values);
    this.values = grown;
  }
}

function decode(
  index: SearchIndex,
  pool: Pool,
  segments: readonly (readonly (PostingList | undefined)[])[],
  tables: readonly (readonly (PostingList | undefined)[])[],
  stamps: Int32Array,
  term: number,
): Decoded {
  const start = pool.length;
  for (const [s, lists] of segments.entries()) {
    const list = lists[term];
    if (list) decodeList(index, pool, list, index.documentOfChunk[s] as Int32Array);
  }
  const paths: number[] = [];
  for (const [t, lists] of tables.entries()) {
    const list = lists[term];
    if (list) eachPosting(list, (file, field) => paths.push(((index.firstFiles[t] as number) + file) * 4 + field));
  }
  return { start, end: pool.length, files: countFiles(index, pool, start, stamps, term), paths };
}

/** The one hot loop of decoding: chunks become documents, those of no file are left out. */
function decodeList(index: SearchIndex, pool: Pool, { bytes, count }: PostingList, documents: Int32Array): void {
  const { nextDocument } = index;
  pool.reserve(count);
  let { values, length } = pool;
  let chunk = 0;
  for (let at = 0; at < bytes.length;) {
    let byte = bytes[at++] as number;
    let delta = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++] as number;
      delta |= (byte & 0x7f) << shift;
    }
    chunk += delta;
    const counts = bytes[at++] as number;
    let document = documents[chunk] ?? -1;
    while (document >= 0) {
      if (length === values.length) {
        pool.length = length;
        pool.reserve(count);
        ({ values } = pool);
      }
      values[length++] = document * 256 + counts;
      document = nextDocument[document] as number;
    }
  }
  pool.length = length;
}

/** Calls `visit` for each posting of a short list. */
export function eachPosting({ bytes }: PostingList, visit: (document: number, counts: number) => void): void {
  let document = 0;
  for (let at = 0; at < bytes.length;) {
    let byte = bytes[at++] as number;
    let delta = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = bytes[at++] as number;
      delta |= (byte & 0x7f) << shift;
    }
    document += delta;
    visit(document, bytes[at++] as number);
  }
}

/** Distinct files of the postings from `start`. `stamps` holds for each file the last term that was counted for it. */
function countFiles(
  { fileOfDocument }: SearchIndex,
  pool: Pool,
  start: number,
  stamps: Int32Array,
  term: number,
): number {
  const { values, length } = pool;
  let count = 0;
  for (let i = start; i < length; i++) {
    const file = fileOfDocument[(values[i] as number) >>> 8] as number;
    if (stamps[file] === term) continue;
    stamps[file] = term;
    count++;
  }
  return count;
}

function accumulate(
  index: SearchIndex,
  pool: Uint32Array,
  terms: readonly (ScoredTerm & { decoded: Decoded })[],
): Scores {
  const { documentCount, firstDocuments, fileOfDocument, lengths, meanLength } = index;
  const evidence = new Float64Array(documentCount);
  const focus = new Float64Array(documentCount);
  const coverage = new Float64Array(documentCount);
  const boosts = new Float64Array(index.fileCount);
  const stamps = new Uint32Array(documentCount);
  const inPaths = new Float64Array(index.fileCount);
  let total = 0;
  let mostInPath = 0;
  for (const [t, { weight, idf, decoded }] of terms.entries()) {
    const strength = weight * idf;
    total += strength;
    for (const path of decoded.paths) boosts[path >> 2] = (path & IN_NAME) === 0 ? IN_FOLDER_WEIGHT : IN_NAME_WEIGHT;
    for (let i = decoded.start; i < decoded.end; i++) {
      const posting = pool[i] as number;
      const document = posting >>> 8;
      const body = posting & BODY_MASK;
      const names = (posting >> NAMES_SHIFT) & NAMES_MASK;
      const length = (lengths[document] as number) / meanLength;
      const tf =
        (BODY_WEIGHT * body) / (LENGTH_FLOOR + LENGTH_SHARE * length) +
        NAMES_WEIGHT * names +
        (boosts[fileOfDocument[document] as number] as number);
      const near = body + FOCUS_NAMES * names + ((posting & DOC_BIT) === 0 ? 0 : FOCUS_DOC);
      evidence[document] = (evidence[document] as number) + (strength * tf) / (EVIDENCE_SATURATION + tf);
      focus[document] =
        (focus[document] as number) + (strength * near) / (near + FOCUS_K1 * (1 - FOCUS_B + FOCUS_B * length));
      coverage[document] = (coverage[document] as number) + strength;
      stamps[document] = t + 1;
    }
    for (const path of decoded.paths) {
      const file = path >> 2;
      const tf = boosts[file] as number;
      boosts[file] = 0;
      const inPath = (inPaths[file] as number) + strength;
      inPaths[file] = inPath;
      mostInPath = Math.max(mostInPath, inPath);
      const gain = (strength * tf) / (EVIDENCE_SATURATION + tf);
      for (let d = firstDocuments[file] as number; d < (firstDocuments[file + 1] as number); d++) {
        if (stamps[d] === t + 1) continue;
        evidence[d] = (evidence[d] as number) + gain;
        coverage[d] = (coverage[d] as number) + strength;
      }
    }
  }
  if (total > 0) for (let d = 0; d < documentCount; d++) coverage[d] = (coverage[d] as number) / total;
  return { terms, evidence, focus, coverage, pathShare: total > 0 ? mostInPath / total : 0 };
}
