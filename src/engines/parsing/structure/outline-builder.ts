import { GLUED, layoutLevels } from "../levels.ts";
import { cleanComment, foldSignature, limitDoc } from "../prose.ts";
import type { SourceText } from "../source-text.ts";
import type { DraftSymbol, Outline, SymbolKind } from "../types.ts";

/** A file with more sections than this is data; the rest is left to its chunks. */
const MAX_SECTIONS = 5000;

/** Patterns are applied to this many characters of a line, which bounds backtracking. */
const MAX_MATCHED = 500;

export function matched(line: string): string {
  return line.length <= MAX_MATCHED ? line : line.slice(0, MAX_MATCHED);
}

interface Section {
  kind: SymbolKind;
  name: string;
  /** 0-based rows, both inclusive. */
  startRow: number;
  endRow: number;
  parent?: number | null;
  separator?: string;
  signature?: string;
  doc?: string | null;
  leadRow?: number;
}

/** Collects the sections of a file that is read by rows. */
export class OutlineBuilder {
  readonly source: SourceText;
  readonly levels: Uint8Array;
  readonly symbols: DraftSymbol[] = [];

  constructor(source: SourceText) {
    this.source = source;
    this.levels = layoutLevels(source);
  }

  /** Adds a section and returns its index; `null` once there are too many. */
  add(section: Section): number | null {
    const name = section.name.replace(/\s+/g, " ").trim();
    if (name === "" || this.symbols.length >= MAX_SECTIONS) return null;
    const parent = section.parent ?? null;
    const scope = parent === null ? "" : `${this.symbols[parent]!.qualifiedName}${section.separator ?? "."}`;
    const { source } = this;
    const line = source.line(section.startRow);
    const start = source.lineStarts[section.startRow]! + line.length - line.trimStart().length;
    const endRow = this.#lastSolidRow(section.startRow, section.endRow);
    this.symbols.push({
      kind: section.kind,
      name,
      qualifiedName: scope + name,
      signature: foldSignature(section.signature ?? line),
      doc: section.doc ? limitDoc(section.doc) : null,
      parent,
      start,
      end: Math.max(source.contentEnd(endRow), start),
      startRow: section.startRow,
      nameStart: start,
      endRow,
      leadRow: section.leadRow ?? section.startRow,
    });
    return this.symbols.length - 1;
  }

  /** Line comments directly above a row: their first row and their text. They stay with the row. */
  commentAbove(row: number, marker: RegExp): { leadRow: number; doc: string | null } {
    let leadRow = row;
    while (leadRow > 0 && marker.test(this.source.line(leadRow - 1))) leadRow--;
    if (leadRow === row) return { leadRow, doc: null };
    this.moveCut(leadRow, row);
    const lines: string[] = [];
    for (let at = leadRow; at < row; at++) lines.push(this.source.line(at).trim());
    // Without the interpreter of a script, and pragmas of Haskell.
    const doc = cleanComment(lines.filter((line) => !/^(?:#!|\{-#)/.test(line)));
    return { leadRow, doc: doc === "" ? null : doc };
  }

  /** Moves the cut level of `row` to `leadRow` and prevents cuts in between. */
  moveCut(leadRow: number, row: number): void {
    this.levels[leadRow] = this.levels[row]!;
    for (let at = leadRow + 1; at <= row; at++) this.levels[at] = GLUED;
  }

  finish(): Outline {
    return { symbols: this.symbols, levels: this.levels, hasErrors: false };
  }

  #lastSolidRow(startRow: number, endRow: number): number {
    let last = Math.min(endRow, this.source.lineCount - 1);
    while (last > startRow && this.source.isBlank(last)) last--;
    return last;
  }
}
