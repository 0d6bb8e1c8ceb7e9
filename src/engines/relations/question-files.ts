/** What questions about relations ask of indexed files. */
import type { SymbolPlace } from "../search/record.ts";
import type { FoundReference, FoundSymbol } from "../search/types.ts";
import type { Place, RelatedFiles, Resolved, Target } from "./resolved.ts";
import type { StoredUses } from "./stored-uses.ts";
import type { Use } from "./types.ts";

/** A definition, by its place. */
export interface DefinedSymbol extends Pick<SymbolPlace, "name" | "qualifiedName" | "kind" | "startLine" | "endLine"> {
  path: string;
}

/** The files of the repository that is asked; those of other repositories of the scope go by marked paths. */
export interface QuestionFiles extends RelatedFiles {
  /** Paths of the repository that is asked, in order. */
  readonly paths: readonly string[];
  /** Files in languages with rules whose uses are not known. */
  readonly unread: ReadonlySet<string>;
  /** The limit was reached before everything was read. */
  readonly exhausted: boolean;
  uses(path: string): Promise<StoredUses | undefined>;
  has(path: string): boolean;
  /** Language id of a file; empty for a path that is none. */
  language(path: string): string;
  isTest(path: string): boolean;
  /**
   * Files that mention an identifier, sources first. Nearly all files for a name that is too common to be looked up. Of other repositories,
   * those are listed that are related to the files `near`.
   */
  mentioning(name: string, near?: readonly string[]): Promise<{ path: string; language: string }[]>;
  /** Repositories of the scope with files that mention an identifier, those with the most such files first. */
  revisionsMentioning(name: string): Promise<readonly number[]>;
  definitions(name: string, path?: string, folder?: string): Promise<DefinedSymbol[]>;
  /** The definitions of a file. */
  definitionsIn(path: string): Promise<readonly DefinedSymbol[]>;
  /** What a use in a file leads to by the rules of its language. */
  resolve(path: string, use: Pick<Use, "name" | "meaning" | "arguments">): Promise<Resolved>;
  /** Whether the class around a member has another class among its bases, at any distance. */
  inherits(of: Place, base: Place): Promise<boolean>;
  /** How sure a definition is to which the rules of the language of the file `path` lead. */
  certaintyOf(path: string, target: Pick<Target, "isLikely">): "certain" | "likely";
  /** Whether a use in a file may mean a definition in another one by its name alone. */
  importsPackageOf(path: string, definition: string): Promise<boolean>;
  /** Names of packages of scripts whose manifests state a file as what others import. */
  packagesLedBy(path: string): Promise<readonly string[]>;
  /** Files of other repositories that may import a package of a file's repository. */
  importing(path: string): Promise<readonly string[]>;
  /** Definitions with their languages and signatures, in the order given. */
  described(definitions: readonly DefinedSymbol[]): Promise<FoundSymbol[]>;
  /**
   * Lines with the symbols around them, in the order asked for; the text of a withheld one is empty. `revision` and `path` are those of the
   * file's own repository.
   */
  lines(places: readonly { path: string; line: number }[]): Promise<FoundReference[]>;
  /** For each identifier, lines of some files that mention it, in order of path and line, those of its definitions left out. */
  linesMentioning(wanted: readonly { name: string; paths: ReadonlySet<string> }[]): Promise<FoundReference[][]>;
}
