import type { SearchIndex } from "./search-index.ts";
import type { ChunkKey } from "./types.ts";
import { signBits, type VectorSection } from "./vector-section.ts";

/**
 * Similarity of chunks to a query in a model's vector space: sign bits choose the candidates, their vectors decide. What chance alone
 * would give counts nothing, so a model that knows nothing of the code leaves the ranking as it is.
 */

/** Chunks whose vectors are read. */
const CANDIDATES = 200;

/** A query's vector, and what it is compared with. */
export interface QueryVector {
  vector: Float32Array;
  /** Sections by position in `SearchIndex.segments`; several where revisions of different coverage share a segment. */
  sections: ReadonlyMap<number, readonly VectorSection[]>;
  /** Reads the vectors of chunks, in the order asked for; undefined if one is gone. One round trip. */
  vectorsOf: (chunks: readonly ChunkKey[]) => Promise<readonly (Float32Array | undefined)[]>;
}

/** A chunk that has a vector. */
interface Candidate {
  segment: number;
  chunk: number;
  /** Its first document: an order that does not depend on how contents are spread over segments. */
  document: number;
  distance: number;
}

/**
 * How much each document stands out as similar to the query, 0 to 1; undefined if none does.
 *
 * Similarities of unrelated chunks have a mean m, which is far above 0 in many models. What is left of two vectors without their
 * common direction is as good as random, so that its cosine has a standard deviation of 1/√D in D dimensions, and the highest of N
 * of them is about √(2 ln N)/√D. A chunk counts as far as it is above t = m + (1 − m)·√(2 ln N)/√D, in proportion to the best; all
 * of them count less where even the best is less far above t than t is above m.
 */
export async function findSimilar(index: SearchIndex, query: QueryVector): Promise<Float64Array | undefined> {
  const { candidates, count, mean } = await nearest(index, query);
  if (candidates.length === 0) return undefined;
  const vectors = await query.vectorsOf(candidates.map(({ document }) => keyOf(index, document)));
  const cosines = vectors.map((vector) => (vector === undefined ? -1 : cosine(query.vector, vector)));
  const best = Math.max(...cosines);
  const chance = ((1 - mean) * Math.sqrt(2 * Math.log(Math.max(2, count)))) / Math.sqrt(query.vector.length);
  const threshold = mean + chance;
  if (best <= threshold) return undefined;
  const strength = Math.min(1, (best - threshold) / chance);
  const similar = new Float64Array(index.documentCount);
  for (const [i, { segment, chunk }] of candidates.entries()) {
    const above = ((cosines[i] as number) - threshold) / (best - threshold);
    if (above <= 0) continue;
    const documents = index.documentOfChunk[segment] as Int32Array;
    for (let d = documents[chunk] as number; d >= 0; d = index.nextDocument[d] as number) similar[d] = strength * above;
  }
  return similar;
}

/** The chunks of the revisions that differ in the fewest signs, how many have a vector, and their mean cosine by their signs. */
async function nearest(
  index: SearchIndex,
  { vector, sections }: QueryVector,
): Promise<{ candidates: Candidate[]; count: number; mean: number }> {
  const query = signBits(vector);
  const bits = Math.min(vector.length, 32 * query.length);
  const measured: { segment: number; distances: Uint16Array }[] = [];
  for (const [segment, own] of sections)
    measured.push({ segment, distances: await distancesIn(index, segment, own, vector.length, query) });
  const histogram = new Uint32Array(bits + 1);
  for (const { distances } of measured)
    for (const distance of distances) if (distance !== NONE) histogram[distance] = (histogram[distance] as number) + 1;
  let [count, cosines, farthest, within] = [0, 0, 0, 0];
  for (const [distance, chunks] of histogram.entries()) {
    count += chunks;
    cosines += chunks * Math.cos((Math.PI * distance) / bits);
    if (within >= CANDIDATES) continue;
    within += chunks;
    farthest = distance;
  }
  const candidates: Candidate[] = [];
  for (const { segment, distances } of measured) {
    const documents = index.documentOfChunk[segment] as Int32Array;
    for (const [chunk, distance] of distances.entries())
      if (distance <= farthest) candidates.push({ segment, chunk, document: documents[chunk] as number, distance });
  }
  candidates.sort((a, b) => a.distance - b.distance || index.compareDocuments(a.document, b.document));
  return { candidates: candidates.slice(0, CANDIDATES), count, mean: count === 0 ? 0 : cosines / count };
}

/** Distance of no chunk that is compared. */
const NONE = 0xffff;

/** Distances of a segment's chunks; `NONE` for those without a vector and those that no file has. */
async function distancesIn(
  index: SearchIndex,
  segment: number,
  sections: readonly VectorSection[],
  dimension: number,
  query: Uint32Array,
): Promise<Uint16Array> {
  const documents = index.documentOfChunk[segment] as Int32Array;
  const result = new Uint16Array(documents.length).fill(NONE);
  for (const section of sections) {
    // Vectors of another length cannot be compared.
    if (section.dimension !== dimension || section.chunkCount !== documents.length) continue;
    const distances = await section.distances(query);
    for (let chunk = 0; chunk < distances.length; chunk++)
      if ((documents[chunk] as number) >= 0 && section.has(chunk)) result[chunk] = distances[chunk] as number;
  }
  return result;
}

function keyOf(index: SearchIndex, document: number): ChunkKey {
  const file = index.fileOfDocument[document] as number;
  return {
    revision: index.revisionOf(file),
    path: index.path(file),
    ordinal: document - (index.firstDocuments[file] as number),
  };
}

function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return -1;
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number];
    dot += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? -1 : dot / Math.sqrt(ofA * ofB);
}
