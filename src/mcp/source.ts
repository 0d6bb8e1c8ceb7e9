/**
 * What the MCP tools ask: one interface for the local index of a work tree and for the hosted indexes of a tenant. Types of
 * requests and answers are the search engine's.
 */
import type {
  OutlineSymbol,
  ReferenceAnswer,
  ReferenceRequest,
  SearchAnswer,
  SearchRequest,
  SymbolAnswer,
  SymbolRequest,
} from "../retrieval/types.ts";

/** The index that an answer comes from. */
export interface IndexInfo {
  /** Normalised identity (`github.com/owner/name`), or the folder's name if there is no remote. */
  repo: string;
  /** Commit that is indexed; null outside of git. */
  gitSha: string | null;
  indexedAtMs: number;
  /** The files may differ from the commit: the index is of a work tree with its uncommitted edits. */
  isWorkTree: boolean;
}

/** Which index to ask. */
export interface Scope {
  /** Without it, every repository that the source has. */
  repo?: string | undefined;
  /** Branch, tag or commit; without it the current revision. */
  ref?: string | undefined;
}

/** Lines of a file. */
export interface FileText {
  path: string;
  language: string;
  /** 1-based, inclusive. */
  startLine: number;
  endLine: number;
  lineCount: number;
  /** The lines; withheld ones are empty. */
  text: string;
  /** Ranges of lines that may hold a secret. */
  withheld: readonly (readonly [from: number, to: number])[];
}

/** An answer, and the indexes that its `revision` numbers refer to. */
export type Answered<T> = T & { indexes: readonly IndexInfo[] };

export interface RepoInfo extends IndexInfo {
  fileCount: number;
}

/** Throws `SourceError` for errors that the caller can fix: an unknown repository, ref, path or glob. */
export interface CodeSource {
  search(scope: Scope, request: SearchRequest): Promise<Answered<SearchAnswer & { degraded?: string }>>;
  symbols(scope: Scope, request: SymbolRequest): Promise<Answered<SymbolAnswer>>;
  references(scope: Scope, request: ReferenceRequest): Promise<Answered<ReferenceAnswer>>;
  outline(scope: Scope, path: string): Promise<Answered<{ language: string; symbols: OutlineSymbol[] }>>;
  /** All lines without bounds. */
  readFile(scope: Scope, path: string, startLine?: number, endLine?: number): Promise<Answered<FileText>>;
  listRepos(): Promise<RepoInfo[]>;
}

/** A request that the source cannot answer. The message is for the agent and says what to ask instead. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}
