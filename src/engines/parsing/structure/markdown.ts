import { MAX_SYNTAX_LEVEL } from "../levels.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";
import { type Heading, headingOutline } from "./headings.ts";
import { matched, OutlineBuilder } from "./outline-builder.ts";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const ATX_HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const SETEXT_UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const BLOCK_START = /^\s*(?:[-*+>|#]|\d+[.)]|<)/;
/** Levels below the six headings'. */
const PARAGRAPH_LEVEL = 10;
const LINE_LEVEL = 60;
const AFTER_HEADING_LEVEL = 90;

/** Headings are symbols that reach to the next of their depth; a fenced block stays whole if it fits. */
export function markdownOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  return headingOutline(builder, scan(builder));
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
