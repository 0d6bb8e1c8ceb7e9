/** Methods of C# that are named without a call. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { expressionOf, type Place } from "./csharp-expressions.ts";
import { type Expression, lookUp, type Scope } from "./expressions.ts";
import { methodKey } from "./members.ts";

/** Place of what is assigned. */
export const HANDED = "assigned";

/** A method that is handed over: `F`, `this.F`, `C.F`. By custom, methods begin with a capital. */
export function reference(node: SyntaxNode, place: Place): void {
  const { file, scope } = place;
  // Most values begin with the small letter of a variable.
  if (/[\p{Ll}_]/u.test(node.tree.text[node.start] ?? "") && !node.tree.text.startsWith("this.", node.start)) return;
  const isMember = node.type === "member_access_expression";
  const name = isMember ? node.field("name") : node;
  if (name?.type !== "identifier" || !scope.own || !/^\p{Lu}.*\p{Ll}/u.test(name.text)) return;
  const of = isMember ? node.field("expression") : undefined;
  if (of && of.text !== "this" && !isClass(of, scope)) return;
  const isOwn = !of || of.text === "this";
  // What the class does not declare may be inherited, or of another part.
  const { members, bases, line } = scope.own;
  const isDeclared = !isOwn || [0, 1, 2, 3, 4].some((count) => members.has(`${name.text}/${count}`));
  const isKnown = isOwn && (lookUp(scope, name.text) || members.has(name.text));
  if (isKnown || !(isDeclared || place.isPartial || bases.length > 0)) return;
  const owner: Expression = of && !isOwn ? expressionOf(of, place) : { is: "class", line };
  file.reference(name.text, name.row + 1, scope, { is: "member", of: owner, name: methodKey(name.text) });
}

const isClass = (node: SyntaxNode, scope: Scope): boolean =>
  node.type === "identifier" && /^\p{Lu}/u.test(node.text) && lookUp(scope, node.text)?.is !== "variable";
