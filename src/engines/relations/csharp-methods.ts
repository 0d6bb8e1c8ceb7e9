/** What methods of C# are known by, and the types that they state. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { bindExtensions } from "./bind-extensions.ts";
import { type Place, typeOf } from "./csharp-expressions.ts";
import { type Expression, givenOr, UNKNOWN } from "./expressions.ts";

/** Optional parameters of a method that are told apart. */
const MAX_OPTIONAL = 20;

/** The declared type; undefined if the compiler is to find it. */
export function declared(node: SyntaxNode, place: Place): Expression | undefined {
  const type = node.field("type") ?? node.field("returns");
  return type && type.type !== "implicit_type" ? typeOf(type, place) : undefined;
}

const firstParameter = (node: SyntaxNode): SyntaxNode | undefined => node.field("parameters")?.namedChildren[0];

/** Whether a method is called like a member of its first parameter's type. */
export const isExtension = (node: SyntaxNode): boolean =>
  firstParameter(node)?.namedChildren.some(({ type, text }) => type === "modifier" && text === "this") === true;

/** Binds a method as an extension if it is one. */
export function extension(node: SyntaxNode, name: SyntaxNode, place: Place): void {
  const extended = firstParameter(node);
  if (!extended || !isExtension(node)) return;
  const { file, scope, names } = place;
  const inner = { ...place, scope: file.inner(scope, undefined) };
  typeParameters(node, inner);
  const keys = keysOf(node, `.${name.text}`, 1);
  bindExtensions(keys, name.row + 1, declared(extended, inner) ?? UNKNOWN, names.scope);
}

/** The keys of a method: one for each number of arguments that it may have, besides the first `given` ones. */
export function keysOf(node: SyntaxNode, name: string, given = 0): string[] {
  const list = node.field("parameters");
  const parameters = list?.namedChildren.filter(({ type }) => type === "parameter") ?? [];
  // Any number of arguments: the list itself has the name of the last parameter.
  if (list?.field("name")) return [`${name}/any`];
  const optional = parameters.filter((each) => each.children.some(({ type }) => type === "=")).length;
  const lengths = Array.from({ length: Math.min(optional, MAX_OPTIONAL) + 1 }, (_, i) => parameters.length - given - i);
  return lengths.map((length) => `${name}/${length}`);
}

/** Records what a method gives back. */
export function returned(node: SyntaxNode, place: Place): void {
  const name = node.field("name");
  const inner = { ...place, scope: place.file.inner(place.scope, undefined) };
  typeParameters(node, inner);
  const type = declared(node, inner);
  if (name && type) place.file.returns(name.row + 1, type);
}

/** A type parameter is known by the only class or interface that it must be. */
export function typeParameters(node: SyntaxNode, place: Place, owner?: string): void {
  const { file, scope } = place;
  const stated = new Map<string, Expression>();
  for (const clause of node.namedChildren) {
    if (clause.type !== "type_parameter_constraints_clause") continue;
    const types = clause.namedChildren.flatMap((each) => each.field("type") ?? []);
    const [only, ...others] = types;
    if (only && others.length === 0) stated.set(clause.namedChild(0)?.text ?? "", typeOf(only, place));
  }
  for (const [at, each] of (node.childOfType("type_parameter_list")?.namedChildren ?? []).entries()) {
    const name = each.field("name") ?? each.childOfType("identifier");
    const of = name && stated.get(name.text);
    const type = owner === undefined ? of : givenOr(owner, at, of ?? UNKNOWN);
    if (name) file.bind(scope, name.text, { is: "variable", type, isType: true });
  }
}
