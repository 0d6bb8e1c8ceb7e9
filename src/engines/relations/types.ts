/** What a file says of the names that it uses. Nothing in it depends on the file's path or on other files. */

/** `reference`: a function is named without being called there, as an argument, in a table or as another value. */
export type UseKind = "call" | "construct" | "inherit" | "decorator" | "reference";

/**
 * What a name or expression means by the rules of the language, as far as the file itself tells:
 *
 * - `local`: the definition whose name is on this line of the file
 * - `variable`: the variable on this line at the top of the file, whose value is `of`
 * - `import`: a name of a module; `*` is the module itself
 * - `member`: a member of what `of` means
 * - `returned`: the value of a call of `by`, or an instance of it if it is a class
 * - `instance`: a value whose declared type is `of`
 * - `value`: the value that `of` has, not the name or member that holds it
 * - `super`: the base `of` of the class around, as `super` names it: a member of it is its own, whatever overrides that
 * - `likely`: what `of` means, as long as a rule holds that may fail
 * - `decorated`: the definition on this line, whose value is what the decorator `by` makes of it, if that is an instance of a class
 * - `first`: what `of` means, or `otherwise` if the rules find no definition there
 * - `overload`: the function on this line, which may be one of several of its name, and how many arguments it takes (`takes` of `overload-sets.ts`)
 * - `either`: what `of` means or what `otherwise` means; an `overload`, or several
 * - `same`: the place that `of` and `otherwise` both mean; unknown if these differ
 * - `generic`: the generic type `of`, with the type `by` as its next type argument
 * - `handed`: what `by` hands to a function that it is called with, at a `parameterKey`
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
  | { to: "value"; of: Meaning }
  | { to: "super"; of: Meaning }
  | { to: "likely"; of: Meaning }
  | { to: "decorated"; line: number; by: Meaning }
  | { to: "first"; of: Meaning; otherwise: Meaning }
  | { to: "handed"; by: Meaning; at: number }
  | { to: "overload"; line: number; takes: number }
  | { to: "either"; of: Meaning; otherwise: Meaning }
  | { to: "same"; of: Meaning; otherwise: Meaning }
  | { to: "generic"; of: Meaning; by: Meaning }
  | { to: "opaque" | "ambiguous" | "global" };

/** A meaning without what says that it is only likely. */
export function certainly(meaning: Meaning): Meaning {
  let of = meaning;
  while (of.to === "likely") of = of.of;
  return of;
}

/** Whether a meaning is a member of what `super` names. */
export function isOfSuper(meaning: Meaning): boolean {
  const of = certainly(meaning);
  return of.to === "member" && of.of.to === "super";
}

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
  /** Number of arguments, where that is written down and tells overloads apart. */
  arguments?: number;
}

/** A member of a class or interface. */
export interface Member {
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
  /** Return types, by the line of the function's name: declared ones, and `likely` ones by what the function returns. */
  returns: Map<number, Meaning>;
  /** Types of what functions hand to their callbacks, by line and `parameterKey`. */
  callbacks: Map<number, Meaning>;
}

/** Module of an import: one of those that give the file all their names. */
export const TAKEN = "*";
/** Module of a component that a template uses and no script imports: any of the repository may be registered under its name. */
export const COMPONENTS = "<components>";
/** Module of a macro of Rust that its file neither defines nor imports from another package. */
export const MACROS = "<macros>";
/** Module of the type parameters of classes, each named by `typeParameterOf`. */
export const TYPE_PARAMETERS = "<types>";
/** The type parameter of a class at a position. */
export const typeParameterOf = (name: string, at: number): string => `${name}.${at}`;
/** Key of the member for the type that a class gives such a parameter of one of its bases. */
export const givenKey = (parameter: string): string => `<${parameter}>`;
/** Name of the type parameter that stands for the type of the receiver, as `this` and `static` do as types. */
export const RECEIVER_TYPE = "this";
/** Key of the member by which a class is known to be the one that declares the type parameters of a name. */
export const ownerKey = (name: string): string => `<of ${name}>`;
export const isGivenKey = (key: string): boolean => key.startsWith("<");

/** Module of the class of a Razor component, of which another part is in the file of the same name with `.cs` behind it. */
export const CODE_BEHIND = "<code behind>";
/** Name under which a module of CommonJS exports its whole value. */
export const WHOLE_MODULE = "module.exports";

/** Whether a meaning is what a module exports as a whole, which goes by any name. */
export const isWholeModule = ({ name }: { name: string }): boolean => name === "default" || name === "*";

/** Parameters that are told apart of a function, and of a callback of it. */
export const MAX_PARAMETERS = 7;
/** First key for a function's type that is not a parameter, but a type with a name. */
export const TYPE_ITSELF = 56;

/**
 * Key of the parameter `inner` of the function that is parameter `outer` of another one, or of a type of functions where `outer` is
 * `"itself"`; `inner` is `"type"` for the named type of the parameter. Undefined for parameters that are too many.
 */
export function parameterKey(outer: number | "itself", inner: number | "type"): number | undefined {
  if (outer === "itself" ? inner === "type" : outer >= MAX_PARAMETERS) return undefined;
  if (inner !== "type" && inner >= MAX_PARAMETERS) return undefined;
  return (outer === "itself" ? TYPE_ITSELF : outer * 8) + (inner === "type" ? MAX_PARAMETERS : inner);
}

/** The positions that a `parameterKey` is made of: of a callback among the arguments, and of the parameter of it. */
export const positionsIn = (key: number): { outer: number; inner: number } => ({ outer: key >> 3, inner: key & 7 });

/** Key of a callback's parameter in `FileUses.callbacks`. */
export const callbackKey = (line: number, parameter: number): number => line * 64 + parameter;
