import type { SymbolKind } from "../types.ts";

type Patterns = readonly (readonly [pattern: RegExp, kind: SymbolKind])[];

/** How the declarations of a language look at the start of a line. */
export interface DeclarationRules {
  /** In order; the groups of a pattern are the parts of the name, joined by a dot. Lines are cut before they are matched (`matched`). */
  patterns: Patterns;
  /** Patterns of declarations that exist only inside containers. */
  members?: Patterns;
  /** Start of a next line, indented deeper, that continues the head of a declaration: `::` below the name of a Haskell function. */
  goesOn?: RegExp;
  /** A line whose head continues below, however the next line begins: an `instance` of Haskell without `where`, parameters in Julia. */
  opens?: RegExp;
  /** A line of a head whose parameters continue below: one that ends with `(` or `,` unless given. */
  parameters?: RegExp;
  /** How the last line of a clause ends if the next line may be a further one: `f 0 = 1` below `f :: Int`. */
  clauses?: RegExp;
  /** Further lines that belong to the declaration above at the same indentation: `const` behind the head of a procedure of Pascal. */
  body?: RegExp;
  /** A line that begins with a brace is not the body of the declaration above: in Jsonnet it is the value of the file. */
  hasOwnBraces?: boolean;
  /**
   * Lines that end declarations, whatever the indentation, and of which kinds. `inner` is the line before functions in a function; others
   * end at the next function.
   */
  closing?: {
    ends: readonly (readonly [pattern: RegExp, kinds: readonly SymbolKind[]])[];
    inner: RegExp;
    /** Lines of an interface that only name functions. */
    named: RegExp;
  };
  /** A declaration of one line, which a closing word below it does not close: a short function of Julia. */
  single?: RegExp;
  /** A declaration whose name is on its last line: `typedef struct {` and `} point;`. */
  namedAtEnd?: { begins: RegExp; ends: RegExp; kind: SymbolKind };
  /** The quote of texts of one line, a double one unless given: in one, no comment begins. */
  quote?: string;
  /** Lines without indentation that may end a declaration. Others are directives, or part of a text, such as a docstring in Lisp. */
  begins?: RegExp;
  /** Quotes of multi-line texts. */
  texts?: readonly string[];
  /** Opening of a heredoc, and the start of its closing line as a replacement of the opening: `<<(END)` and `$1`. */
  heredoc?: readonly [opening: RegExp, closing: string];
  /** Between the names of a container and a member; a dot unless given. */
  separator?: string;
  /** Kinds of containers that reach to the next one, or to a line such as `end`, without indentation. */
  section?: { kinds: readonly SymbolKind[]; end?: RegExp };
}

/** Matches every line but preprocessor directives. `#define` counts as a declaration. */
export const NO_DIRECTIVE =
  /^(?!#\s*(?:if|ifdef|ifndef|elif|elseif|else|end|endif|pragma|include|import|undef|error|warning|line|region|endregion)\b)/i;

export const TRIPLE_QUOTES = ['"""', "'''"] as const;
