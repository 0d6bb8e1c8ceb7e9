import { AMBIGUOUS_LINE } from "./limits.ts";
import {
  callbackKey,
  type ClassInfo,
  type FileUses,
  type Import,
  type Meaning,
  parameterKey,
  type UseKind,
} from "./types.ts";

/** Uses that are kept of a file. Generated files hold hundreds of thousands in a line. */
const MAX_USES = 50_000;
/** Steps from a name to what it means within a file: longer chains are not followed. */
const MAX_STEPS = 12;
/** Values of one variable or field that are compared. */
const MAX_VALUES = 8;

/** An expression or type, as far as it can be followed; its names are looked up when the whole file is read. */
export type Expression =
  // `otherwise`: what it is where no scope of the file binds the name.
  // `called`: the name with the types of arguments, which tell overloads apart.
  | { is: "name"; name: string; scope: Scope; otherwise?: Expression; called?: string }
  | { is: "import"; module: string; name: string }
  | { is: "member"; of: Expression; name: string }
  | { is: "call"; of: Expression }
  | { is: "class"; line: number }
  | { is: "base"; of: OpenClass }
  | { is: "likely"; of: Expression }
  | { is: "first"; of: Expression; otherwise: Expression }
  | { is: "handed"; by: Expression; at: number }
  | { is: "unknown" };

export const UNKNOWN: Expression = { is: "unknown" };
/** The value of a name that is given a real one elsewhere: `None`, `null`, or none at all. */
export const NOTHING: Expression = { is: "unknown" };

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
    }
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
}

interface OpenMember {
  line: number;
  /** Its declared type alone, or the values that it is given. */
  types: Expression[];
  isDeclared: boolean;
}

/** A class while its file is read. */
export interface OpenClass {
  readonly line: number;
  readonly members: Map<string, OpenMember>;
  readonly bases: Expression[];
}

/** Collects what a file's tree says, in one walk; `finish` then looks the names up, since most may be used before they are bound. */
export class FileBuilder {
  readonly top: Scope = { outer: undefined, names: new Map(), own: undefined, path: null };
  readonly #uses: { kind: UseKind; name: string; line: number; scope: Scope; of: Expression }[] = [];
  readonly #classes: OpenClass[] = [];
  readonly #classesByLine = new Map<number, OpenClass>();
  readonly #returns = new Map<number, Expression>();
  readonly #callbacks = new Map<number, Expression>();
  readonly #exports = new Map<string, Expression | { module: string; name: string }>();
  readonly #stars: string[] = [];
  readonly #imports: Import[] = [];

  inner(outer: Scope, name: string | undefined, own = outer.own): Scope {
    const path = name === undefined ? outer.path : outer.path === null ? name : `${outer.path}.${name}`;
    return { outer, names: new Map(), own, path };
  }

  /** Binds a name of which only one definition is known to be meant: a second one makes it ambiguous. */
  bindOnce(scope: Scope, name: string, line: number): void {
    scope.names.set(name, scope.names.has(name) ? { is: "several" } : { is: "definition", line });
  }

  /**
   * A name that is bound twice is ambiguous, except for overloads, whose first definition counts, and for a variable whose values are of one
   * type.
   */
  bind(scope: Scope, name: string, binding: Binding): void {
    const known = scope.names.get(name);
    if (!known) scope.names.set(name, binding);
    // What is assigned to a variable has its declared type.
    else if (known.is === "variable" && known.type && binding.is === "variable" && !binding.type) return;
    else if (known.is === "definition" && binding.is === "definition") return;
    else scope.names.set(name, together(known, binding));
  }

