import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, bareType, type GrammarRules, named, type Rule } from "./rule.ts";

/** The type in a receiver such as `(s *Server[T])`. */
function receiverType(node: SyntaxNode): string | undefined {
  const type = node.field("receiver")?.childOfType("parameter_declaration")?.field("type");
  return type === undefined ? undefined : bareType(type.text);
}

/** A declaration with one spec and no parentheses is the symbol, keyword included. */
function declaration(node: SyntaxNode): { outer?: SyntaxNode } {
  let parent = node.parent;
  if (parent?.type === "var_spec_list") parent = parent.parent;
  if (parent === undefined || parent.namedChildren.length !== 1 || parent.text.includes("(\n")) return {};
  return { outer: parent };
}

const type: Rule = (node) => {
  const name = node.field("name")?.text;
  if (name === undefined) return undefined;
  const body = node.field("type");
  const kind = body?.type === "struct_type" ? "struct" : body?.type === "interface_type" ? "interface" : "type";
  const headEnd = kind === "type" ? node.end : body?.namedChild(0)?.start;
  const head = kind === "type" || body === undefined ? node.end : body.start + kind.length;
  return { kind, name, ...declaration(node), headEnd: Math.min(head, headEnd ?? head) };
};

function values(kind: "constant" | "variable"): Rule {
  return (node, scope) => {
    if (scope.local) return undefined;
    const range = declaration(node);
    return node
      .fields("name")
      .filter((name) => name.type === "identifier" && name.text !== "_")
      .map((name) => ({ kind, name: name.text, outer: range.outer ?? node, leaf: true }));
  };
}

export const goRules: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  symbols: {
    function_declaration: named("function"),
    method_declaration: (node) => {
      const name = node.field("name")?.text;
      const container = receiverType(node);
      return name === undefined
        ? undefined
        : { kind: "method", name, ...(container === undefined ? {} : { container }) };
    },
    type_spec: type,
    type_alias: type,
    const_spec: values("constant"),
    var_spec: values("variable"),
    method_elem: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "method", name, leaf: true };
    },
    func_literal: anonymousFunction,
  },
};
