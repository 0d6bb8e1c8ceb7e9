import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, type Found, type GrammarRules, isTypeScope, named, type Rule } from "./rule.ts";

/** A signature and its body are siblings, with or without a wrapper around the signature. */
function whole(node: SyntaxNode): Pick<Found, "outer" | "end" | "headEnd"> {
  const parent = node.parent;
  const isWrapped =
    parent?.type === "method_signature" || parent?.type === "declaration" || parent?.type === "lambda_expression";
  const outer = isWrapped ? parent : node;
  const body = outer.type === "lambda_expression" ? undefined : outer.nextNamedSibling;
  const end = body?.type === "function_body" ? body.end : outer.end;
  return { outer, end, headEnd: node.end };
}

const callable: Rule = (node, scope) => {
  const name = node.field("name")?.text;
  return name === undefined ? undefined : { kind: isTypeScope(scope) ? "method" : "function", name, ...whole(node) };
};

const operator: Rule = (node) => {
  const symbol = /\boperator\s*([^\s(]+|\[\]=?)/.exec(node.text)?.[1];
  return symbol === undefined ? undefined : { kind: "method", name: `operator ${symbol}`, ...whole(node) };
};

/** `A(…)`, `A.named(…)`, `factory A.make(…)`, `const A(…)`. */
const constructor: Rule = (node) => {
  const parts = node.fields("name");
  const names = parts.length > 0 ? parts : node.namedChildren.filter((child) => child.type === "identifier");
  const name = names.findLast((part) => part.type === "identifier")?.text;
  return name === undefined ? undefined : { kind: "constructor", name, ...whole(node) };
};

/** Fields of a type and variables of the file. */
function value(isConstant: boolean): Rule {
  return (node, scope) => {
    if (scope.local) return undefined;
    const name = (node.field("name") ?? node.namedChildren.find((child) => child.type === "identifier"))?.text;
    const list = node.parent;
    const statement = list?.parent;
    if (name === undefined || list === undefined) return undefined;
    const outer = statement?.type === "declaration" && list.namedChildren.length === 1 ? { outer: statement } : {};
    return { ...outer, kind: isConstant ? "constant" : isTypeScope(scope) ? "field" : "variable", name, leaf: true };
  };
}

const firstName =
  (kind: "trait" | "type", ...types: string[]): Rule =>
  (node) => {
    const name = (node.field("name") ?? node.childOfType(...types))?.text;
    return name === undefined ? undefined : { kind, name, headEnd: node.childOfType("class_body")?.start ?? node.end };
  };

export const dartRules: GrammarRules = {
  separator: ".",
  comments: ["comment", "documentation_comment"],
  attributes: ["annotation"],
  symbols: {
    class_definition: named("class"),
    mixin_declaration: firstName("trait", "identifier"),
    enum_declaration: named("enum"),
    enum_constant: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "enum_member", name, leaf: true };
    },
    extension_declaration: named("extension"),
    type_alias: firstName("type", "type_identifier"),
    function_signature: callable,
    getter_signature: callable,
    setter_signature: callable,
    operator_signature: operator,
    constructor_signature: constructor,
    constant_constructor_signature: constructor,
    factory_constructor_signature: constructor,
    redirecting_factory_constructor_signature: constructor,
    static_final_declaration: value(true),
    initialized_identifier: value(false),
    function_expression: anonymousFunction,
  },
};
