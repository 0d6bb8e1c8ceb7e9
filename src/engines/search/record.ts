import { ByteReader, type ByteWriter } from "./bytes.ts";
import type { SourceContent } from "./types.ts";

/**
 * Record of a content, in two parts: the outline (names of top-level functions, lines of the chunks), which every candidate of a query
 * needs and which is small, and the symbols, which only those that are shown need. Their bytes are the same in an analysis and in a segment,
 * so merging copies them.
 */

export interface ChunkPlace {
  startLine: number;
  endLine: number;
  withheld: boolean;
}

export interface SymbolPlace {
  kind: string;
  name: string;
  qualifiedName: string;
  parent: number | null;
  startLine: number;
  endLine: number;
}

/** The record of a content. Its symbols are added where they are needed. */
export class ContentRecord {
  /** Names of the functions that are not inside a type or another function. */
  readonly functions: readonly string[];
  readonly chunks: readonly ChunkPlace[];
  #symbols: readonly SymbolPlace[] | undefined;

  constructor(outline: Uint8Array) {
    const reader = new ByteReader(outline);
    this.functions = reader.strings(reader.varint());
    this.chunks = readChunks(reader);
  }

  get hasSymbols(): boolean {
    return this.#symbols !== undefined;
  }

  addSymbols(symbols: readonly SymbolPlace[]): void {
    this.#symbols = symbols;
  }

  /** Throws `TypeError` before `addSymbols`. */
  get symbols(): readonly SymbolPlace[] {
    if (!this.#symbols) throw new TypeError("the symbols of this record were not read");
    return this.#symbols;
  }
}

/** Scopes whose functions count as top-level ones. */
const OPEN_KINDS: ReadonlySet<string> = new Set(["module", "namespace", "object"]);

/** Symbol kinds; a kind's number in a record is its position here, so only append. Other kinds are written as strings. */
const KINDS = (
  "function method constructor class interface struct enum enum_member union trait type constant variable field module " +
  "namespace object extension macro test heading key rule table view stage target element component"
).split(" ");
const OTHER_KIND = 255;

/** Separators between the parent's qualified name and a symbol's own name, by number; with `WHOLE` the qualified name is written out. */
const SEPARATORS = [".", "::", "#", "/", ":", " > ", "\\"];
const UNQUALIFIED = 254;
const WHOLE = 255;

/** Number of a kind; all unlisted kinds share one. */
export function kindNumber(kind: string): number {
  const number = KINDS.indexOf(kind);
  return number < 0 ? OTHER_KIND : number;
}

/** Kind of a number; undefined for the number of unlisted kinds. */
export function kindOfNumber(number: number): string | undefined {
  return KINDS[number];
}

export function writeOutline(writer: ByteWriter, content: SourceContent): void {
  const functions = content.symbols.filter(
    ({ kind, parent }) =>
      (kind === "function" || kind === "macro") &&
      (parent === null || OPEN_KINDS.has(content.symbols[parent]?.kind ?? "")),
  );
  writer.varint(functions.length);
  for (const { name } of functions) writer.string(name);
  writer.varint(content.chunks.length);
  let line = 0;
  for (const { startLine, endLine, withheld } of content.chunks) {
    writer.zigzag(startLine - line);
    writer.varint((endLine - startLine) * 2 + (withheld ? 1 : 0));
    line = endLine;
  }
}

export function writeSymbols(writer: ByteWriter, { symbols }: SourceContent): void {
  writer.varint(symbols.length);
  let line = 0;
  for (const { kind, name, qualifiedName, parent, startLine, endLine } of symbols) {
    const number = kindNumber(kind);
    writer.u8(number);
    if (number === OTHER_KIND) writer.string(kind);
    writer.string(name);
    writer.varint(parent === null ? 0 : parent + 1);
    const how = qualification(qualifiedName, name, parent === null ? undefined : symbols[parent]?.qualifiedName);
    writer.u8(how);
    if (how === WHOLE) writer.string(qualifiedName);
    writer.zigzag(startLine - line);
    writer.varint(Math.max(0, endLine - startLine));
    line = startLine;
  }
}

function qualification(qualifiedName: string, name: string, outer: string | undefined): number {
  if (qualifiedName === name) return UNQUALIFIED;
  if (outer === undefined) return WHOLE;
  const how = SEPARATORS.findIndex((separator) => qualifiedName === outer + separator + name);
  return how < 0 ? WHOLE : how;
}

function readChunks(reader: ByteReader): ChunkPlace[] {
  const chunks: ChunkPlace[] = [];
  let line = 0;
  for (let left = reader.varint(); left > 0; left--) {
    const startLine = line + reader.zigzag();
    const rest = reader.varint();
    line = startLine + Math.floor(rest / 2);
    chunks.push({ startLine, endLine: line, withheld: rest % 2 === 1 });
  }
  return chunks;
}

/** Decodes what `writeSymbols` wrote. Throws `SearchFormatError` at the end of the bytes. */
export function readSymbols(bytes: Uint8Array): SymbolPlace[] {
  const reader = new ByteReader(bytes);
  const symbols: SymbolPlace[] = [];
  const hows: number[] = [];
  let line = 0;
  for (let left = reader.varint(); left > 0; left--) {
    const number = reader.u8();
    const kind = number === OTHER_KIND ? reader.string() : (KINDS[number] ?? "");
    const name = reader.string();
    const parent = reader.varint();
    const how = reader.u8();
    const qualifiedName = how === WHOLE ? reader.string() : name;
    line += reader.zigzag();
    hows.push(how);
    symbols.push({
      kind,
      name,
      qualifiedName,
      parent: parent === 0 ? null : parent - 1,
      startLine: line,
      endLine: line + reader.varint(),
    });
  }
  for (let i = 0; i < symbols.length; i++) qualify(symbols, hows, i, 0);
  return symbols;
}

/** Builds a symbol's qualified name, its parent's first: parents may come later in the list. */
function qualify(symbols: SymbolPlace[], hows: number[], index: number, depth: number): void {
  const symbol = symbols[index];
  const separator = SEPARATORS[hows[index] ?? WHOLE];
  if (!symbol || separator === undefined || symbol.parent === null || depth > symbols.length) return;
  qualify(symbols, hows, symbol.parent, depth + 1);
  hows[index] = WHOLE;
  symbol.qualifiedName = (symbols[symbol.parent]?.qualifiedName ?? "") + separator + symbol.name;
}
