/** `$` also matches before the CR of a line that ends in CRLF, as with `--crlf` in ripgrep. */
import { lineEndAt } from "./line-offsets.ts";
import type { Matcher } from "./matcher.ts";

const LINE_BREAK = 10;
const CARRIAGE_RETURN = 13;

/** The matches, with those of the lines that match only if the CR before their line break is no part of them. */
export function matchesWithEnds(matcher: Matcher, block: Uint8Array): number[] {
  const matches = matcher.matches(block);
  const stripped = withoutReturns(matcher, block);
  return stripped ? mergeByLine(block, matches, matcher.matches(stripped.bytes).map(stripped.inBlock)) : matches;
}

/** As `matchesWithEnds`, of `Matcher.lines`. */
export function linesWithEnds(matcher: Matcher, block: Uint8Array): number[] {
  const lines = matcher.lines(block);
  const stripped = withoutReturns(matcher, block);
  if (!stripped) return lines;
  const starts = new Set<number>();
  for (let i = 0; i < lines.length; i += 2) starts.add(lines[i] as number);
  for (const [i, offset] of matcher.lines(stripped.bytes).map(stripped.inBlock).entries())
    if (i % 2 === 0) starts.add(offset);
  return [...starts].sort((a, b) => a - b).flatMap((start) => [start, lineEndAt(block, start)]);
}

/**
 * The block without each CR before a line break, and the offset in the block of one in it, to be asked in ascending order. Undefined if that
 * makes no difference.
 */
function withoutReturns(
  { hasLineEnd }: Matcher,
  block: Uint8Array,
): { bytes: Uint8Array; inBlock: (offset: number) => number } | undefined {
  if (!hasLineEnd || !block.includes(CARRIAGE_RETURN)) return undefined;
  const removed: number[] = [];
  const bytes = new Uint8Array(block.length);
  let length = 0;
  for (let at = 0; at < block.length; at++) {
    // A CR at the end of the text is before no line break.
    if (block[at] === CARRIAGE_RETURN && block[at + 1] === LINE_BREAK) removed.push(length);
    else bytes[length++] = block[at] as number;
  }
  if (removed.length === 0) return undefined;
  let before = 0;
  const inBlock = (offset: number): number => {
    while (before < removed.length && (removed[before] as number) < offset) before++;
    return offset + before;
  };
  return { bytes: bytes.subarray(0, length), inBlock };
}

/** Of two lists of matches: the first, and those of the second on lines that the first has none on. */
function mergeByLine(block: Uint8Array, first: readonly number[], second: readonly number[]): number[] {
  const merged: number[] = [];
  let i = 0;
  let end = -1;
  for (let k = 0; k < second.length; k += 2) {
    const [from, to] = [second[k] as number, second[k + 1] as number];
    while (i < first.length && (first[i] as number) <= lineEndAt(block, to)) {
      merged.push(first[i] as number, first[i + 1] as number);
      end = lineEndAt(block, first[i + 1] as number);
      i += 2;
    }
    if (from > end) merged.push(from, to);
  }
  return merged.concat(first.slice(i));
}
