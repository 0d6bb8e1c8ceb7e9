/** Expressions and types of PHP, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, type Scope, superclassOf, UNKNOWN } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import type { Place as BasePlace } from "./walk.ts";

/** What names mean in a namespace of a file. */
export interface Names {
  namespace: string;
  /** Where the namespace's classes and functions are bound. */
  scope: Scope;
  /** Full names by the name that `use` gives them; those of functions end with `()`. */
  aliases: Map<string, string>;
}

export interface Place extends BasePlace {
  names: Names;
  /** The class around, as it is named. */
  className: string;
  /** Keys of its properties of which no type is stated. */
  untyped: Set<string>;
}

/** Key of a function or method. */
export const functionKey = (name: string): string => `${name}()`;
/** Key of a property. */
export const propertyKey = (name: string): string => `$${name}`;

const OWN_CLASS = /^(?:self|static|\$this)$/i;

/** A class, or with `keyOf` a function, by its name as it is written: `B`, `B\C`, `\A\B` or `namespace\B`. */
export function named(text: string, place: Place, keyOf = (name: string): string => name): Expression {
  const { names, scope } = place;
  if (OWN_CLASS.test(text)) return scope.own ? { is: "class", line: scope.own.line } : UNKNOWN;
  if (/^parent$/i.test(text)) return superclassOf(scope.own);
  const parts = text.split("\\");
  const name = keyOf(parts.at(-1) ?? "");
  if (parts.length === 1)
    return { is: "name", name, scope: names.scope, otherwise: { is: "import", module: names.namespace, name } };
  const [first = "", ...inner] = parts.slice(0, -1);
  return { is: "import", module: joined(namespaceOf(first, names), ...inner), name };
}

function namespaceOf(first: string, { namespace, aliases }: Names): string {
  if (first === "") return "";
  if (/^namespace$/i.test(first)) return namespace;
  return aliases.get(first) ?? joined(namespace, first);
}

export const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("\\");

/** The namespace and the last name of a full name. */
export function splitName(full: string): { module: string; name: string } {
  const end = full.lastIndexOf("\\");
  return { module: full.slice(0, Math.max(0, end)), name: full.slice(end + 1) };
}

/** A class that a call or an access names, or an expression whose class is meant. */
export function scopeOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  return isName(node) || node.type === "relative_scope" ? named(node.text, place) : expressionOf(node, place, depth);
}

export const isName = ({ type }: SyntaxNode): boolean =>
  type === "name" || type === "qualified_name" || type === "relative_name";

/** What is called; undefined for a function that an expression gives. */
export function calledIn(
  node: SyntaxNode,
  place: Place,
  depth = 0,
): { name: string; row: number; of: Expression } | undefined {
  const own = node.field("name");
  switch (node.type) {
    case "function_call_expression": {
      const called = node.field("function");
      if (!called || !isName(called)) return undefined;
      const of = named(called.text, place, functionKey);
      return { name: splitName(called.text).name, row: called.row, of };
    }
    case "member_call_expression":
    case "nullsafe_member_call_expression": {
      const object = node.field("object");
      if (own?.type !== "name" || !object) return undefined;
      const of: Expression = {
        is: "member",
        of: expressionOf(object, place, depth + 1),
        name: functionKey(own.text),
      };
      return { name: own.text, row: own.row, of };
    }
    case "scoped_call_expression": {
      const scope = node.field("scope");
      if (own?.type !== "name" || !scope) return undefined;
      const of: Expression = { is: "member", of: scopeOf(scope, place, depth + 1), name: functionKey(own.text) };
      return { name: own.text, row: own.row, of };
    }
    default:
      return undefined;
  }
}

