/** Secrets in tables: Markdown, CSV and rows of SQL, where the name of a column or a cell of the row says what a value is. */
import { isGivenPassword } from "./given.ts";
import type { Hints } from "./hints.ts";
import { looksSecretNear, quotedNear } from "./nearby.ts";
import { NextOf } from "./next-of.ts";
import { classifyName } from "./names.ts";
import type { NameClass, SecretRange } from "./types.ts";
import { isSecretValue } from "./values.ts";

const MAX_LINE_CHARACTERS = 4_000;
const MAX_COLUMNS = 40;
const PASSWORD_BITS = 10;
const MAX_NAME_CHARACTERS = 40;
const MAX_ROWS = 1_000;

/** Adds all secrets of this kind. `named` are the positions of names of secrets, in order. */
export function findInTables(text: string, hints: Hints, named: readonly number[], found: SecretRange[]): void {
  const lines = new NextOf(text, "\n");
  let done = 0;
  for (const position of named) {
    if (position < done) continue;
    const from = Math.max(0, position - MAX_LINE_CHARACTERS);
    const before = text.slice(from, position).lastIndexOf("\n");
    const end = lines.from(position);
    const isLong = (before === -1 && from > 0) || end - position > MAX_LINE_CHARACTERS;
    done = isLong ? end : findTable(text, from + before + 1, found);
  }
  if (named.length > 0) findCellTables(text, hints, found);
  if (!hints.mayHave("insert") || !/\binsert\s/i.test(text)) return;
  if (named.length > 0) findInserts(text, found);
  findUnnamed(text, found);
}

interface Cell {
  start: number;
  text: string;
}

const SEPARATORS = ["|", "\t", ",", ";"];
const RULER = /^[\s|:+-]+$/;

/** The table or the row that begins with the line at `start`. Returns where it ends. */
function findTable(text: string, start: number, found: SecretRange[]): number {
  const first = lineAt(text, start);
  const row = rowOf(first, start);
  let at = start + first.length + 1;
  if (row === undefined) return at;
  const kinds = row.cells.map(({ text: name }) => kindOf(name));
  // A list has one member in a line.
  if (kinds.every((kind) => kind === undefined) || row.cells.filter((cell) => cell.text !== "").length < 2) return at;
  if (row.separator === "|") for (const [i, kind] of kinds.entries()) judge(nextCell(row.cells, i), kind, found);
  if (!row.cells.every(({ text: name }) => isHeading(name))) return at;
  for (let rows = 0; rows < MAX_ROWS && at < text.length; rows++) {
    const line = lineAt(text, at);
    const cells = RULER.test(line) ? [] : cellsOf(line, at, row.separator);
    if (cells.length !== kinds.length && !RULER.test(line)) break;
    // A row of names and values in a table whose heading names a secret too.
    if (row.separator === "|" && cells.some(({ text: name }) => kindOf(name) !== undefined)) break;
    for (const [i, cell] of cells.entries()) judge(cell, kinds[i], found);
    at += line.length + 1;
  }
  return at;
}

function lineAt(text: string, start: number): string {
  const line = text.slice(start, start + MAX_LINE_CHARACTERS);
  const end = line.indexOf("\n");
  return end === -1 ? line : line.slice(0, end);
}

function rowOf(line: string, start: number): { separator: string; cells: Cell[] } | undefined {
  for (const separator of SEPARATORS) {
    if (!line.includes(separator)) continue;
    const cells = cellsOf(line, start, separator);
    if (cells.length >= 2 && cells.length <= MAX_COLUMNS) return { separator, cells };
  }
  return undefined;
}

/** The next cell that is not empty, which is the value of one that has a name. */
const nextCell = (cells: readonly Cell[], i: number): Cell | undefined =>
  cells.slice(i + 1).find((cell) => cell.text !== "");

/** What may stand around the text of a cell. */
const MARKS = " \t\r\"'`*_";

/** The cells of a line, without the marks around their text. */
function cellsOf(line: string, start: number, separator: string): Cell[] {
  const cells: Cell[] = [];
  let from = 0;
  while (from <= line.length && cells.length <= MAX_COLUMNS) {
    const next = line.indexOf(separator, from);
    const cellEnd = next === -1 ? line.length : next;
    let first = from;
    let end = cellEnd;
    while (first < end && MARKS.includes(line.charAt(first))) first++;
    while (end > first && MARKS.includes(line.charAt(end - 1))) end--;
    cells.push({ start: start + first, text: line.slice(first, end) });
    from = cellEnd + 1;
  }
  return cells;
}

const isHeading = (text: string): boolean => text.length <= MAX_NAME_CHARACTERS && /^[\p{L}\w .()/-]*$/u.test(text);

function kindOf(name: string): NameClass | undefined {
  return name.length > 0 && isHeading(name) ? classifyName(name) : undefined;
}

function judge(cell: Cell | undefined, kind: NameClass | undefined, found: SecretRange[]): void {
  if (cell === undefined || kind === undefined) return;
  if (!isSecretValue(cell.text, kind) && !(kind === "password" && isGivenPassword(cell.text, "joined"))) return;
  found.push({ start: cell.start, end: cell.start + cell.text.length, rule: "table-cell" });
}

/** Tables whose cells are not in lines of their rows: AsciiDoc and HTML; and the rows of `COPY … FROM stdin`. */
function findCellTables(text: string, hints: Hints, found: SecretRange[]): void {
  if (hints.hasOne(["|==="])) findDelimited(text, "|===", "|===", asciiDocCells, found);
  if (hints.mayHave("<th") && /<th[\s>]/i.test(text)) findDelimited(text, "<table", "</table", htmlCells, found);
  if (hints.mayHave("from stdin") && /\bfrom stdin/i.test(text)) findCopies(text, found);
}

