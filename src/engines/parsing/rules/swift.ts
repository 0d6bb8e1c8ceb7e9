import type { SymbolKind } from "../types.ts";
import {
  anonymousFunction,
  bareType,
  callable,
  type Found,
  type GrammarRules,
  isTypeScope,
  type Rule,
} from "./rule.ts";

const KINDS: Record<string, SymbolKind> = {
  class: "class",
  struct: "struct",
  enum: "enum",
  actor: "class",
  extension: "extension",
};

const type: Rule = (node) => {
  const name = node.field("name")?.text;
  if (name === undefined) return undefined;
  const kind = KINDS[node.field("declaration_kind")?.text ?? "class"] ?? "class";
  // An extension may name a nested type: `extension A.B`.
  return { kind, name: kind === "extension" ? name.replace(/<.*$/s, "").trim() : bareType(name) };
};

const property: Rule = (node, scope) => {
  if (scope.local) return undefined;
  const name = node.field("name");
  if (name === undefined) return undefined;
  const bound = name.field("bound_identifier")?.text ?? name.text;
  if (!/^`?[\p{L}_][\p{L}\p{N}_]*`?$/u.test(bound)) return undefined;
  const isLet = /\blet\s+$/.test(node.tree.text.slice(node.start, name.start));
  return { kind: isTypeScope(scope) ? "field" : isLet ? "constant" : "variable", name: bound, local: true };
};

const fixed =
  (kind: "constructor" | "method", name: string): Rule =>
  () => ({ kind, name });

export const swiftRules: GrammarRules = {
  separator: ".",
  comments: ["comment", "multiline_comment"],
  symbols: {
    class_declaration: type,
    protocol_declaration: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "interface", name };
    },
    function_declaration: callable(),
    protocol_function_declaration: callable(),
    init_declaration: fixed("constructor", "init"),
    deinit_declaration: fixed("method", "deinit"),
    subscript_declaration: fixed("method", "subscript"),
    property_declaration: property,
    protocol_property_declaration: property,
    typealias_declaration: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "type", name, headEnd: node.end, leaf: true };
    },
    enum_entry: (node) =>
      node
        .fields("name")
        .filter((name) => name.type === "simple_identifier")
        .map((name): Found => ({ kind: "enum_member", name: name.text, leaf: true })),
    lambda_literal: anonymousFunction,
  },
};
