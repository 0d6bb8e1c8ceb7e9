/** What the names and expressions of a file mean when all of it is read. */
import {
  type Binding,
  type Expression,
  lookUp,
  lookUpType,
  MAX_VALUES,
  NOTHING,
  type OpenClass,
  type OpenMember,
  type Overload,
  type Scope,
  withoutArguments,
} from "./expressions.ts";
import { MAX_OVERLOADS } from "./overload-sets.ts";
import { counterpartKey } from "./program.ts";
import { isModuleKey } from "./rust-keys.ts";
import { type ClassInfo, type Meaning, TAKEN } from "./types.ts";

/** Steps from a name to what it means within a file: longer chains are not followed. An alternative takes two, since it doubles what is followed. */
const MAX_STEPS = 24;

/** Meanings by number, those left out that lead nowhere. */
export function followed(types: ReadonlyMap<number, Expression>): Map<number, Meaning> {
  const meanings = [...types].map(([line, type]) => [line, meaningOf(type)] as const);
  return new Map(meanings.filter(([, meaning]) => !isNothing(meaning)));
}

/**
 * What a function returns that does not declare it, by the values of its results: for sure where these agree, else what the first one is of
 * which something is known.
 */
export function resultMeaning(results: readonly Expression[]): Meaning | undefined {
  const values = results.slice(0, MAX_VALUES + 1).filter((each) => each !== NOTHING);
  const of = values.length > MAX_VALUES ? undefined : agreed(values.map((each) => meaningOf(each)));
  const isAgreed = of && of.to !== "ambiguous" && of.to !== "likely";
  if (isAgreed && of.to !== "same") return isNothing(of) ? undefined : { to: "value", of };
  const first = results.find(({ is }) => is !== "unknown");
  const likely: Meaning | undefined = first && { to: "likely", of: meaningOf(first) };
  if (!likely || isNothing(likely)) return undefined;
  return isAgreed ? { to: "first", of: { to: "value", of }, otherwise: likely } : likely;
}

const isNothing = (meaning: Meaning): boolean =>
  meaning.to === "likely" || meaning.to === "generic"
    ? isNothing(meaning.of)
    : meaning.to === "opaque" || meaning.to === "global" || meaning.to === "ambiguous";

export function finishedClass({ line, members, bases }: OpenClass): ClassInfo {
  const finished = [...members].map(([name, member]) => {
    const { line: own, types } = member;
    const type = isAmongOverloads(name, members) ? methodsMeaning(member) : memberMeaning(types);
    return [name, { line: own, ...(type && { type }) }] as const;
  });
  return { line, members: new Map(finished), bases: bases.map((base) => meaningOf(withoutArguments(base))) };
}

function memberMeaning(types: readonly Expression[]): Meaning | undefined {
  if (types.length === 0) return undefined;
  const values = types.length > MAX_VALUES ? [] : types.filter((type) => type !== NOTHING);
  return agreed(values.map((of) => valueMeaning(of))) ?? { to: "opaque" };
}

/** Whether a class has several methods of a name, of which some may only be declared in it. */
function isAmongOverloads(name: string, members: OpenClass["members"]): boolean {
  const { overloads = [] } = members.get(name) ?? {};
  return overloads.length > 1 || (overloads.length === 1 && members.has(counterpartKey(name)));
}

/** Methods that are declared in a class are defined elsewhere; if they are not, they are what is declared. */
function methodsMeaning({ types: [declared], overloads = [] }: OpenMember): Meaning {
  const methods = oneOf(overloads);
  return declared ? { to: "first", of: meaningOf(declared), otherwise: methods } : methods;
}

/** The functions of a name that a call of it may mean. */
function oneOf(overloads: readonly Overload[]): Meaning {
  if (overloads.length > MAX_OVERLOADS) return { to: "ambiguous" };
  const each = overloads.map(({ line, takes }): Meaning => ({ to: "overload", line, takes }));
  return each.reduceRight((otherwise, of) => ({ to: "either", of, otherwise }));
}

/** What values have in common: `likely`, if some of them are not known; undefined if none is. */
function agreed(values: readonly Meaning[]): Meaning | undefined {
  const known = values.filter((value) => rootOf(value).to !== "opaque");
  if (known.length === 0) return undefined;
  if (known.some((value) => rootOf(value).to === "ambiguous")) return { to: "ambiguous" };
  const distinct = [...new Map(known.map((value) => [JSON.stringify(value), value])).values()];
  const of = distinct.reduceRight((otherwise, value) => ({ to: "same", of: value, otherwise }));
  return known.length === values.length ? of : { to: "likely", of };
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
  return TYPES.has(of.is) ? { to: "instance", of: meaning } : meaning;
}

