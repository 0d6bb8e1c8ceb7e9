import { anonymousFunction, type GrammarRules, isTypeScope, named, type Rule } from "./rule.ts";

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

const leafConstant: Rule = (node) => {
  const name = node.field("name")?.text;
  return name === undefined ? undefined : { kind: "constant", name };
};

export const javaRules: GrammarRules = {
  separator: ".",
  comments: ["block_comment", "line_comment"],
  symbols: {
    class_declaration: named("class"),
    interface_declaration: named("interface"),
    annotation_type_declaration: named("interface"),
    enum_declaration: named("enum"),
    record_declaration: named("class"),
    method_declaration: named("method"),
    annotation_type_element_declaration: named("method"),
    constructor_declaration: named("constructor"),
    compact_constructor_declaration: named("constructor"),
    field_declaration: fields,
    constant_declaration: fields,
    enum_constant: leafConstant,
    lambda_expression: anonymousFunction,
  },
};
