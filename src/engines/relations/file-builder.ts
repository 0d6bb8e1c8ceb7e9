import { AMBIGUOUS_LINE } from "./limits.ts";
import type { ClassInfo, FileUses, Import, Meaning, UseKind } from "./types.ts";

/** Uses that are kept of a file. Generated files hold hundreds of thousands in a line. */
const MAX_USES = 50_000;
/** Steps from a name to what it means within a file: longer chains are not followed. */
const MAX_STEPS = 12;

/** An expression or type, as far as it can be followed; its names are looked up when the whole file is read. */
export type Expression =
  // `otherwise`: what it is where no scope of the file binds the name.
  | { is: "name"; name: string; scope: Scope; otherwise?: Expression }
  | { is: "import"; module: string; name: string }
  | { is: "member"; of: Expression; name: string }
  | { is: "call"; of: Expression }
  | { is: "class"; line: number }
  | { is: "base"; of: OpenClass }
  | { is: "unknown" };

export const UNKNOWN: Expression = { is: "unknown" };

type Binding =
  | { is: "definition"; line: number }
  | { is: "import"; module: string; name: string }
  | { is: "alias"; of: Expression }
  // `line` of one at the top of the file, which other files may use.
  | { is: "variable"; line?: number | undefined; type?: Expression | undefined; value?: Expression | undefined }
  | { is: "several" };

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
  type?: Expression | undefined;
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
  readonly #returns = new Map<number, Expression>();
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

  /** A name that is bound twice is ambiguous, except for overloads, whose first definition counts. */
  bind(scope: Scope, name: string, binding: Binding): void {
    const known = scope.names.get(name);
    if (!known) scope.names.set(name, binding);
    else if (known.is !== "definition" || binding.is !== "definition") scope.names.set(name, { is: "several" });
  }

  use(kind: UseKind, name: string, line: number, scope: Scope, of: Expression): void {
    if (this.#uses.length < MAX_USES) this.#uses.push({ kind, name, line, scope, of });
  }

  openClass(line: number): OpenClass {
    const opened: OpenClass = { line, members: new Map(), bases: [] };
    this.#classes.push(opened);
    return opened;
  }

  /** The first of several definitions of a member counts. */
  member(of: OpenClass, name: string, line: number, type?: Expression): void {
    const known = of.members.get(name);
    if (!known) of.members.set(name, { line, type });
    else if (type && known.type) known.type = UNKNOWN;
    else if (type) known.type = type;
  }

  /** A member of which only one definition is known to be meant: a second one makes it ambiguous. */
  memberOnce(of: OpenClass, name: string, line: number): void {
    of.members.set(name, { line: of.members.has(name) ? AMBIGUOUS_LINE : line });
  }

  returns(line: number, type: Expression): void {
    this.#returns.set(line, type);
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
      returns: new Map([...this.#returns].map(([line, type]) => [line, meaningOf(type)])),
    };
  }
}

function finishedClass({ line, members, bases }: OpenClass): ClassInfo {
  const finished = [...members].map(
    ([name, member]) => [name, { line: member.line, ...(member.type && { type: valueMeaning(member.type) }) }] as const,
  );
  return { line, members: new Map(finished), bases: bases.map((base) => meaningOf(base)) };
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
    case "unknown":
      return { to: "opaque" };
  }
}

function meaningOfBinding(binding: Binding, steps: number): Meaning {
  switch (binding.is) {
    case "definition":
      return { to: "local", line: binding.line };
    case "import":
      return { to: "import", module: binding.module, name: binding.name };
    case "alias":
      return meaningOf(binding.of, steps + 1);
    case "variable": {
      const of = meaningOfVariable(binding, steps);
      return binding.line === undefined ? of : { to: "variable", line: binding.line, of };
    }
    case "several":
      return { to: "ambiguous" };
  }
}

function meaningOfVariable({ type, value }: Extract<Binding, { is: "variable" }>, steps: number): Meaning {
  if (type) return valueMeaning(type, steps + 1);
  return value?.is === "call" ? meaningOf(value, steps + 1) : { to: "opaque" };
}

function lookUp(scope: Scope, name: string): Binding | undefined {
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    const found = at.names.get(name);
    if (found) return found;
  }
  return undefined;
}
