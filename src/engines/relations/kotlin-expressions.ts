/** Expressions and types of Kotlin, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import {
  type Expression,
  handedFrom,
  instanceOf,
  lookUp,
  NOTHING,
  oneOfValues,
  passed,
  stepInto,
  UNKNOWN,
} from "./expressions.ts";
import { extensionKey, isTypeNode, type Place, unqualified } from "./kotlin-names.ts";
import { givenByLibrary } from "./kotlin-library.ts";
import { typeOf } from "./kotlin-types.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { ANY_TYPE } from "./overloads.ts";

import { ELEMENT, PLACE, SECOND_PLACE } from "./wrapped.ts";

/** Key of the parameter that a lambda's receiver is, beside those that it names. */
export const RECEIVER = 6;

/** A call: what is called, its arguments, and the lambda after them. */
export interface Call {
  callee: SyntaxNode | undefined;
  args: readonly SyntaxNode[];
  lambda: SyntaxNode | undefined;
}

/** The parts of a call: `f(1) { … }` is written as a call of `f(1)` with a lambda. */
export function partsOfCall(node: SyntaxNode): Call {
  const lambda = node.childOfType("annotated_lambda");
  let callee = node.namedChild(0);
  let list = node.childOfType("value_arguments");
  if (lambda && !list && callee?.type === "call_expression" && !callee.childOfType("annotated_lambda")) {
    list = callee.childOfType("value_arguments");
    callee = callee.namedChild(0);
  }
  const args = list?.namedChildren.filter(({ type }) => type === "value_argument") ?? [];
  return { callee, args, lambda: lambda?.childOfType("lambda_literal") };
}

/** The receiver and the name of `a.b` and `a?.b`; undefined for `a::b`. */
export function navigation(node: SyntaxNode): { of: SyntaxNode; name: SyntaxNode } | undefined {
  if (node.type !== "navigation_expression" || node.children.some(({ type }) => type === "::")) return undefined;
  const [of, name] = [node.namedChild(0), node.namedChildren.at(-1)];
  return of && name?.type === "identifier" && of.id !== name.id ? { of, name } : undefined;
}

/** What a call means, the name that is written there, and what it is called on; undefined for a call of what an expression gives. */
export function calledIn(
  node: SyntaxNode,
  place: Place,
  depth = 0,
): { name: SyntaxNode; of: Expression; receiver?: Expression } | undefined {
  const { callee, args, lambda } = partsOfCall(node);
  if (!callee || depth > MAX_EXPRESSION_DEPTH) return undefined;
  const given = suffixOf(args, lambda !== undefined, place);
  if (callee.type === "identifier") return { name: callee, of: unqualified(callee.text, given, place) };
  const member = navigation(callee);
  if (!member) return undefined;
  const receiver = expressionOf(member.of, place, depth + 1);
  return { name: member.name, of: memberCalled(member.of, member.name.text, given, place, receiver), receiver };
}

/** Arguments whose types tell overloads apart. */
const MAX_TYPED = 10;

/** The number of arguments, and their types as far as they are written down: `/2(String,?)`. */
function suffixOf(args: readonly SyntaxNode[], hasLambda: boolean, place: Place): string {
  const count = args.length + (hasLambda ? 1 : 0);
  const isNamed = args.some((each) => each.children.some(({ type }) => type === "="));
  if (count > MAX_TYPED || isNamed) return `/${count}`;
  const types = args.map((each) => typeNameOf(each.namedChildren.at(-1), place));
  if (types.every((type) => type === ANY_TYPE)) return `/${count}`;
  return `/${count}(${[...types, ...(hasLambda ? [ANY_TYPE] : [])].join(",")})`;
}

/** The name of an expression's type, as far as it is written in the file. */
function typeNameOf(node: SyntaxNode | undefined, { scope }: Place): string {
  if (!node) return ANY_TYPE;
  switch (node.type) {
    case "string_literal":
    case "multiline_string_literal":
      return "String";
    case "character_literal":
      return "Char";
    case "number_literal":
      return /^\d+$/.test(node.text) ? "Int" : ANY_TYPE;
    case "navigation_expression":
    case "callable_reference":
      return node.text.slice(-10).endsWith("::class") ? "KClass" : ANY_TYPE;
    case "identifier": {
      if (/^(?:true|false)$/.test(node.text)) return "Boolean";
      const binding = lookUp(scope, node.text);
      return (binding?.is === "variable" ? binding.typeName : undefined) ?? ANY_TYPE;
    }
    default:
      return ANY_TYPE;
  }
}

