import type { SyntaxNode } from "../syntax-node.ts";
import type { Found, GrammarRules, Rule } from "./rule.ts";

/** `M.f` and `M:g` belong to the table they are put into. */
function split(name: SyntaxNode): Pick<Found, "name" | "container" | "separator"> {
  if (name.type === "dot_index_expression") {
    return { name: name.field("field")?.text ?? "", container: name.field("table")?.text ?? "", separator: "." };
  }
  if (name.type === "method_index_expression") {
    return { name: name.field("method")?.text ?? "", container: name.field("table")?.text ?? "", separator: ":" };
  }
  return { name: name.text };
}

const declaration: Rule = (node) => {
  const name = node.field("name");
  if (name === undefined) return undefined;
  const found = split(name);
  return {
    ...found,
    kind: found.container === undefined ? "function" : "method",
    headEnd: node.field("parameters")?.end ?? node.end,
  };
};

const assignment: Rule = (node, scope) => {
  const name = node.childOfType("variable_list")?.field("name");
  const value = node.childOfType("expression_list")?.field("value");
  if (name === undefined || (name.type !== "identifier" && name.type !== "dot_index_expression")) return undefined;
  const parent = node.parent;
  const statement = parent?.type === "variable_declaration" ? parent : node;
  const found = split(name);
  if (value?.type === "function_definition") {
    const headEnd = value.field("parameters")?.end ?? node.end;
    return { ...found, kind: found.container === undefined ? "function" : "method", outer: statement, headEnd };
  }
  if (scope.local || found.container !== undefined)
    return value?.type === "table_constructor" ? { name: name.text } : undefined;
  const place = statement.parent?.type;
  if (place !== "chunk" || /^require\b/.test(value?.text.slice(0, 20) ?? "")) return undefined;
  return { name: found.name, kind: "variable", outer: statement };
};

const field: Rule = (node) => {
  const name = node.field("name")?.text;
  const value = node.field("value");
  if (name === undefined || value?.type !== "function_definition") return undefined;
  return { kind: "method", name, headEnd: value.field("parameters")?.end ?? node.end };
};

export const luaRules: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  symbols: {
    function_declaration: declaration,
    assignment_statement: assignment,
    field,
    function_definition: () => ({ name: "", local: true }),
  },
};
