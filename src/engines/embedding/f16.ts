/**
 * Half-precision (IEEE 754 binary16) vectors, little-endian, two bytes per component. Encoding rounds to nearest, ties to even, and
 * saturates: values beyond the largest finite half become ±65504 instead of infinity, which would break distances. NaN becomes 0.
 */

const MAX_HALF = 65504;
/** 2^-14: the smallest normal half. */
const MIN_NORMAL_HALF = 2 ** -14;
/** Distance between neighbouring subnormal halves. */
const SUBNORMAL_UNIT = 2 ** -24;

const bitsOf = new Uint32Array(1);
const floatOf = new Float32Array(bitsOf.buffer);

/** Bits of the half nearest to `value`. */
function toHalfBits(value: number): number {
  if (Number.isNaN(value)) return 0;
  floatOf[0] = value;
  const bits = bitsOf[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = Math.abs(floatOf[0]);
  if (magnitude >= MAX_HALF) return sign | 0x7bff;
  if (magnitude < MIN_NORMAL_HALF) {
    // Exact in float64: scaling by a power of two, then an integer rounding with ties to even.
    const units = magnitude / SUBNORMAL_UNIT;
    const floor = Math.floor(units);
    const rest = units - floor;
    return sign | (rest > 0.5 || (rest === 0.5 && (floor & 1) === 1) ? floor + 1 : floor);
  }
  // Re-bias the exponent (127 - 15 = 112), keep 10 mantissa bits; a carry out of them correctly bumps the exponent.
  const half = ((bits & 0x7fffffff) - (112 << 23)) >>> 0;
  const rounded = (half + 0xfff + ((half >>> 13) & 1)) >>> 13;
  return sign | Math.min(rounded, 0x7bff);
}

/** Encodes `vector` as `2 * vector.length` bytes. */
export function encodeF16(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 2);
  for (let i = 0; i < vector.length; i++) {
    const half = toHalfBits(vector[i] as number);
    bytes[2 * i] = half;
    bytes[2 * i + 1] = half >>> 8;
  }
  return bytes;
}

/** Decodes what `encodeF16` wrote. Throws `RangeError` on an odd number of bytes. */
export function decodeF16(bytes: Uint8Array): Float32Array {
  if (bytes.length % 2 !== 0) throw new RangeError(`a float16 vector has an even number of bytes, not ${bytes.length}`);
  const vector = new Float32Array(bytes.length / 2);
  for (let i = 0; i < vector.length; i++) {
    const half = (bytes[2 * i] as number) | ((bytes[2 * i + 1] as number) << 8);
    const exponent = (half >>> 10) & 0x1f;
    const mantissa = half & 0x3ff;
    let magnitude: number;
    if (exponent === 0) magnitude = mantissa * SUBNORMAL_UNIT;
    else if (exponent === 0x1f) magnitude = mantissa === 0 ? Infinity : NaN;
    else {
      bitsOf[0] = ((exponent + 112) << 23) | (mantissa << 13);
      magnitude = floatOf[0] as number;
    }
    vector[i] = half & 0x8000 ? -magnitude : magnitude;
  }
  return vector;
}
