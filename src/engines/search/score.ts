import { BODY_MASK, DOC_BIT, NAMES_MASK, NAMES_SHIFT } from "./analyze.ts";
import { grown } from "./bytes.ts";
import { blockOfTerm, eachPosting, readPostings, type PostingList } from "./postings.ts";
import type { QueryTerm } from "./query.ts";
import type { SearchIndex } from "./search-index.ts";
import { inverseFrequency, MAX_SCORED_TERMS } from "./select-terms.ts";
import { IN_NAME } from "./table.ts";

/**
 * The first stage: scores of all documents in one scan of the postings. Two scores are kept. `evidence` tells how much a file is
 * about the query (nearly linear in counts, with the path); `focus` tells which chunk of it answers (BM25 with names and docs). With
 * either alone, files or chunks are ranked worse (measured).
 */

const BODY_WEIGHT = 0.3;
/** A chunk of a line or two must not win by being short. */
const LENGTH_FLOOR = 0.7;
const LENGTH_SHARE = 0.3;
const NAMES_WEIGHT = 0.6;
const IN_NAME_WEIGHT = 12;
const IN_FOLDER_WEIGHT = 2.5;
const EVIDENCE_SATURATION = 3;

const FOCUS_K1 = 1.2;
const FOCUS_B = 0.75;
const FOCUS_NAMES = 2;
const FOCUS_DOC = 1;

/** A term with its inverse document frequencies. */
export interface ScoredTerm extends QueryTerm {
  /** Over documents. */
  idf: number;
  /** Over files. */
  fileIdf: number;
}

interface Evidence {
  /** By document. */
  evidence: Float64Array;
  /** Sum of weight × idf of all terms. */
  total: number;
  /** The largest share, by weight × idf, of the terms that the path of a file has: 0 to 1. */
  pathShare: number;
}

/** Of the documents of one file. */
export interface ChunkScores {
  focus: Float64Array;
  /** Sum of weight × idf of the terms that a document has. */
  coverage: Float64Array;
}

export interface Scores extends Evidence {
  terms: readonly ScoredTerm[];
  /** Focus and coverage of the documents of these files, in the order of the files. */
  chunksOf(files: readonly number[]): ChunkScores[];
}

interface DecodedTerm {
  term: ScoredTerm;
  decoded: Decoded;
}

/** Where a term's postings lie, decoded: each entry of pool[start … end) is its document * 256 + its counts. */
interface Decoded {
  start: number;
  end: number;
  files: number;
  /** File and field of each path that has the term, as file * 4 + field. */
  paths: number[];
}

/** Postings of a query's terms, by segment or table and by term. */
export interface QueryPostings {
  segments: readonly (readonly (PostingList | undefined)[])[];
  tables: readonly (readonly (PostingList | undefined)[])[];
}

/** Bytes of the blocks that `readQueryPostings` reads. */
export function queryPostingBytes({ segments }: SearchIndex, terms: readonly QueryTerm[]): number {
  let bytes = 0;
  for (const { terms: blocks } of segments) {
    const wanted = new Set(terms.map(({ hash }) => blockOfTerm(blocks, hash)));
    for (const index of wanted) if (index >= 0) bytes += blocks.byteLengthOf(index);
  }
  return bytes;
}

/** Reads the postings that `scoreDocuments` needs. Throws `SearchFormatError` if a block is damaged. */
export async function readQueryPostings(index: SearchIndex, terms: readonly QueryTerm[]): Promise<QueryPostings> {
  const hashes = terms.map(({ hash }) => hash);
  const [segments, tables] = await Promise.all([
    Promise.all(index.segments.map((segment) => readPostings(segment.terms, hashes))),
    Promise.all(index.tables.map((table) => readPostings(table.terms, hashes))),
  ]);
  return { segments, tables };
}

/**
 * Scores every document for the terms. Synchronous, because it allocates megabytes: of the queries under way in a process, only one at
 * a time holds arrays over all documents. What awaits anything must not keep the result.
 */
