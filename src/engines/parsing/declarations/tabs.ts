/** Indentation of files that mix tabs and spaces. */
import type { SourceText } from "../source-text.ts";

const TAB = 9;
const SPACE = 32;
/** Tab width of editors that replace every eight leading spaces with a tab. */
const WIDE_TAB = 8;
const DEFAULT_TAB = 4;
/** Minimum share of the lines indented by tabs that have spaces behind them, for tabs to be wide ones. */
const MIXED_SHARE = 0.1;

/**
 * Tab width of a file, in columns. An editor with wide tabs leaves no line with eight leading spaces, and many with spaces behind tabs. In
 * other files a tab is one level of indentation, and so are the fewest spaces that a line begins with.
 */
export function tabColumns(source: SourceText): number {
  let tabs = 0;
  let mixed = 0;
  let fewest = Infinity;
  let most = 0;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (line.charCodeAt(0) === TAB) {
      tabs++;
      if (/^\t+ {1,7}\S/.test(line)) mixed++;
    } else if (line.charCodeAt(0) === SPACE) {
      const content = line.trimStart();
      const spaces = line.length - content.length;
      if (content === "" || content.startsWith("*") || spaces < 2) continue;
      fewest = Math.min(fewest, spaces);
      most = Math.max(most, spaces);
    }
  }
  if (most < WIDE_TAB && mixed >= tabs * MIXED_SHARE) return WIDE_TAB;
  return fewest < WIDE_TAB ? fewest : DEFAULT_TAB;
}

/** Columns that spaces and tabs take at the start of a line. */
export function columnsOf(indentation: string, tab: number): number {
  let columns = 0;
  for (const character of indentation) columns += character === "\t" ? tab - (columns % tab) : 1;
  return columns;
}
