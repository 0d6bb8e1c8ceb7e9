/** Expressions and types of PHP, as far as they can be followed. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { alternativesOf } from "./choices.ts";
import { type Expression, NOTHING, oneOfValues, type Scope, stepInto, superclassOf, UNKNOWN } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { arrayOf, classAsked, givenByLibrary } from "./php-library.ts";
import type { Place as BasePlace } from "./walk.ts";
import { ELEMENT, FUNCTION } from "./wrapped.ts";

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
  /** What the function around returns and yields. */
  results?: Expression[];
  yields?: Expression[];
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
  const read = (each: SyntaxNode | undefined): Expression => (each ? expressionOf(each, place, depth + 1) : UNKNOWN);
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
    case "scoped_call_expression":
      return resultOf(node, place, depth);
    case "subscript_expression": {
      return stepInto(read(node.namedChild(0)), ELEMENT);
    }
    case "array_creation_expression":
      return arrayOf(node, read);
    case "conditional_expression":
    case "binary_expression":
    case "match_expression": {
      const values = alternativesOf(node, choices);
      if (values.length === 1 && values[0] === node) return UNKNOWN;
      return oneOfValues(values.map((each) => (GIVES_NOTHING.test(each.type) ? NOTHING : read(each))));
    }
    case "arrow_function":
    case "anonymous_function": {
      return stepInto(resultOfClosure(node, place, depth), FUNCTION);
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

export const argumentsOf = (call: SyntaxNode): SyntaxNode[] =>
  call.field("arguments")?.namedChildren.filter(({ type }) => type === "argument") ?? [];

/** What a call gives: what the function returns, or what the library is known to make of its arguments. */
function resultOf(node: SyntaxNode, place: Place, depth: number): Expression {
  const called = calledIn(node, place, depth);
  const args = argumentsOf(node);
  const read = (each: SyntaxNode | undefined): Expression => (each ? expressionOf(each, place, depth + 1) : UNKNOWN);
  if (!called) {
    // A variable that holds a function.
    const callee = node.field("function");
    return callee?.type === "variable_name" ? { is: "call", of: read(callee) } : UNKNOWN;
  }
  const own: Expression = { is: "call", of: called.of };
  const given = node.type === "function_call_expression" ? givenByLibrary(called.name, args, read) : undefined;
  const asked = given ? undefined : classAsked(called.name, args);
  const otherwise =
    given ?? (asked && ({ is: "likely", of: { is: "call", of: scopeOf(asked, place, depth + 1) } } as const));
  return otherwise && otherwise.is !== "unknown" ? { is: "first", of: own, otherwise } : own;
}

/** The values between which an expression chooses; undefined for other nodes. */
function choices(node: SyntaxNode): readonly (SyntaxNode | undefined)[] | undefined {
  switch (node.type) {
    case "conditional_expression": {
      const values = node.namedChildren.filter(({ type }) => type !== "comment");
      return values.length === 3 ? values.slice(1) : values;
    }
    case "binary_expression":
      return node.children[1]?.type === "??" ? [node.namedChild(0), node.namedChildren.at(-1)] : undefined;
    case "match_expression":
      return node.childOfType("match_block")?.namedChildren.map((each) => each.namedChildren.at(-1));
    default:
      return undefined;
  }
}

const GIVES_NOTHING = /^(?:null|throw_expression)$/;

/** What a closure gives: its declared type, or the value of an arrow function. */
function resultOfClosure(node: SyntaxNode, place: Place, depth: number): Expression {
  const type = node.field("return_type");
  const name = type?.type === "optional_type" ? type.namedChild(0) : type;
  if (name) return name.type === "named_type" ? { is: "call", of: named(name.text, place) } : UNKNOWN;
  const body = node.type === "arrow_function" ? node.field("body") : undefined;
  if (!body) return UNKNOWN;
  const inner = { ...place, scope: place.file.inner(place.scope, undefined) };
  for (const each of node.field("parameters")?.namedChildren ?? []) {
    const own = each.field("name");
    if (own) place.file.bind(inner.scope, own.text, { is: "variable" });
  }
  return expressionOf(body, inner, depth + 1);
}
