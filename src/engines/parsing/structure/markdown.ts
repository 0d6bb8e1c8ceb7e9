import { MAX_SYNTAX_LEVEL } from "../levels.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";
import { matched, OutlineBuilder } from "./outline-builder.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ATX_HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const SETEXT_UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const BLOCK_START = /^\s*(?:[-*+>|#]|\d+[.)]|<)/;
const MAX_DEPTH = 6;
/** Levels below the six headings'. */
const PARAGRAPH_LEVEL = 10;
const LINE_LEVEL = 60;
const AFTER_HEADING_LEVEL = 90;

interface Heading {
  row: number;
  depth: number;
  title: string;
}

/** Headings are symbols that reach to the next of their depth; a fenced block stays whole if it fits. */
export function markdownOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const headings = scan(builder);
  const ends = sectionEnds(headings, source.lineCount);
  const open: { depth: number; index: number | null }[] = [];
  for (const [position, heading] of headings.entries()) {
    while (open.length > 0 && open.at(-1)!.depth >= heading.depth) open.pop();
    const index = builder.add({
      kind: "heading",
      name: plainTitle(heading.title),
      startRow: heading.row,
      endRow: ends[position]! - 1,
      parent: open.at(-1)?.index ?? null,
      separator: " > ",
      signature: heading.title,
    });
    open.push({ depth: heading.depth, index });
  }
  return builder.finish();
}

/** For each heading the row of the next one that is no deeper. */
function sectionEnds(headings: readonly Heading[], lineCount: number): number[] {
  const ends: number[] = [];
  const nextOfDepth = Array.from({ length: MAX_DEPTH + 1 }, () => lineCount);
  for (let index = headings.length - 1; index >= 0; index--) {
    const { depth, row } = headings[index]!;
    ends[index] = nextOfDepth[depth]!;
    for (let deeper = depth; deeper <= MAX_DEPTH; deeper++) nextOfDepth[deeper] = row;
  }
  return ends;
}

function scan(builder: OutlineBuilder): Heading[] {
  const { source, levels } = builder;
  const headings: Heading[] = [];
  let fence: string | undefined;
  let afterHeading = false;
  let row = frontMatterRows(source, levels);
  for (let blank = true; row < source.lineCount; row++) {
    const line = source.line(row);
    if (fence !== undefined) {
      levels[row] = MAX_SYNTAX_LEVEL;
      if (closesFence(line, fence)) fence = undefined;
      continue;
    }
    if (line.trim() === "") {
      blank = true;
      levels[row] = MAX_SYNTAX_LEVEL;
      continue;
    }
    const heading = headingAt(source, row, blank);
    const base = blank ? PARAGRAPH_LEVEL + Math.min(line.length - line.trimStart().length, 30) : LINE_LEVEL;
    levels[row] = heading?.depth ?? (afterHeading ? AFTER_HEADING_LEVEL : base);
    afterHeading = heading !== undefined;
    if (heading !== undefined) headings.push(heading);
    fence = FENCE.exec(line)?.[1];
    blank = false;
  }
  return headings;
}

function headingAt(source: SourceText, row: number, blank: boolean): Heading | undefined {
  const line = source.line(row);
  const atx = ATX_HEADING.exec(matched(line));
  if (atx !== null) return { row, depth: atx[1]!.length, title: atx[2] ?? "" };
  if (!blank || row + 1 >= source.lineCount || BLOCK_START.test(line) || /^ {4}|^\t/.test(line)) return undefined;
  const underline = SETEXT_UNDERLINE.exec(source.line(row + 1));
  return underline === null ? undefined : { row, depth: underline[1]!.startsWith("=") ? 1 : 2, title: line.trim() };
}

function closesFence(line: string, fence: string): boolean {
  const marks = FENCE.exec(line)?.[1];
  return marks !== undefined && marks[0] === fence[0] && marks.length >= fence.length && line.trim() === marks;
}

/** YAML between `---` lines at the very top; returns the first row behind it. */
function frontMatterRows(source: SourceText, levels: Uint8Array): number {
  if (source.lineCount < 2 || source.line(0).trimEnd() !== "---") return 0;
  for (let row = 1; row < source.lineCount; row++) {
    if (source.line(row).trimEnd() !== "---") continue;
    levels.fill(MAX_SYNTAX_LEVEL, 1, row + 1);
    return row + 1;
  }
  return 0;
}

/** A title without its inline marks: links by their text, code and emphasis bare. */
export function plainTitle(title: string): string {
  return title
    .replace(/!?\[([^\]]{0,1000})\]\([^)]{0,1000}\)/g, "$1")
    .replace(/<[^>]{1,1000}>/g, "")
    .replace(/[`*]+|(?<=^|\s)_+|_+(?=\s|$)/g, "")
    .trim();
}
