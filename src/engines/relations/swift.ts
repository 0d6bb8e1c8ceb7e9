/** Uses of Swift: a file's own functions are known by their scopes, all others by name. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Found, isType, lastName, type NamedPlace, type NameRules } from "./named.ts";

function read(node: SyntaxNode, found: Found, place: NamedPlace): void {
  switch (node.type) {
    case "call_expression": {
      const of = node.namedChild(0);
      if (of) call(of, found, place);
      return;
    }
    case "inheritance_specifier":
      found.inherits([node]);
      return;
    case "attribute":
      found.use("decorator", lastName(node));
      return;
    case "import_declaration":
      found.imports(node.namedChildren.at(-1)?.text, node);
      return;
  }
  for (const value of valuesOf(node)) reference(value, found, place);
}

/** A type that is called is constructed. */
function call(of: SyntaxNode, found: Found, place: NamedPlace): void {
  const name = memberOf(of) ?? of;
  const kind = isType(name) ? "construct" : "call";
  if (name === of) found.bare(kind, name, place);
  else if (isOfSelf(of)) found.own(kind, name, place);
  else found.use(kind, name);
}

const memberOf = (node: SyntaxNode): SyntaxNode | undefined =>
  node.type === "navigation_expression" ? node.field("suffix")?.field("suffix") : undefined;

const isOfSelf = (node: SyntaxNode): boolean => /^[sS]elf$/.test(node.field("target")?.text.slice(0, 5) ?? "");

/** Fields of nodes that hold values, by the node's type. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  value_argument: ["value"],
  assignment: ["result"],
  property_declaration: ["value"],
  infix_expression: ["lhs", "rhs"],
  control_transfer_statement: ["result"],
  array_literal: ["element"],
  dictionary_literal: ["value"],
  tuple_expression: ["value"],
  ternary_expression: ["if_true", "if_false"],
  nil_coalescing_expression: ["value", "if_nil"],
};

/** What a node hands over, keeps or returns. */
function valuesOf(node: SyntaxNode): readonly SyntaxNode[] {
  // `#selector(save)`, and a function or closure that is one expression.
  if (node.type === "selector_expression" || node.type === "statements") {
    const [only, ...others] = node.namedChildren;
    return only && others.length === 0 ? [only] : [];
  }
  return VALUES[node.type]?.flatMap((field) => node.fields(field)) ?? [];
}

/** A function that is named without being called. What is behind another value than `self` may be anything. */
function reference(value: SyntaxNode, found: Found, place: NamedPlace): void {
  if (value.type === "simple_identifier") {
    if (!isType(value)) found.bare("reference", value, place);
    return;
  }
  const member = memberOf(value);
  if (!member || isType(member)) return;
  if (isOfSelf(value)) found.own("reference", member, place);
}

const SCOPES = wordSet(
  `function_declaration init_declaration deinit_declaration subscript_declaration computed_property computed_getter
   computed_setter lambda_literal class_body enum_class_body protocol_body for_statement catch_block switch_entry
   if_statement while_statement do_statement`,
);

export const swift: NameRules = {
  read,
  opens: ({ type }) => SCOPES.has(type),
  types: wordSet("class_body enum_class_body protocol_body"),
  functions: (node) => (/^(?:protocol_)?function_declaration$/.test(node.type) ? [node.field("name")] : []),
  variables: (node) => {
    if (node.type === "parameter" || node.type === "lambda_parameter")
      return node.fields("name").filter(({ type }) => type === "simple_identifier");
    if (node.type !== "pattern") return node.fields("bound_identifier");
    // A name within a pattern of several; those of cases bind nothing that is mistaken for a function.
    const bound = node.fields("bound_identifier");
    const only = bound.length === 0 && node.namedChildren.length === 1 ? node.namedChild(0) : undefined;
    return only?.type === "simple_identifier" ? [only] : bound;
  },
};