/** A function that is called on a receiver, whose value is `value`: a member, or an extension that the file, a class around or an import gives. */
export function memberCalled(
  of: SyntaxNode,
  name: string,
  given: string,
  place: Place,
  value = expressionOf(of, place),
): Expression {
  const key = `${name}${given}`;
  const path = packagePath(of, place);
  if (path !== undefined) return { is: "import", module: path, name: key };
  const called = memberOf(of, key, place, value);
  const extension = extensionKey(key.replace(/\(.*/, ""));
  // Those at the top of a file are found by the name.
  const binding = lookUp(place.scope, extension);
  if (!binding || binding === place.file.top.names.get(extension)) return called;
  return { is: "first", of: called, otherwise: { is: "name", name: extension, scope: place.scope } };
}

/** A member of a value, of an object, or of the companion of a class. */
function memberOf(of: SyntaxNode, key: string, place: Place, value: Expression): Expression {
  const member: Expression = { is: "member", of: value, name: key };
  if (!isTypeName(of, place)) return member;
  const companion: Expression = { is: "member", of: value, name: "Companion" };
  return { is: "first", of: { is: "member", of: companion, name: key }, otherwise: member };
}

/** Whether an expression names a type by custom, and no variable. */
function isTypeName(node: SyntaxNode, { scope }: Place): boolean {
  const name = node.type === "identifier" ? node : navigation(node)?.name;
  if (!name || !/^\p{Lu}/u.test(name.text)) return false;
  return node.type !== "identifier" || lookUp(scope, name.text)?.is !== "variable";
}

/** A package that is written in full, such as `a.b` of `a.b.C`. */
function packagePath(node: SyntaxNode, { scope, names }: Place): string | undefined {
  const text = node.text.slice(0, 200);
  if (node.type !== "navigation_expression" || !/^[\p{Ll}\d_]+(?:\.[\p{Ll}\d_]+)+$/u.test(text)) return undefined;
  const [first = ""] = text.split(".", 1);
  return /^(?:com|org|net|io|dev|java|javax|kotlin|kotlinx|android|androidx)$/.test(first) &&
    !lookUp(scope, first) &&
    !names.imports.has(first)
    ? text
    : undefined;
}

export function expressionOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  const { scope } = place;
  const inner = (at: SyntaxNode | undefined): Expression => (at ? expressionOf(at, place, depth + 1) : UNKNOWN);
  switch (node.type) {
    case "identifier":
      return unqualified(node.text, "", place);
    case "this_expression":
      return receiverNamed(node, place);
    case "super_expression": {
      const type = node.namedChildren.find((each) => each.type === "user_type");
      if (type) return typeOf(type, place);
      return scope.own && node.namedChildren.length === 0 ? { is: "base", of: scope.own } : UNKNOWN;
    }
    case "navigation_expression": {
      const member = navigation(node);
      if (!member) return node.text.slice(-10).endsWith("::class") ? KOTLIN_CLASS : UNKNOWN;
      const path = packagePath(member.of, place);
      if (path !== undefined) return { is: "import", module: path, name: member.name.text };
      return propertyOf(member.of, member.name.text, place, depth);
    }
    case "call_expression":
      return resultOf(node, place, depth);
    case "as_expression": {
      const type = node.field("right");
      return type ? instanceOf(typeOf(type, place)) : UNKNOWN;
    }
    case "index_expression": {
      return stepInto(inner(node.namedChild(0)), ELEMENT);
    }
    case "parenthesized_expression":
    case "annotated_expression":
    case "labeled_expression":
      return inner(node.namedChildren.at(-1));
    case "unary_expression":
      return node.field("operator")?.text === "!!" ? inner(node.field("argument")) : UNKNOWN;
    case "binary_expression":
      return elvis(node, place, depth);
    case "if_expression": {
      const [condition, ...branches] = node.namedChildren.filter(({ type }) => !/comment/.test(type));
      return condition && branches.length === 2 ? oneOfBranches(branches, place, depth) : UNKNOWN;
    }
    case "when_expression": {
      const entries = node.namedChildren.filter(({ type }) => type === "when_entry");
      return oneOfBranches(
        entries.map((each) => each.namedChildren.at(-1)),
        place,
        depth,
      );
    }
    case "try_expression": {
      const blocks = node.namedChildren.map((each) => (each.type === "catch_block" ? each.childOfType("block") : each));
      return oneOfBranches(
        blocks.filter((each) => each?.type === "block"),
        place,
        depth,
      );
    }
    case "object_literal": {
      const [type] = basesOf(node);
      return type ? instanceOf(typeOf(type.type, place)) : UNKNOWN;
    }
    default: {
      // Types of the standard library have extensions.
      const name = typeNameOf(node, place);
      return name === ANY_TYPE ? UNKNOWN : { is: "import", module: "", name };
    }
  }
}

