import { dedent } from "../prose.ts";
import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, type Found, type GrammarRules, isTypeScope, type Rule, type NameScope } from "./rule.ts";

/** The string that opens a body, without quotes and common indentation. */
function docstring(node: SyntaxNode): string | undefined {
  const first = node.field("body")?.namedChild(0);
  const literal = first?.type === "expression_statement" ? first.namedChild(0) : first;
  if (literal?.type !== "string") return undefined;
  const match = /^[a-zA-Z]*("""|'''|"|')(.*)\1$/s.exec(literal.text);
  const doc = match === null ? "" : dedent(match[2]!.split(/\r?\n/));
  return doc === "" ? undefined : doc;
}

/** Comments may stand between the head and the body. */
function headEnd(node: SyntaxNode): number {
  const parts = ["name", "type_parameters", "parameters", "superclasses", "return_type"];
  return Math.max(...parts.map((part) => node.field(part)?.end ?? 0));
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
      headEnd: headEnd(node),
      // A class inside a function has members, not locals.
      ...(kind === "class" ? { local: false } : {}),
    };
  };
}

/** Assignments of modules and classes, of several names too; reassigned names count once for each assignment at the top. */
const assignment: Rule = (node, scope) => {
  if (scope.local) return undefined;
  const left = node.field("left");
  const statement = node.parent;
  const place = statement?.parent?.type;
  if (statement?.type !== "expression_statement" || (place !== "module" && place !== "block")) return undefined;
  if (left?.type === "identifier") return variable(left, place, scope);
  if (left?.type !== "pattern_list") return undefined;
  const names = left.namedChildren.filter(({ type }) => type === "identifier");
  return names.map((name) => variable(name, place, scope));
};

function variable(nameNode: SyntaxNode, place: string, scope: NameScope): Found {
  const name = nameNode.text;
  if (isTypeScope(scope)) return { kind: "field", name, nameNode, leaf: true };
  // `if`, `try` and `with` at the top of a file open no scope.
  return { kind: valueKind(name), name, nameNode, leaf: true, ...(place === "block" ? { outlineOnly: true } : {}) };
}

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
