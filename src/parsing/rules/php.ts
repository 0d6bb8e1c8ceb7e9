import type { Found, GrammarRules, Rule } from "./rule.ts";
import { anonymousFunction, isTypeScope, named } from "./rule.ts";

/** Members join with `::`, what stands in a namespace with a backslash. */
const member: Rule = (node) => {
  const name = node.field("name")?.text;
  return name === undefined
    ? undefined
    : { kind: name === "__construct" ? "constructor" : "method", name, separator: "::" };
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

export const phpRules: GrammarRules = {
  separator: "\\",
  comments: ["comment"],
  symbols: {
    namespace_definition: namespace,
    class_declaration: named("class"),
    interface_declaration: named("interface"),
    trait_declaration: named("trait"),
    enum_declaration: named("enum"),
    enum_case: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "constant", name, separator: "::", leaf: true };
    },
    method_declaration: member,
    function_definition: named("function"),
    const_declaration: constants,
    property_declaration: properties,
    anonymous_function: anonymousFunction,
    arrow_function: anonymousFunction,
  },
};
