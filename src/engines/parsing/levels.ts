import type { SourceText } from "./source-text.ts";
import type { SyntaxNode } from "./syntax-node.ts";
import type { DraftSymbol } from "./types.ts";

/**
 * Cut levels. `levels[row]` is the depth of a cut before that row: the number of nested nodes that it would split.
 * The chunker cuts at the lowest level first. Above the syntax levels:
 * - {@link SOLID}: inside a node small enough to stay whole (blank lines and indentation decide, if it must be);
 * - {@link GLUED}: between a comment or decorator and what it belongs to.
 */
export const MAX_SYNTAX_LEVEL = 100;
export const SOLID = 101;
export const GLUED = 255;

/** Levels from a tree. Only nodes heavier than `limit` are descended into. */
export function syntaxLevels(root: SyntaxNode, source: SourceText, limit: number, target: number): Uint8Array {
  const levels = new Uint8Array(source.lineCount + 1);
  if (source.weight(0, source.lineCount) <= target) return levels;
  markChildren(root, source, limit, 1, levels);
  return levels;
}

function markChildren(node: SyntaxNode, source: SourceText, limit: number, level: number, levels: Uint8Array): void {
  for (const child of node.children) {
    const first = child.row;
    let last = child.endRow;
    // An end at column 0 lies on the row after the node.
    if (last > first && child.end <= (source.lineStarts[last] ?? child.end)) last--;
    last = Math.min(last, source.lineCount - 1);
    if (last <= first) continue;
    const deeper = source.weight(first, last + 1) > limit && level < MAX_SYNTAX_LEVEL;
    raise(levels, first + 1, last, deeper ? level : SOLID);
    if (deeper) markChildren(child, source, limit, level + 1, levels);
  }
}

function raise(levels: Uint8Array, from: number, to: number, level: number): void {
  for (let row = from; row <= to; row++) if (levels[row]! < level) levels[row] = level;
}

/** Keeps comments on lines of their own with the line that follows them. */
export function glueComments(
  levels: Uint8Array,
  comments: readonly { start: number; end: number }[],
  source: SourceText,
): void {
  for (const { start, end } of comments) {
    const first = source.rowAt(start);
    const last = source.rowAt(Math.max(end - 1, start));
    if (source.text.slice(source.lineStarts[first], start).trim() !== "") continue;
    if (last + 1 < source.lineCount && !source.isBlank(last + 1)) levels[last + 1] = GLUED;
  }
}

/** Keeps a symbol's doc comment and decorators with its first line. */
export function glueLeads(levels: Uint8Array, symbols: readonly DraftSymbol[]): void {
  for (const { leadRow, startRow, outlineOnly } of symbols)
    if (!outlineOnly) raise(levels, leadRow + 1, startRow, GLUED);
}

const INDENT_STEPS = 30;
const TAB_WIDTH = 4;

/**
 * Levels from layout alone. The best cut is before the least indented line that follows a blank line, then before an
 * unindented line; never before a closing bracket.
 */
export function layoutLevels(source: SourceText, from = 0, to = source.lineCount): Uint8Array {
  const levels = new Uint8Array(source.lineCount + 1);
  let blankBefore = false;
  for (let row = from; row < to; row++) {
    const line = source.line(row);
    const content = line.trimStart();
    if (content === "") {
      blankBefore = true;
      levels[row] = MAX_SYNTAX_LEVEL;
      continue;
    }
    const indent = Math.min(indentation(line, line.length - content.length), INDENT_STEPS);
    const closing = /^[)\]}]|^(?:end|fi|done|esac)\b/.test(content) ? INDENT_STEPS + 1 : 0;
    levels[row] = (blankBefore ? 1 : INDENT_STEPS + 2) + indent + closing;
    blankBefore = false;
  }
  return levels;
}

function indentation(line: string, length: number): number {
  let width = 0;
  for (let index = 0; index < length; index++) width += line[index] === "\t" ? TAB_WIDTH : 1;
  return width;
}
