/** Expressions and types of Java, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, type Scope, UNKNOWN } from "./file-builder.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { nameInPackage, type Place as BasePlace } from "./walk.ts";

export interface Place extends BasePlace {
  package: string;
  /** Classes that names are statically imported from, by the name. */
  statics: Map<string, Expression>;
}

/** The last name of a type: `C` of `a.b.C<T>`. */
export function lastOf(node: SyntaxNode, depth = 0): SyntaxNode {
  if (depth > MAX_EXPRESSION_DEPTH || /^(?:type_)?identifier$/.test(node.type)) return node;
  if (node.type === "annotated_type") return lastOf(node.namedChildren.at(-1) ?? node, depth + 1);
  if (node.type === "generic_type") return lastOf(node.namedChild(0) ?? node, depth + 1);
  return node.type.startsWith("scoped_") ? lastOf(node.namedChildren.at(-1) ?? node, depth + 1) : node;
}

export function expressionOf(node: SyntaxNode, place: Place, isCalled = false, depth = 0): Expression {
  const { scope } = place;
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
      return named(node.text, place);
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
      const key = `${name}/${node.field("arguments")?.namedChildren.filter(({ type }) => !/comment/.test(type)).length ?? 0}`;
      const called: Expression = object
        ? { is: "member", of: expressionOf(object, place, false, depth + 1), name: key }
        : unqualified(name, key, place);
      return isCalled ? called : { is: "call", of: called };
    }
    case "object_creation_expression": {
      const type = node.field("type");
      // An anonymous class is another one than its base, but has its members.
      return type ? { is: "call", of: typeOf(type, place) } : UNKNOWN;
    }
    case "cast_expression": {
      const type = node.field("type");
      const of = type && typeOf(type, place);
      return of && of.is !== "unknown" ? { is: "call", of } : UNKNOWN;
    }
    case "parenthesized_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, place, false, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
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
function unqualified(name: string, key: string, { scope, statics }: Place): Expression {
  const imported = statics.get(name);
  const inherited: Expression = scope.own
    ? { is: "member", of: { is: "class", line: scope.own.line }, name: key }
    : UNKNOWN;
  return { is: "name", name: key, scope, otherwise: imported ? { is: "member", of: imported, name: key } : inherited };
}

const named = (name: string, { scope, package: own }: Place): Expression => nameInPackage(name, scope, own);

/** A declared type: `T`, `a.b.T`, `Outer.T`, `T<…>`. Arrays and primitive types have no members of their own. */
export function typeOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "identifier":
    case "type_identifier":
      return named(node.text, place);
    case "generic_type": {
      const child = node.namedChild(0);
      return child ? typeOf(child, place, depth + 1) : UNKNOWN;
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
