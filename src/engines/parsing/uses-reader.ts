import type { LanguageId } from "./languages.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** A function that recovery found in a file with syntax errors. */
export interface FoundFunction {
  name: string;
  /** Line of its name, 1-based. */
  line: number;
}

/** The uses of names in a file, as read from its tree. */
export interface ReadUses {
  /** How many there are, without functions that are named and not called: a tree with errors has more of these. */
  readonly count: number;
  /** Whether there is one on the lines `from` to `to`. */
  hasBetween: (from: number, to: number) => boolean;
  /** Adds the uses in the tree of a part of the file; of what they mean nothing is known. */
  addNamed: (root: SyntaxNode) => void;
  /** Adds functions at the top of a file of C, as far as its tree lacks them, so that other files find them. */
  addFunctions: (find: () => readonly FoundFunction[]) => void;
  /**
   * Adds the uses in the tree of a component's markup, which sees the names of its scripts, but for `names`. If a script exports options, names that
   * none binds may be theirs.
   */
  addMarkup: (root: SyntaxNode, names: ReadonlySet<string>) => void;
  /** The record to store, in which strings that `isWithheld` names are left out. */
  record: (isWithheld: (text: string) => boolean) => Uint8Array;
}

/** Reads the uses of names from a file's tree, which is valid until the function returns; undefined for a language without rules. */
export type UsesReader = (root: SyntaxNode, language: LanguageId) => ReadUses | undefined;