export function scoreDocuments(
  index: SearchIndex,
  terms: readonly QueryTerm[],
  { segments, tables }: QueryPostings,
): Scores {
  let postingCount = 0;
  for (const lists of segments) for (const list of lists) postingCount += list?.count ?? 0;
  const pool = new Pool(postingCount);
  const known = terms.map((term, t): DecodedTerm => {
    const decoded = decode(index, pool, segments, tables, t);
    const { start, end, files, paths } = decoded;
    const idf = inverseFrequency(Math.max(end - start, paths.length), index.documentCount);
    const fileIdf = inverseFrequency(Math.max(files, paths.length), index.fileCount);
    return { term: { ...term, idf, fileIdf }, decoded };
  });
  const strengthOf = ({ term }: DecodedTerm): number => term.weight * term.idf;
  const occurring = known.filter(
    ({ term, decoded: { start, end, paths } }) => term.isOptional !== true || end > start || paths.length > 0,
  );
  // Sorting is stable: of equal terms the first ones count.
  const best = new Set(occurring.toSorted((a, b) => strengthOf(b) - strengthOf(a)).slice(0, MAX_SCORED_TERMS));
  const strongest = occurring.filter((own) => best.has(own));
  return {
    terms: strongest.map(({ term }) => term),
    ...addEvidence(index, pool.values, strongest),
    chunksOf: (files) => scoreChunks(index, pool.values, strongest, files),
  };
}

/** Growing list of decoded postings. */
class Pool {
  values: Uint32Array;
  length = 0;

  constructor(capacity: number) {
    this.values = new Uint32Array(capacity);
  }

  reserve(more: number): void {
    if (this.length + more > this.values.length) this.values = grown(this.values, this.length + more);
  }
}

function decode(
  index: SearchIndex,
  pool: Pool,
  segments: readonly (readonly (PostingList | undefined)[])[],
  tables: readonly (readonly (PostingList | undefined)[])[],
  term: number,
): Decoded {
  const start = pool.length;
  let files = 0;
  for (const [s, lists] of segments.entries()) {
    const list = lists[term];
    if (list) files += decodeList(index, pool, list, index.documentOfChunk[s] as Int32Array);
  }
  const paths: number[] = [];
  for (const [t, lists] of tables.entries()) {
    const list = lists[term];
    if (list) eachPosting(list, (file, field) => paths.push(((index.firstFiles[t] as number) + file) * 4 + field));
  }
  return { start, end: pool.length, files, paths };
}

/** Decodes a posting list: chunks become documents, and chunks of no file are left out. Returns the number of distinct files. */
function decodeList(
  { nextDocument, fileOfDocument }: SearchIndex,
  pool: Pool,
  { bytes, count }: PostingList,
  documents: Int32Array,
): number {
  let files = 0;
  // The chunks of a content follow each other, so its files are new where the first of them is.
  let lastFile = -1;
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
    if (document < 0) continue;
    const isNew = fileOfDocument[document] !== lastFile;
    lastFile = fileOfDocument[document] as number;
    while (document >= 0) {
      if (length === values.length) {
        pool.length = length;
        pool.reserve(count);
        ({ values } = pool);
      }
      values[length++] = document * 256 + counts;
      if (isNew) files++;
      document = nextDocument[document] as number;
    }
  }
  pool.length = length;
  return files;
}

