import { anonymousFunction, type GrammarRules, isTypeScope, membersOf, named, type Rule } from "./rule.ts";

const fields: Rule = (node, scope) => {
  if (!isTypeScope(scope)) return undefined;
  const kind = /^[^=;]*\bconst\b/.test(node.text) ? "constant" : "field";
  const declarators = node.childOfType("variable_declaration")?.namedChildren ?? [];
  return declarators.flatMap((declarator) => {
    const name = declarator.type === "variable_declarator" ? declarator.field("name")?.text : undefined;
    return name === undefined ? [] : [{ kind, name, leaf: true } as const];
  });
};

const operator: Rule = (node) => {
  const head = /\boperator\s+(?:checked\s+)?([^\s(]+)/.exec(node.text);
  return head === null ? undefined : { kind: "method", name: `operator ${head[1]!}` };
};

const property: Rule = (node) => {
  const name = node.field("name")?.text;
  return name === undefined
    ? undefined
    : { kind: "field", name, headEnd: node.field("accessors")?.start ?? node.end, local: true };
};

export const csharpRules: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  symbols: {
    namespace_declaration: named("namespace"),
    file_scoped_namespace_declaration: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "namespace", name, fileWide: true };
    },
    class_declaration: named("class"),
    struct_declaration: named("struct"),
    interface_declaration: named("interface"),
    enum_declaration: named("enum"),
    record_declaration: (node) => {
      const name = node.field("name")?.text;
      if (name === undefined) return undefined;
      const kind = /\brecord\s+struct\b/.test(node.text.slice(0, 200)) ? "struct" : "class";
      const parameters = node.childOfType("parameter_list")?.namedChildren ?? [];
      return [{ kind, name }, ...membersOf(name, parameters, (parameter) => parameter.field("name")?.text)];
    },
    delegate_declaration: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "type", name, headEnd: node.end, leaf: true };
    },
    method_declaration: named("method"),
    constructor_declaration: named("constructor"),
    destructor_declaration: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "method", name: `~${name}` };
    },
    operator_declaration: operator,
    conversion_operator_declaration: operator,
    indexer_declaration: (node) => ({
      kind: "method",
      name: "this[]",
      headEnd: node.field("accessors")?.start ?? node.end,
    }),
    property_declaration: property,
    event_declaration: property,
    event_field_declaration: fields,
    field_declaration: fields,
    enum_member_declaration: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "enum_member", name, leaf: true };
    },
    local_function_statement: named("function"),
    lambda_expression: anonymousFunction,
    anonymous_method_expression: anonymousFunction,
  },
};