/** Expressions that are types. */
const TYPES: ReadonlySet<Expression["is"]> = new Set(["name", "member", "import", "generic"]);

/** A name that the file does not bind. */
function unbound({ name, scope, otherwise }: Extract<Expression, { is: "name" }>, steps: number): Meaning {
  const known = otherwise && meaningOf(otherwise, steps + 1);
  if (isOpen(scope)) return known ?? { to: "ambiguous" };
  if (!takesNames(scope) || isModuleKey(name)) return known ?? { to: "global" };
  const taken: Meaning = { to: "import", module: TAKEN, name };
  return known ? { to: "first", of: taken, otherwise: known } : taken;
}

function isOpen(scope: Scope): boolean {
  let at: Scope | undefined = scope;
  while (at && at.isOpen !== true) at = at.outer;
  return at !== undefined;
}

function takesNames(scope: Scope): boolean {
  let top = scope;
  while (top.outer) top = top.outer;
  return top.takesNames === true;
}

export function meaningOf(of: Expression, steps = 0): Meaning {
  if (steps > MAX_STEPS) return { to: "opaque" };
  switch (of.is) {
    case "name": {
      const bound = lookUp(of.scope, of.name);
      const binding = of.isType ? lookUpType(of.scope, of.name) : bound;
      if (binding?.is === "overloads")
        return { to: "member", of: { to: "local", line: binding.line }, name: of.called ?? of.name };
      if (binding) return meaningOfBinding(binding, steps + 1);
      // It is no member if the class has a field of that name.
      if (bound && of.otherwise?.is === "first") return meaningOf(of.otherwise.otherwise, steps + 1);
      return unbound(of, steps);
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
      const [first, ...others] = of.of.bases;
      const base = of.of.superclass ?? (others.length === 0 ? first : undefined);
      return base ? { to: "super", of: meaningOf(withoutArguments(base), steps + 1) } : { to: "ambiguous" };
    }
    case "likely":
      return { to: "likely", of: meaningOf(of.of, steps + 1) };
    case "first": {
      const [first, otherwise] = [meaningOf(of.of, steps + 2), meaningOf(of.otherwise, steps + 2)];
      // What is bound to a value is that value.
      return otherwise.to === "opaque" ? first : { to: "first", of: first, otherwise };
    }
    case "handed":
      return { to: "handed", by: meaningOf(of.by, steps + 1), at: of.at };
    case "generic":
      return { to: "generic", of: meaningOf(of.of, steps + 1), by: meaningOf(of.by, steps + 1) };
    case "choice":
      return agreed(of.of.slice(0, MAX_VALUES).map((each) => meaningOf(each, steps + 2))) ?? { to: "opaque" };
    case "unknown":
      return { to: "opaque" };
  }
}

export function meaningOfBinding(binding: Binding, steps: number): Meaning {
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
      // A value that is made of the variable itself is not followed: what the others agree on is likely.
      if (!binding.values || binding.meaning) return binding.meaning ?? { to: "ambiguous" };
      binding.meaning = { to: "opaque" };
      return (binding.meaning = agreedVariable(binding.values.map((value) => meaningOfBinding(value, steps + 1))));
    case "functions":
      return oneOf(binding.of);
    case "overloads":
      return { to: "ambiguous" };
  }
}

/** What the values of a variable have in common; its first line is that of its name. */
function agreedVariable(values: readonly Meaning[]): Meaning {
  const of = agreed(values.map((value) => (value.to === "variable" ? value.of : value))) ?? { to: "ambiguous" };
  const [first] = values;
  // What is called by the name is the variable, whatever its values are.
  return first?.to === "variable" ? { ...first, of: of.to === "ambiguous" ? { to: "opaque" } : of } : of;
}

function meaningOfVariable({ type, value }: Extract<Binding, { is: "variable" }>, steps: number): Meaning {
  if (type) return valueMeaning(type, steps + 1);
  return value && FOLLOWED.has(value.is) ? meaningOf(value, steps + 1) : { to: "opaque" };
}

/** Values of variables that are followed. A name may be a class itself, and is no instance of it. */
const FOLLOWED: ReadonlySet<Expression["is"]> = new Set([
  "call",
  "member",
  "class",
  "likely",
  "handed",
  "first",
  "choice",
]);
