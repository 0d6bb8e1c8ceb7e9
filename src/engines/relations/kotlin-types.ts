/** Types of Kotlin, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, lookUp, stepInto, UNKNOWN, withArguments } from "./expressions.ts";
import { wrappingOf } from "./kotlin-library.ts";
import { imported, isTypeNode, type Place, typeNamed } from "./kotlin-names.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { ANY_TYPE } from "./overloads.ts";
import { FUNCTION } from "./wrapped.ts";

/** The name of a declared type, as overloads are told apart by it; that of a type parameter is not known. */
export function typeName(node: SyntaxNode | undefined, { scope }: Place): string {
  const type = node?.type === "nullable_type" ? node.namedChildren.at(-1) : node;
  const name =
    type?.type === "user_type" ? type.namedChildren.findLast((each) => each.type === "identifier") : undefined;
  if (!name || lookUp(scope, name.text)?.is === "variable") return ANY_TYPE;
  return /^[\p{L}_][\p{L}\p{N}_]{0,99}$/u.test(name.text) && name.text !== "Any" ? name.text : ANY_TYPE;
}

/** A declared type: `T`, `T?`, `a.b.T`, `Outer.T`, `T<…>`, `() -> T`. */
export function typeOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "nullable_type":
    case "parenthesized_type":
    case "non_nullable_type":
    case "type_projection": {
      const child = node.namedChildren.findLast(({ type }) => type.endsWith("type"));
      return child ? typeOf(child, place, depth + 1) : UNKNOWN;
    }
    case "user_type":
      return userType(node, place, depth);
    case "function_type": {
      const result = node.namedChildren.at(-1);
      return stepInto(result && isTypeNode(result) ? typeOf(result, place, depth + 1) : UNKNOWN, FUNCTION);
    }
    default:
      return UNKNOWN;
  }
}

function userType(node: SyntaxNode, place: Place, depth: number): Expression {
  const parts = node.namedChildren.filter(({ type }) => type === "identifier").map(({ text }) => text);
  const [first = "", ...rest] = parts;
  const given = node.childOfType("type_arguments")?.namedChildren ?? [];
  if (rest.length === 0 && given.length > 0) {
    const isBound = lookUp(place.scope, first) ?? (imported(first, place)?.is === "member" || undefined);
    const wrapping = isBound ? undefined : wrappingOf(first, given.length);
    const argument = given.at(-1);
    if (wrapping !== undefined && argument) {
      return stepInto(typeOf(argument, place, depth + 1), wrapping);
    }
  }
  const start = parts.findIndex((part) => /^\p{Lu}/u.test(part));
  const types = given.map((each) => typeOf(each, place, depth + 1));
  if (start <= 0) return withArguments(rest.reduce(member, typeNamed(first, place)), types);
  const type: Expression = { is: "import", module: parts.slice(0, start).join("."), name: parts[start] ?? "" };
  return withArguments(parts.slice(start + 1).reduce(member, type), types);
}

const member = (of: Expression, name: string): Expression => ({ is: "member", of, name });
