import type { RowRange } from "./pieces.ts";
import type { LineRange } from "./secrets/lines.ts";
import type { ReadUses } from "./uses-reader.ts";

/** Kinds of symbols. The terms follow the Language Server Protocol if it has them. */
export const SYMBOL_KINDS = [
  "function",
  "method",
  "constructor",
  "class",
  "interface",
  "struct",
  "enum",
  "enum_member",
  "union",
  "trait",
  "type",
  "constant",
  "variable",
  "field",
  "module",
  "namespace",
  "object",
  "extension",
  "macro",
  "test",
  "heading",
  "key",
  "rule",
  "table",
  "view",
  "stage",
  "target",
  "element",
  "component",
] as const;
export type SymbolKind = (typeof SYMBOL_KINDS)[number];

/** A definition in a file. Lines are 1-based and inclusive; bytes index the file's own bytes, the end is exclusive. */
export interface CodeSymbol {
  /** A {@link SymbolKind}; an index written by another parser version may hold kinds that this one does not know. */
  kind: string;
  name: string;
  /** Name within its scopes, joined the way the language writes it (`A.b`, `A::b`, `A#b`). */
  qualifiedName: string;
  /** Declaration head on one line, whitespace folded, at most 300 characters. */
  signature: string;
  /** Doc comment or docstring without its markers, at most 2,000 characters. */
  doc: string | null;
  /** Index of the enclosing symbol in the file's symbols; may point forward (a Go method before its type). */
  parent: number | null;
  /** Line of the definition's name: decorators, attributes and a return type on lines of their own come before it. */
  startLine: number;
  endLine: number;
  /** Range of the whole definition, with its decorators and attributes and without its doc comment. */
  startByte: number;
  endByte: number;
}

/** A run of whole lines. The text is exactly the file's bytes from `startByte` to `endByte`, unless it is withheld. */
export interface Chunk {
  /** Empty if the chunk is withheld. */
  text: string;
  /** Enclosing scopes whose head is not in `text`: a breadcrumb, then their signatures. Never the path. Empty if the chunk is withheld. */
  context: string;
  /** SHA-256 (lower-case hex) of {@link embeddingText}. */
  hash: string;
  startLine: number;
  endLine: number;
  startByte: number;
  endByte: number;
  /** Index of the innermost symbol that contains the chunk, or else of the first one that begins in it. */
  symbol: number | null;
  /** True if the lines hold a likely secret, so that their text is not indexed. */
  withheld: boolean;
}

/** Why a file whose language has a grammar got plain chunks. */
export type FallbackReason = "no-grammar" | "budget" | "long-lines" | "too-deep" | "parser-error" | "time";

export interface ParsedFile {
  text: string;
  /** Encoding of the bytes: UTF-8, or Latin-1 if they are not valid UTF-8 (one byte is one character). */
  encoding: "utf-8" | "latin-1";
  lineCount: number;
  symbols: CodeSymbol[];
  chunks: Chunk[];
  /** Lines that hold a likely secret: fewer than the withheld chunks have. */
  withheldLines: LineRange[];
  /** Record of the names that it uses (`engines/relations/record.ts`); undefined without a reader, or without rules for its language. */
  uses: Uint8Array | undefined;
  /** `partial`: by syntax, except lines that the grammar cannot read. */
  outcome: "syntax" | "partial" | "structure" | "plain" | "fallback";
  fallbackReason?: FallbackReason;
  /** The grammar could not read some text, possibly a single token. Symbols around it are kept. */
  hasErrors: boolean;
}

/** Rows are 0-based and inclusive, offsets are UTF-16 code units, the end is exclusive. */
export interface DraftSymbol {
  kind: SymbolKind;
  name: string;
  qualifiedName: string;
  signature: string;
  doc: string | null;
  parent: number | null;
  start: number;
  end: number;
  startRow: number;
  endRow: number;
  nameStart: number;
  /** First row of the doc comment and decorators that belong to it. */
  leadRow: number;
  /** Chunks are cut and described without it. */
  outlineOnly?: boolean;
}

/**
 * Output of a parse for the chunker: symbols, and for each row the depth of a cut before it.
 * A low level is a clean cut (no node spans it), see `levels.ts`.
 */
export interface Outline {
  symbols: DraftSymbol[];
  levels: Uint8Array;
  hasErrors: boolean;
  uses?: ReadUses | undefined;
  /** Whether some lines could not be read by the grammar. */
  isPartial?: boolean;
  /** Rows that are in no chunk, in order: data within the file. */
  omitted?: readonly RowRange[];
}
