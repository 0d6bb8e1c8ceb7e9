import type { CodeSymbol } from "../parsing/types.ts";
import { HASH_BYTES } from "./layout.ts";
import type { ColumnName } from "./rows.ts";
import type { EmbeddedChunk, SnapshotFile, SnapshotUse } from "./types.ts";

export type Cell = string | number | Uint8Array | null;
export type Row = Partial<Record<ColumnName, Cell>>;
type Span = Pick<CodeSymbol, "startLine" | "endLine" | "startByte" | "endByte">;

/** The rows of one file: itself, its symbols, its chunks, its uses. Throws `RangeError` naming the file for numbers out of range. */
export function* rowsOfFile(
  file: SnapshotFile,
  contentHash: Uint8Array,
): Generator<{ row: Row; vector: Uint8Array | undefined }> {
  const check = (value: number, what: string): number => {
    if (!Number.isInteger(value) || value < 0 || value > 0x7fffffff)
      throw new RangeError(`${file.path}: ${what} is ${value}`);
    return value;
  };
  const symbolIndex = (value: number | null, what: string): number | null => {
    if (value !== null && check(value, what) >= file.symbols.length)
      throw new RangeError(`${file.path}: ${what} ${value} does not exist`);
    return value;
  };
  const span = (of: Span) => ({
    start_line: check(of.startLine, "start line"),
    end_line: check(of.endLine, "end line"),
    start_byte: check(of.startByte, "start byte"),
    end_byte: check(of.endByte, "end byte"),
  });
  const spanWithin = (of: Span) => {
    if (of.endLine < of.startLine)
      throw new RangeError(`${file.path}: line ${of.endLine} is before line ${of.startLine}, where it begins`);
    return span(of);
  };
  const common = { path: file.path, language: file.language, content_hash: contentHash };
  const whole = span({ startLine: 1, endLine: file.lineCount, startByte: 0, endByte: file.sizeBytes });
  yield { row: { kind: "file", ...common, outcome: file.outcome, ...whole }, vector: undefined };

  for (const [ordinal, symbol] of file.symbols.entries()) {
    const row: Row = {
      kind: "symbol",
      ...common,
      ordinal,
      parent: symbolIndex(symbol.parent, "parent symbol"),
      symbol_kind: symbol.kind,
      name: symbol.name,
      qualified_name: symbol.qualifiedName,
      signature: symbol.signature,
      doc: symbol.doc,
      ...spanWithin(symbol),
    };
    yield { row, vector: undefined };
  }
  for (const [ordinal, chunk] of file.chunks.entries()) {
    const symbol = symbolIndex(chunk.symbol, "symbol");
    const named = symbol === null ? undefined : file.symbols[symbol];
    const row: Row = {
      kind: "chunk",
      ...common,
      ordinal,
      parent: symbol,
      symbol_kind: named?.kind ?? null,
      name: named?.name ?? null,
      qualified_name: named?.qualifiedName ?? null,
      ...spanWithin(chunk),
      context: chunk.withheld ? null : chunk.context,
      text: chunk.withheld ? null : chunk.text,
      chunk_hash: hashBytes(chunk.hash, file.path),
    };
    yield { row, vector: chunk.withheld ? undefined : chunk.vector };
  }
  for (const [ordinal, { kind, name, line, enclosing, meaning }] of file.uses.entries()) {
    const row: Row = {
      kind: "use",
      ...common,
      ordinal,
      symbol_kind: kind,
      name,
      qualified_name: enclosing,
      ...span({ startLine: line, endLine: line, startByte: 0, endByte: 0 }),
      context: meaning,
    };
    yield { row, vector: undefined };
  }
}

/** Bytes of a SHA-256 in hex. Throws `RangeError` naming the path for anything else. */
export function hashBytes(hex: string, path: string): Uint8Array {
  const bytes = Buffer.from(hex, "hex");
  if (bytes.length !== HASH_BYTES || hex.length !== 2 * HASH_BYTES)
    throw new RangeError(`${path}: not a SHA-256 in hex: ${hex}`);
  return bytes;
}

/**
 * A file with its text as a database would give it back: no lone surrogates (a signature may be cut inside a pair), and no U+0000,
 * which Postgres cannot hold. A builder that never had a database must write the same bytes.
 */
export function clean(file: SnapshotFile): SnapshotFile {
  const symbols = file.symbols.map(({ name, qualifiedName, signature, doc, ...rest }): CodeSymbol =>
    Object.assign(rest, {
      name: cleanText(name),
      qualifiedName: cleanText(qualifiedName),
      signature: cleanText(signature),
      doc: doc === null ? null : cleanText(doc),
    }),
  );
  const chunks = file.chunks.map(({ context, text, ...rest }): EmbeddedChunk =>
    Object.assign(rest, { context: cleanText(context), text: cleanText(text) }),
  );
  const uses = file.uses.map(({ name, enclosing, meaning, ...rest }): SnapshotUse =>
    Object.assign(rest, {
      name: cleanText(name),
      enclosing: enclosing === null ? null : cleanText(enclosing),
      meaning: meaning === null ? null : cleanText(meaning),
    }),
  );
  return { ...file, path: cleanText(file.path), symbols, chunks, uses };
}

function cleanText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\uFFFD") : wellFormed;
}
