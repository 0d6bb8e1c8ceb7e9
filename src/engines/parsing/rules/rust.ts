import {
  anonymousFunction,
  bareType,
  callable,
  type GrammarRules,
  member,
  named,
  type Rule,
  topLevel,
} from "./rule.ts";

/** `impl Trait for Type<T>`: members belong to the type. */
const implementation: Rule = (node) => {
  const type = node.field("type");
  return type === undefined ? undefined : { name: bareType(type.text), local: false };
};

const leaf =
  (rule: Rule): Rule =>
  (node, scope) => {
    const found = rule(node, scope);
    return found === undefined || Array.isArray(found) ? found : { ...found, leaf: true, headEnd: node.end };
  };

export const rustRules: GrammarRules = {
  separator: "::",
  comments: ["line_comment", "block_comment"],
  attributes: ["attribute_item"],
  symbols: {
    function_item: callable(),
    function_signature_item: callable(),
    field_declaration: member("field"),
    enum_variant: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "enum_member", name, headEnd: node.end, outlineOnly: true };
    },
    struct_item: named("struct"),
    enum_item: named("enum"),
    union_item: named("union"),
    trait_item: named("trait"),
    impl_item: implementation,
    mod_item: named("module"),
    type_item: leaf(named("type")),
    associated_type: leaf(named("type")),
    const_item: leaf(topLevel(named("constant"))),
    static_item: leaf(topLevel(named("variable"))),
    macro_definition: named("macro"),
    closure_expression: anonymousFunction,
  },
};
