/** What functions of TypeScript hand to their callbacks, by the types that are written down. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, handedFrom, type OpenClass, type Scope } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { MAX_PARAMETERS } from "./types.ts";
import { argumentAt } from "./walk.ts";
import { expressionOf, giveTypes, type Place, typeParameters } from "./typescript-expressions.ts";
import { typeOf } from "./typescript-types.ts";

const FUNCTION_TYPES = /^(?:function_type|call_signature)$/;

/** What a parameter of a function expression gets where the function is an argument of a call, or the value of a variable with a type. */
export function handedTo(node: SyntaxNode, at: number, scope: Scope): Expression | undefined {
  const around = node.parent;
  if (around?.type === "arguments") {
    const called = around.parent?.field(around.parent.type === "new_expression" ? "constructor" : "function");
    const outer = argumentAt(around, node);
    return called && outer !== undefined ? handedFrom(expressionOf(called, scope), outer, at) : undefined;
  }
  const type = around && (returnTypeAround(around) ?? declaredTypeOf(around));
  return type && handedFrom(typeOf(type, scope), "itself", at);
}

const declaredTypeOf = (node: SyntaxNode): SyntaxNode | undefined =>
  /^(?:variable_declarator|public_field_definition)$/.test(node.type) ? node.field("type") : undefined;

const FUNCTIONS = /^(?:arrow_function|function_declaration|function_expression|method_definition)$/;

/** Blocks between a `return` and its function that are looked through. */
const MAX_BLOCKS = 12;

/** The declared result of the function that returns what stands in the node. */
function returnTypeAround(node: SyntaxNode): SyntaxNode | undefined {
  let around: SyntaxNode | undefined = node;
  if (node.type !== "return_statement" && node.type !== "arrow_function") return undefined;
  for (let i = 0; around && i < MAX_BLOCKS && !FUNCTIONS.test(around.type); i++) around = around.parent;
  return around && FUNCTIONS.test(around.type) ? around.field("return_type") : undefined;
}

/** Records what a function hands to the callback that is its parameter `at`. */
export function callbackTypes(type: SyntaxNode, at: number, line: number, place: Place, depth = 0): void {
  const { file, scope } = place;
  if (depth > MAX_EXPRESSION_DEPTH) return;
  if (type.type === "type_annotation" || type.type === "parenthesized_type") {
    const [inner] = type.namedChildren;
    if (inner) callbackTypes(inner, at, line, place, depth + 1);
  } else if (type.type === "union_type" || type.type === "optional_type")
    for (const part of type.namedChildren) callbackTypes(part, at, line, place, depth + 1);
  else if (FUNCTION_TYPES.test(type.type)) handedTypes(type, at, line, place);
  // `...handlers: [H, H]` are parameters, one after the other.
  else if (type.type === "tuple_type")
    for (const [i, part] of type.namedChildren.entries()) callbackTypes(part, at + i, line, place, depth + 1);
  // `...handlers: H[]` are any number.
  else if (type.type === "array_type") {
    const [element] = type.namedChildren;
    if (element) for (let i = at; i < MAX_PARAMETERS; i++) callbackTypes(element, i, line, place, depth + 1);
  } else if (/^(?:type_identifier|generic_type|nested_type_identifier)$/.test(type.type))
    file.hands(line, typeOf(type, scope), at, "type");
}

/** Records the types of a function type's parameters: of one that is a parameter of the function at a line, or the type there itself. */
export function handedTypes(type: SyntaxNode, outer: number | "itself", line: number, place: Place): void {
  const inner = { ...place, scope: place.file.inner(place.scope, undefined) };
  typeParameters(type, inner);
  for (const [at, each] of (type.field("parameters")?.namedChildren ?? []).entries()) {
    const own = each.field("type");
    if (own) place.file.hands(line, typeOf(own, inner.scope), outer, at);
  }
}

/** A field whose type is a function returns what the type says, and hands over what it says. */
export function functionField(type: SyntaxNode, line: number, place: Place): void {
  const [inner] = type.namedChildren;
  if (inner?.type !== "function_type") return;
  const own = { ...place, scope: place.file.inner(place.scope, undefined) };
  typeParameters(inner, own);
  const returns = inner.field("return_type");
  if (returns) place.file.returns(line, typeOf(returns, own.scope));
  for (const [at, each] of (inner.field("parameters")?.namedChildren ?? []).entries()) {
    const callback = each.field("type");
    if (callback) callbackTypes(callback, at, line, own);
  }
}

/** Gives a class the members and bases of a type that it is another name of; `member` reads a member of an object type. */
export function aliasOf(
  type: SyntaxNode,
  opened: OpenClass,
  place: Place,
  member: (node: SyntaxNode) => void,
  depth = 0,
): void {
  if (depth > MAX_EXPRESSION_DEPTH) return;
  if (/^(?:union|intersection|parenthesized|readonly)_type$/.test(type.type))
    for (const part of type.namedChildren) aliasOf(part, opened, place, member, depth + 1);
  else if (type.type === "object_type") for (const each of type.namedChildren) member(each);
  else if (type.type === "function_type") {
    handedTypes(type, "itself", opened.line, place);
    const returns = type.field("return_type");
    if (returns) place.file.returnsFirst(opened.line, typeOf(returns, place.scope));
  } else if (opened.bases.length < MAX_PARTS) {
    const of = typeOf(type, place.scope);
    if (of.is !== "unknown") opened.bases.push(of);
    const name = type.field("name");
    if (name) giveTypes(name, type.field("type_arguments"), opened, place);
  }
}

/** Parts of a union or intersection that are followed. */
const MAX_PARTS = 8;
