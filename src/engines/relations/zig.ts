/** Uses of Zig: a file's own functions are known by their scopes, all others by name. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Found, isType, type NamedPlace, type NameRules, quoted } from "./named.ts";

/** Nodes whose children are values, but for the names and types that are fields of theirs. */
const HOLDING = wordSet("initializer_list assignment_expression unary_expression return_expression arguments");

function read(node: SyntaxNode, found: Found, place: NamedPlace): void {
  const parts = node.namedChildren;
  if (node.type === "call_expression") {
    const of = node.field("function");
    if (of?.type === "identifier") found.bare("call", of, place);
    else found.use("call", of?.field("member"));
    // Arguments are siblings of the function.
    references(parts.slice(1), found, place);
  } else if (node.type === "builtin_function" && node.namedChild(0)?.text === "@import")
    found.imports(quoted(node.childOfType("arguments")?.namedChild(0)), node);
  // The first name is that of the variable.
  else if (node.type === "variable_declaration") references(parts.slice(1), found, place);
  else if (HOLDING.has(node.type)) references(parts, found, place);
}

function references(parts: readonly SyntaxNode[], found: Found, place: NamedPlace): void {
  for (const part of parts) if (part.type === "identifier" && !isType(part)) found.bare("reference", part, place);
}

const SCOPES = wordSet(
  "function_declaration block struct_declaration enum_declaration union_declaration opaque_declaration",
);

export const zig: NameRules = {
  read,
  opens: ({ type }) => SCOPES.has(type),
  functions: (node) => (node.type === "function_declaration" ? [node.field("name")] : []),
  variables: (node) => {
    if (node.type === "parameter") return [node.field("name")];
    if (node.type === "variable_declaration") return [node.childOfType("identifier")];
    return node.type === "payload" ? node.namedChildren : [];
  },
};