const MAX_TABLE_CHARACTERS = 65_536;

interface CellTable {
  columns: Cell[];
  cells: Cell[];
}

function findDelimited(
  text: string,
  open: string,
  close: string,
  read: (text: string, start: number) => CellTable,
  found: SecretRange[],
): void {
  const closes = new NextOf(text, close);
  let start = text.indexOf(open);
  while (start !== -1) {
    const from = start + open.length;
    const end = Math.min(closes.from(from), from + MAX_TABLE_CHARACTERS);
    const { columns, cells } = read(text.slice(from, end), from);
    const kinds = columns.map(({ text: name }) => kindOf(name));
    if (kinds.some((kind) => kind !== undefined))
      for (const [i, cell] of cells.entries()) judge(cell, kinds[i % kinds.length], found);
    start = text.indexOf(open, end + close.length);
  }
}

/** The cells of the first line with any are the columns. */
function asciiDocCells(text: string, start: number): CellTable {
  const cells: Cell[] = [];
  let columns = 0;
  for (const { 0: line, index } of text.matchAll(/[^\n]+/g)) {
    if (line.startsWith("|")) cells.push(...cellsOf(line, start + index, "|").slice(1));
    columns ||= cells.length;
  }
  return { columns: cells.slice(0, columns), cells: cells.slice(columns) };
}

const HTML_CELL = /<(t[hd])(?:\s[^<>\n]{0,200})?>\s{0,40}(?:<(?:code|b|strong|pre|kbd|p)>)?([^<>]{0,400})/gi;

function htmlCells(text: string, start: number): CellTable {
  const columns: Cell[] = [];
  const cells: Cell[] = [];
  for (const { 0: whole, 1: kind = "", 2: content = "", index } of text.matchAll(HTML_CELL))
    (kind.toLowerCase() === "th" ? columns : cells).push({
      start: start + index + whole.length - content.length,
      text: content.trim(),
    });
  return { columns: columns.slice(0, MAX_COLUMNS), cells };
}

const COPY = /^copy\s{1,8}[\w."]{1,120}\s{0,8}\(([^()]{1,2000})\)\s{1,8}from stdin[^\n]{0,80}\n/gim;

function findCopies(text: string, found: SecretRange[]): void {
  let done = 0;
  for (const match of text.matchAll(COPY)) {
    if (match.index < done) continue;
    const kinds = match[1]!.split(",").map((name) => classifyName(name.replaceAll(/[\s"]/g, "")));
    if (kinds.every((kind) => kind === undefined)) continue;
    let at = match.index + match[0].length;
    for (let rows = 0; rows < MAX_ROWS && at < text.length; rows++) {
      const line = lineAt(text, at);
      if (line.startsWith("\\.")) break;
      for (const [i, cell] of cellsOf(line, at, "\t").entries()) judge(cell, kinds[i], found);
      at += line.length + 1;
    }
    done = at;
  }
}

const INSERT =
  /\binsert\s{1,8}(?:or\s{1,4}\w{1,10}\s{1,4})?into\s{1,8}[\w."'`[\]-]{1,120}\s{0,8}\(([^()]{1,2000})\)\s{0,40}values\s{0,8}/gi;
const MAX_VALUES_CHARACTERS = 65_536;
const SQL_VALUE = /N?'((?:[^'\n]|''){0,300})'|"([^"\n]{0,300})"|[(),;]|[^\s(),;'"]{1,300}/g;

/** Tables of people and settings, whose rows are judged without the names of columns. */
const UNNAMED =
  /\binsert\s{1,8}into\s{1,8}["'`[]?[\w.]{0,40}(?:user|account|member|admin|customer|login|cred|token|secret|setting|config)\w{0,20}["'`\]]?\s{1,8}values\s{0,8}(?=\()([^;\n]{10,4000})/gi;

function findUnnamed(text: string, found: SecretRange[]): void {
  for (const match of text.matchAll(UNNAMED)) {
    const at = match.index + match[0].length - match[1]!.length;
    for (const { start, text: value } of quotedNear(text, at, match.index + match[0].length))
      if (looksSecretNear(value, PASSWORD_BITS)) found.push({ start, end: start + value.length, rule: "table-cell" });
  }
}

/** Rows that are inserted into a table, by the names of its columns. */
function findInserts(text: string, found: SecretRange[]): void {
  let done = 0;
  for (const match of text.matchAll(INSERT)) {
    const from = match.index + match[0].length;
    if (match.index < done) continue;
    const kinds = match[1]!.split(",").map((name) => classifyName(name.replaceAll(/[\s"'`[\]]/g, "")));
    if (kinds.every((kind) => kind === undefined)) continue;
    done = from;
    let column = -1;
    let depth = 0;
    for (const value of text.slice(from, from + MAX_VALUES_CHARACTERS).matchAll(SQL_VALUE)) {
      const [whole, single, double] = value;
      done = from + value.index;
      if (whole === ";") break;
      if (whole === "(") {
        if (depth++ === 0) column = 0;
      } else if (whole === ")") depth--;
      else if (whole === "," && depth === 1) column++;
      const quoted = single ?? double;
      const kind = depth === 1 ? kinds[column] : undefined;
      if (quoted !== undefined)
        judge({ start: from + value.index + whole.length - 1 - quoted.length, text: quoted }, kind, found);
    }
  }
}
