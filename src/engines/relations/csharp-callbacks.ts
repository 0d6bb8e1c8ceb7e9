/** What methods of C# hand to the lambdas that they are called with, by the types that are written down. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { isExtension, typeParameters } from "./csharp-methods.ts";
import { calledIn, partsOf, type Place, typeAround, typeOf } from "./csharp-expressions.ts";
import { type Expression, handedFrom } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";

import { argumentAt } from "./walk.ts";

/** Delegates of the standard library whose type arguments are the types of their parameters, with the result last where they have one. */
const WITHOUT_RESULT: ReadonlySet<string> = new Set(["Action", "Predicate"]);
const WITH_RESULT: ReadonlySet<string> = new Set(["Func", "Converter"]);

/** The types of a delegate's parameters, as its own type states them: `T` of `Action<T>`, `Func<T, R>` or `Expression<Func<T, R>>`. */
function parameterTypes(type: SyntaxNode | undefined, depth = 0): readonly SyntaxNode[] {
  if (!type || depth > MAX_EXPRESSION_DEPTH) return [];
  if (type.type === "nullable_type") return parameterTypes(type.namedChild(0), depth + 1);
  if (type.type === "qualified_name") return parameterTypes(type.field("name"), depth + 1);
  if (type.type !== "generic_name") return [];
  const name = partsOf(type).name.text;
  const given = type.childOfType("type_argument_list")?.namedChildren ?? [];
  if (name === "Expression") return parameterTypes(given[0], depth + 1);
  if (WITHOUT_RESULT.has(name)) return given;
  return WITH_RESULT.has(name) ? given.slice(0, -1) : [];
}

/** Records what a method or class hands to the lambdas that it is called or constructed with; an extension is called without its first argument. */
export function handsOver(node: SyntaxNode, line: number, place: Place): void {
  const { file, scope } = place;
  const parameters = node.field("parameters")?.namedChildren.filter(({ type }) => type === "parameter") ?? [];
  if (parameters.length === 0) return;
  const inner = { ...place, scope: file.inner(scope, undefined) };
  typeParameters(node, inner);
  for (const [i, each] of parameters.slice(isExtension(node) ? 1 : 0).entries())
    for (const [at, type] of parameterTypes(each.field("type")).entries()) file.hands(line, typeOf(type, inner), i, at);
}

/** What a lambda gets as a parameter without a type: where it is an argument of a call, or the value of a variable with a type. */
export function handedTo(lambda: SyntaxNode, at: number, place: Place): Expression | undefined {
  const around = lambda.parent;
  if (around?.type === "variable_declarator") {
    const type = parameterTypes(around.parent?.field("type"))[at];
    return type && { is: "call", of: typeOf(type, place) };
  }
  const list = around?.type === "argument" && !around.field("name") ? around.parent : undefined;
  const outer = list && around && argumentAt(list, around);
  const by = list?.parent && calledBy(list.parent, place);
  return by && outer !== undefined ? handedFrom(by, outer, at) : undefined;
}

/** The method that is called, or the class that is constructed; undefined for other nodes. */
function calledBy(call: SyntaxNode, place: Place): Expression | undefined {
  if (call.type === "invocation_expression") return calledIn(call, place)?.of;
  if (!/^(?:implicit_)?object_creation_expression$/.test(call.type)) return undefined;
  const type = call.field("type") ?? typeAround(call);
  return type && typeOf(type, place);
}
