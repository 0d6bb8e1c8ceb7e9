/**
 * Overloads of Java. A method with others that take as many arguments is a member `name/2(String,Class)`, one that takes any number
 * `name/any(String,Object)`; a call is `name/2(String,?)`, with the types of its arguments as far as the file tells.
 */

import { AMBIGUOUS_LINE } from "./limits.ts";
import type { ClassInfo, Meaning } from "./types.ts";

/** What is not known, and fits every type. */
export const ANY_TYPE = "?";
/** A lambda or reference to a method. */
export const FUNCTION_TYPE = "->";

/** Overloads of a name that are compared. */
const MAX_OVERLOADS = 100;

const PRIMITIVES = ["byte", "short", "char", "int", "long", "float", "double"];
// A map, not an object: a repository may name a type `constructor`.
const BOXED: ReadonlyMap<string, string> = new Map([
  ["byte", "Byte"],
  ["short", "Short"],
  ["char", "Character"],
  ["int", "Integer"],
  ["long", "Long"],
  ["float", "Float"],
  ["double", "Double"],
  ["boolean", "Boolean"],
]);
const isPrimitive = (type: string): boolean => BOXED.has(type);
/** Types of the standard library without subtypes in a repository, with what they are besides `Object`. */
const FINAL: ReadonlyMap<string, readonly string[]> = new Map([
  ["String", ["CharSequence", "Comparable", "Serializable"]],
  ["Class", ["Type", "GenericDeclaration", "AnnotatedElement", "Serializable"]],
]);

const EXACT = 4;

interface Overload<T> {
  types: readonly string[];
  isVariadic: boolean;
  of: T;
}

/** The overload that fits a call best; `isSure` if its types are exactly those of the arguments. Undefined if none or several do. */
function chosenOverload<T>(
  overloads: readonly Overload<T>[],
  given: readonly string[],
): { of: T; isSure: boolean } | undefined {
  const scored = overloads
    .map((each) => ({ of: each.of, isVariadic: each.isVariadic, score: scoreOf(each, given) }))
    .filter(({ score }) => score !== undefined)
    .toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0));
  const [best, second] = scored;
  if (!best || best.score === second?.score) return undefined;
  const isOnly = overloads.length === 1 && !best.isVariadic;
  return { of: best.of, isSure: isOnly || (best.score === EXACT && !best.isVariadic && given.length > 0) };
}

/** The mean of how well the arguments fit; undefined where one cannot. */
function scoreOf({ types, isVariadic }: Overload<unknown>, given: readonly string[]): number | undefined {
  if (isVariadic ? given.length < types.length - 1 : given.length !== types.length) return undefined;
  let sum = 0;
  for (const [i, argument] of given.entries()) {
    const score = fit(argument, types[Math.min(i, types.length - 1)] ?? ANY_TYPE);
    if (score === undefined) return undefined;
    sum += score;
  }
  // Java takes a method with a fixed number of parameters first.
  const mean = given.length === 0 ? 1 : sum / given.length;
  return isVariadic ? mean - 0.1 : mean;
}

function fit(argument: string, parameter: string): number | undefined {
  if (argument === ANY_TYPE || parameter === ANY_TYPE) return 1;
  if (argument === parameter) return EXACT;
  if (isPrimitive(argument)) return fitPrimitive(argument, parameter);
  if (argument === "null") return isPrimitive(parameter) ? undefined : 1;
  if (isPrimitive(parameter)) return BOXED.get(parameter) === argument ? 2 : undefined;
  if (parameter === "Object") return 1;
  const known = FINAL.get(argument);
  if (known) return known.includes(parameter) ? 2 : undefined;
  if (FINAL.has(parameter) || argument.endsWith("[]") !== parameter.endsWith("[]")) return undefined;
  // It may be a subtype.
  return 0.5;
}

function fitPrimitive(argument: string, parameter: string): number | undefined {
  if (isPrimitive(parameter)) {
    const wider = PRIMITIVES.indexOf(parameter) - PRIMITIVES.indexOf(argument);
    return wider > 0 && argument !== "boolean" && parameter !== "char" ? 3 - wider / 10 : undefined;
  }
  if (BOXED.get(argument) === parameter) return 2;
  return /^(?:Object|Number|Comparable)$/.test(parameter) ? 1 : undefined;
}

/** The name of a method with a number of arguments, and their types; these are absent where none of them is known. */
function splitCall(key: string): { name: string; given: string[] } {
  const at = key.indexOf("(");
  if (at >= 0) return { name: key.slice(0, at), given: typesOf(key) };
  const count = Math.min(Number(/\/(\d+)$/.exec(key)?.[1] ?? 0), MAX_OVERLOADS);
  return { name: key, given: Array.from({ length: count }, () => ANY_TYPE) };
}

/** The types in the key of an overload or call. */
function typesOf(key: string): string[] {
  const inside = key.slice(key.indexOf("(") + 1, -1);
  return inside === "" ? [] : inside.split(",");
}

/**
 * The line of the method of a class that a call means, with its type if it only reads a field; `AMBIGUOUS_LINE` if several fit it as well;
 * undefined if the class has none of its name and number of parameters.
 */
export function methodOf(
  members: ClassInfo["members"],
  called: string,
): { line: number; type?: Meaning; isLikely: boolean } | undefined {
  if (!called.includes("/")) return undefined;
  const { name, given } = splitCall(called);
  const alone = members.get(name);
  if (alone && alone.line !== AMBIGUOUS_LINE) return { ...alone, isLikely: false };
  let known = overloads.get(members);
  if (!known) overloads.set(members, (known = overloadsOf(members)));
  const variadic = known.get(name.replace(/\/\d+$/, "/any")) ?? [];
  const fitting = [
    ...(known.get(name) ?? []),
    ...variadic.filter(({ types }) => given.length >= types.length - 1),
  ].slice(0, MAX_OVERLOADS + 1);
  if (fitting.length === 0) return undefined;
  // Of too many none is taken.
  const chosen = fitting.length > MAX_OVERLOADS ? undefined : chosenOverload(fitting, given);
  return { line: chosen?.of ?? AMBIGUOUS_LINE, isLikely: chosen !== undefined && !chosen.isSure && fitting.length > 1 };
}

/** Overloads of classes by name and number of parameters, so that a class with thousands of them is looked through once. */
const overloads = new WeakMap<ClassInfo["members"], Map<string, Overload<number>[]>>();

function overloadsOf(members: ClassInfo["members"]): Map<string, Overload<number>[]> {
  const found = new Map<string, Overload<number>[]>();
  for (const [key, { line }] of members) {
    const end = key.indexOf("(");
    if (end < 0) continue;
    const name = key.slice(0, end);
    const own = found.get(name);
    const overload = { types: typesOf(key), isVariadic: name.endsWith("/any"), of: line };
    if (own) own.push(overload);
    else found.set(name, [overload]);
  }
  return found;
}
