import { mergeSymbols } from "./components.ts";
import { MAX_SYNTAX_LEVEL, SOLID } from "./levels.ts";
import type { RowRange } from "./pieces.ts";
import { foldSignature } from "./prose.ts";
import { SourceText } from "./source-text.ts";
import { plainTitle } from "./structure/headings.ts";
import type { DraftSymbol, Outline } from "./types.ts";

/** Jupyter notebooks: JSON with cells, whose lines of code and text are strings on rows of their own. */

/** Objects and lists in one another. */
const MAX_DEPTH = 100;
const MAX_CELLS = 20_000;
/** Outputs that weigh more are left out of the chunks: images, tables, logs. */
const MAX_OUTPUT_WEIGHT = 200;
/** Headings of a file that are symbols. */
const MAX_HEADINGS = 5000;
const MAX_HEADING = 300;

/** A string in the JSON: where its content begins and ends, without the quotes. */
interface Content {
  start: number;
  end: number;
}

interface Cell {
  isCode: boolean;
  /** Where its object begins. */
  start: number;
  source: Content[];
  /** From the first bracket to the last. */
  outputs: Content | undefined;
}

export interface Notebook {
  /** The code of the cells at its rows, unescaped; the rest is blank. Undefined for a language other than Python. */
  code: SourceText | undefined;
  /** Adds the headings of the cells with text, cuts between cells, and leaves out large outputs. */
  complete(outline: Outline): Outline;
}

/** Reads a notebook in one pass; undefined if the file is none, or not laid out by rows. */
export function readNotebook(source: SourceText): Notebook | undefined {
  const { cells, language } = new NotebookReader(source.text).read();
  const isByRows = cells.every(({ source: lines }) => lines.every((line) => isOnItsRow(source, line)));
  if (cells.length === 0 || !isByRows) return undefined;
  const isPython = language === undefined || /^i?python\d*$/i.test(language);
  return {
    code: isPython ? codeOf(source, cells) : undefined,
    complete: (outline) => ({
      ...outline,
      symbols: mergeSymbols(outline.symbols, headingsOf(source, cells)),
      levels: levelsOf(source, cells, outline.levels),
      omitted: cells.flatMap(({ outputs }) => (outputs ? largeOutput(source, outputs) : [])),
    }),
  };
}

function isOnItsRow(source: SourceText, { start, end }: Content): boolean {
  const row = source.rowAt(start);
  return (
    source.text.slice(source.lineStarts[row], start - 1).trim() === "" &&
    /^,?$/.test(source.text.slice(end + 1, source.contentEnd(row)).trim())
  );
}

/** The kinds of containers around a value, and what the reader knows of them. */
interface Container {
  isObject: boolean;
  /** The key whose value is read next. */
  key: string;
  start: number;
  cell: Cell | undefined;
}