const KOTLIN_CLASS: Expression = { is: "import", module: "", name: "KClass" };

/** What a call gives: what the function returns, or what the standard library is known to make of its arguments. */
function resultOf(node: SyntaxNode, place: Place, depth: number): Expression {
  const called = calledIn(node, place, depth);
  if (!called || called.of.is === "unknown") return UNKNOWN;
  const { args, lambda } = partsOfCall(node);
  const { receiver } = called;
  const name = called.name.text;
  // A list of Kotlin has a `take` that gives a list, other languages' give an element.
  if (name === "take") return receiver ?? UNKNOWN;
  if (receiver && SAME.has(name)) return receiver;
  const own: Expression = { is: "call", of: called.of };
  const read = (each: SyntaxNode | undefined): Expression => (each ? expressionOf(each, place, depth + 1) : UNKNOWN);
  const values = args.slice(0, MAX_ELEMENTS).map((each) => each.namedChildren.at(-1));
  const handed = (at: number): Expression => handedIn(name, called, at);
  const inLambda = (of: (only: SyntaxNode) => SyntaxNode | undefined): Expression => {
    const only = lambda && onlyExpression(lambda);
    const value = only && of(only);
    if (!lambda || !value) return UNKNOWN;
    const inner = { ...place, scope: place.file.inner(place.scope, undefined) };
    lambdaParameters(lambda, handed, inner);
    return expressionOf(value, inner, depth + 1);
  };
  const given = givenByLibrary({
    name,
    receiver,
    args: () => values.map((each) => read(each)),
    paired: () => values.map((each) => read(each && behindTo(each))),
    types: () => typeArguments(node).map((each) => typeOf(each, place, depth + 1)),
    result: () => inLambda((only) => only),
    second: () => inLambda(behindTo),
  });
  return given && given.is !== "unknown" ? { is: "first", of: own, otherwise: given } : own;
}

const typeArguments = (call: SyntaxNode): readonly SyntaxNode[] =>
  (call.childOfType("type_arguments") ?? call.namedChild(0)?.childOfType("type_arguments"))?.namedChildren ?? [];

/** Arguments that are compared. */
const MAX_ELEMENTS = 4;

/** The right side of `a to b`. */
function behindTo(node: SyntaxNode): SyntaxNode | undefined {
  const isPair = node.type === "infix_expression" && node.namedChild(1)?.text === "to";
  return isPair ? node.namedChild(2) : undefined;
}

/** What the function of a call hands to its lambda as a parameter, or as `RECEIVER`. */
export const handedIn = (
  name: string,
  { of, receiver }: { of: Expression; receiver?: Expression },
  at: number,
): Expression => (at === 0 && receiver && AS_PARAMETER.has(name) ? passed(receiver) : handedAt(of, at));

/** What a function hands to its lambda at a position. */
const handedAt = (by: Expression, at: number): Expression =>
  (by.is === "unknown" ? undefined : handedFrom(by, 0, at)) ?? UNKNOWN;

/** Binds the parameters of a lambda, and `it` where it names none. */
export function lambdaParameters(lambda: SyntaxNode, handed: (at: number) => Expression, place: Place): void {
  const { file, scope } = place;
  const parameters = lambda.childOfType("lambda_parameters");
  if (!parameters) file.bind(scope, "it", { is: "variable", value: handed(0) });
  for (const [i, each] of (parameters?.namedChildren ?? []).entries()) {
    if (each.type === "multi_variable_declaration") destructured(each, handed(i), place);
    const name = each.type === "variable_declaration" ? each.childOfType("identifier") : undefined;
    const type = each.namedChildren.find(isTypeNode);
    const known = type ? { type: typeOf(type, place) } : { value: handed(i) };
    if (name) file.bind(scope, name.text, { is: "variable", ...known });
  }
}

/** Binds the names of `(a, b)`: components of a data class, or places of a list or entry. */
export function destructured(pattern: SyntaxNode, of: Expression, { file, scope }: Place): void {
  for (const [i, each] of pattern.namedChildren.entries()) {
    const name = each.childOfType("identifier");
    if (!name) continue;
    const component: Expression = { is: "call", of: { is: "member", of, name: componentKey(i) } };
    const place: Expression = { is: "member", of, name: i === 1 ? SECOND_PLACE : PLACE };
    const value: Expression = of.is === "unknown" ? UNKNOWN : { is: "first", of: component, otherwise: place };
    file.bind(scope, name.text, { is: "variable", value });
  }
}

