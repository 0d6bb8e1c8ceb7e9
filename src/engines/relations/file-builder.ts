import { plainName } from "../parsing/plain-name.ts";
import {
  type Binding,
  type Expression,
  innerScope,
  lookUp,
  MAX_VALUES,
  NOTHING,
  type OpenClass,
  type Overload,
  type Scope,
  withoutArguments,
} from "./expressions.ts";
import { AMBIGUOUS_LINE } from "./limits.ts";
import { finishedClass, followed, meaningOf, meaningOfBinding, resultMeaning } from "./meanings.ts";
import { mayBeFunction } from "./references.ts";
import { MAX_OVERLOADS } from "./overload-sets.ts";
import {
  callbackKey,
  type FileUses,
  givenKey,
  type Import,
  type Meaning,
  ownerKey,
  parameterKey,
  typeParameterOf,
  type Use,
  type UseKind,
} from "./types.ts";

/** Uses that are kept of a file. Generated files hold hundreds of thousands in a line. */
export const MAX_USES = 50_000;

/** Collects what a file's tree says, in one walk; `finish` then looks the names up, since most may be used before they are bound. */
export class FileBuilder {
  /** Names that nothing in the file binds, or several things, may be those of functions that are handed over. */
  takesUnknown = false;
  readonly top: Scope = { outer: undefined, names: new Map(), own: undefined, path: null };
  readonly #uses: {
    kind: UseKind;
    name: string;
    line: number;
    scope: Scope;
    of: Expression;
    given: number | undefined;
  }[] = [];
  readonly #classes: OpenClass[] = [];
  readonly #classesByLine = new Map<number, OpenClass>();
  readonly #returns = new Map<number, Expression>();
  readonly #results = new Map<number, readonly Expression[]>();
  readonly #callbacks = new Map<number, Expression>();
  readonly #exports = new Map<string, Expression | { module: string; name: string }>();
  readonly #stars: string[] = [];
  readonly #imports: Import[] = [];

  /** As `innerScope`. */
  inner(outer: Scope, name: string | undefined, own?: OpenClass | null): Scope {
    return innerScope(outer, name, own);
  }

  /** Binds a name of which only one definition is known to be meant: a second one makes it ambiguous. */
  bindOnce(scope: Scope, name: string, line: number): void {
    scope.names.set(name, scope.names.has(name) ? { is: "several" } : { is: "definition", line });
  }

  /** Binds a name to one of several methods that take as many arguments: they form a set of overloads. */
  bindOverload(scope: Scope, name: string, { line, takes }: Overload): void {
    const known = scope.names.get(name);
    if (known?.is === "functions") addOverload(known.of, { line, takes });
    else if (known?.is === "definition")
      scope.names.set(name, {
        is: "functions",
        of: [
          { line: known.line, takes },
          { line, takes },
        ],
      });
    else scope.names.set(name, known ? { is: "several" } : { is: "definition", line });
  }

  /** Binds a name to a function. Functions of one name form a set of overloads. */
  bindFunction(scope: Scope, name: string, line: number, takes: number): void {
    const known = scope.names.get(name);
    if (known?.is === "functions") addOverload(known.of, { line, takes });
    else scope.names.set(name, known ? { is: "several" } : { is: "functions", of: [{ line, takes }] });
  }

  /**
   * A name that is bound twice is ambiguous, except for overloads, whose first definition counts, and for a variable whose values are of one
   * type.
   */
  bind(within: Scope, name: string, binding: Binding): void {
    const scope = within.binds ?? within;
    // What a condition tells of a name does not hold for what it is given later.
    for (let at: Scope | undefined = within; at?.binds; at = at.outer) at.names.delete(name);
    const known = scope.names.get(name);
    if (!known) scope.names.set(name, binding);
    // What is assigned to a variable has its declared type.
    else if (known.is === "variable" && known.type && binding.is === "variable" && !binding.type) return;
    else if (known.is === "definition" && binding.is === "definition") return;
    else scope.names.set(name, together(known, binding));
  }

  /** `given`: number of arguments. */
  use(kind: UseKind, name: string, line: number, scope: Scope, of: Expression, given?: number): void {
    if (this.#uses.length < MAX_USES)
      this.#uses.push({ kind, name: plainName(name), line, scope, of: withoutArguments(of), given });
  }

  /** A name that may be that of a function which is handed over or kept there. `finish` leaves out what the file knows to be something else. */
  reference(name: string, line: number, scope: Scope, of: Expression): void {
    if (of.is === "name" && lookUp(of.scope, of.name)?.is === "variable") return;
    this.use("reference", name, line, scope, of);
  }

  openClass(line: number): OpenClass {
    const opened: OpenClass = { line, members: new Map(), bases: [] };
    this.#classes.push(opened);
    if (!this.#classesByLine.has(line)) this.#classesByLine.set(line, opened);
    return opened;
  }

  hasClass(line: number): boolean {
    return this.#classesByLine.has(line);
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

  /** The type that a class gives the type parameter of a base at a position; the base is named as it is written. */
  gives(of: OpenClass, base: string, at: number, line: number, type: Expression): void {
    this.member(of, givenKey(typeParameterOf(base.slice(base.lastIndexOf(".") + 1), at)), line, type, true);
  }

  /** Records that a class declares the type parameters of a name. */
  declaresTypes(of: OpenClass, name: string): void {
    this.member(of, ownerKey(name), of.line);
  }

  /** A member of which only one definition is known to be meant: a second one makes it ambiguous. */
  memberOnce(of: OpenClass, name: string, line: number): void {
    of.members.set(name, { line: of.members.has(name) ? AMBIGUOUS_LINE : line, types: [], isDeclared: false });
  }

  /** Adds a method. Methods of one name form a set of overloads. `type` is what all of them lead to. */
  memberFunction(of: OpenClass, name: string, overload: Overload, type?: Expression): void {
    const known = of.members.get(name);
    if (known?.overloads) {
      addOverload(known.overloads, overload);
      known.line = AMBIGUOUS_LINE;
    } else if (known) this.memberOnce(of, name, overload.line);
    else
      of.members.set(name, {
        line: overload.line,
        types: type ? [type] : [],
        isDeclared: false,
        overloads: [overload],
      });
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

  /** What a function without a declared type returns, by its results. */
  returnsValues(line: number, results: readonly Expression[]): void {
    if (results.length > 0 && !this.#results.has(line)) this.#results.set(line, results);
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

  /** As `star`, in languages whose files see the names of such a module, and do not only hand them on. */
  takeNames(module: string): void {
    this.star(module);
    this.top.takesNames = true;
  }

  #finishedReturns(): Map<number, Meaning> {
    const returns = followed(this.#returns);
    for (const [line, results] of this.#results) {
      const result = this.#returns.has(line) ? undefined : resultMeaning(results);
      if (result) returns.set(line, result);
    }
    return returns;
  }

  #mayBeFunction(meaning: Meaning): boolean {
    if (this.takesUnknown && (meaning.to === "global" || meaning.to === "ambiguous")) return true;
    return mayBeFunction(meaning, this.#classesByLine);
  }

  finish(): FileUses {
    const uses: Use[] = [];
    for (const { kind, name, line, scope, of, given } of this.#uses) {
      const meaning = meaningOf(of);
      if (kind === "reference" && !this.#mayBeFunction(meaning)) continue;
      uses.push({ kind, name, line, enclosing: scope.path, meaning, ...(given !== undefined && { arguments: given }) });
    }
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
      returns: this.#finishedReturns(),
      callbacks: followed(this.#callbacks),
    };
  }
}

/** One more than are told apart says that there are too many. */
function addOverload(to: Overload[], overload: Overload): void {
  if (to.length <= MAX_OVERLOADS) to.push(overload);
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
