import { ByteReader, type ByteWriter } from "./bytes.ts";
import type { SourceContent } from "./types.ts";

/**
 * Record of a content: lines of its chunks, and names, kinds and lines of its symbols. Its bytes are the same in an analysis and in a
 * segment, so merging copies them.
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

/** A record, decoded part by part as it is needed: most candidates of a query need no symbols. */
export class ContentRecord {
  readonly #bytes: Uint8Array;
  #functions: { names: string[]; end: number } | undefined;
  #chunks: { places: ChunkPlace[]; end: number } | undefined;
  #symbols: SymbolPlace[] | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Names of the functions that are not inside a type or another function. */
  get functions(): readonly string[] {
    return this.#readFunctions().names;
  }

  get chunks(): readonly ChunkPlace[] {
    return this.#readChunks().places;
  }

  get symbols(): readonly SymbolPlace[] {
    return (this.#symbols ??= readSymbols(new ByteReader(this.#bytes, this.#readChunks().end)));
  }

  #readFunctions(): { names: string[]; end: number } {
    if (this.#functions) return this.#functions;
    const reader = new ByteReader(this.#bytes);
    const names = reader.strings(reader.varint());
    return (this.#functions = { names, end: reader.position });
  }

  #readChunks(): { places: ChunkPlace[]; end: number } {
    if (this.#chunks) return this.#chunks;
    const reader = new ByteReader(this.#bytes, this.#readFunctions().end);
    const places = readChunks(reader);
    return (this.#chunks = { places, end: reader.position });
  }
}

/** Scopes whose functions count as top-level ones. */
const OPEN_KINDS: ReadonlySet<string> = new Set(["module", "namespace", "object"]);

/** Symbol kinds; a kind's number in a record is its position here, so only append. Other kinds are written as strings. */
const KINDS = (
  "function method constructor class interface struct enum enum_member union trait type constant variable field module " +
  "namespace object extension macro test heading key rule table view stage target element"
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

export function writeRecord(writer: ByteWriter, content: SourceContent): void {
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
  const { symbols } = content;
  writer.varint(symbols.length);
  line = 0;
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

function readSymbols(reader: ByteReader): SymbolPlace[] {
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
