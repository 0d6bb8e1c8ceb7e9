/** Finds the lines of a text that match. */
import { lineEndAfter, lineEndAt, lineStartAt } from "./line-offsets.ts";
import { searcher } from "./literal.ts";
import type { Matcher } from "./matcher.ts";
import { linesWithEnds, matchesWithEnds } from "./return-ends.ts";

/** A line that matches, or the lines of matches that reach over several. Offsets are in bytes of the text. */
export interface LineHit {
  /** Of the first line's first byte. */
  start: number;
  /** Of the last line's end, before its line break. */
  end: number;
  /** Number of lines. */
  lineCount: number;
  /** Of the matches, ascending; of a single line only after `addRanges`. */
  ranges: [from: number, to: number][];
}

export interface ScanOptions {
  /** A match may reach over several lines, so the text is matched as a whole. */
  multiline: boolean;
  /** Lines that are never matched: ranges, 1-based and inclusive, ascending. */
  withheld: readonly (readonly [from: number, to: number])[];
}

/** Lines are matched together up to this size. */
const BLOCK_BYTES = 256 * 1024;
const LINE_BREAK = 10;

/** Lines that begin one after another. */
interface Piece {
  start: number;
  end: number;
}

/** Calls `onHit` for each line that matches, in order of line. A line break at the end of the text opens no further line. */
export function scanLines(
  matcher: Matcher,
  text: Uint8Array,
  { multiline, withheld }: ScanOptions,
  onHit: (hit: LineHit) => void,
): void {
  const isHidden = hiddenLines(text, withheld);
  const report = (hit: LineHit): void => {
    if (!isHidden?.(hit)) onHit(hit);
  };
  if (multiline) {
    scanWhole(matcher, text, report);
    return;
  }
  for (const pieces of inBlocks(candidateLines(matcher.required, text))) {
    const block = new Block(text, pieces);
    const lines = linesWithEnds(matcher, block.bytes);
    for (let i = 0; i < lines.length; i += 2) {
      const length = (lines[i + 1] as number) - (lines[i] as number);
      const start = block.inText(lines[i] as number);
      report({ start, end: start + length, lineCount: 1, ranges: [] });
    }
  }
}

/** Finds the matches in lines that match. */
export function addRanges(matcher: Matcher, text: Uint8Array, hits: readonly LineHit[]): void {
  const lines = hits.map((hit) => ({ hit, start: hit.start, end: lineEndAfter(text, hit.end) }));
  for (const pieces of inBlocks(lines)) {
    const block = new Block(text, pieces);
    const offsets = matchesWithEnds(matcher, block.bytes);
    for (let i = 0; i < offsets.length; i += 2) {
      const length = (offsets[i + 1] as number) - (offsets[i] as number);
      const from = block.inText(offsets[i] as number);
      block.piece.hit.ranges.push([from, from + length]);
    }
  }
}

/** The lines that hold the required text, or all of them in pieces of a block's size. */
function* candidateLines(required: Uint8Array | undefined, text: Uint8Array): Generator<Piece> {
  if (!required) {
    for (let at = 0; at < text.length;) {
      const end = lineEndAfter(text, Math.min(at + BLOCK_BYTES, text.length) - 1);
      yield { start: at, end };
      at = end;
    }
    return;
  }
  const next = searcher(text, required);
  for (let at = next(0); at >= 0;) {
    const start = lineStartAt(text, at);
    const end = lineEndAfter(text, at + required.length - 1);
    yield { start, end };
    at = end < text.length ? next(end) : -1;
  }
}

function* inBlocks<P extends Piece>(pieces: Iterable<P>): Generator<P[]> {
  let block: P[] = [];
  let size = 0;
  for (const piece of pieces) {
    block.push(piece);
    size += sizeOf(piece);
    if (size < BLOCK_BYTES) continue;
    yield block;
    block = [];
    size = 0;
  }
  if (block.length > 0) yield block;
}

/** Pieces of a text, of which there is at least one, as one text. */
class Block<P extends Piece> {
  readonly bytes: Uint8Array;
  readonly #pieces: readonly P[];
  #at = 0;
  /** Bytes before the piece. */
  #before = 0;

  constructor(text: Uint8Array, pieces: readonly P[]) {
    this.#pieces = pieces;
    this.bytes = joined(text, pieces);
  }

  /** The piece that holds the offset that was last asked for. */
  get piece(): P {
    return this.#pieces[this.#at] as P;
  }

  /** The offset in the text of one in the block; to be asked in ascending order. */
  inText(offset: number): number {
    while (this.#at + 1 < this.#pieces.length && offset >= this.#before + sizeOf(this.piece)) {
      this.#before += sizeOf(this.piece);
      this.#at++;
    }
    return offset - this.#before + this.piece.start;
  }
}

const sizeOf = ({ start, end }: Piece): number => end - start;

function joined(text: Uint8Array, pieces: readonly Piece[]): Uint8Array {
  const [first] = pieces;
  if (first && pieces.length === 1) return text.subarray(first.start, first.end);
  return Buffer.concat(pieces.map(({ start, end }) => text.subarray(start, end)));
}

/** Reports the lines of matches that may reach over several: those of matches on the same lines together. */
function scanWhole(matcher: Matcher, text: Uint8Array, onHit: (hit: LineHit) => void): void {
  const offsets = matchesWithEnds(matcher, text);
  let hit: LineHit | undefined;
  for (let i = 0; i < offsets.length; i += 2) {
    const [from, to] = [offsets[i] as number, offsets[i + 1] as number];
    const last = to > from && text[to - 1] === LINE_BREAK ? to - 1 : to;
    if (hit && from <= hit.end) hit.ranges.push([from, to]);
    else {
      if (hit) onHit(hit);
      hit = { start: lineStartAt(text, from), end: lineEndAt(text, from), lineCount: 1, ranges: [[from, to]] };
    }
    extend(hit, text, last);
  }
  if (hit) onHit(hit);
}

/** Adds the lines up to the one that has an offset. */
function extend(hit: LineHit, text: Uint8Array, last: number): void {
  while (hit.end < last) {
    hit.end = lineEndAt(text, hit.end + 1);
    hit.lineCount++;
  }
}

/** Whether a hit touches a withheld line; undefined if none is withheld. */
function hiddenLines(text: Uint8Array, withheld: ScanOptions["withheld"]): ((hit: LineHit) => boolean) | undefined {
  if (withheld.length === 0) return undefined;
  const spans: [number, number][] = [];
  let line = 1;
  let start = 0;
  for (const [from, to] of withheld) {
    while (line < from && start < text.length) [line, start] = [line + 1, lineEndAfter(text, start)];
    const begin = start;
    while (line <= to && start < text.length) [line, start] = [line + 1, lineEndAfter(text, start)];
    spans.push([begin, Math.max(begin, start - 1)]);
  }
  let at = 0;
  return ({ start, end }) => {
    while (at < spans.length && (spans[at] as [number, number])[1] < start) at++;
    return at < spans.length && (spans[at] as [number, number])[0] <= end;
  };
}
