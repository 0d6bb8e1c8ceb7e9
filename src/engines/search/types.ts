/**
 * The search engine's interface. The engine is pure: it runs in Workers and in Node, does no I/O of its own and takes what it
 * needs (bytes by range, texts to show) as arguments.
 *
 *   writing   analyzeContent(content) → bytes        once per content, wherever it is parsed
 *             buildSegment(analyses)  → bytes        an immutable segment over any number of contents
 *             mergeSegments(segments) → bytes        the same contents in one segment
 *             buildTable(files, segments) → bytes    one table per revision: path → content
 *   reading   openIndex(revisions)    → SearchIndex  tables and the hot parts of their segments
 *             search(index, request, texts)          and findSymbols, findReferences, outlineOf
 *
 * A segment holds nothing of paths, so renames, branches and work trees share segments. The answers depend on the files of the
 * revision alone, never on how its contents are spread over segments.
 */

import type { INCLUDE_KINDS } from "../../contract/questions.ts";

/** Bytes that are read by range: a file, a buffer, an object in a bucket. */
export interface RangeReader {
  /** Where the bytes come from, for errors; absent if nobody asks. */
  readonly name?: string;
  /** Length in bytes. */
  readonly size: number;
  /**
   * Exactly the bytes `offset` to `offset + length`. The engine does not change them. Node answers at once, a Worker with a
   * promise; a query gathers all it needs before it scores.
   */
  read(offset: number, length: number): Uint8Array | Promise<Uint8Array>;
}

/** A segment or table is damaged, truncated, or of another format version. Rebuild it from the contents. */
export class SearchFormatError extends Error {
  override readonly name = "SearchFormatError";
  /** `RangeReader.name` of what is damaged, if known. */
  readonly source: string | undefined;

  constructor(message: string, source?: string) {
    super(message);
    this.source = source;
  }
}

/** What identifies a content: the bytes of the file and the language they were parsed as. */
export interface ContentKey {
  /** SHA-256 of the file's bytes, 64 lower-case hex digits. */
  sha256: string;
  /** Language id as in `parsing/languages.ts`. */
  language: string;
}

/** A chunk as the parser cut it; the parser's `ChunkRecord` and the rows of both stores have these fields. */
export interface SourceChunk {
  /** Ignored where the chunk is withheld. */
  text: string;
  /** 1-based, inclusive. */
  startLine: number;
  endLine: number;
  withheld: boolean;
}

/** A symbol as the parser found it; the parser's `SymbolRecord` and the rows of both stores have these fields. */
export interface SourceSymbol {
  kind: string;
  name: string;
  qualifiedName: string;
  /** Index into the content's symbols of the enclosing one. */
  parent: number | null;
  startLine: number;
  endLine: number;
  doc: string | null;
}

/** A content as the index is built from it. Chunks and symbols are in the parser's order: their positions are their ordinals. */
export interface SourceContent extends ContentKey {
  chunks: readonly SourceChunk[];
  symbols: readonly SourceSymbol[];
  /** Record of its uses (`engines/relations/record.ts`); absent if there is none, or if the text was stored without them. */
  uses?: Uint8Array | undefined;
}

/** A file of a revision. */
export interface RevisionFile extends ContentKey {
  /** From the root of the repository, with `/` between. */
  path: string;
}

/** One revision to search: its table, and where the segments are that the table names. */
export interface RevisionSource {
  table: RangeReader;
  /** Called once for each segment that the table names; may throw `SearchFormatError` if it is gone. */
  segment(id: string): RangeReader | Promise<RangeReader>;
}

/** Kinds of file that rank lower unless the query, or `include`, asks for them. */
export type IncludeKind = (typeof INCLUDE_KINDS)[number];

export interface SearchRequest {
  /** Words, identifiers, a whole issue text. `"quoted"` must occur literally; `path:GLOB` and `lang:ID` filter. */
  query: string;
  /** Maximum of results; default 10. */
  limit?: number | undefined;
  /** Globs, as of `options.include`: a file must match one of them and none that begins with `!`. */
  paths?: readonly string[] | undefined;
  /** Language ids; a file must be of one of them. */
  languages?: readonly string[] | undefined;
  /** Symbol kinds; a result must lie in or define a symbol of one of them. */
  kinds?: readonly string[] | undefined;
  /** Results to leave out at the beginning; default 0. */
  offset?: number | undefined;
  /** Budget of the answer as text, in tokens of four characters; default 2,000. */
  maxTokens?: number | undefined;
  include?: readonly IncludeKind[] | undefined;
}

/** The symbol that a result shows or lies in. */
interface ResultSymbol {
  name: string;
  qualifiedName: string;
  kind: string;
  /** Declaration on one line. */
  signature: string;
}

/**
 * A reason why a result was found. `word`: a word of the query, as written there, that occurs in the text. `literal`: a quoted text that
 * does. `path`: a word of the query in the path. `definition`: the name of the query that the file defines. `mention`: the path, which
 * the query mentions. `similarity`: the vector of the text is near that of the query; `text` says what compared them.
 */
export interface Match {
  kind: "word" | "literal" | "path" | "definition" | "mention" | "similarity";
  text: string;
}

