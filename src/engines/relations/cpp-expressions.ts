/** What names, expressions and types of C++ mean. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { lastNameOf } from "./declarators.ts";
import { type Expression, type Scope, UNKNOWN } from "./file-builder.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { exactName, programName } from "./program.ts";
import { ARROW, SMART } from "./wrapped.ts";

/** Where a name stands: names of blocks are in the scope, others are looked up from the namespaces and classes around (`a::b::Class`). */
export interface Around {
  scope: Scope;
  context: string;
}

const SMART_POINTERS = /^(?:unique_ptr|shared_ptr)$/;
const MAKERS = /^(?:make_unique|make_shared)$/;

/** A name as written, without template arguments: `a::b::f`. Undefined for operators, destructors and the like. */
export function nameOf(node: SyntaxNode | undefined, depth = 0): string | undefined {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return undefined;
  switch (node.type) {
    case "identifier":
    case "field_identifier":
    case "type_identifier":
    case "namespace_identifier":
      return node.text;
    case "template_function":
    case "template_type":
    case "template_method":
      return nameOf(node.field("name"), depth + 1);
    case "dependent_name":
      return nameOf(node.namedChild(0), depth + 1);
    case "nested_namespace_specifier": {
      const parts = node.namedChildren.map((child) => nameOf(child, depth + 1));
      return parts.includes(undefined) ? undefined : parts.join("::");
    }
    case "qualified_identifier": {
      const name = nameOf(node.field("name"), depth + 1);
      const before = node.field("scope");
      if (name === undefined) return undefined;
      if (!before) return `::${name}`;
      const scope = nameOf(before, depth + 1);
      return scope === undefined ? undefined : `${scope}::${name}`;
    }
    default:
      return undefined;
  }
}

/** The meaning of a name as seen from a scope and its context. */
export function named(name: string, { scope, context }: Around): Expression {
  if (name.startsWith("::")) return exactName(name.slice(2));
  const otherwise = programName(context, name);
  return name.includes("::") ? otherwise : { is: "name", name, scope, otherwise };
}

/** What an expression means. */
export function expressionOf(node: SyntaxNode | undefined, around: Around, depth = 0): Expression {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "this":
      return { is: "name", name: "this", scope: around.scope };
    case "field_expression": {
      const [of, field] = [node.field("argument"), node.field("field")];
      const name = nameOf(field);
      if (!of || !field || name === undefined) return UNKNOWN;
      const value = expressionOf(of, around, depth + 1);
      const isArrow = node.tree.text.slice(of.end, field.start).includes("->");
      return { is: "member", of: isArrow ? { is: "member", of: value, name: ARROW } : value, name };
    }
    case "call_expression": {
      const called = node.field("function");
      if (!called) return UNKNOWN;
      const made = madeBy(called);
      return made
        ? { is: "member", of: typeOf(made, around, depth + 1), name: SMART }
        : { is: "call", of: expressionOf(called, around, depth + 1) };
    }
    case "new_expression":
      return { is: "call", of: typeOf(node.field("type"), around, depth + 1) };
    case "pointer_expression":
    case "parenthesized_expression":
      return expressionOf(node.field("argument") ?? node.namedChild(0), around, depth + 1);
    default: {
      const name = nameOf(node);
      return name === undefined ? UNKNOWN : named(name, around);
    }
  }
}

/** The type that `std::make_unique<T>` makes. */
function madeBy(called: SyntaxNode): SyntaxNode | undefined {
  const bare = called.type === "qualified_identifier" ? called.field("name") : called;
  if (bare?.type !== "template_function" || !MAKERS.test(bare.field("name")?.text ?? "")) return undefined;
  return bare.field("arguments")?.namedChild(0);
}

/** A declared type; one with template arguments is not followed, except for the pointers of the standard library. */
export function typeOf(node: SyntaxNode | undefined, around: Around, depth = 0): Expression {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  if (node.type === "type_descriptor") return typeOf(node.field("type"), around, depth + 1);
  if (/^(?:struct|class|union)_specifier$/.test(node.type)) return typeOf(node.field("name"), around, depth + 1);
  const bare = node.type === "qualified_identifier" ? lastNameOf(node) : node;
  if (bare.type === "template_type") {
    if (!SMART_POINTERS.test(bare.field("name")?.text ?? "")) return UNKNOWN;
    return { is: "member", of: typeOf(bare.field("arguments")?.namedChild(0), around, depth + 1), name: SMART };
  }
  const name = nameOf(node);
  return name === undefined ? UNKNOWN : named(name, around);
}
