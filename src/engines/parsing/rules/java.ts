import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, type GrammarRules, isTypeScope, membersOf, named, type Rule } from "./rule.ts";

/** One statement may declare several fields. */
const fields: Rule = (node, scope) => {
  if (!isTypeScope(scope)) return undefined;
  const isConstant =
    scope.kind === "interface" || /^[^=;]*\bstatic\s+final\b|^[^=;]*\bfinal\s+static\b/.test(node.text);
  return node.fields("declarator").flatMap((declarator) => {
    const name = declarator.field("name")?.text;
    return name === undefined
      ? []
      : [{ kind: isConstant ? ("constant" as const) : ("field" as const), name, leaf: true }];
  });
};

/** A record, and its components: each is a field. */
const record: Rule = (node) => {
  const name = node.field("name")?.text;
  if (name === undefined) return undefined;
  const components = (node.field("parameters")?.namedChildren ?? []).filter(({ type }) => type.endsWith("_parameter"));
  const label = (component: SyntaxNode) =>
    (component.field("name") ?? component.childOfType("variable_declarator")?.field("name"))?.text;
  return [{ kind: "class", name }, ...membersOf(name, components, label)];
};

const enumConstant: Rule = (node) => {
  const name = node.field("name")?.text;
  return name === undefined ? undefined : { kind: "enum_member", name };
};

export const javaRules: GrammarRules = {
  separator: ".",
  comments: ["block_comment", "line_comment"],
  symbols: {
    class_declaration: named("class"),
    interface_declaration: named("interface"),
    annotation_type_declaration: named("interface"),
    enum_declaration: named("enum"),
    record_declaration: record,
    method_declaration: named("method"),
    annotation_type_element_declaration: named("method"),
    constructor_declaration: named("constructor"),
    compact_constructor_declaration: named("constructor"),
    field_declaration: fields,
    constant_declaration: fields,
    enum_constant: enumConstant,
    lambda_expression: anonymousFunction,
  },
};
