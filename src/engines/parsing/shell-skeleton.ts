import type { SourceText } from "./source-text.ts";

const SPACE = 32;
const NEWLINE = 10;
/** Longer lines are left unchanged, to bound the work of each pattern. */
const MAX_LINE = 1000;

/** `f()` or `function f`, with the opening brace and what follows it, if that is on the same line. */
const HEAD = /^(?:function\s+[^\s(){}]+(?:\s*\(\s*\))?|[^\s(){}$"'`=;&|<>#]+\s*\(\s*\))\s*(\{.*)?$/;
const HEREDOC = /(?<!<)<<-?\s*(?:\\?(\w+)|"(\w+)"|'(\w+)')/;

/** A function whose body has not ended yet. */
interface OpenBody {
  start: number;
  /** Offset from which its body has not been blanked yet. */
  blankFrom: number;
  indent: number;
}

/**
 * A script's text without here-documents and without the bodies of its functions, apart from functions in them. What is
 * left can usually be parsed when the whole cannot: zsh has syntax of its own, mostly inside functions. All characters
 * keep their positions.
 *
 * A body ends at a `}` with the indentation of the function's head, or on the head's line.
 */
export function shellSkeleton(source: SourceText, units: Uint16Array): Uint16Array {
  const skeleton = units.slice();
  const blank = (from: number, to: number) => {
    for (let at = from; at < to; at++) if (skeleton[at] !== NEWLINE) skeleton[at] = SPACE;
  };
  const lastRows = new Map<string, number>();
  for (let row = 0; row < source.lineCount; row++) lastRows.set(source.line(row).trim(), row);
  const open: OpenBody[] = [];
  /** Blanks what is left of a body, and in the body around it what precedes the function. */
  const close = ({ start, blankFrom }: OpenBody, bodyEnd: number, end: number) => {
    blank(blankFrom, bodyEnd);
    const outer = open.at(-1);
    if (outer === undefined) return;
    blank(outer.blankFrom, start);
    outer.blankFrom = end;
  };
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    const content = line.trim();
    if (content === "" || content.startsWith("#") || line.length > MAX_LINE) continue;
    const indent = line.length - line.trimStart().length;
    const start = source.lineStarts[row]! + indent;
    if (content.startsWith("}")) {
      while (open.length > 0 && open.at(-1)!.indent > indent) open.pop();
      if (open.at(-1)?.indent === indent) close(open.pop()!, start, source.contentEnd(row));
      continue;
    }
    const end = heredocEnd(source, row, lastRows);
    if (end !== undefined) {
      blank(source.lineStarts[row + 1]!, source.lineStarts[end]!);
      row = end;
      continue;
    }
    const head = HEAD.exec(content);
    if (head === null || open.length >= MAX_OPEN) continue;
    const body = head[1];
    if (body === undefined) {
      if (row + 1 >= source.lineCount || source.line(row + 1).trim() !== "{") continue;
      row++;
      open.push({ start, blankFrom: source.contentEnd(row), indent });
      continue;
    }
    const blankFrom = start + content.length - body.length + 1;
    if (body.length > 1 && body.endsWith("}"))
      close({ start, blankFrom, indent }, start + content.length - 1, start + content.length);
    else open.push({ start, blankFrom, indent });
  }
  return skeleton;
}

/** Deeper nesting is not examined. */
const MAX_OPEN = 100;

/** Row of the word that ends the here-document begun in a row. `lastRows` has the last row of each line's text. */
function heredocEnd(source: SourceText, row: number, lastRows: ReadonlyMap<string, number>): number | undefined {
  const match = HEREDOC.exec(source.line(row));
  const word = match?.[1] ?? match?.[2] ?? match?.[3];
  if (word === undefined || (lastRows.get(word) ?? 0) <= row) return undefined;
  let end = row + 1;
  while (source.line(end).trim() !== word) end++;
  return end;
}
