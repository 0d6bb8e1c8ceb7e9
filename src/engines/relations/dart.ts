/** Uses of Dart: a file's own functions are known by their scopes, all others by name. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Found, isType, MAX_STEPS, type NamedPlace, type NameRules, quoted } from "./named.ts";

function read(node: SyntaxNode, found: Found, place: NamedPlace): void {
  switch (node.type) {
    case "new_expression":
    case "const_object_expression":
      found.use("construct", node.childOfType("type_identifier"));
      return;
    case "superclass":
    case "interfaces":
    case "mixins":
      found.inherits(node.namedChildren.filter(({ type }) => type === "type_identifier"));
      return;
    case "annotation":
      found.use("decorator", node.field("name"));
      return;
    case "import_specification":
    case "library_export":
      found.imports(quoted(node.childOfType("configurable_uri")), node);
      return;
  }
  const parts = node.namedChildren;
  calls(parts, found, place);
  if (HOLDING.has(node.type)) references(parts, found, place);
  // The first name is that of the variable.
  else if (INITIALIZED.test(node.type)) references(parts.slice(1), found, place);
}

/** A call is written as the name and its arguments side by side. */
function calls(parts: readonly SyntaxNode[], found: Found, place: NamedPlace): void {
  parts.forEach((part, i) => {
    const before = parts[i - 1];
    if ((part.type !== "selector" && part.type !== "argument_part") || !before) return;
    if (part.type === "selector" && part.namedChild(0)?.type !== "argument_part") return;
    const name = before.type === "identifier" ? before : lastOfSelector(before);
    // A type that is called is constructed.
    const kind = isType(name) ? "construct" : "call";
    if (before.type === "identifier") found.bare(kind, name, place);
    else if (parts[i - 2]?.type === "this") found.own(kind, name, place);
    else found.use(kind, name);
  });
}

function lastOfSelector(node: SyntaxNode): SyntaxNode | undefined {
  let at: SyntaxNode | undefined = node;
  for (let steps = 0; at && at.type !== "identifier" && steps < MAX_STEPS; steps++) at = at.namedChildren.at(-1);
  return at;
}

/** What holds values: names in it that nothing follows, and members of `this`. */
const HOLDING = wordSet(
  `argument named_argument list_literal return_statement function_body function_expression_body if_null_expression
   conditional_expression assignment_expression optional_formal_parameters pair`,
);
const INITIALIZED =
  /^(?:initialized_variable_definition|initialized_identifier|static_final_declaration|field_initializer)$/;

/** Functions that are named without being called. What is behind another value may be anything. */
function references(parts: readonly SyntaxNode[], found: Found, place: NamedPlace): void {
  parts.forEach((part, i) => {
    const [next, after] = [parts[i + 1], parts[i + 2]];
    if (next?.type !== "selector") {
      if (part.type === "identifier" && !isType(part)) found.bare("reference", part, place);
      return;
    }
    const member = next.childOfType("unconditional_assignable_selector")?.childOfType("identifier");
    if (!member || isType(member) || after?.type === "selector") return;
    if (part.type === "this") found.own("reference", member, place);
  });
}

const SCOPES = wordSet(
  `method_signature function_expression class_body extension_body enum_body block for_statement catch_clause
   switch_statement_case`,
);
const SIGNATURE = /^(?:function|getter|setter)_signature$/;

export const dart: NameRules = {
  read,
  opens: (node, { around }) => {
    // The signature of a method has that of a function in it.
    if (node.type === "function_signature") return around !== "method_signature";
    if (node.type === "declaration") return node.childOfType("constructor_signature") !== undefined;
    return SCOPES.has(node.type);
  },
  types: wordSet("class_body extension_body enum_body"),
  body: "function_body",
  functions: (node, { around }) => {
    const signature = node.type === "method_signature" ? node.namedChild(0) : node;
    return SIGNATURE.test(signature?.type ?? "") && around !== "method_signature" ? [signature?.field("name")] : [];
  },
  variables: (node) => {
    switch (node.type) {
      case "formal_parameter":
        return [node.field("name") ?? node.namedChildren.findLast(({ type }) => type === "identifier")];
      case "initialized_variable_definition":
      case "for_loop_parts":
        return [node.field("name")];
      case "initialized_identifier":
      case "static_final_declaration":
      case "constructor_param":
        return [node.childOfType("identifier")];
      case "variable_pattern":
      case "catch_parameters":
        return node.namedChildren.filter(({ type }) => type === "identifier");
    }
    return [];
  },
};
