/** Classes of UTF-16 units for splitting identifiers and prose. Fixed tables, because those of runtimes differ. */

export const OTHER = 0;
const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
export const JOINER = 4;
export const IDEOGRAPH = 5;

const ASCII_CLASS = new Uint8Array(128);
for (let unit = 0x61; unit <= 0x7a; unit++) ASCII_CLASS[unit] = LOWER;
for (let unit = 0x41; unit <= 0x5a; unit++) ASCII_CLASS[unit] = UPPER;
for (let unit = 0x30; unit <= 0x39; unit++) ASCII_CLASS[unit] = DIGIT;
ASCII_CLASS[0x5f] = JOINER;
ASCII_CLASS[0x24] = JOINER;

/** Class of a unit. Scripts that are not listed count as letters without case. */
export function classOf(unit: number): number {
  return unit < 128 ? (ASCII_CLASS[unit] as number) : classBeyondAscii(unit);
}

/** The unit in lower case: ASCII, Latin-1, Greek and Cyrillic; other units unchanged. */
export function lowerOf(unit: number): number {
  if (unit >= 0x41 && unit <= 0x5a) return unit + 32;
  if (unit >= 0xc0 && unit <= 0xde && unit !== 0xd7) return unit + 32;
  if (unit >= 0x391 && unit <= 0x3a9) return unit + 32;
  if (unit >= 0x410 && unit <= 0x42f) return unit + 32;
  if (unit >= 0x400 && unit <= 0x40f) return unit + 80;
  return unit;
}

export function isLetter(text: string, position: number): boolean {
  if (position >= text.length) return false;
  const kind = classOf(text.charCodeAt(position));
  return kind === LOWER || kind === UPPER;
}

function classBeyondAscii(unit: number): number {
  if (unit < 0xc0) return unit === 0xaa || unit === 0xb5 || unit === 0xba ? LOWER : OTHER;
  if (unit === 0xd7 || unit === 0xf7) return OTHER;
  if (lowerOf(unit) !== unit) return UPPER;
  if (unit >= 0x2000 && unit <= 0x2bff) return OTHER;
  if (unit >= 0x2e80 && unit <= 0x303f) return OTHER;
  if (unit >= 0x3040 && unit <= 0x9fff) return IDEOGRAPH;
  if (unit >= 0xac00 && unit <= 0xd7af) return IDEOGRAPH;
  if (unit >= 0xd800 && unit <= 0xf8ff) return OTHER;
  if (unit >= 0xfe00) return OTHER;
  return LOWER;
}
