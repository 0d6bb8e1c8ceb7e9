import type { SymbolKind } from "../types.ts";

type Patterns = readonly (readonly [pattern: RegExp, kind: SymbolKind])[];

/** How the declarations of a language look at the start of a line. */
export interface DeclarationRules {
  /** In order; the groups of a pattern are the parts of the name, joined by a dot. Lines are cut before they are matched (`matched`). */
  patterns: Patterns;
  /** How declarations look that are there inside of containers only. */
  members?: Patterns;
  /** How the next line begins, indented deeper, where it belongs to the head of a declaration: `::` below the name of a function of Haskell. */
  goesOn?: RegExp;
  /** A line whose head goes on below, however the next one begins: `instance` of Haskell without `where`. */
  opens?: RegExp;
  /** How a declaration begins whose name stands on the line that ends it: `typedef struct {` and `} point;`. */
  namedAtEnd?: { begins: RegExp; ends: RegExp; kind: SymbolKind };
  /** A line that is a comment. */
  comment: RegExp;
  /** Opening and closing marks of comments that span lines. Within a word the opening one is part of a text, as in `src/*`. */
  block?: readonly [opening: RegExp, closing: string];
  /** How lines without indentation begin that may end a declaration: others are part of a text, as of documentation in Lisp, or directives. */
  begins?: RegExp;
  /** Marks that begin and end a text of several lines. */
  texts?: readonly string[];
  /** What begins a text that a line of its own ends; the first group that matches is that line, or the quote before its `@`. */
  heredoc?: RegExp;
  /** Between the names of a container and a member; a dot unless given. */
  separator?: string;
  /** Kinds of containers that reach to the next one, or to a line such as `end`, without indentation. */
  section?: { kinds: readonly SymbolKind[]; end?: RegExp };
}

/** A line that is no directive of a preprocessor, but for those that define something. */
export const NO_DIRECTIVE =
  /^(?!#\s*(?:if|ifdef|ifndef|elif|elseif|else|end|endif|pragma|include|import|undef|error|warning|line|region|endregion)\b)/i;

export const TRIPLE_QUOTES = ['"""', "'''"] as const;

export const SLASHES = { comment: /^\s*(?:\/\/|\/?\*)/, block: [/(?:^|\s)\/\*/, "*/"] } as const;
export const HASH = { comment: /^\s*#/ } as const;
export const DASHES = /^\s*--/;
export const SEMICOLON = { comment: /^\s*;/ } as const;
