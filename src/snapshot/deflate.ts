/**
 * DEFLATE (RFC 1951) in plain integer arithmetic. zlib's output differs between releases, forks and processors, so two
 * builders of the same snapshot would not agree on its checksum; this one gives the same bytes wherever JavaScript runs.
 * It also needs nothing asynchronous, and nothing native that a Worker would have to free.
 */
import { codeLengths, reversedCodes } from "./huffman.ts";

const WINDOW_BYTES = 32_768;
const HASH_BITS = 15;
const MIN_MATCH = 4;
const MAX_MATCH = 258;
/** Candidates tried per position, and the match length that ends the search: the usual middle between speed and size. */
const MAX_CHAIN = 24;
const GOOD_MATCH = 64;
/** A match this long is taken without looking whether the next position has a better one. */
const LAZY_LIMIT = 32;
const BLOCK_TOKENS = 32_768;
/** After this many bytes without a match, ever larger steps are taken over data that does not repeat. */
const SKIP_SHIFT = 7;
const MAX_STORED_BYTES = 65_535;

const LITERALS = 286;
const DISTANCES = 30;
const END_OF_BLOCK = 256;
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** For each match length, and for each distance (small ones direct, large ones by their upper bits), its symbol. */
const lengthSymbol = new Uint16Array(MAX_MATCH + 1);
const lengthBase = new Uint16Array(29);
const lengthExtra = new Uint8Array(29);
const distanceSymbolLow = new Uint8Array(256);
const distanceSymbolHigh = new Uint8Array(256);
const distanceBase = new Uint16Array(DISTANCES);
const distanceExtra = new Uint8Array(DISTANCES);
fillTables();

function fillTables(): void {
  let base = 3;
  for (let symbol = 0; symbol < 28; symbol++) {
    const extra = symbol < 8 ? 0 : (symbol >> 2) - 1;
    lengthBase[symbol] = base;
    lengthExtra[symbol] = extra;
    for (let i = 0; i < 1 << extra; i++) lengthSymbol[Math.min(base + i, MAX_MATCH)] = symbol;
    base += 1 << extra;
  }
  lengthBase[28] = MAX_MATCH;
  lengthSymbol[MAX_MATCH] = 28;
  base = 1;
  for (let symbol = 0; symbol < DISTANCES; symbol++) {
    const extra = symbol < 4 ? 0 : (symbol >> 1) - 1;
    distanceBase[symbol] = base;
    distanceExtra[symbol] = extra;
    for (let distance = base; distance < base + (1 << extra); distance++) {
      if (distance <= 256) distanceSymbolLow[distance - 1] = symbol;
      else distanceSymbolHigh[(distance - 1) >> 7] = symbol;
    }
    base += 1 << extra;
  }
}

/** A token is a literal byte, or a match: length above, distance below, top bit set. */
const MATCH_FLAG = 0x80000000;
const tokens = new Uint32Array(BLOCK_TOKENS);
const head = new Int32Array(1 << HASH_BITS);
const previous = new Int32Array(WINDOW_BYTES);
const literalFrequency = new Uint32Array(LITERALS);
const distanceFrequency = new Uint32Array(DISTANCES);
const codeFrequency = new Uint32Array(19);
const literalLengths = new Uint8Array(LITERALS);
const distanceLengths = new Uint8Array(DISTANCES);
const codeLengthLengths = new Uint8Array(19);
const literalCodes = new Uint16Array(LITERALS);
const distanceCodes = new Uint16Array(DISTANCES);
const codeLengthCodes = new Uint16Array(19);
const runs = new Uint16Array(LITERALS + DISTANCES);

/** Bits packed from the lowest up into bytes, as DEFLATE orders them. */
class BitSink {
  bytes: Uint8Array;
  length: number;
  #buffer = 0;
  #count = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes;
    this.length = start;
  }

  /** Room for `size` more bytes. */
  reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + size));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  /** At most 16 bits at a time. The caller reserves. */
  write(value: number, count: number): void {
    this.#buffer |= value << this.#count;
    this.#count += count;
    while (this.#count >= 8) {
      this.bytes[this.length++] = this.#buffer;
      this.#buffer >>>= 8;
      this.#count -= 8;
    }
  }

  alignToByte(): void {
    if (this.#count > 0) this.write(0, 8 - this.#count);
  }
}

/**
 * Compresses `input` as one raw DEFLATE stream, after `prefix` reserved bytes at the front of the result (for a header
 * the caller fills in) and with room for `suffix` bytes behind it. Returns a buffer of exactly that size.
 */
