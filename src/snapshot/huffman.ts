/**
 * Length-limited canonical Huffman codes, as DEFLATE (RFC 1951) wants them. Everything is integer arithmetic with ties
 * broken by symbol number, so the same frequencies give the same code everywhere.
 */

/** Scratch for up to 288 symbols: one sort key each, frequency above symbol number. */
const keys = new Float64Array(288);
const work = new Uint32Array(288);
const lengthCount = new Uint32Array(64);

/** A frequency is at most the tokens of one block, far below 2^31; a symbol number is below 2^9. */
const SYMBOL_SPAN = 512;

/**
 * Code length of each symbol for these frequencies, none above `maxBits`. Unused symbols get 0; a lone used symbol gets 1.
 * Minimum-redundancy lengths by Moffat and Katajainen's in-place method ("In-place calculation of minimum-redundancy
 * codes", 1995); lengths beyond the limit are clamped and the Kraft sum repaired by lengthening the cheapest codes.
 */
export function codeLengths(frequencies: Uint32Array, maxBits: number, lengths: Uint8Array): void {
  lengths.fill(0);
  let used = 0;
  for (let symbol = 0; symbol < frequencies.length; symbol++) {
    const frequency = frequencies[symbol] as number;
    if (frequency > 0) keys[used++] = frequency * SYMBOL_SPAN + symbol;
  }
  if (used === 0) return;
  const sorted = keys.subarray(0, used).sort();
  if (used === 1) {
    lengths[(sorted[0] as number) % SYMBOL_SPAN] = 1;
    return;
  }
  for (let i = 0; i < used; i++) work[i] = Math.floor((sorted[i] as number) / SYMBOL_SPAN);
  minimumRedundancy(used);
  lengthCount.fill(0);
  for (let i = 0; i < used; i++) {
    const length = Math.min(work[i] as number, maxBits);
    lengthCount[length] = (lengthCount[length] as number) + 1;
  }
  repairKraftSum(maxBits);
  // The rarest symbols come first in `sorted` and get the longest codes.
  let next = 0;
  for (let length = maxBits; length >= 1; length--) {
    for (let n = lengthCount[length] as number; n > 0; n--) lengths[(sorted[next++] as number) % SYMBOL_SPAN] = length;
  }
}

/** Turns `work[0..n)`, ascending weights, into code lengths, longest first. */
function minimumRedundancy(n: number): void {
  const a = work;
  a[0] = (a[0] as number) + (a[1] as number);
  let root = 0;
  let leaf = 2;
  for (let next = 1; next < n - 1; next++) {
    if (leaf >= n || (a[root] as number) < (a[leaf] as number)) {
      a[next] = a[root] as number;
      a[root++] = next;
    } else {
      a[next] = a[leaf++] as number;
    }
    if (leaf >= n || (root < next && (a[root] as number) < (a[leaf] as number))) {
      a[next] = (a[next] as number) + (a[root] as number);
      a[root++] = next;
    } else {
      a[next] = (a[next] as number) + (a[leaf++] as number);
    }
  }
  a[n - 2] = 0;
  for (let next = n - 3; next >= 0; next--) a[next] = (a[a[next] as number] as number) + 1;
  let available = 1;
  let internal = 0;
  let depth = 0;
  root = n - 2;
  let next = n - 1;
  while (available > 0) {
    while (root >= 0 && a[root] === depth) {
      internal++;
      root--;
    }
    while (available > internal) {
      a[next--] = depth;
      available--;
    }
    available = 2 * internal;
    depth++;
    internal = 0;
  }
}

/** Clamping made the code over-full: takes a longest code away and splits a shorter one until it fits again. */
function repairKraftSum(maxBits: number): void {
  let sum = 0;
  for (let length = 1; length <= maxBits; length++) sum += (lengthCount[length] as number) * 2 ** (maxBits - length);
  for (; sum > 2 ** maxBits; sum--) {
    lengthCount[maxBits] = (lengthCount[maxBits] as number) - 1;
    let length = maxBits - 1;
    while (lengthCount[length] === 0) length--;
    lengthCount[length] = (lengthCount[length] as number) - 1;
    lengthCount[length + 1] = (lengthCount[length + 1] as number) + 2;
  }
}

/** Canonical codes for these lengths, bit-reversed because DEFLATE sends Huffman codes from their highest bit. */
export function reversedCodes(lengths: Uint8Array, codes: Uint16Array): void {
  const next = new Uint16Array(17);
  const counts = new Uint16Array(17);
  for (const length of lengths) counts[length] = (counts[length] as number) + 1;
  counts[0] = 0;
  for (let length = 1; length <= 15; length++) {
    next[length + 1] = ((next[length] as number) + (counts[length] as number)) << 1;
  }
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol] as number;
    if (length === 0) continue;
    let code = next[length] as number;
    next[length] = code + 1;
    let reversed = 0;
    for (let i = 0; i < length; i++) {
      reversed = (reversed << 1) | (code & 1);
      code >>>= 1;
    }
    codes[symbol] = reversed;
  }
}
