/** Expressions and types of Java, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import {
  type Expression,
  givenOr,
  givenPart,
  handedFrom,
  isBoundWithin,
  lookUpType,
  NOTHING,
  oneOfValues,
  type OpenClass,
  type Scope,
  stepInto,
  UNKNOWN,
  withArguments,
} from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { nameInPackage, type Place as BasePlace } from "./walk.ts";
import { collected, givenByLibrary, held, isOfLibrary, wrappingOf } from "./java-library.ts";
import { keyOfCall } from "./java-signatures.ts";
import { methodKey } from "./members.ts";

import { ELEMENT, ENTRY, FUNCTION, LIST, MAP, type Wrapping } from "./wrapped.ts";

export interface Place extends BasePlace {
  package: string;
  /** Packages of libraries all of whose types the file imports. */
  stars: Set<string>;
  /** Classes that names are statically imported from, by the name. */
  statics: Map<string, Expression>;
  /** Classes all of whose static members are imported. */
  staticStars: Expression[];
}

export function expressionOf(node: SyntaxNode, place: Place, isCalled = false, depth = 0): Expression {
  const { scope } = place;
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
      return value(node.text, place);
    case "this":
      return scope.own ? { is: "class", line: scope.own.line } : UNKNOWN;
    case "super":
      return scope.own ? { is: "base", of: scope.own } : UNKNOWN;
    case "field_access": {
      const [object, field] = [node.field("object"), node.field("field")];
      if (field?.type === "this" && object) return expressionOf(object, place, false, depth + 1);
      return object && field ? qualified(node, object, field.text, place, depth) : UNKNOWN;
    }
    case "method_invocation": {
      const [object, name] = [node.field("object"), node.field("name")?.text ?? ""];
      const key = keyOfCall(name, node.field("arguments"), place);
      const called: Expression = object
        ? { is: "member", of: expressionOf(object, place, false, depth + 1), name: key }
        : unqualified(name, key, place);
      return isCalled ? called : resultOf(node, called, place, depth);
    }
    case "ternary_expression":
      return oneOfValues(
        [node.field("consequence"), node.field("alternative")].map((each) =>
          !each || each.type === "null_literal" ? NOTHING : expressionOf(each, place, false, depth + 1),
        ),
      );
    case "object_creation_expression": {
      const type = node.field("type");
      if (!type) return UNKNOWN;
      const [first] = argumentsOf(node);
      const name = type.type === "generic_type" && type.text.endsWith("<>") ? type.namedChild(0)?.text : undefined;
      const holds = name !== undefined && first && wrappingOf(name, scope, place.stars);
      if (holds) return held(name, expressionOf(first, place, false, depth + 1));
      // An anonymous class is another one than its base, but has its members.
      return { is: "call", of: typeOf(type, place) };
    }
    case "cast_expression": {
      const type = node.field("type");
      const of = type && typeOf(type, place);
      return of && of.is !== "unknown" ? { is: "call", of } : UNKNOWN;
    }
    case "array_access": {
      const array = node.field("array");
      return stepInto(array ? expressionOf(array, place, false, depth + 1) : UNKNOWN, ELEMENT);
    }
    case "parenthesized_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, place, false, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

export const argumentsOf = (call: SyntaxNode): SyntaxNode[] =>
  call.field("arguments")?.namedChildren.filter(({ type }) => !/comment/.test(type)) ?? [];

/** How methods of streams, optional values and futures hold what the function gives that they are called with; as it is given where not at all. */
const MAPPED: ReadonlyMap<string, Wrapping | undefined> = new Map([
  ["map", LIST],
  ["mapToObj", LIST],
  ["flatMap", undefined],
  ["thenApply", FUNCTION],
  ["thenApplyAsync", FUNCTION],
  ["thenCompose", undefined],
  ["thenComposeAsync", undefined],
]);

/** What a call gives: what the method returns, or what the standard library is known to make of its arguments. */
function resultOf(call: SyntaxNode, called: Expression, place: Place, depth: number): Expression {
  const own: Expression = { is: "call", of: called };
  const [object, name] = [call.field("object"), call.field("name")?.text ?? ""];
  const list = argumentsOf(call);
  const read = (each: SyntaxNode): Expression => expressionOf(each, place, false, depth + 1);
  const receiver = called.is === "member" ? called.of : UNKNOWN;
  const result = (each: SyntaxNode, at = 0, by = called): Expression => resultOfFunction(each, by, at, place, depth);
  const imported = object ? undefined : place.statics.get(name);
  const type = object ? object.text.slice(0, MAX_TYPE_NAME) : imported?.is === "import" ? imported.name : "";
  if (/^\p{Lu}/u.test(type) && (imported ?? isOfLibrary(type, place.scope, place.stars))) {
    const given = givenByLibrary(type, name, list, read, result);
    if (given) return given;
  }
  const otherwise = (of: Expression): Expression =>
    of.is === "unknown" ? own : { is: "first", of: own, otherwise: of };
  const [only, ...others] = list;
  if (object && only && others.length === 0) {
    if (name === "collect")
      return otherwise(collected(receiver, only, (each) => result(each, 0, elementsOf(receiver))));
    // The lists of a stream of them, one after the other.
    if (name === "flatMap" && /^(?:List|Set|Collection|Optional)::stream$/.test(only.text))
      return otherwise({ is: "member", of: receiver, name: ELEMENT });
    const wrapping = MAPPED.get(name);
    const made = MAPPED.has(name) ? result(only) : UNKNOWN;
    if (made.is !== "unknown") return otherwise(wrapping ? { is: "member", of: made, name: wrapping } : made);
  }
  // Methods that every enumeration has.
  const isOfEnumeration = object && /^\p{Lu}/u.test(type) && /^value(?:s|Of)$/.test(name);
  if (!isOfEnumeration || list.length !== (name === "values" ? 0 : 1)) return own;
  const constant: Expression = { is: "call", of: receiver };
  return otherwise(name === "values" ? { is: "member", of: constant, name: LIST } : constant);
}

const MAX_TYPE_NAME = 100;

/** A method that hands over the elements of a container. */
export const elementsOf = (container: Expression): Expression => ({ is: "member", of: container, name: "forEach" });

/** What a lambda or a reference to a method gives that is the argument `outer` of a call of `called`. */
function resultOfFunction(
  node: SyntaxNode,
  called: Expression,
  outer: number,
  place: Place,
  depth: number,
): Expression {
  if (node.type === "method_reference") return resultOfReference(node, place, depth);
  const body = node.type === "lambda_expression" ? onlyResult(node.field("body")) : undefined;
  if (!body) return UNKNOWN;
  const inner = { ...place, scope: place.file.inner(place.scope, undefined) };
  lambdaParameters(node.field("parameters"), inner, (at) => handedFrom(called, outer, at));
  return expressionOf(body, inner, false, depth + 1);
}

/** The expression that a lambda gives: its body, or what the only statement of that returns. */
function onlyResult(body: SyntaxNode | undefined): SyntaxNode | undefined {
  if (body?.type !== "block") return body;
  const [only, ...others] = body.namedChildren.filter(({ type }) => !/comment/.test(type));
  return only?.type === "return_statement" && others.length === 0 ? only.namedChild(0) : undefined;
}

/** Binds the parameters of a lambda: those without a type are what they are handed. */
export function lambdaParameters(
  node: SyntaxNode | undefined,
  place: Place,
  handed: (at: number) => Expression | undefined,
): void {
  const { file, scope } = place;
  if (node?.type === "identifier") file.bind(scope, node.text, { is: "variable", value: handed(0) });
  for (const [at, each] of (node?.namedChildren ?? []).entries()) {
    const name = each.type === "identifier" ? each : each.field("name");
    const type = each.field("type");
    const known = type && type.text !== "var" ? { type: typeOf(type, place) } : { value: handed(at) };
    if (name) file.bind(scope, name.text, { is: "variable", ...known });
  }
}

/** The parts of `x::f`, `C::f` or `C::new`; the name is absent for a construction. */
export function partsOfReference(node: SyntaxNode): { of: SyntaxNode; isType: boolean; name?: SyntaxNode } | undefined {
  const of = node.namedChild(0);
  const name = node.namedChildren.at(-1);
  if (!of || !name) return undefined;
  const isType = of.type.endsWith("type") || of.type.endsWith("type_identifier");
  if (node.children.at(-1)?.type === "new") return { of, isType };
  return name.type === "identifier" && name.id !== of.id ? { of, isType, name } : undefined;
}

/** What a reference to a method means. */
export function referenced(of: SyntaxNode, isType: boolean, name: string, place: Place, depth = 0): Expression {
  const owner = isType ? typeOf(of, place, depth) : expressionOf(of, place, false, depth);
  return { is: "member", of: owner, name: methodKey(name) };
}

function resultOfReference(node: SyntaxNode, place: Place, depth: number): Expression {
  const parts = partsOfReference(node);
  if (!parts) return UNKNOWN;
  const { of, isType, name } = parts;
  return { is: "call", of: name ? referenced(of, isType, name.text, place, depth + 1) : typeOf(of, place, depth + 1) };
}

/** `a.b`: a field of a value, or a class by its whole name. */
function qualified(node: SyntaxNode, object: SyntaxNode, field: string, place: Place, depth: number): Expression {
  if (/^[\p{Ll}\d_.]+\.\p{Lu}[\p{L}\d_]*$/u.test(node.text.slice(0, 300)) && !place.scope.names.has(object.text)) {
    const first = node.text.split(".")[0] ?? "";
    if (isUnbound(first, place.scope)) return { is: "import", module: object.text, name: field };
  }
  return { is: "member", of: expressionOf(object, place, false, depth + 1), name: field };
}

function isUnbound(name: string, scope: Scope): boolean {
  for (let at: Scope | undefined = scope; at; at = at.outer) if (at.names.has(name)) return false;
  return true;
}

/** A method that is called without a receiver: of a class around, inherited, or statically imported. */
function unqualified(name: string, key: string, { scope, statics, staticStars }: Place): Expression {
  const imported = statics.get(name);
  const mine: Expression = scope.own ? { is: "member", of: { is: "class", line: scope.own.line }, name: key } : UNKNOWN;
  const own = inherited(key, scope) ?? mine;
  // What a base has that is not known comes first.
  const isSure = scope.own === undefined || scope.own.bases.length === 0;
  const starred = orOfStars(own, staticStars, key, isSure);
  const bare = key.replace(/\(.*/, "");
  return {
    is: "name",
    name: bare,
    called: key,
    scope,
    otherwise: imported ? { is: "member", of: imported, name: key } : starred,
  };
}

/** What a name means, or else the member of a class all of whose static members the file imports. */
const orOfStars = (own: Expression, stars: readonly Expression[], name: string, isSure: boolean): Expression =>
  stars.reduce<Expression>((of, star) => {
    const member: Expression = { is: "member", of: star, name };
    return { is: "first", of, otherwise: isSure ? member : { is: "likely", of: member } };
  }, own);

/** A name in an expression: where the file does not bind it, it may be an inherited field. By custom, a name like `Words` is a class. */
function value(name: string, place: Place): Expression {
  const field = /^\p{Lu}.*\p{Ll}/u.test(name) ? undefined : inherited(name, place.scope);
  return field ? { is: "name", name, scope: place.scope, otherwise: field } : named(name, place);
}

/** Classes around a name whose inherited members are looked up. */
const MAX_CLASSES = 3;

/** A member that the class around a name or one around that inherits, the innermost one first; undefined if none has a base. */
function inherited(name: string, scope: Scope): Expression | undefined {
  const classes = new Set<OpenClass>();
  for (let at: Scope | undefined = scope; at && classes.size < MAX_CLASSES; at = at.outer)
    if (at.own && at.own.bases.length > 0) classes.add(at.own);
  const members = Array.from(classes, ({ line }): Expression => ({ is: "member", of: { is: "class", line }, name }));
  return members.length === 0 ? undefined : members.reduceRight((rest, of) => ({ is: "first", of, otherwise: rest }));
}

function named(name: string, { scope, package: own, staticStars }: Place): Expression {
  const of = nameInPackage(name, scope, own);
  if (staticStars.length === 0 || of.is !== "name" || !of.otherwise) return of;
  return { ...of, otherwise: orOfStars(of.otherwise, staticStars, name, true) };
}

/** A declared type: `T`, `a.b.T`, `Outer.T`, `T<…>`. Primitive types have no members of their own. */
export function typeOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
    case "type_identifier":
      return named(node.text, place);
    case "generic_type": {
      const child = node.namedChild(0);
      if (!child) return UNKNOWN;
      const wrapping = wrappingOf(child.text, place.scope, place.stars);
      const given = node.childOfType("type_arguments")?.namedChildren ?? [];
      const argument = wrapping === FUNCTION ? given.at(-1) : given[wrapping === MAP || wrapping === ENTRY ? 1 : 0];
      if (wrapping === undefined || !argument)
        return withArguments(
          typeOf(child, place, depth + 1),
          given.map((each) => typeOf(each, place, depth + 1)),
        );
      return stepInto(typeOf(argument, place, depth + 1), wrapping);
    }
    case "array_type": {
      const child = node.namedChild(0);
      return stepInto(child ? typeOf(child, place, depth + 1) : UNKNOWN, LIST);
    }
    case "wildcard": {
      const bound = node.children.some(({ type }) => type === "super") ? undefined : node.namedChildren.at(-1);
      return bound ? typeOf(bound, place, depth + 1) : UNKNOWN;
    }
    case "annotated_type": {
      const child = node.namedChildren.at(-1);
      return child ? typeOf(child, place, depth + 1) : UNKNOWN;
    }
    case "scoped_type_identifier":
    case "scoped_identifier": {
      const [of, name] = [node.namedChild(0), node.namedChildren.at(-1)];
      if (!of || !name) return UNKNOWN;
      if (/^[\p{Ll}\d_.]+$/u.test(of.text)) return { is: "import", module: of.text, name: name.text };
      return { is: "member", of: typeOf(of, place, depth + 1), name: name.text };
    }
    default:
      return UNKNOWN;
  }
}

/** What a class below gives a type parameter; its bound may be another type. */
export const givenTo = (parameter: SyntaxNode, { scope }: Place): Expression =>
  givenPart(lookUpType(scope, parameter.text));

/** Whether a type is a type parameter of a class or method around. */
export function isTypeParameter(type: SyntaxNode | undefined, { file, scope }: Place): boolean {
  return type?.type === "type_identifier" && isBoundWithin(file.top, scope, type.text);
}

/** Binds the type parameters of a method, or of the class `owner`. */
export function typeParameters(node: SyntaxNode, place: Place, owner?: string): void {
  const { file, scope } = place;
  for (const [at, each] of (node.field("type_parameters")?.namedChildren ?? []).entries()) {
    const own = each.namedChildren.find(({ type }) => type === "type_identifier");
    const [bound, ...others] = each.childOfType("type_bound")?.namedChildren ?? [];
    const isKnown = bound && others.length === 0;
    const of = isKnown ? typeOf(bound, place) : UNKNOWN;
    if (own && owner !== undefined) file.bind(scope, own.text, { is: "alias", of: givenOr(owner, at, of) });
    else if (own) file.bind(scope, own.text, isKnown ? { is: "alias", of } : { is: "variable" });
  }
}
