import { dedent } from "../prose.ts";
import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, type GrammarRules, isTypeScope, type Rule } from "./rule.ts";

/** The string that opens a body, without quotes and common indentation. */
function docstring(node: SyntaxNode): string | undefined {
  const first = node.field("body")?.namedChild(0);
  const literal = first?.type === "expression_statement" ? first.namedChild(0) : first;
  if (literal?.type !== "string") return undefined;
  const match = /^[a-zA-Z]*("""|'''|"|')(.*)\1$/s.exec(literal.text);
  const doc = match === null ? "" : dedent(match[2]!.split(/\r?\n/));
  return doc === "" ? undefined : doc;
}

function definition(kind: "class" | "function"): Rule {
  return (node, scope) => {
    const name = node.field("name")?.text;
    if (name === undefined) return undefined;
    const parent = node.parent;
    const doc = docstring(node);
    return {
      kind: kind === "function" && isTypeScope(scope) ? (name === "__init__" ? "constructor" : "method") : kind,
      name,
      ...(parent?.type === "decorated_definition" ? { outer: parent, headStart: node.start } : {}),
      ...(doc === undefined ? {} : { doc }),
      // A class inside a function has members, not locals.
      ...(kind === "class" ? { local: false } : {}),
    };
  };
}

/** Assignments of modules and classes; reassigned names count once for each assignment at the top. */
const assignment: Rule = (node, scope) => {
  if (scope.local) return undefined;
  const left = node.field("left");
  if (left?.type !== "identifier") return undefined;
  const statement = node.parent;
  if (statement?.type !== "expression_statement") return undefined;
  const name = left.text;
  const place = statement.parent;
  if (place?.type === "block" && !isTypeScope(scope)) {
    // `if`, `try` and `with` at the top of a file open no scope.
    return { kind: valueKind(name), name, leaf: true, outlineOnly: true };
  }
  if (place?.type !== "module" && place?.type !== "block") return undefined;
  if (isTypeScope(scope)) return { kind: "field", name, leaf: true };
  return { kind: valueKind(name), name, leaf: true };
};

function valueKind(name: string): "constant" | "variable" {
  return /^_*[A-Z][A-Z0-9_]*$/.test(name) ? "constant" : "variable";
}

export const pythonRules: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  symbols: {
    class_definition: definition("class"),
    function_definition: definition("function"),
    assignment,
    type_alias_statement: (node) => {
      const name = (node.field("left") ?? node.namedChild(0))?.text;
      return name === undefined ? undefined : { kind: "type", name: name.replace(/\[.*$/s, ""), leaf: true };
    },
    lambda: anonymousFunction,
  },
};
