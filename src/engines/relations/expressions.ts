/** What the readers of languages make of expressions and names, before these are looked up. */

import { type Meaning, parameterKey, typeParameterOf, TYPE_PARAMETERS } from "./types.ts";

/** Values of one variable or field that are compared. */
export const MAX_VALUES = 8;

/** An expression or type, as far as it can be followed; its names are looked up when the whole file is read. */
export type Expression =
  // `otherwise`: what it is where no scope of the file binds the name.
  // `called`: the name with the types of arguments, which tell overloads apart.
  // `isType`: it names a type, which no variable is.
  | { is: "name"; name: string; scope: Scope; otherwise?: Expression; called?: string; isType?: true }
  | { is: "import"; module: string; name: string }
  | { is: "member"; of: Expression; name: string }
  | { is: "call"; of: Expression }
  | { is: "class"; line: number }
  | { is: "base"; of: OpenClass }
  | { is: "likely"; of: Expression }
  | { is: "first"; of: Expression; otherwise: Expression }
  | { is: "handed"; by: Expression; at: number }
  // A generic type with its next type argument.
  | { is: "generic"; of: Expression; by: Expression }
  // Values of which it is one.
  | { is: "choice"; of: readonly Expression[] }
  | { is: "unknown" };

export const UNKNOWN: Expression = { is: "unknown" };
/** The value of a name that is given a real one elsewhere: `None`, `null`, or none at all. */
export const NOTHING: Expression = { is: "unknown" };

/** A function by the line of its name, and how many arguments it takes (`takes` of `overload-sets.ts`). */
export interface Overload {
  line: number;
  takes: number;
}

export type Binding =
  // `decorator`: what makes another value of it.
  | { is: "definition"; line: number; decorator?: Expression | undefined }
  | { is: "import"; module: string; name: string }
  | { is: "alias"; of: Expression }
  // `line` of one at the top of the file, which other files may use.
  // `at`: line of its name, wherever it is.
  | {
      is: "variable";
      line?: number | undefined;
      type?: Expression | undefined;
      value?: Expression | undefined;
      at?: number;
      /** The type's name, as overloads are told apart by it. */
      typeName?: string | undefined;
      /** It is a type parameter. */
      isType?: true;
    }
  // Functions of one name, of which the number of arguments may tell one.
  | { is: "functions"; of: Overload[] }
  // Methods of one name in the class on this line.
  | { is: "overloads"; line: number }
  // `values`: what a variable is given in turn; absent for names of different things. `meaning` is what they agree on.
  | { is: "several"; values?: Binding[]; meaning?: Meaning };

/** Names of a module, a function or a block. Those of a class are members and not visible inside its methods. */
export interface Scope {
  readonly outer: Scope | undefined;
  readonly names: Map<string, Binding>;
  /** Class whose method this is or is inside of. */
  readonly own: OpenClass | undefined;
  /** Qualified name for uses in it. */
  readonly path: string | null;
  /** Of the scope of the whole file: modules give it all their names, so that what it does not bind may be one of these. */
  takesNames?: boolean;
  /** Of the markup of a component. */
  isMarkup?: boolean;
  /** Names that nothing in the file binds may be those of the options of a component. */
  isOpen?: boolean;
  /** Of a guarded block, in which a condition has narrowed the types of names: the scope around, which binds what it declares. */
  binds?: Scope;
}

export interface OpenMember {
  line: number;
  /** Its declared type alone, or the values that it is given. */
  types: Expression[];
  isDeclared: boolean;
  /** Methods of this name, where the number of arguments may tell which is meant. */
  overloads?: Overload[];
}

/** A class while its file is read. */
export interface OpenClass {
  readonly line: number;
  readonly members: Map<string, OpenMember>;
  readonly bases: Expression[];
  /** The one of them that `super` means, where the language has one. */
  superclass?: Expression;
}

export const lookUp = (scope: Scope, name: string): Binding | undefined => holderOf(scope, name)?.names.get(name);

/** As `lookUp`, of a type: a field may have the name of its type. */
export function lookUpType(scope: Scope, name: string): Binding | undefined {
  for (let holder = holderOf(scope, name); holder; holder = holder.outer && holderOf(holder.outer, name)) {
    const binding = holder.names.get(name);
    if ((binding?.is !== "variable" || binding.isType) && !(binding?.is === "several" && binding.values))
      return binding;
  }
  return undefined;
}

