/** Types of TypeScript, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, lookUp, type Scope, stepInto, UNKNOWN, withArguments } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { RECEIVER_TYPE, TYPE_PARAMETERS } from "./types.ts";
import { FUNCTION, LIST, MAP, PREDICATE } from "./wrapped.ts";

/** A name of a type, `T` or `m.T`. */
function namedType(node: SyntaxNode, scope: Scope, depth: number): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  if (node.type !== "nested_type_identifier") return { is: "name", name: node.text, scope };
  const module = node.field("module");
  const of = module ? namedType(module, scope, depth + 1) : UNKNOWN;
  return { is: "member", of, name: node.field("name")?.text ?? "" };
}

/** A list or map of the standard library with the type of its values; undefined for other types, and without type arguments. */
export function containerOf(
  name: SyntaxNode | undefined,
  given: readonly SyntaxNode[],
  scope: Scope,
  depth: number,
): Expression | undefined {
  // A name that the file binds is not that of the standard library.
  if (!name || !given[0] || lookUp(scope, name.text)) return undefined;
  const wrapping = LISTS.test(name.text) ? LIST : MAPS.test(name.text) ? MAP : undefined;
  if (wrapping === undefined) return undefined;
  return stepInto(typeOf(given[wrapping === MAP ? 1 : 0] ?? given[0], scope, depth + 1), wrapping);
}

/** A type with its type arguments. */
export const genericType = (of: Expression, given: readonly SyntaxNode[], scope: Scope, depth: number): Expression =>
  withArguments(
    of,
    given.map((each) => typeOf(each, scope, depth + 1)),
  );

/** A declared type: `T`, `m.T`, `T<…>`, `T | undefined`; of a promise what it resolves to. */
export function typeOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "type_annotation":
    case "parenthesized_type":
    case "readonly_type": {
      const child = node.namedChild(0);
      return child ? typeOf(child, scope, depth + 1) : UNKNOWN;
    }
    case "generic_type": {
      const name = node.field("name");
      const given = node.field("type_arguments")?.namedChildren ?? [];
      const [argument] = given;
      if (!name) return UNKNOWN;
      if (argument && TRANSPARENT.test(name.text) && !lookUp(scope, name.text))
        return typeOf(argument, scope, depth + 1);
      return containerOf(name, given, scope, depth) ?? genericType(typeOf(name, scope, depth + 1), given, scope, depth);
    }
    case "array_type": {
      const child = node.namedChild(0);
      return child ? stepInto(typeOf(child, scope, depth + 1), LIST) : UNKNOWN;
    }
    case "union_type": {
      const parts = node.namedChildren.filter(({ text }) => text !== "undefined" && text !== "null");
      const [only, ...others] = parts.filter(
        (part) => !/^(?:predefined|literal|template_literal)_type$/.test(part.type),
      );
      const of = only && others.length === 0 ? typeOf(only, scope, depth + 1) : UNKNOWN;
      // A string or number has methods too.
      return of.is === "unknown" || parts.length === 1 ? of : { is: "likely", of };
    }
    case "function_type": {
      const returns = node.field("return_type");
      return returns ? stepInto(typeOf(returns, scope, depth + 1), FUNCTION) : UNKNOWN;
    }
    case "type_predicate_annotation":
    case "type_predicate": {
      const type = node.field("type") ?? node.childOfType("type_predicate")?.field("type");
      return type ? stepInto(typeOf(type, scope, depth + 1), PREDICATE) : UNKNOWN;
    }
    case "object_type": {
      const [only, ...others] = node.namedChildren;
      const type = only?.type === "index_signature" && others.length === 0 ? only.field("type") : undefined;
      return type ? stepInto(typeOf(type, scope, depth + 1), MAP) : UNKNOWN;
    }
    case "this_type": {
      const own: Expression = scope.own ? { is: "class", line: scope.own.line } : UNKNOWN;
      return { is: "first", of: { is: "import", module: TYPE_PARAMETERS, name: RECEIVER_TYPE }, otherwise: own };
    }
    case "type_identifier":
    case "nested_type_identifier":
      return namedType(node, scope, depth);
    default:
      return UNKNOWN;
  }
}

const TRANSPARENT = /^(?:Promise|PromiseLike|Awaited|Readonly|Partial|Required|NonNullable|Omit|Pick|NoInfer)$/;
const LISTS =
  /^(?:Array|ReadonlyArray|Set|ReadonlySet|Iterable|Iterator|IterableIterator|Generator|AsyncIterable|AsyncGenerator)$/;
const MAPS = /^(?:Map|ReadonlyMap|WeakMap|Record)$/;
