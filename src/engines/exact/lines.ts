import type { LineHit } from "./scan.ts";
import type { FoundLine, TextFile } from "./types.ts";
import { decodeLine, isUtf8 } from "./utf8.ts";

/** A longer line is shown around its first match. */
const MAX_LINE_UNITS = 1_000;
/** Units before the first match of such a line. */
const LEAD_UNITS = 200;
const LINE_BREAK = 10;

/** The lines of hits, which are in order, with their numbers, texts and the lines around them. */
export function describeLines(
  { revision, path }: TextFile,
  text: Uint8Array,
  hits: readonly LineHit[],
  context: number,
): FoundLine[] {
  let line = 1;
  let at = 0;
  return hits.map(({ start, end, lineCount, ranges }) => {
    for (let next = text.indexOf(LINE_BREAK, at); next >= 0 && next < start; next = text.indexOf(LINE_BREAK, at)) {
      at = next + 1;
      line++;
    }
    const own = text.subarray(start, end);
    const shown = shorten(
      withoutReturn(decodeLine(own)),
      ranges.map(([from, to]) => [from - start, to - start] as const),
      own,
    );
    return {
      revision,
      path,
      line,
      ...(lineCount > 1 && { endLine: line + lineCount - 1 }),
      ...shown,
      byteRanges: ranges.map(([from, to]): [number, number] => [from - start + 1, to - start + 1]),
      before: linesBefore(text, start, context),
      after: linesAfter(text, end, context),
      enclosing: null,
    };
  });
}

/** Columns of the ranges in UTF-16 units, and the part of the line that is shown. */
function shorten(
  line: string,
  ranges: readonly (readonly [from: number, to: number])[],
  bytes: Uint8Array,
): Pick<FoundLine, "text" | "textStart" | "ranges"> {
  const unitsAt = line.length >= bytes.length - 1 ? (offset: number) => offset : unitCounter(bytes);
  const columns = ranges.map(([from, to]): [number, number] => [unitsAt(from) + 1, unitsAt(to) + 1]);
  if (line.length <= MAX_LINE_UNITS) return { text: line, ranges: columns };
  const first = (columns[0]?.[0] ?? 1) - 1;
  let start = Math.max(0, Math.min(first - LEAD_UNITS, line.length - MAX_LINE_UNITS));
  // Not within a surrogate pair.
  if (start > 0 && (line.charCodeAt(start) & 0xfc00) === 0xdc00) start--;
  const text = line.slice(start, start + MAX_LINE_UNITS).toWellFormed();
  return { text, ranges: columns, ...(start > 0 && { textStart: start + 1 }) };
}

/** Counts the units before ascending offsets. */
function unitCounter(bytes: Uint8Array): (offset: number) => number {
  if (!isUtf8(bytes)) return (offset) => offset;
  let at = 0;
  let units = 0;
  return (offset) => {
    if (offset < at) [at, units] = [0, 0];
    units += decodeLine(bytes.subarray(at, offset)).length;
    at = offset;
    return units;
  };
}

function linesBefore(text: Uint8Array, start: number, count: number): string[] {
  const lines: string[] = [];
  for (let end = start - 1; lines.length < count && end >= 0;) {
    const begin = end === 0 ? 0 : text.lastIndexOf(LINE_BREAK, end - 1) + 1;
    lines.unshift(contextLine(text.subarray(begin, end)));
    end = begin - 1;
  }
  return lines;
}

function linesAfter(text: Uint8Array, end: number, count: number): string[] {
  const lines: string[] = [];
  for (let start = end + 1; lines.length < count && start < text.length;) {
    const next = text.indexOf(LINE_BREAK, start);
    const stop = next < 0 ? text.length : next;
    lines.push(contextLine(text.subarray(start, stop)));
    start = stop + 1;
  }
  return lines;
}

function contextLine(bytes: Uint8Array): string {
  return withoutReturn(decodeLine(bytes)).slice(0, MAX_LINE_UNITS).toWellFormed();
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