export function deflateRaw(input: Uint8Array, prefix = 0, suffix = 0): Uint8Array {
  const sink = new BitSink(new Uint8Array(prefix + suffix + Math.max(64, input.length >> 1)), prefix);
  head.fill(-1);
  let count = 0;
  let blockStart = 0;
  let position = 0;
  const lastHashed = input.length - MIN_MATCH;
  let misses = 0;
  while (position < input.length) {
    let length = 0;
    let distance = 0;
    if (position <= lastHashed) {
      const found = findMatch(input, position, MIN_MATCH - 1);
      insert(input, position);
      if (found !== 0) {
        length = found >>> 16;
        distance = found & 0xffff;
      }
    }
    if (length === 0) {
      // Literals, one at first, more of them where nothing has matched for long.
      const steps = Math.min(1 + (misses >> SKIP_SHIFT), input.length - position);
      misses += 1;
      for (let i = 0; i < steps; i++) {
        tokens[count++] = input[position++] as number;
        if (count === BLOCK_TOKENS) {
          writeBlock(sink, input, blockStart, position, count, position === input.length);
          count = 0;
          blockStart = position;
        }
      }
      continue;
    }
    misses = 0;
    if (length < LAZY_LIMIT && position + 1 <= lastHashed) {
      const better = findMatch(input, position + 1, length);
      if (better !== 0) {
        tokens[count++] = input[position++] as number;
        insert(input, position);
        length = better >>> 16;
        distance = better & 0xffff;
        if (count === BLOCK_TOKENS) {
          writeBlock(sink, input, blockStart, position, count, false);
          count = 0;
          blockStart = position;
        }
      }
    }
    // Distances up to 32768 do not fit 15 bits, hence one less; lengths take 9 bits.
    tokens[count++] = (MATCH_FLAG | (length << 15) | (distance - 1)) >>> 0;
    const end = position + length;
    for (position += 1; position < end; position++) if (position <= lastHashed) insert(input, position);
    if (count === BLOCK_TOKENS) {
      writeBlock(sink, input, blockStart, position, count, position === input.length);
      count = 0;
      blockStart = position;
    }
  }
  if (count > 0 || input.length === 0) writeBlock(sink, input, blockStart, position, count, true);
  sink.alignToByte();
  sink.reserve(suffix);
  return sink.bytes.slice(0, sink.length + suffix);
}

function hashAt(input: Uint8Array, at: number): number {
  const word =
    (input[at] as number) |
    ((input[at + 1] as number) << 8) |
    ((input[at + 2] as number) << 16) |
    ((input[at + 3] as number) << 24);
  return Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS);
}

function insert(input: Uint8Array, at: number): void {
  const hash = hashAt(input, at);
  previous[at & (WINDOW_BYTES - 1)] = head[hash] as number;
  head[hash] = at;
}

/** The longest earlier match longer than `atLeast`, as `length << 16 | distance`; 0 if there is none. */
function findMatch(input: Uint8Array, at: number, atLeast: number): number {
  const limit = Math.min(MAX_MATCH, input.length - at);
  if (limit <= atLeast) return 0;
  // A distance of 32768 would need 16 bits of its own beside the length.
  const oldest = Math.max(0, at - WINDOW_BYTES + 1);
  let candidate = head[hashAt(input, at)] as number;
  let best = atLeast;
  let distance = 0;
  for (let chain = MAX_CHAIN; chain > 0 && candidate >= oldest; chain--) {
    if (input[candidate + best] === input[at + best] && input[candidate] === input[at]) {
      let length = 1;
      while (length < limit && input[candidate + length] === input[at + length]) length++;
      if (length > best) {
        best = length;
        distance = at - candidate;
        if (length >= GOOD_MATCH || length === limit) break;
      }
    }
    const older = previous[candidate & (WINDOW_BYTES - 1)] as number;
    if (older >= candidate) break;
    candidate = older;
  }
  return distance === 0 ? 0 : (best << 16) | distance;
}

function distanceSymbol(distance: number): number {
  return distance <= 256
    ? (distanceSymbolLow[distance - 1] as number)
    : (distanceSymbolHigh[(distance - 1) >> 7] as number);
}

