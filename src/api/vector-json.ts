/**
 * A vector as JSON text: each component as the shortest decimal that reads back as the same float32, not as the double that
 * happens to stand for it (`0.1`, not `0.10000000149011612`). That halves an answer and takes half the time to write.
 */
export function vectorJson(vector: Float32Array): string {
  if (scratch.length < vector.length * MAX_COMPONENT_BYTES + 2)
    scratch = new Uint8Array(vector.length * MAX_COMPONENT_BYTES + 2);
  let at = 0;
  scratch[at++] = OPEN;
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) scratch[at++] = COMMA;
    at = writeComponent(vector[i] as number, at);
  }
  scratch[at++] = CLOSE;
  return decoder.decode(scratch.subarray(0, at));
}

const [OPEN, CLOSE, COMMA, MINUS, POINT, ZERO] = [0x5b, 0x5d, 0x2c, 0x2d, 0x2e, 0x30];
/** Longest text of a float32 (`-1.1754943508222875e-38`) and its comma. */
const MAX_COMPONENT_BYTES = 26;
/** Six digits are what people write; nine always suffice for a float32. */
const MIN_DIGITS = 6;
const MAX_DIGITS = 9;
const POWERS_OF_TEN = Float64Array.from({ length: 13 }, (_, exponent) => 10 ** exponent);
/** Components below this, or of 1 and above, are rare: they take the slow way. */
const SMALLEST_FAST = 1e-4;

const decoder = new TextDecoder();
// Shared by all calls of the isolate: a call never yields.
let scratch = new Uint8Array(0);

function writeComponent(value: number, start: number): number {
  let at = start;
  const size = Math.abs(value);
  if (!(size >= SMALLEST_FAST && size < 1)) return writeText(shortestText(value), at);
  if (value < 0) scratch[at++] = MINUS;
  const leadingZeros = size >= 0.1 ? 0 : size >= 0.01 ? 1 : size >= 0.001 ? 2 : 3;
  let digits = MIN_DIGITS + leadingZeros;
  let scaled = 0;
  for (; digits <= MAX_DIGITS + leadingZeros; digits++) {
    const power = POWERS_OF_TEN[digits] as number;
    scaled = Math.round(size * power);
    // Both are exact doubles, so the quotient is what a reader makes of the decimal.
    if (Math.fround(scaled / power) === size) break;
  }
  while (scaled % 10 === 0) {
    scaled /= 10;
    digits--;
  }
  scratch[at++] = ZERO;
  scratch[at++] = POINT;
  const end = at + digits;
  for (let position = end - 1; position >= at; position--) {
    const rest = Math.floor(scaled / 10);
    scratch[position] = ZERO + (scaled - rest * 10);
    scaled = rest;
  }
  return end;
}

function shortestText(value: number): string {
  for (let digits = MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
    const decimal = Number(value.toPrecision(digits));
    if (Math.fround(decimal) === value) return String(decimal);
  }
  return String(value);
}

function writeText(text: string, start: number): number {
  for (let i = 0; i < text.length; i++) scratch[start + i] = text.charCodeAt(i);
  return start + text.length;
}
