import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, bareType, type Found, type GrammarRules, named, type Rule } from "./rule.ts";

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

/** A struct's fields; an embedded one has its type's name. */
const fields: Rule = (node, scope) => {
  if ((scope.kind !== "struct" && scope.kind !== "field") || scope.local) return undefined;
  const text = node.text;
  const names = node.fields("name").map((name) => name.text);
  const embedded = names.length === 0 ? node.field("type") : undefined;
  if (embedded !== undefined) names.push(bareType(embedded.text));
  // A struct that is written out in place has fields of its own; behind a slice or in a function's type they are not its.
  const isStruct = embedded === undefined && /^[^`"/]*\bstruct\b/.test(text);
  const isOwn = isStruct && /^[\w\s,]+\s\*?struct\b/.test(text);
  const scoped: Pick<Found, "leaf" | "local"> = isStruct ? { local: !isOwn } : { leaf: true };
  return names.flatMap((name): Found[] =>
    name === "_" || name === "" ? [] : [{ kind: "field", name, outlineOnly: true, ...scoped }],
  );
};

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
    field_declaration: fields,
    func_literal: anonymousFunction,
  },
};
