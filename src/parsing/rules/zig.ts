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

/** A container without a name of its own (a function's return value): its members are no locals. */
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
    struct_declaration: container,
    union_declaration: container,
    enum_declaration: container,
    opaque_declaration: container,
  },
};