  use(kind: UseKind, name: string, line: number, scope: Scope, of: Expression): void {
    if (this.#uses.length < MAX_USES) this.#uses.push({ kind, name, line, scope, of });
  }

  openClass(line: number): OpenClass {
    const opened: OpenClass = { line, members: new Map(), bases: [] };
    this.#classes.push(opened);
    if (!this.#classesByLine.has(line)) this.#classesByLine.set(line, opened);
    return opened;
  }

  /** The class of a line, which is opened where there is none: what has members added to it. */
  classAt(line: number): OpenClass {
    return this.#classesByLine.get(line) ?? this.openClass(line);
  }

  /** The first of several definitions of a member counts; its declared type counts before the values that it is given. */
  member(of: OpenClass, name: string, line: number, type?: Expression, isDeclared = false): void {
    let known = of.members.get(name);
    if (!known) of.members.set(name, (known = { line, types: [], isDeclared: false }));
    if (!type || (known.isDeclared && !isDeclared)) return;
    if (isDeclared && !known.isDeclared) known.types = [];
    known.isDeclared = isDeclared;
    if (known.types.length <= MAX_VALUES) known.types.push(type);
  }

  /** A member of which only one definition is known to be meant: a second one makes it ambiguous. */
  memberOnce(of: OpenClass, name: string, line: number): void {
    of.members.set(name, { line: of.members.has(name) ? AMBIGUOUS_LINE : line, types: [], isDeclared: false });
  }

  /** Overloads with the same number of arguments. Their result is known where all of them return the same type. */
  overload(of: OpenClass, name: string, types: readonly string[], line: number, result: Expression): void {
    this.member(of, name, AMBIGUOUS_LINE, result);
    this.member(of, `${name}(${types.join(",")})`, line);
  }

  returns(line: number, type: Expression): void {
    this.#returns.set(line, type);
  }

  /** The type of the first of several signatures counts. */
  returnsFirst(line: number, type: Expression): void {
    if (!this.#returns.has(line)) this.#returns.set(line, type);
  }

  /** What a function without a declared type returns, as far as its first known result tells. */
  returnsLikely(line: number, results: readonly Expression[]): void {
    const first = results.find(({ is }) => is !== "unknown");
    if (first && !this.#returns.has(line)) this.#returns.set(line, { is: "likely", of: first });
  }

  /** The type of what a function hands to a callback; of several declarations the first one counts. */
  hands(line: number, type: Expression, ...at: Parameters<typeof parameterKey>): void {
    const parameter = parameterKey(...at);
    if (parameter === undefined || type.is === "unknown") return;
    const key = callbackKey(line, parameter);
    if (!this.#callbacks.has(key)) this.#callbacks.set(key, type);
  }

  exportAs(name: string, of: Expression | { module: string; name: string }): void {
    this.#exports.set(name, of);
  }

  /** Records that the file imports a module, whatever names it binds. */
  imports(module: string, line: number, name = "*"): void {
    if (this.#imports.length < MAX_USES) this.#imports.push({ module, name, line });
  }

  star(module: string): void {
    this.#stars.push(module);
  }

  finish(): FileUses {
    const uses = this.#uses.map(({ kind, name, line, scope, of }) => ({
      kind,
      name,
      line,
      enclosing: scope.path,
      meaning: meaningOf(of),
    }));
    const bindings = [...this.top.names].map(([name, binding]) => [name, meaningOfBinding(binding, 0)] as const);
    const exports = [...this.#exports].map(
      ([name, of]) => [name, "is" in of ? meaningOf(of) : ({ to: "import", ...of } as const)] as const,
    );
    return {
      uses,
      imports: this.#imports,
      bindings: new Map(bindings),
      exports: new Map(exports),
      stars: this.#stars,
      classes: this.#classes.map(finishedClass),
      returns: followed(this.#returns),
      callbacks: followed(this.#callbacks),
    };
  }
}

/** Meanings by number, those left out that lead nowhere. */
function followed(types: ReadonlyMap<number, Expression>): Map<number, Meaning> {
  const meanings = [...types].map(([line, type]) => [line, meaningOf(type)] as const);
  return new Map(meanings.filter(([, meaning]) => !isNothing(meaning)));
}

const isNothing = (meaning: Meaning): boolean =>
  meaning.to === "likely"
    ? isNothing(meaning.of)
    : meaning.to === "opaque" || meaning.to === "global" || meaning.to === "ambiguous";

function finishedClass({ line, members, bases }: OpenClass): ClassInfo {
  const finished = [...members].map(([name, member]) => {
    const { line: own, types } = member;
    const values = types.length > MAX_VALUES ? [] : types.filter((type) => type !== NOTHING);
    const type = agreed(values.map((of) => valueMeaning(of))) ?? { to: "opaque" };
    return [name, { line: own, ...(types.length > 0 && { type }) }] as const;
  });
  return { line, members: new Map(finished), bases: bases.map((base) => meaningOf(base)) };
}

/** What a name stands for that is bound twice. */
function together(known: Binding, binding: Binding): Binding {
  if (isValue(known) && known.is === "variable" && known.value === NOTHING) return binding;
  if (isValue(binding) && binding.is === "variable" && binding.value === NOTHING) return known;
  const values = known.is === "several" ? known.values : isValue(known) ? [known] : undefined;
  if (!values || !isValue(binding) || values.length >= MAX_VALUES) return { is: "several" };
  return { is: "several", values: [...values, binding] };
}

const isValue = ({ is }: Binding): boolean => is === "variable" || is === "alias";

/** What values have in common: `likely`, if some of them are not known; undefined if none is. */
function agreed(values: readonly Meaning[]): Meaning | undefined {
  const known = values.filter((value) => rootOf(value).to !== "opaque");
  const [first] = known;
  if (!first) return undefined;
  const text = JSON.stringify(first);
  const isOne = known.every((value) => JSON.stringify(value) === text);
  if (!isOne || rootOf(first).to === "ambiguous") return { to: "ambiguous" };
  return known.length === values.length ? first : { to: "likely", of: first };
}

/** What a meaning starts from. */
function rootOf(meaning: Meaning): Meaning {
  let root = meaning;
  for (;;) {
    if (root.to === "decorated") return root;
    if ("of" in root) root = root.of;
    else if ("by" in root) root = root.by;
    else return root;
  }
}

/** Meaning of a type or value that a variable or field has: a name of a class stands for an instance of it. */
function valueMeaning(of: Expression, steps = 0): Meaning {
  const meaning = meaningOf(of, steps);
  return of.is === "name" || of.is === "member" || of.is === "import" ? { to: "instance", of: meaning } : meaning;
}

function meaningOf(of: Expression, steps = 0): Meaning {
  if (steps > MAX_STEPS) return { to: "opaque" };
  switch (of.is) {
    case "name": {
      const binding = lookUp(of.scope, of.name);
      if (binding?.is === "overloads")
        return { to: "member", of: { to: "local", line: binding.line }, name: of.called ?? of.name };
      if (binding) return meaningOfBinding(binding, steps + 1);
      return of.otherwise ? meaningOf(of.otherwise, steps + 1) : { to: "global" };
    }
    case "import":
      return { to: "import", module: of.module, name: of.name };
    case "member":
      return { to: "member", of: meaningOf(of.of, steps + 1), name: of.name };
    case "call":
      return { to: "returned", by: meaningOf(of.of, steps + 1) };
    case "class":
      return { to: "local", line: of.line };
    case "base": {
      const [base, ...others] = of.of.bases;
      return base && others.length === 0 ? meaningOf(base, steps + 1) : { to: "ambiguous" };
    }
    case "likely":
      return { to: "likely", of: meaningOf(of.of, steps + 1) };
    case "first": {
      const [first, otherwise] = [meaningOf(of.of, steps + 1), meaningOf(of.otherwise, steps + 1)];
      // What is bound to a value is that value.
      return otherwise.to === "opaque" ? first : { to: "first", of: first, otherwise };
    }
    case "handed":
      return { to: "handed", by: meaningOf(of.by, steps + 1), at: of.at };
    case "unknown":
      return { to: "opaque" };
  }
}

function meaningOfBinding(binding: Binding, steps: number): Meaning {
  switch (binding.is) {
    case "definition": {
      const { line, decorator } = binding;
      return decorator ? { to: "decorated", line, by: meaningOf(decorator, steps + 1) } : { to: "local", line };
    }
    case "import":
      return { to: "import", module: binding.module, name: binding.name };
    case "alias":
      return meaningOf(binding.of, steps + 1);
    case "variable": {
      const of = meaningOfVariable(binding, steps);
      // A call of a variable that holds a member is no call of the member by its name.
      const line = binding.line ?? (binding.value?.is === "member" ? binding.at : undefined);
      return line === undefined ? of : { to: "variable", line, of };
    }
    case "several":
      // A value that is made of the variable itself is not followed.
      if (!binding.values || binding.meaning) return binding.meaning ?? { to: "ambiguous" };
      binding.meaning = { to: "ambiguous" };
      return (binding.meaning = agreedVariable(binding.values.map((value) => meaningOfBinding(value, steps + 1))));
    case "overloads":
      return { to: "ambiguous" };
  }
}

/** What the values of a variable have in common; its first line is that of its name. */
function agreedVariable(values: readonly Meaning[]): Meaning {
  const of = agreed(values.map((value) => (value.to === "variable" ? value.of : value))) ?? { to: "ambiguous" };
  const [first] = values;
  return first?.to === "variable" && of.to !== "ambiguous" ? { ...first, of } : of;
}

function meaningOfVariable({ type, value }: Extract<Binding, { is: "variable" }>, steps: number): Meaning {
  if (type) return valueMeaning(type, steps + 1);
  return value && FOLLOWED.has(value.is) ? meaningOf(value, steps + 1) : { to: "opaque" };
}

/** Values of variables that are followed. A name may be a class itself, and is no instance of it. */
const FOLLOWED: ReadonlySet<Expression["is"]> = new Set(["call", "member", "class", "likely", "handed", "first"]);

export const lookUp = (scope: Scope, name: string): Binding | undefined => holderOf(scope, name)?.names.get(name);

/** The innermost scope that binds a name. */
export function holderOf(scope: Scope, name: string): Scope | undefined {
  for (let at: Scope | undefined = scope; at; at = at.outer) if (at.names.has(name)) return at;
  return undefined;
}