/** Writes the first `count` tokens, which stand for `input[start..end)`, in the smaller of dynamic codes and stored bytes. */
function writeBlock(sink: BitSink, input: Uint8Array, start: number, end: number, count: number, last: boolean): void {
  literalFrequency.fill(0);
  distanceFrequency.fill(0);
  literalFrequency[END_OF_BLOCK] = 1;
  for (let i = 0; i < count; i++) {
    const token = tokens[i] as number;
    const symbol = token < MATCH_FLAG ? token : 257 + (lengthSymbol[(token >>> 15) & 0x1ff] as number);
    literalFrequency[symbol] = (literalFrequency[symbol] as number) + 1;
    if (token >= MATCH_FLAG) {
      const d = distanceSymbol((token & 0x7fff) + 1);
      distanceFrequency[d] = (distanceFrequency[d] as number) + 1;
    }
  }
  codeLengths(literalFrequency, 15, literalLengths);
  codeLengths(distanceFrequency, 15, distanceLengths);
  let literalCount = LITERALS;
  while (literalCount > 257 && literalLengths[literalCount - 1] === 0) literalCount--;
  let distanceCount = DISTANCES;
  while (distanceCount > 1 && distanceLengths[distanceCount - 1] === 0) distanceCount--;
  const runCount = runLengthCode(literalCount, distanceCount);
  codeLengths(codeFrequency, 7, codeLengthLengths);
  let codeCount = 19;
  while (codeCount > 4 && codeLengthLengths[CODE_ORDER[codeCount - 1] as number] === 0) codeCount--;

  let bits = 17 + 3 * codeCount;
  for (let i = 0; i < runCount; i++)
    bits += (codeLengthLengths[(runs[i] as number) & 31] as number) + runExtraBits(runs[i] as number);
  for (let s = 0; s < LITERALS; s++) {
    const extra = s > 256 ? (lengthExtra[s - 257] as number) : 0;
    bits += (literalFrequency[s] as number) * ((literalLengths[s] as number) + extra);
  }
  for (let s = 0; s < DISTANCES; s++) {
    bits += (distanceFrequency[s] as number) * ((distanceLengths[s] as number) + (distanceExtra[s] as number));
  }
  const storedBits = 8 * (end - start) + 40 * Math.ceil((end - start) / MAX_STORED_BYTES);
  if (end > start && storedBits <= bits) {
    writeStored(sink, input, start, end, last);
    return;
  }
  sink.reserve((bits >> 3) + 16);
  sink.write(last ? 1 : 0, 1);
  sink.write(2, 2);
  sink.write(literalCount - 257, 5);
  sink.write(distanceCount - 1, 5);
  sink.write(codeCount - 4, 4);
  for (let i = 0; i < codeCount; i++) sink.write(codeLengthLengths[CODE_ORDER[i] as number] as number, 3);
  reversedCodes(codeLengthLengths, codeLengthCodes);
  for (let i = 0; i < runCount; i++) {
    const run = runs[i] as number;
    const symbol = run & 31;
    sink.write(codeLengthCodes[symbol] as number, codeLengthLengths[symbol] as number);
    const extra = runExtraBits(run);
    if (extra > 0) sink.write(run >> 5, extra);
  }
  writeTokens(sink, count);
}

function writeTokens(sink: BitSink, count: number): void {
  reversedCodes(literalLengths, literalCodes);
  reversedCodes(distanceLengths, distanceCodes);
  for (let i = 0; i < count; i++) {
    const token = tokens[i] as number;
    if (token < MATCH_FLAG) {
      sink.write(literalCodes[token] as number, literalLengths[token] as number);
      continue;
    }
    const length = (token >>> 15) & 0x1ff;
    const l = lengthSymbol[length] as number;
    sink.write(literalCodes[257 + l] as number, literalLengths[257 + l] as number);
    const lengthBits = lengthExtra[l] as number;
    if (lengthBits > 0) sink.write(length - (lengthBase[l] as number), lengthBits);
    const distance = (token & 0x7fff) + 1;
    const d = distanceSymbol(distance);
    sink.write(distanceCodes[d] as number, distanceLengths[d] as number);
    const distanceBits = distanceExtra[d] as number;
    if (distanceBits > 0) sink.write(distance - (distanceBase[d] as number), distanceBits);
  }
  sink.write(literalCodes[END_OF_BLOCK] as number, literalLengths[END_OF_BLOCK] as number);
}

function writeStored(sink: BitSink, input: Uint8Array, start: number, end: number, last: boolean): void {
  for (let from = start; from < end; from += MAX_STORED_BYTES) {
    const to = Math.min(end, from + MAX_STORED_BYTES);
    sink.reserve(to - from + 8);
    sink.write(last && to === end ? 1 : 0, 1);
    sink.write(0, 2);
    sink.alignToByte();
    sink.write(to - from, 16);
    sink.write((to - from) ^ 0xffff, 16);
    sink.bytes.set(input.subarray(from, to), sink.length);
    sink.length += to - from;
  }
}

function runExtraBits(run: number): number {
  const symbol = run & 31;
  return symbol === 16 ? 2 : symbol === 17 ? 3 : symbol === 18 ? 7 : 0;
}

/** Both code-length tables as one run-length coded list in `runs` (symbol, extra bits above), its frequencies counted. */
function runLengthCode(literalCount: number, distanceCount: number): number {
  codeFrequency.fill(0);
  const total = literalCount + distanceCount;
  const at = (i: number) =>
    i < literalCount ? (literalLengths[i] as number) : (distanceLengths[i - literalCount] as number);
  let count = 0;
  const emit = (symbol: number, extra: number) => {
    runs[count++] = symbol | (extra << 5);
    codeFrequency[symbol] = (codeFrequency[symbol] as number) + 1;
  };
  for (let i = 0; i < total;) {
    const value = at(i);
    let run = 1;
    while (i + run < total && at(i + run) === value) run++;
    i += run;
    if (value === 0) {
      while (run >= 11) {
        const n = Math.min(run, 138);
        emit(18, n - 11);
        run -= n;
      }
      if (run >= 3) {
        emit(17, run - 3);
        run = 0;
      }
    } else {
      emit(value, 0);
      run -= 1;
      while (run >= 3) {
        const n = Math.min(run, 6);
        emit(16, n - 3);
        run -= n;
      }
    }
    while (run-- > 0) emit(value, 0);
  }
  return count;
}
