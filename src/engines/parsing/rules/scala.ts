import {
  anonymousFunction,
  callable,
  type Found,
  type GrammarRules,
  isTypeScope,
  membersOf,
  named,
  type Rule,
} from "./rule.ts";

function values(mutable: boolean): Rule {
  return (node, scope) => {
    if (scope.local) return undefined;
    const pattern = node.field("pattern") ?? node.field("name");
    if (pattern === undefined) return undefined;
    const names = pattern.type === "identifiers" ? pattern.namedChildren : [pattern];
    const kind = isTypeScope(scope) && scope.kind !== "object" ? "field" : mutable ? "variable" : "constant";
    return names
      .filter((name) => name.type === "identifier")
      .map((name): Found => ({ kind, name: name.text, local: true }));
  };
}

/** A class, and the parameters that are its fields: those with a keyword, and all of a case class. */
const classDefinition: Rule = (node) => {
  const name = node.field("name");
  if (name === undefined) return undefined;
  const parameters = node.fields("class_parameters").flatMap((list) => list.namedChildren);
  const isCase = /\bcase\s+class\s+$/.test(node.tree.text.slice(node.start, name.start));
  const fields = parameters.filter(
    (parameter) =>
      parameter.type === "class_parameter" &&
      (isCase || /\b(?:val|var)\s[^:]{0,1000}:/.test(parameter.text.slice(0, 300))),
  );
  return [
    { kind: "class", name: name.text },
    ...membersOf(name.text, fields, (parameter) => parameter.field("name")?.text),
  ];
};

const enumCase: Rule = (node) => {
  const name = node.field("name")?.text;
  return name === undefined ? undefined : { kind: "enum_member", name, leaf: true };
};

export const scalaRules: GrammarRules = {
  separator: ".",
  comments: ["comment", "block_comment"],
  attributes: ["annotation"],
  symbols: {
    class_definition: classDefinition,
    object_definition: named("object"),
    package_object: named("object"),
    trait_definition: named("trait"),
    enum_definition: named("enum"),
    simple_enum_case: enumCase,
    full_enum_case: enumCase,
    function_definition: callable(),
    function_declaration: callable(),
    val_definition: values(false),
    val_declaration: values(false),
    var_definition: values(true),
    var_declaration: values(true),
    type_definition: (node, scope) => {
      const name = node.field("name")?.text;
      return name === undefined || scope.local ? undefined : { kind: "type", name, headEnd: node.end, leaf: true };
    },
    given_definition: (node) => ({
      ...(node.field("name") ? { kind: "constant" } : {}),
      name: node.field("name")?.text ?? "",
      local: false,
    }),
    extension_definition: () => ({ name: "", local: false }),
    lambda_expression: anonymousFunction,
  },
};
