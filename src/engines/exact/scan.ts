/** Finds the lines of a text that match. */
import type { Matcher } from "./matcher.ts";
import { searcher } from "./literal.ts";

/** A line that matches, or the lines of matches that reach over several. Offsets are in bytes of the text. */
export interface LineHit {
  /** Of the first line's first byte. */
  start: number;
  /** Of the last line's end, before its line break. */
  end: number;
  /** Number of lines. */
  lineCount: number;
  /** Of the matches, ascending. */
  ranges: [from: number, to: number][];
}

export interface ScanOptions {
  /** Only which lines match is wanted: `ranges` may lack matches, and reach beyond one. */
  linesOnly?: boolean;
  /** A match may reach over several lines, so the text is matched as a whole. */
  multiline: boolean;
  /** Lines that are never matched: ranges, 1-based and inclusive, ascending. */
  withheld: readonly (readonly [from: number, to: number])[];
}

/** Lines are matched together up to this size. */
const BLOCK_BYTES = 256 * 1024;
const LINE_BREAK = 10;
const CARRIAGE_RETURN = 13;
/** Lines that begin one after another. */
interface Piece {
  start: number;
  end: number;
}

/** Calls `onHit` for each line that matches, in order of line. A line break at the end of the text opens no further line. */
export function scanLines(
  matcher: Matcher,
  text: Uint8Array,
  { multiline, withheld, linesOnly = false }: ScanOptions,
  onHit: (hit: LineHit) => void,
): void {
  const isHidden = hiddenLines(text, withheld);
  const report = (hit: LineHit): void => {
    if (!isHidden?.(hit)) onHit(hit);
  };
  if (multiline) {
    const find = (block: Uint8Array) => matcher.matches(block);
    if (text.length > 0) scanBlock(matcher, text, [{ start: 0, end: text.length }], find, report);
    return;
  }
  const find = (block: Uint8Array) => (linesOnly ? matcher.lineMatches(block) : matcher.matches(block));
  let block: Piece[] = [];
  let size = 0;
  for (const piece of candidateLines(matcher.required, text)) {
    block.push(piece);
    size += piece.end - piece.start;
    if (size < BLOCK_BYTES) continue;
    scanBlock(matcher, text, block, find, report);
    block = [];
    size = 0;
  }
  if (block.length > 0) scanBlock(matcher, text, block, find, report);
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
    const start = at === 0 ? 0 : text.lastIndexOf(LINE_BREAK, at - 1) + 1;
    const end = lineEndAfter(text, at + required.length - 1);
    yield { start, end };
    at = end < text.length ? next(end) : -1;
  }
}

/** Offset behind the line break of the line that has a byte. */
function lineEndAfter(text: Uint8Array, at: number): number {
  const end = text.indexOf(LINE_BREAK, at);
  return end < 0 ? text.length : end + 1;
}

function scanBlock(
  matcher: Matcher,
  text: Uint8Array,
  pieces: readonly Piece[],
  find: (block: Uint8Array) => number[],
  onHit: (hit: LineHit) => void,
): void {
  const block = joined(text, pieces);
  let offsets = find(block);
  if (matcher.hasLineEnd && block.includes(CARRIAGE_RETURN)) offsets = withLineEnds(matcher, block, offsets);
  if (offsets.length === 0) return;
  // Where a piece ends in the block, and how far its bytes are from their place in the text.
  let piece = 0;
  let before = 0;
  const inText = (offset: number): number => {
    while (piece + 1 < pieces.length && offset >= before + sizeOf(pieces[piece] as Piece)) {
      before += sizeOf(pieces[piece] as Piece);
      piece++;
    }
    return offset - before + (pieces[piece] as Piece).start;
  };
  let hit: LineHit | undefined;
  for (let i = 0; i < offsets.length; i += 2) {
    const from = inText(offsets[i] as number);
    const length = (offsets[i + 1] as number) - (offsets[i] as number);
    const to = from + length;
    const last = to > from && text[to - 1] === LINE_BREAK ? to - 1 : to;
    if (hit && from <= hit.end) {
      hit.ranges.push([from, to]);
      extend(hit, text, last);
      continue;
    }
    if (hit) onHit(hit);
    const start = lineStart(text, from, pieces[piece] as Piece);
    hit = { start, end: lineEnd(text, from), lineCount: 1, ranges: [[from, to]] };
    extend(hit, text, last);
  }
  if (hit) onHit(hit);
}

/** Adds the lines up to the one that has an offset. */
function extend(hit: LineHit, text: Uint8Array, last: number): void {
  while (hit.end < last) {
    hit.end = lineEnd(text, hit.end + 1);
    hit.lineCount++;
  }
}

const sizeOf = ({ start, end }: Piece): number => end - start;

function lineStart(text: Uint8Array, at: number, piece: Piece): number {
  return at === 0 ? 0 : Math.max(piece.start, text.lastIndexOf(LINE_BREAK, at - 1) + 1);
}

function lineEnd(text: Uint8Array, at: number): number {
  const end = text.indexOf(LINE_BREAK, at);
  return end < 0 ? text.length : end;
}

function joined(text: Uint8Array, pieces: readonly Piece[]): Uint8Array {
  const [first] = pieces;
  if (first && pieces.length === 1) return text.subarray(first.start, first.end);
  return Buffer.concat(pieces.map(({ start, end }) => text.subarray(start, end)));
}

/** The matches, with those of the lines that match only if the CR before their line break is no part of them. */
function withLineEnds(matcher: Matcher, block: Uint8Array, offsets: number[]): number[] {
  const kept: number[] = [];
  const stripped = new Uint8Array(block.length);
  let length = 0;
  for (let at = 0; at < block.length; at++) {
    // A CR at the end of the text is before no line break.
    if (block[at] === CARRIAGE_RETURN && block[at + 1] === LINE_BREAK) {
      kept.push(length);
      continue;
    }
    stripped[length++] = block[at] as number;
  }
  if (kept.length === 0) return offsets;
  let removed = 0;
  const others = matcher.matches(stripped.subarray(0, length)).map((offset) => {
    while (removed < kept.length && (kept[removed] as number) < offset) removed++;
    return offset + removed;
  });
  return mergeByLine(block, offsets, others);
}

/** Of two lists of matches: the first, and those of the second on lines that the first has none on. */
function mergeByLine(block: Uint8Array, first: readonly number[], second: readonly number[]): number[] {
  const merged: number[] = [];
  let i = 0;
  let end = -1;
  for (let k = 0; k < second.length; k += 2) {
    const [from, to] = [second[k] as number, second[k + 1] as number];
    while (i < first.length && (first[i] as number) <= lineEnd(block, to)) {
      merged.push(first[i] as number, first[i + 1] as number);
      end = lineEnd(block, first[i + 1] as number);
      i += 2;
    }
    if (from > end) merged.push(from, to);
  }
  return merged.concat(first.slice(i));
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