/** Whether a name is an alias that a class or function of the file binds, as a type parameter is one of its bound. */
export function isBoundWithin(top: Scope, scope: Scope, name: string): boolean {
  const holder = holderOf(scope, name);
  return holder !== undefined && holder !== top && holder.names.get(name)?.is === "alias";
}

/** The type parameter of a class at a position: what a class below gives it, or else its bound. */
export const givenOr = (owner: string, at: number, bound: Expression): Expression => ({
  is: "first",
  of: { is: "import", module: TYPE_PARAMETERS, name: typeParameterOf(owner, at) },
  otherwise: bound,
});

/** Type arguments that are told apart. */
const MAX_TYPE_ARGUMENTS = 8;

/** A generic type with what is given to its type parameters; the type alone where none of that is followed. */
export function withArguments(of: Expression, given: readonly Expression[]): Expression {
  if (of.is === "unknown" || given.every((type) => type.is === "unknown")) return of;
  return given.slice(0, MAX_TYPE_ARGUMENTS).reduce((generic, by) => ({ is: "generic", of: generic, by }), of);
}

/** A type without its type arguments. */
export function withoutArguments(type: Expression): Expression {
  let of = type;
  while (of.is === "generic") of = of.of;
  return of;
}

/** A scope inside of another one, of what has the name. `own` is null where the class of the outer one is none of it. */
export function innerScope(outer: Scope, name?: string, own: OpenClass | null | undefined = outer.own): Scope {
  const path = name === undefined ? outer.path : outer.path === null ? name : `${outer.path}.${name}`;
  return { outer, names: new Map(), own: own ?? undefined, path };
}

/** What a member or step of a value gives; unknown where the value is. */
export const stepInto = (of: Expression, name: string): Expression =>
  of.is === "unknown" ? UNKNOWN : { is: "member", of, name };

/** A value of a type, as the call of its constructor gives one; unknown where the type is. */
export const instanceOf = (type: Expression): Expression =>
  type.is === "unknown" ? UNKNOWN : { is: "call", of: type };

/** What a function hands to the parameter `inner` of a function that is its argument `outer`; undefined for parameters that are not told apart. */
export function handedFrom(
  by: Expression,
  ...at: Parameters<typeof parameterKey>
): Extract<Expression, { is: "handed" }> | undefined {
  const key = parameterKey(...at);
  return key === undefined ? undefined : { is: "handed", by, at: key };
}

/** The type that others give a type parameter which is bound as `givenOr` makes it; its bound may be another type. */
export const givenPart = (bound: Binding | undefined): Expression =>
  bound?.is === "alias" && bound.of.is === "first" ? bound.of.of : UNKNOWN;

/** A value that is a name or member, as the value that this has; it is no type. */
export function passed(of: Expression): Expression {
  return of.is === "name" || of.is === "member" || of.is === "import" ? { is: "first", of, otherwise: UNKNOWN } : of;
}

/** One of some values, as far as they agree; nothing is told of those that are `NOTHING`. */
export function oneOfValues(values: readonly Expression[]): Expression {
  const [first, ...others] = values.filter((value) => value !== NOTHING);
  return first && others.length > 0 ? { is: "choice", of: [first, ...others] } : (first ?? NOTHING);
}

/** What `super` names in a class whose only base of that kind is known when its body is read. */
export const superclassOf = (own: OpenClass | undefined): Expression =>
  own?.superclass ? { is: "base", of: own } : UNKNOWN;

/** The scope that binds what is declared here: of a guarded block the one around. */
export const bindingScope = (scope: Scope): Scope => scope.binds ?? scope;

/** The scope of a guarded block, with the types that its condition states. */
export function guardedScope(scope: Scope, types: readonly (readonly [name: string, type: Expression])[]): Scope {
  const names = new Map(types.map(([name, type]): [string, Binding] => [name, { is: "variable", type }]));
  return { ...scope, outer: scope, names, binds: bindingScope(scope) };
}

/** The innermost scope that binds a name. */
export function holderOf(scope: Scope, name: string): Scope | undefined {
  for (let at: Scope | undefined = scope; at; at = at.outer) if (at.names.has(name)) return at;
  return undefined;
}