/** Adds up the evidence of all documents. */
function addEvidence(index: SearchIndex, pool: Uint32Array, terms: readonly DecodedTerm[]): Evidence {
  const { firstDocuments, endDocuments, fileOfDocument, relativeLengths } = index;
  const evidence = new Float64Array(index.documentCount);
  const boosts = new Float64Array(index.fileCount);
  // 1 more than the last term that the document has; there are at most `MAX_SCORED_TERMS`.
  const stamps = new Uint8Array(index.documentCount);
  const inPaths = new Float64Array(index.fileCount);
  let total = 0;
  let mostInPath = 0;
  for (const [t, { term, decoded }] of terms.entries()) {
    const { start, end, paths } = decoded;
    const strength = term.weight * term.idf;
    total += strength;
    for (const path of paths) boosts[path >> 2] = (path & IN_NAME) === 0 ? IN_FOLDER_WEIGHT : IN_NAME_WEIGHT;
    for (let i = start; i < end; i++) {
      const posting = pool[i] as number;
      const document = posting >>> 8;
      const names = (posting >> NAMES_SHIFT) & NAMES_MASK;
      let tf =
        (BODY_WEIGHT * (posting & BODY_MASK)) / (LENGTH_FLOOR + LENGTH_SHARE * (relativeLengths[document] as number)) +
        NAMES_WEIGHT * names;
      if (paths.length > 0) {
        tf += boosts[fileOfDocument[document] as number] as number;
        stamps[document] = t + 1;
      }
      evidence[document] = (evidence[document] as number) + (strength * tf) / (EVIDENCE_SATURATION + tf);
    }
    for (const path of paths) {
      const file = path >> 2;
      const tf = boosts[file] as number;
      boosts[file] = 0;
      const inPath = (inPaths[file] as number) + strength;
      inPaths[file] = inPath;
      mostInPath = Math.max(mostInPath, inPath);
      const gain = (strength * tf) / (EVIDENCE_SATURATION + tf);
      for (let d = firstDocuments[file] as number; d < (endDocuments[file] as number); d++)
        if (stamps[d] !== t + 1) evidence[d] = (evidence[d] as number) + gain;
    }
  }
  return { evidence, total, pathShare: total > 0 ? mostInPath / total : 0 };
}

/** Adds up focus and coverage of the documents of `files`. */
function scoreChunks(
  index: SearchIndex,
  pool: Uint32Array,
  terms: readonly DecodedTerm[],
  files: readonly number[],
): ChunkScores[] {
  const { documentCount, firstDocuments, endDocuments, relativeLengths } = index;
  // 1 more than the position of each document of the files among them; 0 for documents of other files.
  const places = new Uint32Array(documentCount);
  let count = 0;
  for (const file of files)
    for (let d = firstDocuments[file] as number; d < (endDocuments[file] as number); d++) places[d] = ++count;
  const focus = new Float64Array(count);
  const coverage = new Float64Array(count);
  // 1 more than the last term that the document has.
  const stamps = new Uint8Array(count);
  for (const [t, { term, decoded }] of terms.entries()) {
    const strength = term.weight * term.idf;
    for (let i = decoded.start; i < decoded.end; i++) {
      const posting = pool[i] as number;
      const document = posting >>> 8;
      const place = (places[document] as number) - 1;
      if (place < 0) continue;
      const names = (posting >> NAMES_SHIFT) & NAMES_MASK;
      const near = (posting & BODY_MASK) + FOCUS_NAMES * names + ((posting & DOC_BIT) === 0 ? 0 : FOCUS_DOC);
      const norm = FOCUS_K1 * (1 - FOCUS_B + FOCUS_B * (relativeLengths[document] as number));
      focus[place] = (focus[place] as number) + (strength * near) / (near + norm);
      coverage[place] = (coverage[place] as number) + strength;
      stamps[place] = t + 1;
    }
    for (const path of decoded.paths) {
      const file = path >> 2;
      for (let d = firstDocuments[file] as number; d < (endDocuments[file] as number); d++) {
        const place = (places[d] as number) - 1;
        // Of a file, all documents have a place or none.
        if (place < 0) break;
        if (stamps[place] !== t + 1) coverage[place] = (coverage[place] as number) + strength;
      }
    }
  }
  let end = 0;
  return files.map((file) => {
    const start = end;
    end += (endDocuments[file] as number) - (firstDocuments[file] as number);
    return { focus: focus.subarray(start, end), coverage: coverage.subarray(start, end) };
  });
}
