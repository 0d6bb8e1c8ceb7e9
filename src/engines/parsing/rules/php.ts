import { methodTags } from "../method-tags.ts";
import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, type Found, type GrammarRules, isTypeScope, membersOf, named, type Rule } from "./rule.ts";

/** Members join with `::`, what stands in a namespace with a backslash. */
const member: Rule = (node) => {
  const name = node.field("name")?.text;
  if (name === undefined) return undefined;
  if (name !== "__construct") return { kind: "method", name, separator: "::" };
  // A parameter with a modifier is a property as well.
  const promoted = (node.field("parameters")?.namedChildren ?? []).filter(
    ({ type }) => type === "property_promotion_parameter",
  );
  const label = (parameter: SyntaxNode) => (parameter.field("name") ?? parameter.childOfType("variable_name"))?.text;
  const properties = membersOf("", promoted, label);
  for (const property of properties) property.separator = "::";
  return [{ kind: "constructor", name, separator: "::" }, ...properties];
};

const constants: Rule = (node, scope) => {
  if (scope.local) return undefined;
  return node.namedChildren.flatMap((element): Found[] => {
    const name = element.type === "const_element" ? element.namedChild(0)?.text : undefined;
    return name === undefined
      ? []
      : [{ kind: "constant", name, leaf: true, ...(isTypeScope(scope) ? { separator: "::" } : {}) }];
  });
};

const properties: Rule = (node) =>
  node.namedChildren.flatMap((element): Found[] => {
    const name =
      element.type === "property_element" ? (element.field("name") ?? element.namedChild(0))?.text : undefined;
    return name === undefined ? [] : [{ kind: "field", name, separator: "::", leaf: true }];
  });

const namespace: Rule = (node) => {
  const name = node.field("name")?.text;
  if (name === undefined) return { name: "" };
  return { kind: "namespace", name, ...(node.field("body") === undefined ? { fileWide: true } : {}) };
};

/** A type, and the methods that its documentation declares. */
function documentedType(kind: "class" | "interface" | "trait"): Rule {
  return (node) => {
    const name = node.field("name")?.text;
    if (name === undefined || name === "") return undefined;
    const methods = methodTags(node.tree.text, node.start).map((tag): Found => ({
      kind: "method",
      name: tag.name,
      container: name,
      separator: "::",
      outer: tag,
      headEnd: tag.end,
      leaf: true,
      outlineOnly: true,
    }));
    return [...methods, { kind, name }];
  };
}

export const phpRules: GrammarRules = {
  separator: "\\",
  comments: ["comment"],
  symbols: {
    namespace_definition: namespace,
    class_declaration: documentedType("class"),
    interface_declaration: documentedType("interface"),
    trait_declaration: documentedType("trait"),
    enum_declaration: named("enum"),
    enum_case: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "enum_member", name, separator: "::", leaf: true };
    },
    method_declaration: member,
    function_definition: named("function"),
    const_declaration: constants,
    property_declaration: properties,
    anonymous_function: anonymousFunction,
    arrow_function: anonymousFunction,
  },
};
