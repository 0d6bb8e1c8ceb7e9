/** What methods of Java hand to the functions that they are called with, by the types that are written down. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, handedFrom } from "./expressions.ts";
import {
  elementsOf,
  expressionOf,
  lambdaParameters,
  partsOfReference,
  type Place,
  referenced,
  typeOf,
} from "./java-expressions.ts";
import { parameterTypes } from "./java-library.ts";
import { lastOf } from "./java-signatures.ts";

import { argumentAt } from "./walk.ts";

/** The place inside of a lambda, whose parameters it binds. */
export function lambdaBody(node: SyntaxNode, place: Place): Place {
  const inner = { ...place, scope: place.file.inner(place.scope, undefined) };
  lambdaParameters(node.field("parameters"), inner, (at) => handed(node, at, place));
  return inner;
}

/** What a lambda gets as a parameter without a type: where it is an argument of a call, or the value of a variable with a type. */
function handed(lambda: SyntaxNode, at: number, place: Place): Expression | undefined {
  const around = lambda.parent;
  if (around?.type === "argument_list") {
    const outer = argumentAt(around, lambda);
    const call = around.parent;
    const stream = call && at <= 1 ? streamAround(call) : undefined;
    if (stream) return handedFrom(elementsOf(expressionOf(stream, place)), 0, 0);
    const by = call && calledBy(call, place);
    return by && outer !== undefined ? handedFrom(by, outer, at) : undefined;
  }
  const type = around?.type === "variable_declarator" ? around.parent?.field("type") : undefined;
  const types = type && parameterTypes(type, place.scope, place.stars);
  if (types) return types[at] && { is: "call", of: typeOf(types[at], place) };
  return type && handedFrom(typeOf(type, place), "itself", at);
}

/** Functions that make a collector or comparator of functions of an element. */
const OF_ELEMENTS = /^(?:comparing\w*|groupingBy|partitioningBy|mapping|filtering|to\w*Map|summing\w+|averaging\w+)$/;

/** The stream or list whose method gets what such a function makes: `rows` of `rows.collect(groupingBy(row -> …))`. */
function streamAround(call: SyntaxNode): SyntaxNode | undefined {
  const taker = call.parent?.type === "argument_list" ? call.parent.parent : undefined;
  if (taker?.type !== "method_invocation" || !OF_ELEMENTS.test(call.field("name")?.text ?? "")) return undefined;
  return /^(?:collect|sort|sorted|min|max)$/.test(taker.field("name")?.text ?? "") ? taker.field("object") : undefined;
}

/** The method that is called, or the class that is constructed; undefined for other nodes. */
function calledBy(call: SyntaxNode, place: Place): Expression | undefined {
  if (call.type === "method_invocation") return expressionOf(call, place, true);
  const type = call.type === "object_creation_expression" ? call.field("type") : undefined;
  return type && typeOf(type, place);
}

/** Records what a method or constructor hands to the functions that it is called with; `line` is that of the method, or of the class. */
export function handsOver(node: SyntaxNode, line: number, place: Place): void {
  for (const [i, each] of (node.field("parameters")?.namedChildren ?? []).entries()) {
    const type = each.type === "formal_parameter" ? each.field("type") : undefined;
    if (!type) continue;
    const types = parameterTypes(type, place.scope, place.stars);
    for (const [at, own] of types?.entries() ?? []) place.file.hands(line, typeOf(own, place), i, at);
    if (!types && FUNCTIONAL.test(type.type)) place.file.hands(line, typeOf(type, place), i, "type");
  }
}

/** Types that may be interfaces with a single method. */
const FUNCTIONAL = /^(?:(?:scoped_)?type_identifier|generic_type)$/;

/** Records what a class hands to the functions that it is constructed with, where it has a single constructor. */
export function handsToConstructor(members: readonly SyntaxNode[], line: number, place: Place): void {
  const [only, ...others] = members.filter(({ type }) => type === "constructor_declaration");
  if (only && others.length === 0) handsOver(only, line, place);
}

/** Records what an interface with a single method hands to a function that takes its place. */
export function handsOverItself(members: readonly SyntaxNode[], line: number, place: Place): void {
  const [only, ...others] = members.filter((each) => each.type === "method_declaration" && !each.field("body"));
  if (!only || others.length > 0) return;
  for (const [at, each] of (only.field("parameters")?.namedChildren ?? []).entries()) {
    const type = each.type === "formal_parameter" ? each.field("type") : undefined;
    if (type) place.file.hands(line, typeOf(type, place), "itself", at);
  }
}

/** `x::f`, `C::f` or `C::new`. */
export function reference(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  const parts = partsOfReference(node);
  if (!parts) return;
  const { of, isType, name } = parts;
  const named = lastOf(of);
  if (name) file.reference(name.text, name.row + 1, scope, referenced(of, isType, name.text, place));
  else if (named.type.endsWith("identifier"))
    file.use("construct", named.text, named.row + 1, scope, typeOf(of, place));
}
