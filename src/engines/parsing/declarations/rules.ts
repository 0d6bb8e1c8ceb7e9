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
  /** How a declaration begins whose name stands on the line that ends it: `typedef struct {` and `} point;`. */
  namedAtEnd?: { begins: RegExp; ends: RegExp; kind: SymbolKind };
  /** A line that is a comment. */
  comment: RegExp;
  /** Opening and closing marks of comments that span lines. Within a word the opening one is part of a text, as in `src/*`. */
  block?: readonly [opening: RegExp, closing: string];
  /** How lines without indentation begin: others are part of a text, as of documentation in Lisp. */
  begins?: RegExp;
  /** Between the names of a container and a member; a dot unless given. */
  separator?: string;
  /** Kinds of containers that reach to the next one, or to a line such as `end`, without indentation. */
  section?: { kinds: readonly SymbolKind[]; end?: RegExp };
}

export const SLASHES = { comment: /^\s*(?:\/\/|\/?\*)/, block: [/(?:^|\s)\/\*/, "*/"] } as const;
export const HASH = { comment: /^\s*#/ } as const;
export const DASHES = /^\s*--/;
export const SEMICOLON = { comment: /^\s*;/ } as const;
