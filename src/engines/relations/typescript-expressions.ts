/** Expressions and types of TypeScript and JavaScript, as far as they can be followed. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { alternativesOf, type Narrowed, narrowedBy } from "./choices.ts";
import { wrappedHolder } from "../parsing/rules/wrapped-functions.ts";
import {
  type Expression,
  givenOr,
  innerScope,
  handedFrom,
  instanceOf,
  lookUp,
  NOTHING,
  oneOfValues,
  type OpenClass,
  type Scope,
  UNKNOWN,
} from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { loadedModule } from "./loaded-module.ts";
import { type UseKind } from "./types.ts";
import { containerOf, genericType, typeOf } from "./typescript-types.ts";
import type { Place as BasePlace } from "./walk.ts";
import { ELEMENT, ITERATED, LIST, STATED } from "./wrapped.ts";

export interface Place extends BasePlace {
  /** What the function around returns. */
  results: Expression[] | undefined;
}

export const FUNCTION = /^(?:arrow_function|function_expression|generator_function)$/;

/** What has no uses in it, so that most nodes are not asked for children. */
export const LEAVES = wordSet(
  `comment identifier property_identifier shorthand_property_identifier type_identifier predefined_type literal_type string number regex
   this null undefined true false`,
);

/** Type parameters are what they extend; those of the class `opened`, whose name is `owner`, what a value gives them. */
export function typeParameters(node: SyntaxNode, { file, scope }: Place, owner?: string, opened?: OpenClass): void {
  if (owner && opened && node.field("type_parameters")) file.declaresTypes(opened, owner);
  for (const [at, each] of (node.field("type_parameters")?.namedChildren ?? []).entries()) {
    const name = each.field("name");
    const bound = each.field("constraint")?.namedChild(0);
    const of = bound ? typeOf(bound, scope.outer ?? scope) : UNKNOWN;
    if (name) file.bind(scope, name.text, { is: "alias", of: owner ? givenOr(owner, at, of) : of });
  }
}

/** Records the types that a class gives the type parameters of a base, where `given` lists some. */
export function giveTypes(base: SyntaxNode, given: SyntaxNode | undefined, opened: OpenClass, place: Place): void {
  if (given?.type !== "type_arguments") return;
  for (const [at, type] of given.namedChildren.entries())
    place.file.gives(opened, base.text, at, type.row + 1, typeOf(type, place.scope));
}

/** The value of a variable: constructions and calls are followed, names as types of parameters. */
export function valueOf(node: SyntaxNode, scope: Scope): Expression {
  const of = expressionOf(node, scope);
  if (/^(?:member|class|call|import|likely|first)$/.test(of.is)) return of;
  if (of.is !== "name") return UNKNOWN;
  const binding = lookUp(scope, of.name);
  return (binding?.is === "variable" ? (binding.type ?? binding.value) : undefined) ?? UNKNOWN;
}

/** The values that a variable or field may be given: two in `a ?? b`, `a || b` and `c ? a : b`. */
export const givenValues = (node: SyntaxNode, scope: Scope): Expression[] =>
  alternativesOf(node, choices).map((each) => (isNothing(each) ? NOTHING : valueOf(each, scope)));

function choices(node: SyntaxNode): (SyntaxNode | undefined)[] | undefined {
  if (node.type === "ternary_expression") return [node.field("consequence"), node.field("alternative")];
  return node.type === "assignment_expression" ? [node.field("right")] : operands(node, /^(?:\?\?|\|\|)=?$/);
}

const operands = (node: SyntaxNode, operator: RegExp): (SyntaxNode | undefined)[] | undefined =>
  /^(?:binary|augmented_assignment)_expression$/.test(node.type) && operator.test(node.field("operator")?.text ?? "")
    ? [node.field("left"), node.field("right")]
    : undefined;

