/**
 * Vectors as JSON text: each component as the shortest decimal that reads back as the same float32, not as the double that
 * happens to stand for it (`0.1`, not `0.10000000149011612`). That halves an answer and takes half the time to write.
 */
export function vectorJson(vector: Float32Array): string {
  return decoder.decode(jsonBytes([vector]));
}

/** JSON text of strings (which are JSON already) and vectors, one after the other, as UTF-8 with `room` more bytes at its end. */
export function jsonBytes(pieces: readonly (string | Float32Array)[], room = 0): Uint8Array<ArrayBuffer> {
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece !== "string") {
      reserve(at, piece.length * MAX_COMPONENT_BYTES + 2);
      at = writeVector(piece, at);
      continue;
    }
    reserve(at, piece.length * MAX_UTF8_BYTES);
    at += encoder.encodeInto(piece, scratch.subarray(at)).written;
  }
  const bytes = new Uint8Array(at + room);
  bytes.set(scratch.subarray(0, at));
  return bytes;
}

/** Writes a vector from `start` on; `scratch` has room for it. Returns where it ends. */
function writeVector(vector: Float32Array, start: number): number {
  const bits = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  let at = start;
  if (vector.length === 0) scratch[at++] = OPEN;
  for (let i = 0; i < vector.length; i++) at = writeComponent(vector[i] as number, bits[i] as number, i, at);
  scratch[at++] = CLOSE;
  return at;
}

const [OPEN, CLOSE, COMMA, MINUS, POINT, ZERO] = [0x5b, 0x5d, 0x2c, 0x2d, 0x2e, 0x30];
/** Longest text of a float32 (`-1.1754943508222875e-38`) and its comma. */
const MAX_COMPONENT_BYTES = 26;
/** Six digits are what people write; nine always suffice for a float32. */
const MIN_DIGITS = 6;
const TYPICAL_DIGITS = 8;
const MAX_DIGITS = 9;
const POWERS_OF_TEN = Float64Array.from({ length: 13 }, (_, exponent) => 10 ** exponent);
/** Components below this, or of 1 and above, are rare: they take the slow way, and so do powers of two. */
const SMALLEST_FAST = 1e-4;

const MANTISSA_BITS = 23;
const MANTISSA_MASK = (1 << MANTISSA_BITS) - 1;
const EXPONENT_BIAS = 127;
/**
 * By the exponent of a float32 that is no power of two: how far a decimal may be from it and still read back as it, which is
 * half the distance to its neighbours. A little less, for what the products of doubles below are rounded by.
 */
const REACH = Float64Array.from(
  { length: 256 },
  (_, exponent) => 2 ** (exponent - EXPONENT_BIAS - MANTISSA_BITS - 1) * (1 - 2 ** -20),
);
const FOUR_DIGITS = 10_000;
/** ASCII of every number of four digits, leading zeros and all. */
const QUADS = Uint32Array.from({ length: FOUR_DIGITS }, (_, number) =>
  Buffer.from(String(number).padStart(4, "0")).readUInt32BE(),
);

const MAX_UTF8_BYTES = 3;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
// Shared by all calls of the isolate: a call never yields.
let scratch = new Uint8Array(0);
let view = new DataView(scratch.buffer);

function reserve(used: number, more: number): void {
  if (scratch.length >= used + more) return;
  const larger = new Uint8Array(Math.max(used + more, scratch.length * 2));
  larger.set(scratch.subarray(0, used));
  scratch = larger;
  view = new DataView(larger.buffer);
}

/** Writes a component with what goes before it. */
function writeComponent(value: number, bits: number, index: number, start: number): number {
  const size = Math.abs(value);
  const before = index === 0 ? OPEN : COMMA;
  if (!(size >= SMALLEST_FAST && size < 1) || (bits & MANTISSA_MASK) === 0) {
    scratch[start] = before;
    return writeText(shortestText(value), start + 1);
  }
  const reach = REACH[(bits >>> MANTISSA_BITS) & 0xff] as number;
  const leadingZeros = size >= 0.1 ? 0 : size >= 0.01 ? 1 : size >= 0.001 ? 2 : 3;
  // Most components need eight or nine digits, and fewer digits never suffice where more do not: begin there.
  let digits = leadingZeros + TYPICAL_DIGITS;
  let scaled = decimalOf(size, digits, reach);
  if (scaled < 0) scaled = (size * (POWERS_OF_TEN[++digits] as number) + 0.5) | 0;
  else {
    for (let shorter = decimalOf(size, digits - 1, reach); shorter >= 0; digits--) {
      scaled = shorter;
      shorter = decimalOf(size, digits - 2, reach);
    }
  }
  // Digits from the last to the first, four at a time; what that writes too much is written over by what goes before them.
  const first = start + (value < 0 ? 4 : 3);
  const end = first + digits;
  const upper = (scaled / FOUR_DIGITS) | 0;
  view.setUint32(end - 4, QUADS[scaled - upper * FOUR_DIGITS] as number);
  if (digits > 4) {
    const top = (upper / FOUR_DIGITS) | 0;
    view.setUint32(end - 8, QUADS[upper - top * FOUR_DIGITS] as number);
    if (digits > 8) view.setUint32(end - 12, QUADS[top] as number);
  }
  scratch[first - 1] = POINT;
  scratch[first - 2] = ZERO;
  if (value < 0) scratch[first - 3] = MINUS;
  scratch[start] = before;
  return end;
}

/** `size` times ten to the power of `digits`, rounded; -1 where the decimal of that many digits is another float32. */
function decimalOf(size: number, digits: number, reach: number): number {
  const power = POWERS_OF_TEN[digits] as number;
  const exact = size * power;
  // Below 10^9, so that whole-number arithmetic does.
  const scaled = (exact + 0.5) | 0;
  return Math.abs(exact - scaled) < reach * power ? scaled : -1;
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
