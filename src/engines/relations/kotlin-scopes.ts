/** Scopes of Kotlin besides declarations: smart casts, receivers of lambdas, base classes and companions. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type OpenClass, type Scope, UNKNOWN } from "./expressions.ts";
import { declare, overloadedIn } from "./kotlin-declarations.ts";
import { basesOf } from "./kotlin-expressions.ts";
import { typeOf } from "./kotlin-types.ts";
import { isTypeNode, type Place } from "./kotlin-names.ts";
import { lastName } from "./named.ts";

/** Nesting depth of lambdas whose receivers are followed. */
export const MAX_HANDED = 3;

/** A smart cast: a variable whose type a condition checks. */
export interface Cast {
  name: string;
  type: SyntaxNode;
}

/** Smart casts where a condition holds, or where it does not. */
export function castsIn(condition: SyntaxNode | undefined, holds: boolean, depth = 0): Cast[] {
  if (!condition || depth > MAX_CONDITIONS) return [];
  const inner = condition.namedChild(0);
  if (condition.type === "parenthesized_expression") return castsIn(inner, holds, depth + 1);
  if (condition.type === "binary_expression") {
    if (condition.field("operator")?.text !== (holds ? "&&" : "||")) return [];
    return ["left", "right"].flatMap((side) => castsIn(condition.field(side), holds, depth + 1));
  }
  if (condition.type !== "is_expression") return [];
  const [left, type] = [condition.field("left"), condition.field("right")];
  const isNegated = condition.children.some((each) => each.type === "!is");
  return left?.type === "identifier" && type && isNegated !== holds ? [{ name: left.text, type }] : [];
}

/** Nesting depth of a condition that is read. */
const MAX_CONDITIONS = 20;

/** Number of enclosing lambdas with a receiver, at most `MAX_HANDED`. */
export function handedAround({ scope, names }: Place): number {
  let count = 0;
  for (let at: Scope | undefined = scope; at && count < MAX_HANDED; at = at.outer)
    if (names.receivers.get(at)?.isHanded) count++;
  return count;
}

export const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 });

/** An inner scope in which smart casts apply. */
export function narrowed(casts: readonly Cast[], place: Place): Place {
  const inner = { ...deeper(place), scope: place.file.inner(place.scope, undefined) };
  for (const { name, type } of casts) place.file.bind(inner.scope, name, { is: "variable", type: typeOf(type, place) });
  return inner;
}

export function heritage(node: SyntaxNode, opened: OpenClass, place: Place, scope: Scope): number {
  const bases = basesOf(node);
  for (const { type, isConstructed } of bases) {
    const of = typeOf(type, place);
    const name = lastName(type);
    if (name) place.file.use("inherit", name.text, name.row + 1, scope, of);
    opened.bases.push(of);
    const given = type.childOfType("type_arguments")?.namedChildren ?? [];
    for (const [at, own] of given.entries())
      if (name) place.file.gives(opened, name.text, at, own.row + 1, typeOf(own, place));
    if (isConstructed) opened.superclass = of;
  }
  return bases.length;
}

/** Binds a companion's members in its class, where they are called by name. */
export function companion(node: SyntaxNode, opened: OpenClass, place: Place): void {
  const { file, scope } = place;
  const line = node.row + 1;
  const name = node.field("name");
  for (const key of new Set([name?.text ?? "Companion", "Companion"]))
    file.member(opened, key, line, { is: "class", line });
  const own = node.childOfType("class_body")?.namedChildren ?? [];
  for (const each of own) declare(each, place);
  // Overloads are told apart in the companion itself.
  for (const key of overloadedIn(own)) scope.names.set(key, { is: "overloads", line });
  const bases = basesOf(node).length;
  if (bases > 0) place.names.receivers.set(scope, { of: { is: "class", line }, isOpen: true, isHanded: false });
}

/** The place inside of a `catch`, which binds what is caught. */
export function caught(node: SyntaxNode, place: Place): Place {
  const { file, scope } = place;
  const inner = { ...place, scope: file.inner(scope, undefined) };
  const name = node.childOfType("identifier");
  const type = node.namedChildren.find(isTypeNode);
  if (name) file.bind(inner.scope, name.text, { is: "variable", type: type ? typeOf(type, place) : UNKNOWN });
  return inner;
}