/** The types that a condition states of names: `a instanceof A && …`. */
export const narrowed = (condition: SyntaxNode | undefined, scope: Scope): Narrowed[] =>
  narrowedBy(condition, { conjunction: (each) => operands(each, /^&&$/), test: (each) => instanceTest(each, scope) });

function instanceTest(node: SyntaxNode, scope: Scope): Narrowed | undefined {
  if (node.type === "call_expression") return predicateTest(node, scope);
  const [left, right] = operands(node, /^instanceof$/) ?? [];
  if (left?.type !== "identifier" || !right || !/^(?:identifier|member_expression)$/.test(right.type)) return undefined;
  return [left.text, expressionOf(right, scope)];
}

/** What a call tells of the name that it is given, if the function states its type: `isItem(x)` of `x is Item`. */
function predicateTest(node: SyntaxNode, scope: Scope): Narrowed | undefined {
  const called = node.field("function");
  const [argument] = node.field("arguments")?.namedChildren ?? [];
  if (argument?.type !== "identifier" || !called || !/^(?:identifier|member_expression)$/.test(called.type))
    return undefined;
  const stated: Expression = { is: "member", of: { is: "call", of: expressionOf(called, scope) }, name: STATED };
  const otherwise: Expression = { is: "name", name: argument.text, scope };
  return [argument.text, { is: "first", of: stated, otherwise }];
}

/** The class whose `this` a function sees. */
export const ownOf = (node: SyntaxNode, scope: Scope): OpenClass | undefined =>
  node.type === "arrow_function" || node.type === "method_definition" ? scope.own : undefined;

/** The name to which a function is assigned: `a.b = function () {}`, `const b = useCallback(() => {})`. */
export function assignedName(node: SyntaxNode): SyntaxNode | undefined {
  const holder = wrappedHolder(node) ?? node.parent;
  if (holder?.type === "assignment_expression") return holder.field("left")?.field("property");
  if (!holder || holder.id === node.parent?.id) return undefined;
  const name = holder.field("name") ?? holder.field("property") ?? holder.field("key");
  return name?.type.endsWith("identifier") ? name : undefined;
}

/** What a function returns, as values: a name stands for the value of a variable. What is made of `this` is of the class of a receiver. */
export const resultsOf = (node: SyntaxNode, scope: Scope): Expression[] =>
  alternativesOf(node, choices).map((each) => {
    if (isNothing(each)) return NOTHING;
    const of = expressionOf(each, scope);
    if (of.is === "import") return UNKNOWN;
    return each.type === "this" || each.field("constructor")?.type === "this" ? { is: "likely", of } : of;
  });

const isNothing = ({ type }: SyntaxNode): boolean => type === "null" || type === "undefined";

/** What a call uses: what it calls, and `f` of `f.call(…)`, `f.apply(…)` and `f.bind(…)`. */
export function usedIn(called: SyntaxNode | undefined): SyntaxNode[] {
  if (!called) return [];
  const name = called.type === "member_expression" ? called.field("property")?.text : undefined;
  const applied = name === "call" || name === "apply" || name === "bind" ? called.field("object") : undefined;
  return applied ? [called, applied] : [called];
}

/** The object literal that a value is, whatever is said of its type, or if it is frozen. */
export function objectOf(value: SyntaxNode | undefined): SyntaxNode | undefined {
  let at = value;
  for (let depth = 0; at && at.type !== "object" && depth < MAX_EXPRESSION_DEPTH; depth++) {
    if (at.field("function")?.text === "Object.freeze") at = at.field("arguments")?.namedChild(0);
    else at = /^(?:as|satisfies|parenthesized)_expression$/.test(at.type) ? at.namedChild(0) : undefined;
  }
  return at;
}

/** Global objects of JavaScript and its hosts. */
const GLOBAL_OBJECTS = wordSet(
  `Array ArrayBuffer Atomics BigInt Buffer Date Intl JSON Math Number Object Promise Reflect RegExp String Symbol
   Uint8Array console document process`,
);

