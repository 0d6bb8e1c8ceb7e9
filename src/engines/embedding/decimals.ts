import { Pacer } from "../../lib/pause.ts";

/** Components converted between two interruptions. */
const SLICE_COMPONENTS = 4_096;

/** `shortDecimals` of many vectors, in slices. */
export async function shortDecimalsOfAll(vectors: readonly Float32Array[]): Promise<number[][]> {
  const pacer = new Pacer(SLICE_COMPONENTS);
  const all: number[][] = [];
  for (const vector of vectors) {
    all.push(shortDecimals(vector));
    await pacer.spend(vector.length);
  }
  return all;
}

/**
 * Converts float32 components to the shortest decimals that read back as the same float32: `0.1` instead of `0.10000000149011612`.
 * Halves the JSON size of a vector.
 */
export function shortDecimals(vector: Float32Array): number[] {
  const decimals: number[] = [];
  for (const component of vector) decimals.push(shortDecimal(component));
  return decimals;
}

/** First precision tried. Nine significant digits always suffice for a float32. */
const MIN_DIGITS = 6;
const MAX_DIGITS = 9;
/** Between these magnitudes, multiplying by a power of ten that a double represents exactly gives nine integer digits. */
const FAST_FROM = 1e-5;
const FAST_BELOW = 1e6;
const POWERS_OF_TEN = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

function shortDecimal(value: number): number {
  const size = Math.abs(value);
  if (!(size >= FAST_FROM && size < FAST_BELOW)) return slowShortDecimal(value);
  const digitsBeforePoint = Math.floor(Math.log10(size)) + 1;
  for (let digits = MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
    const scale = POWERS_OF_TEN[digits - digitsBeforePoint] as number;
    const decimal = Math.round(value * scale) / scale;
    if (Math.fround(decimal) === value) return decimal;
  }
  return slowShortDecimal(value);
}

function slowShortDecimal(value: number): number {
  for (let digits = MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
    const decimal = Number(value.toPrecision(digits));
    if (Math.fround(decimal) === value) return decimal;
  }
  return value;
}
