/** What a file says of the names that it uses. Nothing in it depends on the file's path or on other files. */

export type UseKind = "call" | "construct" | "inherit" | "decorator";

/**
 * What a name or expression means by the rules of the language, as far as the file itself tells:
 *
 * - `local`: the definition whose name is on this line of the file
 * - `variable`: the variable on this line at the top of the file, whose value is `of`
 * - `import`: a name of a module; `*` is the module itself
 * - `member`: a member of what `of` means
 * - `returned`: the value of a call of `by`, or an instance of it if it is a class
 * - `instance`: a value whose declared type is `of`
 * - `opaque`: bound in the file to something that is not followed, such as a parameter without a type
 * - `ambiguous`: bound several times, to different things
 * - `global`: not bound in the file
 */
export type Meaning =
  | { to: "local"; line: number }
  | { to: "variable"; line: number; of: Meaning }
  | { to: "import"; module: string; name: string }
  | { to: "member"; of: Meaning; name: string }
  | { to: "returned"; by: Meaning }
  | { to: "instance"; of: Meaning }
  | { to: "opaque" | "ambiguous" | "global" };

/** A place where a name is used. */
export interface Use {
  kind: UseKind;
  /** The name as it is written there: an alias where the file imports under one. */
  name: string;
  /** Line of the name, 1-based. */
  line: number;
  /** Names of the functions and classes around it, joined by dots. */
  enclosing: string | null;
  meaning: Meaning;
}

/** A member of a class or interface. */
interface Member {
  /** Line of its name. */
  line: number;
  /** Declared type of a field, or the value that it is given. */
  type?: Meaning;
}

export interface ClassInfo {
  /** Line of its name. */
  line: number;
  members: Map<string, Member>;
  bases: Meaning[];
}

/** A module that the file imports, exports from or requires. */
export interface Import {
  module: string;
  /** The name that is taken of it, where that may be a module of its own, as in Python; else `*`. */
  name: string;
  line: number;
}

export interface FileUses {
  uses: Use[];
  imports: Import[];
  /** What the names at the top of the file mean; for TypeScript and JavaScript also `default`. */
  bindings: Map<string, Meaning>;
  /** Names that the file gives others, where they differ from those of its top. */
  exports: Map<string, Meaning>;
  /** Modules all of whose names it takes over. */
  stars: string[];
  classes: ClassInfo[];
  /** Declared return types, by the line of the function's name. */
  returns: Map<number, Meaning>;
}
