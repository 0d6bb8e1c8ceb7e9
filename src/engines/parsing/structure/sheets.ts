import { limitDoc } from "../prose.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline, SymbolKind } from "../types.ts";
import { OutlineBuilder } from "./outline-builder.ts";
import { withParts } from "./templates.ts";

const MAX_SELECTOR_CHARACTERS = 120;
const NESTING_STEP = 4;
const CSS_TOKEN =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|url\([^)"']*\)?|#\{[^}]*\}?|[{};]/g;

const LINE_COMMENT = /^\s*\/\//;

/** `@mixin name` and `@function name` of Sass. */
const SASS_DEFINITION = /^@(mixin|function)\s+([\w-]+)/;

/** Rules by their selectors, nested ones within; mixins and functions of Sass; custom properties and variables of the sheet. */
export function cssOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const { text } = source;
  const open: { index: number | null; row: number }[] = [];
  const depths = new Uint8Array(source.lineCount + 1);
  let headStart = 0;
  // Of a head with comments in it: what precedes the last of them, and where the rest begins.
  let beforeComment = "";
  let restStart = 0;
  let depthRow = 0;
  const sink = (offset: number): void => {
    const row = source.rowAt(offset);
    for (; depthRow < row; depthRow++) depths[depthRow + 1] = Math.min(open.length, 20);
  };
  for (let match = CSS_TOKEN.exec(text); match !== null; match = CSS_TOKEN.exec(text)) {
    const [mark] = match;
    if (mark.length > 1) {
      if (!mark.startsWith("/")) continue;
      const piece = text.slice(restStart, match.index);
      restStart = match.index + mark.length;
      if (beforeComment === "" && piece.trim() === "") headStart = restStart;
      else beforeComment += `${piece} `;
      continue;
    }
    sink(match.index);
    if (mark === "{") {
      const head = (beforeComment + text.slice(restStart, match.index)).replace(/\s+/g, " ").trim();
      const from = text.slice(headStart, match.index);
      const row = source.rowAt(match.index - from.trimStart().length);
      const [, definition, defined] = SASS_DEFINITION.exec(head) ?? [];
      const name = head.slice(0, MAX_SELECTOR_CHARACTERS);
      const index = builder.add({
        kind: definition === undefined ? "rule" : definition === "mixin" ? "macro" : "function",
        name: defined ?? name,
        startRow: row,
        endRow: row,
        parent: open.at(-1)?.index ?? null,
        separator: " ",
        signature: name,
      });
      open.push({ index, row });
    } else if (mark === "}") {
      const rule = open.pop();
      if (rule?.index != null) extend(builder, rule.index, match.index + 1);
    } else {
      variable(builder, text.slice(headStart, match.index), headStart, open.at(-1)?.index ?? null);
    }
    headStart = match.index + 1;
    restStart = headStart;
    beforeComment = "";
  }
  sink(text.length);
  levelsByDepth(builder, depths);
  for (const symbol of builder.symbols) {
    const { leadRow, doc } = builder.commentAbove(symbol.startRow, LINE_COMMENT);
    symbol.leadRow = leadRow;
    if (doc !== null) symbol.doc = limitDoc(doc);
  }
  return builder.finish();
}

function variable(builder: OutlineBuilder, statement: string, offset: number, parent: number | null): void {
  const match = /^\s*(--[\w-]+|[$@][\w-]+)\s*:/.exec(statement);
  if (match === null || /^@(?:media|import|include)/.test(match[1]!)) return;
  if (match[1]!.startsWith("--") ? parent === null : parent !== null) return;
  const row = builder.source.rowAt(offset + match[0].indexOf(match[1]!));
  builder.add({ kind: "variable", name: match[1]!, startRow: row, endRow: row, parent, separator: " " });
}

function extend(builder: OutlineBuilder, index: number, end: number): void {
  const symbol = builder.symbols[index]!;
  symbol.end = Math.max(end, symbol.start);
  symbol.endRow = builder.source.rowAt(Math.max(end - 1, symbol.start));
}

function levelsByDepth(builder: OutlineBuilder, depths: Uint8Array): void {
  const { source, levels } = builder;
  let blank = true;
  for (let row = 0; row < source.lineCount; row++) {
    const content = source.line(row).trim();
    if (content !== "")
      levels[row] = 1 + depths[row]! * NESTING_STEP + (content.startsWith("}") ? 2 : 0) + (blank ? 0 : 1);
    blank = content === "" || content.endsWith("}");
  }
  // A comment stays with the rule below it.
  for (let row = 1; row < source.lineCount; row++) {
    const above = source.line(row - 1).trim();
    if (above.endsWith("*/") && above.startsWith("/*") && !source.isBlank(row)) builder.moveCut(row - 1, row);
  }
}

const HTML_MARK =
  /<!--[\s\S]*?(?:-->|$)|<(h[1-6])\b[^<>]{0,1000}>([\s\S]{0,300}?)<\/\1\s{0,9}>|<title\b[^<>]{0,1000}>([\s\S]{0,300}?)<\/title\s{0,9}>|<([a-z][\w-]{0,60})\b[^<>]{0,1000}?\sid\s{0,9}=\s{0,9}["']([^"'\n]{1,200})["']/gi;

/** Headings, elements that have an id, and macros of a template. */
export function htmlOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  for (const match of source.text.matchAll(HTML_MARK)) {
    const [mark, heading, headingText, title, tag, id] = match;
    if (mark.startsWith("<!--")) continue;
    const row = source.rowAt(match.index);
    const words = (headingText ?? title ?? "").replace(/<[^>]{0,1000}>/g, "");
    const kind: SymbolKind = id === undefined ? "heading" : "element";
    const name = id === undefined ? words : `${tag!.toLowerCase()}#${id}`;
    const signature = id === undefined ? `${heading ?? "title"}: ${words}` : mark;
    builder.add({ kind, name, startRow: row, endRow: source.rowAt(match.index + mark.length - 1), signature });
  }
  return withParts(builder);
}
