import type { LineHit } from "./scan.ts";
import type { FoundLine, TextFile } from "./types.ts";
import { decodeLine, isUtf8 } from "./utf8.ts";

/** A longer line is shown around its first match. */
const MAX_LINE_UNITS = 1_000;
/** Units before the first match of such a line. */
const LEAD_UNITS = 200;
const LINE_BREAK = 10;

type Range = readonly [from: number, to: number];

/** The lines of hits, which are in order, with their numbers, texts and the lines around them. */
export function describeLines(
  { revision, path }: TextFile,
  text: Uint8Array,
  hits: readonly LineHit[],
  context: number,
): FoundLine[] {
  let line = 1;
  let at = 0;
  return hits.map(({ start, end, lineCount, ranges: offsets }) => {
    // Lines are short: a search for each line break takes longer than a look at each byte.
    for (; at < start; at++) if (text[at] === LINE_BREAK) line++;
    const own = text.subarray(start, end);
    const decoded = decodeLine(own);
    const whole = withoutReturn(decoded);
    const byteRanges = offsets.map(([from, to]): Range => [from - start + 1, to - start + 1]);
    const ranges = decoded.length === own.length ? byteRanges : inUnits(byteRanges, own);
    const found: FoundLine = {
      revision,
      path,
      line,
      ranges,
      byteRanges,
      text: whole,
      before: NONE,
      after: NONE,
      enclosing: null,
    };
    if (lineCount > 1) found.endLine = line + lineCount - 1;
    if (whole.length > MAX_LINE_UNITS) shorten(found);
    if (context > 0) {
      found.before = linesBefore(text, start, context);
      found.after = linesAfter(text, end, context);
    }
    return found;
  });
}

const NONE: readonly string[] = [];

/** Lines in the order of an answer, file by file. */
export function linesByFile(lines: readonly FoundLine[]): [FoundLine, ...FoundLine[]][] {
  const groups: [FoundLine, ...FoundLine[]][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    if (group && group[0].path === line.path && group[0].revision === line.revision) group.push(line);
    else groups.push([line]);
  }
  return groups;
}

/** Columns of bytes as columns of UTF-16 units. */
function inUnits(ranges: readonly Range[], line: Uint8Array): Range[] {
  const unitsAt = unitCounter(line);
  return ranges.map(([from, to]) => [unitsAt(from - 1) + 1, unitsAt(to - 1) + 1]);
}

/** Cuts the text of a long line around its first match. */
function shorten(found: FoundLine): void {
  const { text, ranges } = found;
  const first = (ranges[0]?.[0] ?? 1) - 1;
  let start = Math.max(0, Math.min(first - LEAD_UNITS, text.length - MAX_LINE_UNITS));
  // Not within a surrogate pair.
  if (start > 0 && (text.charCodeAt(start) & 0xfc00) === 0xdc00) start--;
  found.text = text.slice(start, start + MAX_LINE_UNITS).toWellFormed();
  if (start > 0) found.textStart = start + 1;
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
