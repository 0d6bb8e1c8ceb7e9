/** Indentation of files that mix tabs and spaces. */
import type { SourceText } from "../source-text.ts";

const TAB = 9;
const SPACE = 32;
/** Columns of a tab that stands for eight spaces wherever they would be. */
const WIDE_TAB = 8;
const DEFAULT_TAB = 4;
/** Share of the lines behind tabs that have spaces behind them, from which on tabs are taken for wide ones. */
const MIXED_SHARE = 0.1;

/**
 * Columns of a tab. An editor that replaces every eight spaces by a tab writes no eight spaces, and often some spaces behind tabs. In
 * other files a tab is a level, as are the fewest spaces that a line begins with.
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

/** Columns that the first `end` characters of a line take, which are spaces and tabs. */
export function columnsOf(line: string, end: number, tab: number): number {
  let columns = 0;
  for (let at = 0; at < end; at++) columns += line.charCodeAt(at) === TAB ? tab - (columns % tab) : 1;
  return columns;
}
