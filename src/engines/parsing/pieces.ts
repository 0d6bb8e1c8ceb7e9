import type { SourceText } from "./source-text.ts";
import { ERROR_TYPE_ID, type SyntaxNode, type SyntaxTree } from "./syntax-node.ts";

/** Rows `from` to `to`, both inclusive. */
export interface RowRange {
  from: number;
  to: number;
}

/**
 * The rows outside error-free top-level nodes. This includes rows that no node covers, because after an error a parser may
 * omit the rest of the text from the tree.
 */
export function damagedRows(tree: SyntaxTree, source: SourceText): RowRange[] {
  const { root } = tree;
  if (!root.hasError) return [];
  const children = root.typeId === ERROR_TYPE_ID ? [] : root.children;
  const sound = children.filter((child) => !child.hasError);
  const ranges: RowRange[] = [];
  for (const { from, to } of uncoveredRows(sound, source, { from: 0, to: source.lineCount - 1 })) {
    // A type's head may be free of errors while its body is not; they belong together.
    const last = ranges.at(-1);
    let start = from;
    while (start > (last?.to ?? 0) && /^(?:[\s{]|$)/.test(source.line(start).slice(0, 1))) start--;
    if (last !== undefined && start <= last.to + 1) last.to = to;
    else ranges.push({ from: start, to });
  }
  return ranges;
}

/** Non-blank rows of a range that no node covers. */
function uncoveredRows(nodes: readonly SyntaxNode[], source: SourceText, range: RowRange): RowRange[] {
  const ranges: RowRange[] = [];
  let next = range.from;
  const add = (to: number) => {
    let from = next;
    while (from <= to && source.isBlank(from)) from++;
    if (from <= to) ranges.push({ from, to });
  };
  for (const node of nodes) {
    add(node.row - 1);
    next = Math.max(next, source.rowAt(Math.max(node.end - 1, node.start)) + 1);
  }
  add(range.to);
  return ranges;
}

/** Whether lines are in no node or only in an error. An error within a line hides no declaration around it. */
export function hasUnreadLines(tree: SyntaxTree, source: SourceText, range: RowRange): boolean {
  const { root } = tree;
  if (!root.hasError) return false;
  if (tree.nodesOf([ERROR_TYPE_ID]).some((node) => node.endRow > node.row + 1)) return true;
  return uncoveredRows(root.children, source, range).length > 0;
}

/** Labels, access specifiers (`public:`), closing brackets and branches belong to the surrounding code. */
const CONTINUES = /^(?:[)\]}{]|\w+\s*:(?!:)|(?:else|elif|elsif|catch|rescue|finally|ensure|end|where)\b)/;
/** What may precede a top-level declaration: the end of another one, or a directive. */
const ENDS = /^(?:[)\]}]|#|end\b)|;$/;

/** Cuts a range before each line, indented by `indent` characters, that seems to begin a declaration. */
export function piecesOf(source: SourceText, { from, to }: RowRange, indent: number): RowRange[] {
  const pieces: RowRange[] = [];
  let start = from;
  let isFree = false;
  for (let row = from; row <= to; row++) {
    const line = source.line(row);
    const content = line.trim();
    const depth = line.length - line.trimStart().length;
    const begins = content !== "" && depth === indent && !CONTINUES.test(content);
    if (row > start && begins && isFree) {
      pieces.push({ from: start, to: row - 1 });
      start = row;
    }
    isFree = content === "" || (depth <= indent && ENDS.test(content));
  }
  pieces.push({ from: start, to });
  return pieces;
}

/** The smallest indentation in a range, ignoring brackets and directives. */
export function bodyIndent(source: SourceText, { from, to }: RowRange): number {
  let least = Number.POSITIVE_INFINITY;
  for (let row = from; row <= to; row++) {
    const line = source.line(row);
    const content = line.trimStart();
    if (content !== "" && !/^[#)\]}{]/.test(content)) least = Math.min(least, line.length - content.length);
  }
  return least;
}

const MAX_HEAD_ROWS = 30;
/** Maximum length of a comment after an opening brace. */
const MAX_BRACE_DISTANCE = 200;

/** Row of a type's opening brace, or the first row. */
export function headEnd(source: SourceText, { from, to }: RowRange): number {
  for (let row = from; row <= Math.min(to, from + MAX_HEAD_ROWS); row++)
    if (/\{\s*(?:\/\/.*)?$/.test(source.line(row).slice(-MAX_BRACE_DISTANCE))) return row;
  return from;
}