/** Reads the strings of cells with their positions, which a JSON parser does not give. Anything else in the text is passed over. */
class NotebookReader {
  readonly #text: string;
  readonly #stack: Container[] = [];
  readonly #cells: Cell[] = [];
  #language: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): { cells: Cell[]; language: string | undefined } {
    const mark = /["{}[\]]/g;
    for (let found = mark.exec(this.#text); found; found = mark.exec(this.#text)) {
      const at = found.index;
      if (found[0] === '"') {
        const end = endOfString(this.#text, at + 1);
        if (end === undefined) break;
        mark.lastIndex = end + 1;
        this.#string({ start: at + 1, end });
      } else if (found[0] === "{" || found[0] === "[") {
        if (this.#stack.length >= MAX_DEPTH) break;
        this.#stack.push({ isObject: found[0] === "{", key: "", start: at, cell: undefined });
      } else this.#close(at);
    }
    return { cells: this.#cells, language: this.#language };
  }

  #string(content: Content): void {
    const inner = this.#stack.at(-1);
    if (!inner) return;
    if (inner.isObject && isKey(this.#text, content.end + 1)) {
      inner.key = this.#text.slice(content.start, content.end);
      return;
    }
    const outer = this.#stack.at(-2);
    if (inner.isObject) {
      if (inner.key === "cell_type")
        this.#cellOf(inner).isCode = this.#text.slice(content.start, content.end) === "code";
      const isLanguage =
        (inner.key === "language" && outer?.key === "kernelspec") ||
        (inner.key === "name" && outer?.key === "language_info");
      if (isLanguage) this.#language ??= this.#text.slice(content.start, content.end);
    } else if (outer?.key === "source" || outer?.key === "input") this.#cellOf(outer).source.push(content);
  }

  #close(at: number): void {
    const closed = this.#stack.pop();
    const outer = this.#stack.at(-1);
    if (closed && !closed.isObject && outer?.key === "outputs")
      this.#cellOf(outer).outputs = { start: closed.start, end: at + 1 };
    if (closed?.cell && closed.cell.source.length > 0 && this.#cells.length < MAX_CELLS) this.#cells.push(closed.cell);
  }

  #cellOf(object: Container): Cell {
    return (object.cell ??= { isCode: false, start: object.start, source: [], outputs: undefined });
  }
}

/** Whether a colon follows. */
function isKey(text: string, from: number): boolean {
  let at = from;
  while (text[at] === " ") at++;
  return text[at] === ":";
}

function endOfString(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return undefined;
}

function unescaped(text: string, { start, end }: Content): string {
  try {
    return String(JSON.parse(text.slice(start - 1, end + 1))).replace(/\r?\n$/, "");
  } catch {
    return "";
  }
}

/** Magics at the head of a cell that run what follows as Python. */
const PYTHON_MAGIC = /^%%(?:time|timeit|capture|prun)\b/;
/** A statement that is measured. */
const MEASURED = /^%(?:time|timeit|prun)\s+([^-\s].*)$/;
const SPACE = 32;
const NEWLINE = 10;

/** The text with the same rows and offsets in which only the code of the cells is left: each line begins where its string does. */
function codeOf(source: SourceText, cells: readonly Cell[]): SourceText {
  const { text } = source;
  const units = new Uint16Array(text.length).fill(SPACE);
  for (let row = 1; row < source.lineCount; row++) units[source.lineStarts[row]! - 1] = NEWLINE;
  for (const { isCode, source: lines } of cells) {
    if (!isCode) continue;
    const contents = lines.map((line) => unescaped(text, line));
    const magic = contents.find((line) => line.trim() !== "") ?? "";
    if (magic.startsWith("%%") && !PYTHON_MAGIC.test(magic)) continue;
    for (const [index, { start, end }] of lines.entries()) {
      const statement = statementOf(contents[index]!);
      if (statement.length > end - start || statement.includes("\n")) continue;
      for (let at = 0; at < statement.length; at++) units[start + at] = statement.charCodeAt(at);
    }
  }
  return new SourceText(Buffer.from(Buffer.from(units.buffer).toString("utf16le")));
}

/** A line as Python: without what IPython adds to it (`%time f()`), or `pass` for what is not Python (`%magic`, `!command`, `?help`, `help?`). */
function statementOf(line: string): string {
  const code = line.trimStart();
  const indent = line.slice(0, line.length - code.length);
  const [, measured] = MEASURED.exec(code) ?? [];
  if (measured !== undefined) return indent + measured;
  return /^[%!?]/.test(code) || code.trimEnd().endsWith("?") ? `${indent}pass` : line;
}

function headingsOf(source: SourceText, cells: readonly Cell[]): DraftSymbol[] {
  const headings: DraftSymbol[] = [];
  for (const { isCode, source: lines } of cells) {
    if (isCode) continue;
    const last = lines.at(-1)!;
    for (const { start, end } of lines) {
      const [line, title = ""] =
        /^#{1,6}[ \t]+(\S.*)$/.exec(unescaped(source.text, { start, end: Math.min(end, start + MAX_HEADING) })) ?? [];
      const name = plainTitle(title);
      if (line === undefined || name === "" || headings.length >= MAX_HEADINGS) continue;
      const row = source.rowAt(start);
      headings.push({
        kind: "heading",
        name,
        qualifiedName: name,
        signature: foldSignature(line),
        doc: null,
        parent: null,
        start,
        end: last.end,
        startRow: row,
        nameStart: start,
        endRow: source.rowAt(last.start),
        leadRow: row,
      });
    }
  }
  return headings;
}

/** Cut levels: at the start of a cell, then between its statements. */
const AT_CELL = 1;
const IN_CODE = 2;
const IN_TEXT = 60;

function levelsOf(source: SourceText, cells: readonly Cell[], ofCode: Uint8Array): Uint8Array {
  const levels = new Uint8Array(source.lineCount + 1).fill(MAX_SYNTAX_LEVEL);
  for (const { isCode, start, source: lines } of cells) {
    levels[source.rowAt(start)] = AT_CELL;
    // The first line stays with the head of its cell.
    for (const line of lines.slice(1)) {
      const row = source.rowAt(line.start);
      const level = ofCode[row]!;
      levels[row] = !isCode ? IN_TEXT : level >= SOLID ? level : Math.min(level + IN_CODE, MAX_SYNTAX_LEVEL);
    }
  }
  return levels;
}

/** The rows within the brackets of outputs, if they are many or long. */
function largeOutput(source: SourceText, { start, end }: Content): RowRange[] {
  const from = source.rowAt(start) + 1;
  const to = source.rowAt(end - 1) - 1;
  return from <= to && source.weight(from, to + 1) > MAX_OUTPUT_WEIGHT ? [{ from, to }] : [];
}
