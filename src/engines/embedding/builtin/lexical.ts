import type { Pacer } from "../../../lib/pause.ts";
import { wordWeight } from "./common-words.ts";
import { FeatureTable } from "./features.ts";
import { mix, PIECE_UNITS, Scanner } from "./scanner.ts";

/**
 * An embedding without network or model: sub-tokens of identifiers, whole identifiers and character n-grams are counted, weighted
 * and hashed into a vector of fixed length (signed feature hashing, Weinberger et al. 2009). It is lexical: it matches shared words
 * in any spelling of an identifier, not meaning. Uses integer arithmetic and float operations that IEEE 754 defines exactly, so the
 * same text gives the same bits everywhere.
 */

/** Relative to 1 for a sub-token. N-grams match long words, and word forms that stemming does not unify. */
const IDENTIFIER_WEIGHT = 0.6;
const GRAM_WEIGHT = 0.45;
/** Keeps the hash spaces of the three kinds of feature apart. */
const IDENTIFIER_SALT = 0x5bd1e995;
const GRAM_SALT = 0x27d4eb2f;
const SIGN_SALT = 0x165667b1;
/** Saturation of counts: n / (n + SATURATION), as in BM25. */
const SATURATION = 3;

const scanner = new Scanner();
const features = new FeatureTable();

/**
 * Embeds `text` as a vector of length `dimension` and Euclidean norm 1. Queries and documents are treated alike: different weights
 * gained nothing in our measurements.
 */
export function embedText(text: string, dimension: number): Float32Array {
  scanner.scan(text, true);
  features.clear();
  for (const add of additions(scanner)) for (let i = 0; i < add.count; i++) add.one(features, i);
  return vectorOf(features, scanner, text, dimension);
}

/** Like `embedText`, in slices. */
export async function embedInSlices(text: string, dimension: number, pacer: Pacer): Promise<Float32Array> {
  if (text.length <= PIECE_UNITS) {
    await pacer.spend(text.length);
    return embedText(text, dimension);
  }
  const own = new Scanner();
  await own.scanInSlices(text, true, pacer);
  return embedScanned(own, text, dimension, pacer);
}

/** Like `embedText`, of a text that `scanned` has just scanned with n-grams, in slices. */
export async function embedScanned(
  scanned: Scanner,
  text: string,
  dimension: number,
  pacer: Pacer,
): Promise<Float32Array> {
  const isLong = text.length > PIECE_UNITS;
  if (!isLong) await pacer.spend(text.length);
  // The shared table is for texts that are not interrupted: another text may use it meanwhile.
  const table = isLong ? new FeatureTable() : features;
  table.clear();
  for (const add of additions(scanned)) {
    for (let i = 0; i < add.count; i++) {
      add.one(table, i);
      if (isLong && i % PIECE_UNITS === 0) await pacer.spend(PIECE_UNITS);
    }
  }
  return vectorOf(table, scanned, text, dimension);
}

/** What a scanned text adds to the features, in this order: sums depend on it in their last bits. */
function additions({ words, identifiers, grams }: Scanner) {
  return [
    {
      count: words.length,
      one: (table: FeatureTable, i: number) => {
        const hash = words.values[i] as number;
        table.add(hash, wordWeight(hash));
      },
    },
    {
      count: identifiers.length,
      one: (table: FeatureTable, i: number) =>
        table.add((identifiers.values[i] as number) ^ IDENTIFIER_SALT, IDENTIFIER_WEIGHT),
    },
    {
      count: grams.length,
      one: (table: FeatureTable, i: number) => table.add((grams.values[i] as number) ^ GRAM_SALT, GRAM_WEIGHT),
    },
  ];
}

function vectorOf(table: FeatureTable, { words }: Scanner, text: string, dimension: number): Float32Array {
  if (words.length === 0) addUnits(table, text);
  const sums = new Float64Array(dimension);
  table.forEach((key, weight, count) => {
    const value = (weight * count) / (count + SATURATION);
    // The high bits choose the component, a second hash the sign.
    const component = Math.floor(((key >>> 0) * dimension) / 0x1_0000_0000);
    sums[component] = (sums[component] as number) + ((mix(key ^ SIGN_SALT) & 1) === 0 ? value : -value);
  });
  return normalised(sums);
}

/** Adds the characters of a text without letters or digits, so that its vector is not zero. */
function addUnits(table: FeatureTable, text: string): void {
  for (let i = 0; i < text.length; i++) table.add(mix(text.charCodeAt(i)), 1);
}

function normalised(sums: Float64Array): Float32Array {
  let squares = 0;
  for (const sum of sums) squares += sum * sum;
  const vector = new Float32Array(sums.length);
  if (squares === 0) {
    // All features cancelled out, or the text was empty: use a fixed direction.
    vector[0] = 1;
    return vector;
  }
  const scale = 1 / Math.sqrt(squares);
  for (let i = 0; i < sums.length; i++) vector[i] = (sums[i] as number) * scale;
  return vector;
}
