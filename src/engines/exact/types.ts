/**
 * Exact search: every line that matches a pattern, and what was not searched. The engine is pure: it runs in Workers and in Node, and
 * asks a `RevisionTexts` for files and texts.
 *
 *   createMatcher(pattern)            → Matcher     which lines of a text match, and which n-grams a text must hold
 *   buildNgramFilters(texts)          → bytes       which n-grams texts hold; derivable from the texts
 *   runGrep(texts, request, options)  → GrepAnswer  order, totals, budget and completeness, for all adapters
 */
import type { NotSearched } from "../../contract/not-searched.ts";
import type { GREP, Request } from "../../contract/questions.ts";
import type { NgramQuery } from "./ngrams.ts";

export type GrepRequest = Request<typeof GREP>;

/** A file of a revision, whether it is searched or not. Every file of the tree is one, submodules and links included. */
export interface TextFile {
  /** Position of its revision in the scope. */
  revision: number;
  /** From the root of the repository, with `/` between. */
  path: string;
  /** Null where it is not known. */
  language: string | null;
  /** Bytes; null where they are not known. */
  size: number | null;
  /** `indexed`: ranked and searched; `searched`: its text alone; `not_searched`: it has no `content`. */
  state: "indexed" | "searched" | "not_searched";
  /** Why it is not searched; of a searched file, why ranking leaves it out (`generated`, `vendored`, `lockfile`, …). */
  reason?: string | undefined;
  /** Names the text: equal keys are equal bytes. Undefined where nothing is searched. */
  content: string | undefined;
  /** Lines that may hold a secret. They do not depend on any pattern. */
  withheldLines: number;
}

/** A text as it was stored or read. */
export interface FileBytes {
  content: string;
  /** The bytes of the file as they are, in any encoding; lines that may hold a secret are empty. Not changed by the engine. */
  bytes: Uint8Array;
  /** The empty lines that held one: ranges, 1-based and inclusive, ascending. */
  withheld: readonly (readonly [from: number, to: number])[];
}

/** A text that cannot be read. */
export interface MissingText {
  content: string;
  missing: Extract<NotSearched, "not_stored" | "unreadable" | "damaged">;
}

/** What an exact search found, without the lines. It depends on the pattern, the texts and the bytes that may be read alone. */
export interface Tally {
  /** Number of distinct texts that were searched. */
  contents: number;
  /** Of each text that matches, in turns: its position among them, its matches, its matching lines. */
  found: Uint32Array;
  /** Positions of the texts beyond the bytes that may be read. */
  left: Uint32Array;
}

/** Kept by pattern, for texts that stay the same. */
export interface Tallies {
  get(key: string): Tally | undefined;
  set(key: string, tally: Tally): void;
}

/** The texts of the revisions of a scope. */
export interface RevisionTexts {
  /** Milliseconds after which a search ends incomplete, where that is not the engine's default. */
  maxMs?: number;
  /** Whether each file has a content of its own, so that none need be looked up to tell. */
  contentsDiffer?: boolean;
  /**
   * All files, revision by revision, in order of path (UTF-8). They must not change. Of files that are given in the same array again, a
   * search takes what an earlier one has found about them.
   */
  files(): Promise<readonly TextFile[]>;
  /**
   * Whether one of `contents`, by its number, may hold a match, from n-gram filters. A content that is not known to be without one passes.
   * Undefined if nothing can be left out.
   */
  candidates(query: NgramQuery, contents: readonly string[]): Promise<((number: number) => boolean) | undefined>;
  /** Tallies of earlier searches of the same texts, by pattern, so that a further page does not count everything again. */
  tallies?: Tallies;
  /** The WebAssembly of `rregex`; asked for only where a pattern is more than a text. */
  regexModule(): Promise<WebAssembly.Module>;
  /**
   * Reads texts in packs, in any order, each wanted one once: as text or as missing. The bytes of a text may be overwritten when the next
   * one is asked for. The engine stops early when its budget is used up. Reading ahead is the adapter's business, within its memory.
   */
  read(contents: readonly string[]): AsyncIterable<FileBytes | MissingText>;
  /** For each file, the qualified name of the innermost symbol around each of its lines; null where there is none. */
  enclosing(
    wanted: readonly { revision: number; path: string; lines: readonly number[] }[],
  ): Promise<(string | null)[][]>;
}

/** A line that matches, or the lines of a match over several. */
export interface FoundLine {
  revision: number;
  path: string;
  /** 1-based. */
  line: number;
  /** Last line, where it is another one. */
  endLine?: number;
  /** Columns of the matches, 1-based, in UTF-16 units of the whole line (or lines); the end is exclusive. */
  ranges: readonly (readonly [from: number, to: number])[];
  /** As `ranges`, in bytes of the file. */
  byteRanges: readonly (readonly [from: number, to: number])[];
  /** Without its line end. */
  text: string;
  /** Column at which `text` begins, where it is a part of a long line. */
  textStart?: number;
  before: readonly string[];
  after: readonly string[];
  enclosing: string | null;
}

export interface GrepCoverage {
  /** Searched files and their bytes. */
  files: number;
  bytes: number;
  notSearched: Partial<Record<NotSearched, number>>;
  withheldLines: number;
}

export interface GrepAnswer {
  matches: FoundLine[];
  /** Where `filesOnly` or `count` asks for them. */
  files?: { revision: number; path: string; lines: number }[];
  total: { lines: number; files: number };
  complete: boolean;
  coverage: GrepCoverage;
  /** Some of the files that were not searched and whose absence makes the answer incomplete. */
  gaps: { revision: number; path: string; reason: NotSearched }[];
  /** Some of the files with withheld lines, and how many those are: of all searched files, whatever the pattern is. */
  withheldIn: { revision: number; path: string; lines: number }[];
  truncated: boolean;
}
