/** Functions that scripts name without calling them: handed over, kept in an object or list, or returned. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { expressionOf } from "./typescript-expressions.ts";
import type { Place } from "./walk.ts";

/** What a function may be handed to or kept in: a name in it is a value. */
const HOLDING = wordSet("arguments array jsx_expression pair return_statement ternary_expression");

/** Reads a node that is visited, if it is a name or member within what holds values. */
export function held(node: SyntaxNode, place: Place): void {
  const isName = node.type === "identifier" || node.type === "member_expression";
  if (isName ? HOLDING.has(place.around ?? "") : node.type === "shorthand_property_identifier") reference(node, place);
}

/** A value that is a function by its name: `f`, `this.f`, `m.f`. By custom, names in capitals are of constants. */
export function reference(node: SyntaxNode | undefined, { file, scope }: Place): void {
  const name = node?.type === "member_expression" ? node.field("property") : node;
  if (!node || !name?.type.endsWith("identifier") || !/\p{Ll}/u.test(name.text)) return;
  const of =
    node.type === "member_expression" ? expressionOf(node, scope) : { is: "name" as const, name: name.text, scope };
  file.reference(name.text, name.row + 1, scope, of);
}
