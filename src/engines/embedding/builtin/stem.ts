/**
 * Light suffix stripping for English words in identifiers, so that parse, parses, parsed and parsing get the same stem. A stem need
 * not be a word.
 */

const A = 0x61;
const D = 0x64;
const E = 0x65;
const G = 0x67;
const I = 0x69;
const L = 0x6c;
const N = 0x6e;
const O = 0x6f;
const S = 0x73;
const T = 0x74;
const U = 0x75;
const Y = 0x79;

/** Shorter words are not stemmed. */
const MIN_STEMMED_UNITS = 4;

function isVowel(unit: number): boolean {
  return unit === A || unit === E || unit === I || unit === O || unit === U;
}

/** Length of the stem of the lower-case word in `units[0 … length)`. May change units within it (`y` for `ie`). */
export function stemLength(units: Uint16Array, length: number): number {
  let n = length;
  const at = (back: number): number => units[n - back] as number;
  if (n < MIN_STEMMED_UNITS) return n;
  if (at(1) === S && at(2) !== S && at(2) !== U && at(2) !== I) {
    n--;
    if (n >= MIN_STEMMED_UNITS && at(1) === E && at(2) === I) {
      units[n - 2] = Y;
      n--;
    } else if (n > MIN_STEMMED_UNITS && at(1) === E && at(2) === S && at(3) === S) n--;
  }
  if (n >= MIN_STEMMED_UNITS + 2 && at(1) === G && at(2) === N && at(3) === I) n = undouble(units, n - 3);
  else if (n >= MIN_STEMMED_UNITS + 1 && at(1) === D && at(2) === E) n = undouble(units, n - 2);
  else if (n >= MIN_STEMMED_UNITS + 2 && at(1) === N && at(2) === O && at(3) === I && (at(4) === T || at(4) === S))
    n -= 3;
  else if (n >= MIN_STEMMED_UNITS + 2 && at(1) === Y && at(2) === L) n -= 2;
  if (n >= MIN_STEMMED_UNITS && at(1) === E) n--;
  return n;
}

/** Drops the second of two equal final consonants: stopp → stop; keeps ll and ss. */
function undouble(units: Uint16Array, n: number): number {
  const last = units[n - 1] as number;
  return n > 3 && last === units[n - 2] && !isVowel(last) && last !== L && last !== S ? n - 1 : n;
}