/** Key of the function that gives the component of a data class at a position. */
export const componentKey = (at: number): string => `component${at + 1}/0`;

/** Functions that give their receiver. */
const SAME: ReadonlySet<string> = new Set(["apply", "also", "takeIf", "takeUnless"]);

/** Scope functions of the standard library, which pass their receiver to a lambda as its parameter or as `this`. */
export const AS_PARAMETER: ReadonlySet<string> = new Set(["let", "also", "takeIf", "takeUnless", "use"]);

/** The only expression of a lambda or block; undefined where there are several statements. */
function onlyExpression(block: SyntaxNode): SyntaxNode | undefined {
  const [only, ...others] = block.namedChildren.filter(({ type }) => !/comment|lambda_parameters/.test(type));
  return others.length === 0 ? only : undefined;
}

/** What a lambda without parameters gives. */
export function resultOfLambda(lambda: SyntaxNode, place: Place, depth = 0): Expression {
  const only = onlyExpression(lambda);
  return only ? expressionOf(only, place, depth + 1) : UNKNOWN;
}

/** One of the values that the branches of `if`, `when` or `try` give; a branch that leaves the function gives none. */
function oneOfBranches(branches: readonly (SyntaxNode | undefined)[], place: Place, depth: number): Expression {
  return oneOfValues(
    branches.map((branch) => {
      const only = branch && /^(?:block|control_structure_body)$/.test(branch.type) ? onlyExpression(branch) : branch;
      if (!only) return UNKNOWN;
      return isJump(only) || only.text === "null" ? NOTHING : expressionOf(only, place, depth + 1);
    }),
  );
}

/** Properties of maps, and the methods that give the same. */
const OF_MAPS: ReadonlyMap<string, string> = new Map([
  ["values", "values"],
  ["entries", "entries"],
  ["value", "getValue"],
]);

function propertyOf(of: SyntaxNode, name: string, place: Place, depth: number): Expression {
  const property = memberOf(of, name, place, expressionOf(of, place, depth + 1));
  const method = OF_MAPS.get(name);
  if (property.is !== "member" || method === undefined) return property;
  return { is: "first", of: property, otherwise: { is: "call", of: { ...property, name: method } } };
}

/** `a ?: b`: where `b` is a jump it is `a`, else usually so. */
function elvis(node: SyntaxNode, place: Place, depth: number): Expression {
  const [left, right] = [node.field("left"), node.field("right")];
  if (node.field("operator")?.text !== "?:" || !left || !right) return UNKNOWN;
  const of = expressionOf(left, place, depth + 1);
  return isJump(right) || of.is === "unknown" ? of : { is: "likely", of };
}

export const isJump = (node: SyntaxNode): boolean =>
  /^(?:return|throw)_expression$/.test(node.type) || /^(?:break|continue)\b/.test(node.text.slice(0, 20));

/** What `this` or `this@name` means: in a lambda its receiver, if it has one. */
function receiverNamed(node: SyntaxNode, { scope, names }: Place): Expression {
  const label = node.namedChildren.find(({ type }) => type === "identifier")?.text;
  const handed: Expression[] = [];
  let own: Expression = UNKNOWN;
  for (let at = scope.outer && scope; at && own === UNKNOWN; at = at.outer) {
    const receiver = names.receivers.get(at);
    if (!receiver) continue;
    if (!receiver.isHanded) {
      if (label === undefined || at.path?.slice(at.path.lastIndexOf(".") + 1) === label) own = receiver.of;
    } else if (label === undefined) handed.push(receiver.of);
  }
  return handed.reduceRight((otherwise, of) => ({ is: "first", of, otherwise }), own);
}

/** The classes and interfaces that a declaration or object names as its bases, those that it constructs first. */
export function basesOf(node: SyntaxNode): { type: SyntaxNode; isConstructed: boolean }[] {
  const specifiers = node.childOfType("delegation_specifiers")?.namedChildren ?? [];
  const bases = specifiers.flatMap((each) => {
    const holder = each.childOfType("constructor_invocation", "explicit_delegation");
    const type = (holder ?? each).namedChildren.find((own) => own.type === "user_type");
    return type ? [{ type, isConstructed: holder?.type === "constructor_invocation" }] : [];
  });
  return bases.toSorted((a, b) => Number(b.isConstructed) - Number(a.isConstructed));
}