/** The matched texts that occur in a result's lines: its words and literals. */
export function matchedTexts(matched: readonly Match[]): string[] {
  return matched.filter(({ kind }) => kind === "word" || kind === "literal").map(({ text }) => text);
}

/** Contiguous whole lines of a file. */
export interface Excerpt {
  /** 1-based, inclusive. */
  startLine: number;
  endLine: number;
  /** The lines as the file has them, joined by `\n`. */
  text: string;
  /** Qualified name of the innermost symbol that contains the lines. */
  symbol?: string;
}

/** A file that was found. */
export interface SearchResult {
  /** Which of the revisions given to `openIndex`. */
  revision: number;
  path: string;
  language: string;
  /** Lines of the best place, 1-based and inclusive. */
  startLine: number;
  endLine: number;
  symbol: ResultSymbol | null;
  /** Comparable within one answer only; four decimals. */
  score: number;
  /** What is shown of the file, in order of line, apart from each other; none where the file is only listed. */
  excerpts: Excerpt[];
  /** Why it was found, the strongest reasons first. */
  matched: Match[];
}

/** Nothing matches well: the results only come nearest, and are listed without lines. */
export interface WeakMatch {
  /** Words of the query that are nowhere in the index, as written there. */
  unknown: string[];
  /** Files searched. */
  files: number;
}

/** A word of the query that is nowhere in the index, or is not English, and what was searched for it. */
export interface Understood {
  /** As written in the query. */
  word: string;
  /** One word, or several with spaces between. */
  as: string;
}

export interface SearchAnswer {
  results: SearchResult[];
  /** Absent if the query was taken as written. */
  understood?: Understood[] | undefined;
  /** Absent if something matches well. Always absent where vectors take part, because every query has near vectors. */
  weak?: WeakMatch | undefined;
  /** Files found, of which `results` are the first. */
  total: number;
  /** There are results after these, or `maxTokens` has no room for lines that were worth showing. */
  truncated: boolean;
  /** Tokens of the results as text: a line for each, and the numbered lines of its excerpts. */
  tokens: number;
  /** Names all that the ranking depends on: engine and files of the revisions. */
  digest: string;
}

/** What must be read to show results: some chunks and some signatures of one file. */
export interface WantedText extends ContentKey {
  revision: number;
  path: string;
  chunks: readonly { ordinal: number; startLine: number; endLine: number }[];
  /** Ordinals of symbols whose signature is wanted. */
  symbols: readonly number[];
}

/** A chunk of a file of a revision. */
export interface ChunkKey {
  revision: number;
  path: string;
  ordinal: number;
}

export interface LoadedText {
  /** Texts of the wanted chunks, in their order; empty where withheld or gone. */
  chunks: string[];
  /** Signatures of the wanted symbols, in their order; empty where gone. */
  signatures: string[];
}

/**
 * Reads texts for an answer: from the work tree, SQLite, an artifact or Postgres. Called at most twice for a query, with
 * everything that is needed together. Answers in the order of `wanted`.
 */
export type TextSource = (wanted: readonly WantedText[]) => LoadedText[] | Promise<LoadedText[]>;

export interface SymbolRequest {
  /** A name, or a qualified name in any language's way: `Sinatra::Base`, `Plug.Builder`, `Outer.inner`, `Foo#bar`. */
  name: string;
  /**
   * `exact` compares with regard to case, and without where that finds nothing; `prefix` and `fuzzy` (letters of the name in
   * order, words of it in any order) disregard case. Without it: exact, else prefix, else fuzzy.
   */
  match?: "exact" | "prefix" | "fuzzy" | undefined;
  kind?: string | undefined;
  /** The file of the definitions; default: any. */
  path?: string | undefined;
  /** Default 20. */
  limit?: number | undefined;
}

/** A definition. */
export interface FoundSymbol extends ResultSymbol {
  revision: number;
  path: string;
  language: string;
  startLine: number;
  endLine: number;
}

export interface SymbolAnswer {
  symbols: FoundSymbol[];
  /** Definitions found, of which `symbols` are the first. */
  total: number;
  /** How the symbols match. */
  match: "exact" | "prefix" | "fuzzy";
  truncated: boolean;
}

export interface ReferenceRequest {
  /** Identifier, compared with regard to case; of a qualified name the last part. */
  name: string;
  /** Default 50. */
  limit?: number | undefined;
}

/** A line that uses an identifier. Found by name: bindings are not resolved. */
export interface FoundReference {
  revision: number;
  path: string;
  line: number;
  /** The line, without leading and trailing white space, at most 300 characters. */
  text: string;
  /** Qualified name of the innermost symbol around the line. */
  enclosing: string | null;
}

export interface ReferenceAnswer {
  /**
   * In order of path and line, sources before tests, documentation, examples and generated code; lines of definitions left out.
   */
  references: FoundReference[];
  /** Lines found; there may be more where `truncated`. */
  total: number;
  truncated: boolean;
}

export interface OutlineSymbol extends ResultSymbol {
  startLine: number;
  endLine: number;
  /** Number of enclosing symbols. */
  depth: number;
}

export interface OutlineAnswer {
  language: string;
  symbols: OutlineSymbol[];
}
