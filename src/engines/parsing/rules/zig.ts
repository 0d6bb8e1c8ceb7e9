import type { SymbolKind } from "../types.ts";
import { callable, type GrammarRules, isTypeScope, type Rule } from "./rule.ts";

const CONTAINERS: Record<string, SymbolKind> = {
  struct_declaration: "struct",
  opaque_declaration: "struct",
  enum_declaration: "enum",
  union_declaration: "union",
  error_set_declaration: "enum",
};

const variable: Rule = (node, scope) => {
  const children = node.namedChildren;
  const name = children.find((child) => child.type === "identifier");
  const value = children.at(-1);
  if (name === undefined || value === undefined || name.text === "_") return undefined;
  const container = CONTAINERS[value.type];
  if (container !== undefined)
    return { kind: container, name: name.text, headEnd: value.start + value.text.indexOf("{") };
  if (scope.local || (value.type === "builtin_function" && /^@(?:import|cImport|This)\b/.test(value.text)))
    return undefined;
  if (value.type === "field_expression" && value.text.startsWith("@import")) return undefined;
  const isConstant = /\bconst\s+$/.test(node.tree.text.slice(node.start, name.start));
  return { kind: isConstant ? "constant" : "variable", name: name.text, local: true };
};

/** What a container holds: fields, or the values of an enum or error set. */
const field: Rule = (node, scope) => {
  if (!isTypeScope(scope)) return undefined;
  const name = (node.field("name") ?? node.namedChildren.find((child) => child.type === "identifier"))?.text;
  if (name === undefined || name === "_") return undefined;
  const isValue = scope.kind === "enum" || (scope.kind === "scope" && node.parent?.type === "enum_declaration");
  const leaf = !/\b(?:struct|union|enum|opaque)\b/.test(node.text);
  return { kind: isValue ? "enum_member" : "field", name, leaf, local: false, outlineOnly: true };
};

const errors: Rule = (node, scope) =>
  scope.kind !== "enum"
    ? undefined
    : node.namedChildren
        .filter((child) => child.type === "identifier")
        .map((child) => ({
          kind: "enum_member",
          name: child.text,
          outer: child,
          headEnd: child.end,
          leaf: true,
          outlineOnly: true,
        }));

/** A container without a name (a function's return value), whose members are not locals. */
const container: Rule = (_node, scope) =>
  isTypeScope(scope) && scope.name !== "" ? undefined : { name: "", local: false };

export const zigRules: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  symbols: {
    function_declaration: callable(),
    variable_declaration: variable,
    test_declaration: (node) => {
      const label = node.namedChildren.find((child) => child.type === "string" || child.type === "identifier")?.text;
      return {
        kind: "test",
        name: label?.replace(/^"|"$/g, "") ?? "test",
        headEnd: node.childOfType("block")?.start ?? node.end,
      };
    },
    container_field: field,
    error_set_declaration: errors,
    struct_declaration: container,
    union_declaration: container,
    enum_declaration: container,
    opaque_declaration: container,
  },
};
