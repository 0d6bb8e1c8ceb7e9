/** What names, expressions and types of C++ mean. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { lastNameOf } from "./declarators.ts";
import { cppHolder, givenByCppLibrary } from "./cpp-library.ts";
import { type Expression, instanceOf, oneOfValues, type Scope, UNKNOWN, withArguments } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { exactName, programName } from "./program.ts";
import { ARROW, ELEMENT, ITERATED, ITERATOR, TARGET } from "./wrapped.ts";

/** Where a name stands: names of blocks are in the scope, others are looked up from the namespaces and classes around (`a::b::Class`). */
export interface Around {
  scope: Scope;
  context: string;
}

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
      return (
        givenByCppLibrary(node, {
          value: (of) => expressionOf(of, around, depth + 1),
          type: (of) => typeOf(of, around, depth + 1),
        }) ?? { is: "call", of: expressionOf(called, around, depth + 1) }
      );
    }
    case "cast_expression":
    case "compound_literal_expression": {
      return instanceOf(typeOf(node.field("type"), around, depth + 1));
    }
    case "conditional_expression":
      return oneOfValues([
        expressionOf(node.field("consequence"), around, depth + 1),
        expressionOf(node.field("alternative"), around, depth + 1),
      ]);
    case "update_expression":
    case "subscript_expression":
      return { is: "member", of: expressionOf(node.field("argument"), around, depth + 1), name: ELEMENT };
    case "new_expression":
      return { is: "call", of: typeOf(node.field("type"), around, depth + 1) };
    case "pointer_expression": {
      const of = expressionOf(node.field("argument"), around, depth + 1);
      return node.tree.text[node.start] === "*" ? { is: "member", of, name: TARGET } : of;
    }
    case "parenthesized_expression":
      return expressionOf(node.field("argument") ?? node.namedChild(0), around, depth + 1);
    default: {
      const name = nameOf(node);
      return name === undefined ? UNKNOWN : named(name, around);
    }
  }
}

/** A declared type. */
export function typeOf(node: SyntaxNode | undefined, around: Around, depth = 0): Expression {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  if (node.type === "type_descriptor") return typeOf(node.field("type"), around, depth + 1);
  if (/^(?:struct|class|union)_specifier$/.test(node.type)) return typeOf(node.field("name"), around, depth + 1);
  const bare = node.type === "qualified_identifier" ? lastNameOf(node) : node;
  if (bare.type === "template_type") return templateType(bare, around, depth);
  // `std::vector<T>::iterator`
  const before = node.type === "qualified_identifier" && /^(?:const_)?iterator$/.test(bare.text) && iteratedBy(node);
  if (before) {
    const of = templateType(before, around, depth);
    const name = ITERATED;
    return of.is === "member" ? { is: "member", of: { is: "member", of, name }, name: ITERATOR } : UNKNOWN;
  }
  const name = nameOf(node);
  return name === undefined ? UNKNOWN : named(name, around);
}

/** A template with its arguments: what the standard library's containers and pointers hold is known by its type. */
function templateType(node: SyntaxNode, around: Around, depth: number): Expression {
  const name = node.field("name")?.text ?? "";
  const given = (node.field("arguments")?.namedChildren ?? []).map((each) => typeOf(each, around, depth + 1));
  const holder = cppHolder(name);
  const held = holder && given[holder.at];
  if (!held || held.is === "unknown") return withArguments(named(name, around), given);
  return { is: "member", of: held, name: holder.wrapping };
}

/** The container of a qualified name, before its last part. */
function iteratedBy(node: SyntaxNode): SyntaxNode | undefined {
  let container: SyntaxNode | undefined;
  let at: SyntaxNode | undefined = node;
  for (let depth = 0; at?.type === "qualified_identifier" && depth < MAX_EXPRESSION_DEPTH; depth++) {
    container = at.field("scope");
    at = at.field("name");
  }
  return container?.type === "template_type" ? container : undefined;
}