/** The object of a member expression. A global object that no scope binds counts as imported from `node:globals`. */
const globalOr = (of: Expression): Expression =>
  of.is === "name" && GLOBAL_OBJECTS.has(of.name)
    ? { ...of, otherwise: { is: "import", module: "node:globals", name: of.name } }
    : of;

export function expressionOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  const inner = (field: string): Expression => {
    const child = node.field(field);
    return child ? expressionOf(child, scope, depth + 1) : UNKNOWN;
  };
  switch (node.type) {
    case "identifier":
    case "type_identifier":
      return { is: "name", name: node.text, scope };
    case "this":
      return scope.own ? { is: "class", line: scope.own.line } : UNKNOWN;
    case "super":
      return scope.own ? { is: "base", of: scope.own } : UNKNOWN;
    case "member_expression":
      return { is: "member", of: globalOr(inner("object")), name: node.field("property")?.text ?? "" };
    case "nested_type_identifier":
      return { is: "member", of: inner("module"), name: node.field("name")?.text ?? "" };
    case "call_expression": {
      const module = loadedModule(node);
      if (module !== undefined) return { is: "import", module, name: "*" };
      return elementsGiven(node, scope, depth) ?? mapped(node, scope, depth) ?? { is: "call", of: inner("function") };
    }
    case "new_expression": {
      const given = node.field("type_arguments")?.namedChildren ?? [];
      const container = containerOf(node.field("constructor"), given, scope, depth);
      return { is: "call", of: container ?? genericType(inner("constructor"), given, scope, depth) };
    }
    case "type_assertion": {
      const type = node.childOfType("type_arguments")?.namedChild(0);
      return instanceOf(type ? typeOf(type, scope) : UNKNOWN);
    }
    case "ternary_expression":
    case "binary_expression": {
      const right = operands(node, /^&&$/)?.[1];
      if (right) return expressionOf(right, scope, depth + 1);
      const values = choices(node) ?? [];
      return oneOfValues(
        values.map((each) => (!each || isNothing(each) ? NOTHING : expressionOf(each, scope, depth + 1))),
      );
    }
    case "assignment_expression":
      return inner("right");
    case "augmented_assignment_expression":
      return ASSIGNS_IF_NOTHING.test(node.field("operator")?.text ?? "") ? likely(inner("right")) : UNKNOWN;
    case "subscript_expression":
      return { is: "member", of: inner("object"), name: ELEMENT };
    case "as_expression":
    case "satisfies_expression": {
      const [value, type] = node.namedChildren;
      if (!value || !type || type.text === "const") return value ? expressionOf(value, scope, depth + 1) : UNKNOWN;
      // A value of the type, as a construction gives one.
      return instanceOf(typeOf(type, scope));
    }
    case "array": {
      const [first] = node.namedChildren;
      if (first?.type === "spread_element") return likely(listOf(first.namedChild(0), ITERATED, scope, depth));
      const of = first && expressionOf(first, scope, depth + 1);
      return of?.is === "call" ? likely({ is: "member", of, name: LIST }) : UNKNOWN;
    }
    case "await_expression":
    case "parenthesized_expression":
    case "non_null_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, scope, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

const likely = (of: Expression): Expression => (of.is === "unknown" ? UNKNOWN : { is: "likely", of });

/** Operators that give a variable the value on their right if it has none. */
const ASSIGNS_IF_NOTHING = /^(?:\?\?|\|\|)=$/;

/** Functions of the standard library that make an array of what their only argument holds. */
const GIVE_ARRAYS: ReadonlyMap<string, string> = new Map([
  ["Array.from", ITERATED],
  ["Object.values", ELEMENT],
  ["Object.entries", ITERATED],
]);

/** The array that a call of such a function gives; undefined for other calls. */
function elementsGiven(node: SyntaxNode, scope: Scope, depth: number): Expression | undefined {
  const called = node.field("function");
  const step = called?.type === "member_expression" ? GIVE_ARRAYS.get(called.text) : undefined;
  const given = node.field("arguments")?.namedChildren ?? [];
  // A promise is treated as the value that it resolves to.
  if (called?.text === "Promise.all" && given[0] && given[0].type !== "array" && !lookUp(scope, "Promise"))
    return expressionOf(given[0], scope, depth + 1);
  if (step === undefined || given.length !== 1 || lookUp(scope, called?.field("object")?.text ?? "")) return undefined;
  return listOf(given[0], step, scope, depth);
}

/** Methods that give what the function gives that they are called with: in an array, or as it is. */
const MAPPED: ReadonlyMap<string, typeof LIST | undefined> = new Map([
  ["map", LIST],
  ["flatMap", undefined],
  ["then", undefined],
]);

/** What a call of such a method gives, unless the repository defines the method; undefined for other calls. */
function mapped(node: SyntaxNode, scope: Scope, depth: number): Expression | undefined {
  const called = node.field("function");
  const name = called?.type === "member_expression" ? (called.field("property")?.text ?? "") : "";
  const [callback] = node.field("arguments")?.namedChildren ?? [];
  if (!called || !callback || !MAPPED.has(name)) return undefined;
  const of = expressionOf(called, scope, depth + 1);
  const given = resultOfArrow(callback, of, scope, depth);
  const wrapping = MAPPED.get(name);
  const own: Expression = { is: "call", of };
  if (given.is === "unknown") return own;
  const otherwise: Expression = wrapping ? { is: "member", of: given, name: wrapping } : given;
  return { is: "first", of: own, otherwise };
}

/** What an arrow function gives whose body is a value, and that is the first argument of a call of `by`. */
function resultOfArrow(node: SyntaxNode, by: Expression, scope: Scope, depth: number): Expression {
  const body = node.type === "arrow_function" ? node.field("body") : undefined;
  if (!body || body.type === "statement_block") return UNKNOWN;
  const single = node.field("parameter");
  const parameters = single ? [single] : (node.field("parameters")?.namedChildren ?? []);
  const inner = innerScope(scope);
  for (const [at, each] of parameters.entries()) {
    const name = each.field("pattern") ?? each;
    const type = each.field("type");
    if (name.type !== "identifier") return UNKNOWN;
    const value = handedFrom(by, 0, at);
    inner.names.set(name.text, { is: "variable", ...(type ? { type: typeOf(type, scope) } : { value }) });
  }
  return expressionOf(body, inner, depth + 1);
}

/** An array of what a value holds. */
function listOf(value: SyntaxNode | undefined, step: string, scope: Scope, depth: number): Expression {
  const of = value ? expressionOf(value, scope, depth + 1) : UNKNOWN;
  return of.is === "unknown" ? UNKNOWN : { is: "member", of: { is: "member", of, name: step }, name: LIST };
}

/** The values at the places of an array, or of `Promise.all` of one; undefined for other nodes, and where one is spread. */
export function valuesInArray(value: SyntaxNode | undefined, scope: Scope): readonly SyntaxNode[] | undefined {
  let node = value;
  if (node?.type === "await_expression") node = node.namedChild(0);
  if (node?.type === "call_expression" && node.field("function")?.text === "Promise.all" && !lookUp(scope, "Promise"))
    node = node.field("arguments")?.namedChild(0);
  const isSpread = ({ type }: SyntaxNode): boolean => type === "spread_element";
  return node?.type === "array" && !node.namedChildren.some(isSpread) ? node.namedChildren : undefined;
}

/** Records a use of what an expression names. */
export function use(kind: UseKind, node: SyntaxNode, { file, scope }: Place): void {
  const named = node.type === "member_expression" ? node.field("property") : node;
  if (named && named.type.endsWith("identifier"))
    file.use(kind, named.text, named.row + 1, scope, expressionOf(node, scope));
}