export function expressionOf(node: SyntaxNode, place: Place, depth = 0): Expression {
  if (depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "variable_name":
      return node.text === "$this" ? named("$this", place) : { is: "name", name: node.text, scope: place.scope };
    case "member_access_expression":
    case "nullsafe_member_access_expression": {
      const [object, name] = [node.field("object"), node.field("name")];
      if (!object || name?.type !== "name") return UNKNOWN;
      return { is: "member", of: expressionOf(object, place, depth + 1), name: propertyKey(name.text) };
    }
    case "scoped_property_access_expression": {
      const [scope, name] = [node.field("scope"), node.field("name")];
      if (!scope || !name) return UNKNOWN;
      return { is: "member", of: scopeOf(scope, place, depth + 1), name: name.text };
    }
    case "class_constant_access_expression": {
      const [scope, name] = node.namedChildren;
      if (!scope || name?.type !== "name" || name.text === "class") return UNKNOWN;
      return { is: "member", of: scopeOf(scope, place, depth + 1), name: name.text };
    }
    case "function_call_expression":
    case "member_call_expression":
    case "nullsafe_member_call_expression":
    case "scoped_call_expression": {
      const called = calledIn(node, place, depth);
      return called ? { is: "call", of: called.of } : UNKNOWN;
    }
    case "object_creation_expression": {
      const made = node.namedChildren.find((child) => isName(child) || child.type === "anonymous_class");
      if (!made) return UNKNOWN;
      const of: Expression = isName(made) ? named(made.text, place) : { is: "class", line: made.row + 1 };
      return { is: "call", of };
    }
    case "parenthesized_expression":
    case "clone_expression": {
      const child = node.namedChild(0);
      return child ? expressionOf(child, place, depth + 1) : UNKNOWN;
    }
    case "assignment_expression": {
      const value = node.field("right");
      return value ? expressionOf(value, place, depth + 1) : UNKNOWN;
    }
    default:
      return UNKNOWN;
  }
}

/** A declared type: a class, also one that may be null. */
export function typeOf(node: SyntaxNode | undefined, place: Place): Expression | undefined {
  switch (node?.type) {
    case "named_type":
      return named(node.text, place);
    case "optional_type":
      return typeOf(node.namedChild(0), place) ?? UNKNOWN;
    case "union_type": {
      const [only, ...others] = node.namedChildren.filter(({ text }) => text !== "null");
      return others.length === 0 && only?.type === "named_type" ? named(only.text, place) : UNKNOWN;
    }
    case undefined:
      return undefined;
    default:
      return UNKNOWN;
  }
}

/** Characters of a comment that are read. */
const MAX_COMMENT = 5_000;
const NO_CLASS =
  /^(?:string|int|integer|float|double|bool|boolean|array|iterable|object|callable|mixed|void|null|false|true|never|resource|scalar|numeric|list)$/i;

/** What a tag of a comment such as `@return` states; undefined if the comment has none. */
export function statedIn(comment: SyntaxNode | undefined, tag: string, place: Place): Expression | undefined {
  const text = comment?.text.slice(0, MAX_COMMENT) ?? "";
  const stated = new RegExp(`@${tag}\\s+(\\S+)`).exec(text)?.[1];
  return stated === undefined ? undefined : (statedType(stated, place) ?? UNKNOWN);
}

/** The classes that a comment states of parameters, by their names. */
export function statedParameters(comment: SyntaxNode | undefined, place: Place): Map<string, Expression> {
  const text = comment?.text.slice(0, MAX_COMMENT) ?? "";
  const stated = new Map<string, Expression>();
  for (const [, type = "", name = ""] of text.matchAll(/@param\s+(\S+)\s+(\$\w+)/g)) {
    const of = statedType(type, place);
    if (of) stated.set(name, of);
  }
  return stated;
}

/** The class that a comment names; undefined for types that are none, and for several. */
export function statedType(text: string, place: Place): Expression | undefined {
  const [only = "", ...others] = text
    .replace(/^\?/, "")
    .split("|")
    .filter((part) => part.toLowerCase() !== "null");
  if (others.length > 0 || NO_CLASS.test(only) || !/^(?:\$this|\\?[A-Za-z_][\w\\]*)$/.test(only)) return undefined;
  return named(only, place);
}
