/** Lines of a text that may hold secrets: which they are, and how they are left out of what is stored. */
import type { SecretRange } from "./types.ts";

/** First and last line, 1-based and inclusive; ascending, and no two of them touch. */
export type LineRange = [from: number, to: number];

const NEWLINE = 10;

/** The lines that ranges of a text touch. `secrets` are in order of their starts. */
export function linesOf(text: string, secrets: readonly SecretRange[]): LineRange[] {
  const ranges: LineRange[] = [];
  let line = 1;
  let at = 0;
  // Counts the line ends before an offset, going on from the last one.
  const lineAt = (offset: number): number => {
    for (let end = text.indexOf("\n", at); end !== -1 && end < offset; end = text.indexOf("\n", at)) {
      at = end + 1;
      line++;
    }
    return line;
  };
  for (const { start, end } of merged(secrets)) {
    const from = lineAt(start);
    const to = lineAt(Math.max(start, end - 1));
    const last = ranges.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else ranges.push([from, to]);
  }
  return ranges;
}

/** Joins ranges that overlap, so that ends ascend as starts do. */
function* merged(secrets: readonly SecretRange[]): Generator<{ start: number; end: number }> {
  let open: { start: number; end: number } | undefined;
  for (const { start, end } of secrets) {
    if (open && start <= open.end) open.end = Math.max(open.end, end);
    else {
      if (open) yield open;
      open = { start, end };
    }
  }
  if (open) yield open;
}

/** Number of lines in ranges. */
export const countLines = (ranges: readonly LineRange[]): number =>
  ranges.reduce((lines, [from, to]) => lines + to - from + 1, 0);

/** A copy of the bytes in which the given lines are empty. The number of lines stays, and so does a final line end. */
export function blankLines(bytes: Uint8Array, ranges: readonly LineRange[]): Uint8Array {
  if (ranges.length === 0) return bytes;
  const kept = new Uint8Array(bytes.length);
  let length = 0;
  let line = 1;
  let range = 0;
  for (let at = 0; at < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline === -1 ? bytes.length : newline + 1;
    while (range < ranges.length && ranges[range]![1] < line) range++;
    const isWithheld = range < ranges.length && ranges[range]![0] <= line;
    if (!isWithheld) {
      kept.set(bytes.subarray(at, end), length);
      length += end - at;
    } else if (newline !== -1) kept[length++] = NEWLINE;
    at = end;
  }
  return kept.subarray(0, length);
}
