/** Uses of Lua: a file's own functions are known by their scopes and tables, all others by name. */
import { wordSet } from "../../lib/word-set.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Found, type NamedPlace, type NameRules, quoted } from "./named.ts";

function read(node: SyntaxNode, found: Found, place: NamedPlace): void {
  if (node.type === "function_call") {
    const name = node.field("name");
    const key = name && keyOf(name);
    if (name && key !== undefined) found.keyed("call", lastOf(name), key, place);
    else if (name?.type === "identifier") found.bare("call", name, place);
    else found.use("call", name && lastOf(name));
    if (name?.text === "require") found.imports(quoted(node.field("arguments")?.namedChild(0)), node);
  }
  const holds = node.type === "arguments" || node.type === "expression_list";
  for (const value of holds ? node.namedChildren : node.fields("value")) {
    const key = keyOf(value);
    if (value.type === "identifier") found.bare("reference", value, place);
    else if (key !== undefined) found.keyed("reference", lastOf(value), key, place);
  }
}

const lastOf = (name: SyntaxNode): SyntaxNode => name.field("method") ?? name.field("field") ?? name;

/** `M.name` of `M.name` and `M:name`; undefined for what is longer. */
function keyOf(name: SyntaxNode | undefined): string | undefined {
  const table = name?.field("table");
  return name && table?.type === "identifier" ? `${table.text}.${lastOf(name).text}` : undefined;
}

const SCOPES = wordSet("function_declaration function_definition block for_statement");

export const lua: NameRules = {
  read,
  opens: ({ type }) => SCOPES.has(type),
  functions: (node) => {
    if (node.type === "function_declaration") return [named(node.field("name"))];
    // `local f = function() end`, `M.f = function() end`.
    if (node.type !== "assignment_statement") return [];
    const values = node.childOfType("expression_list")?.namedChildren ?? [];
    const names = node.childOfType("variable_list")?.namedChildren ?? [];
    return names.flatMap((name, i) => (values[i]?.type === "function_definition" ? [named(name)] : []));
  },
  variables: (node) => {
    if (node.type === "parameters" || node.type === "for_numeric_clause") return node.fields("name");
    if (node.type !== "variable_list") return [];
    const around = node.parent;
    if (around?.type === "for_generic_clause") return node.fields("name");
    // What is given a function is bound as such.
    const values = around?.parent?.type === "variable_declaration" ? around.childOfType("expression_list") : undefined;
    const isLocal = node.parent?.type === "variable_declaration" || around?.parent?.type === "variable_declaration";
    return isLocal ? node.fields("name").filter((_, i) => values?.namedChild(i)?.type !== "function_definition") : [];
  },
};

const named = (name: SyntaxNode | undefined) => name && { text: keyOf(name) ?? name.text, row: name.row };
