import { SOLID } from "../levels.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline, SymbolKind } from "../types.ts";
import { matched, OutlineBuilder } from "./outline-builder.ts";
import { withParts } from "./templates.ts";

const HASH_COMMENT = /^\s*#/;
const CONTINUED_LEVEL = 95;
/** Lines of comment above a statement that are its doc. */
const MAX_DOC_LINES = 200;

const SQL_TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|(\$\w*\$)[\s\S]*?(?:\1|$)|;/g;
const SQL_CREATE =
  /^create\s+(?:or\s+(?:replace|alter)\s+)?(?:(?:global|local)\s+)?(?:temp(?:orary)?\s+|unlogged\s+|unique\s+|recursive\s+|external\s+|virtual\s+|definer\s*=\s*\S+\s+)*(materialized\s+view|foreign\s+table|table|view|function|procedure|trigger|(?:unique\s+)?index|type|schema|database|sequence|domain|policy|role|extension|aggregate)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?((?:"[^"]*"|`[^`]*`|\[[^\]]*\]|[\w$]+)(?:\s*\.\s*(?:"[^"]*"|`[^`]*`|\[[^\]]*\]|[\w$]+))*)/i;
const SQL_KINDS: Record<string, SymbolKind> = {
  table: "table",
  "foreign table": "table",
  view: "view",
  "materialized view": "view",
  function: "function",
  procedure: "function",
  aggregate: "function",
  trigger: "function",
  type: "type",
  domain: "type",
  schema: "namespace",
  database: "namespace",
};

/** Statements; the objects they create are the symbols, and macros where it is a template, as in dbt. Strings, comments and dollar-quoted bodies may hold semicolons. */
export function sqlOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const { text } = source;
  let start = 0;
  let codeStart: number | undefined;
  const end = (offset: number): void => {
    statement(builder, start, codeStart, offset);
    start = offset;
    codeStart = undefined;
  };
  let position = 0;
  for (let match = SQL_TOKEN.exec(text); match !== null; match = SQL_TOKEN.exec(text)) {
    const before = text.slice(position, match.index);
    if (codeStart === undefined && before.trim() !== "")
      codeStart = position + before.length - before.trimStart().length;
    position = match.index + match[0].length;
    if (match[0] === ";") end(position);
    else if (codeStart === undefined && !match[0].startsWith("-") && !match[0].startsWith("/")) codeStart = match.index;
  }
  const rest = text.slice(position);
  if (codeStart === undefined && rest.trim() !== "") codeStart = position + rest.length - rest.trimStart().length;
  end(text.length);
  return withParts(builder);
}

function statement(builder: OutlineBuilder, start: number, codeStart: number | undefined, end: number): void {
  const { source, levels } = builder;
  const head = source.text.slice(start, end);
  if (head.trim() === "") return;
  const first = source.rowAt(start + head.length - head.trimStart().length);
  const last = source.rowAt(Math.max(end - 1, 0));
  for (let row = first + 1; row <= last; row++) levels[row] = SOLID;
  levels[first] = first > 0 && source.isBlank(first - 1) ? 1 : 2;
  if (codeStart === undefined) return;
  const code = source.text.slice(codeStart, end);
  const match = SQL_CREATE.exec(code);
  if (match === null) return;
  const what = match[1]!.toLowerCase().replace(/\s+/g, " ");
  const row = source.rowAt(codeStart);
  const { doc } = docAbove(builder, row, /^\s*--/);
  builder.add({
    kind: SQL_KINDS[what] ?? "object",
    name: match[2]!.replace(/["`[\]]/g, "").replace(/\s{0,100}\.\s{0,100}/g, "."),
    startRow: row,
    endRow: last,
    leadRow: first,
    doc,
    signature: code.split(/\s(?:as|begin)\s|\(\s*\n|\$\w*\$/i)[0]!,
  });
}

/** Like `commentAbove`, without touching the levels: a statement's comments are inside it already. */
function docAbove(builder: OutlineBuilder, row: number, marker: RegExp): { doc: string | null } {
  const lines: string[] = [];
  for (let at = row - 1; at >= Math.max(row - MAX_DOC_LINES, 0) && marker.test(builder.source.line(at)); at--) {
    lines.push(
      builder.source
        .line(at)
        .trim()
        .replace(/^--+\s?/, ""),
    );
  }
  const doc = lines.toReversed().join("\n").trim();
  return { doc: doc === "" ? null : doc };
}

/** Build stages from `FROM` to `FROM`; an instruction keeps its continuation lines. */
export function dockerfileOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const stages: { row: number; name: string }[] = [];
  let isContinued = false;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (isContinued) builder.levels[row] = CONTINUED_LEVEL;
    const from = isContinued ? null : /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(matched(line));
    if (from !== null) {
      builder.levels[row] = 1;
      stages.push({ row, name: from[2] ?? from[1]! });
    }
    isContinued = line.trimEnd().endsWith("\\") || (isContinued && HASH_COMMENT.test(line));
  }
  for (const [position, stage] of stages.entries()) {
    const comment = builder.commentAbove(stage.row, HASH_COMMENT);
    builder.add({
      kind: "stage",
      name: stage.name,
      startRow: stage.row,
      endRow: (stages[position + 1]?.row ?? source.lineCount) - 1,
      ...comment,
    });
  }
  return builder.finish();
}

const MAKE_TARGET = /^([^\s:#=?+!][^:#=]*?)\s*::?(?!=)(?!.*:=)/;
const MAKE_VARIABLE = /^(?:export\s+|override\s+)*([\w.-]+)\s*(?:::?:?|\?|\+|!)?=/;
const MAKE_DEFINE = /^define\s+([\w.-]+)/;

/** Targets with their recipes, variables and defines. */
export function makefileOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  const variables = new Set<string>();
  let isContinued = false;
  let defineEnd = -1;
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (row <= defineEnd) {
      builder.levels[row] = CONTINUED_LEVEL;
      continue;
    }
    const startsHere = !isContinued && !line.startsWith("\t");
    if (!startsHere && line.trim() !== "") builder.levels[row] = CONTINUED_LEVEL;
    isContinued = line.endsWith("\\");
    if (!startsHere || HASH_COMMENT.test(line)) continue;
    const start = matched(line);
    const define = MAKE_DEFINE.exec(start);
    const variable = define === null ? MAKE_VARIABLE.exec(start) : null;
    const target = define === null && variable === null ? MAKE_TARGET.exec(start) : null;
    const name = (define ?? variable ?? target)?.[1];
    if (name === undefined || (target === null && variables.has(name)) || /^(?:\.PHONY$|\$\(eval)/.test(name)) continue;
    if (target === null) variables.add(name);
    const endRow = blockEnd(source, row, define !== null);
    if (define !== null) defineEnd = endRow;
    const comment = builder.commentAbove(row, HASH_COMMENT);
    const kind = target !== null ? "target" : define === null ? "variable" : "macro";
    builder.add({ kind, name, startRow: row, endRow, ...comment });
  }
  return builder.finish();
}

function blockEnd(source: SourceText, start: number, isDefine: boolean): number {
  let row = start;
  while (row + 1 < source.lineCount) {
    const next = source.line(row + 1);
    if (isDefine) {
      row++;
      if (/^endef\b/.test(next)) break;
    } else if (source.line(row).endsWith("\\") || next.startsWith("\t")) row++;
    else break;
  }
  return row;
}
