import type { SyntaxNode } from "../syntax-node.ts";
import { type Found, type GrammarRules, isTypeScope, named, type Rule, type NameScope } from "./rule.ts";

const NAME_TYPES = new Set([
  "identifier",
  "field_identifier",
  "type_identifier",
  "primitive_type",
  "destructor_name",
  "operator_name",
  "operator_cast",
  "qualified_identifier",
  "template_function",
]);
const FILE_LEVEL =
  /^(?:translation_unit|preproc_\w+|declaration_list|linkage_specification|template_declaration|export_\w+)$/;

interface Declared {
  name: string;
  nameNode: SyntaxNode;
  container?: string;
  isFunction: boolean;
}

/** The name at the end of a declarator chain (`*(*f)(int)[3]`), and whether it is a function's. */
function declared(declarator: SyntaxNode | undefined): Declared | undefined {
  let isFunction = false;
  let node = declarator;
  for (let depth = 0; node !== undefined && depth < 20; depth++) {
    const type = node.type;
    if (NAME_TYPES.has(type)) return { ...splitName(node), isFunction: isFunction || type === "operator_cast" };
    if (type === "function_declarator") isFunction = true;
    // A parenthesised pointer inside a function declarator is a variable that points to a function.
    if (type === "pointer_declarator" && isFunction) isFunction = false;
    node =
      node.field("declarator") ??
      node.namedChildren.find((child) => child.type !== "comment" && child.type !== "ms_call_modifier");
  }
  return undefined;
}

/** `ns::Type<T>::member` gives the member and `ns::Type`. */
function splitName(node: SyntaxNode): { name: string; nameNode: SyntaxNode; container?: string } {
  const scopes: string[] = [];
  let name = node;
  while (name.type === "qualified_identifier") {
    const scope = name.field("scope");
    if (scope !== undefined) scopes.push(scope.text.replace(/<.*$/s, "").trim());
    const inner = name.field("name");
    if (inner === undefined) break;
    name = inner;
  }
  // `template <> struct A<int>` is a form of A.
  if (name.type === "template_type") name = name.field("name") ?? name;
  const text = name.type === "operator_cast" ? name.text.replace(/\(.*$/s, "") : name.text;
  const plain = name.type === "template_function" ? text.replace(/<.*$/s, "") : text;
  const label = plain.replace(/\s+/g, " ").trim();
  const found = { name: label, nameNode: name };
  return scopes.length === 0 ? found : { ...found, container: scopes.join("::") };
}

/** `template <…> …` is the symbol, its parameters included. */
function templated(node: SyntaxNode): { outer?: SyntaxNode } {
  const parent = node.parent;
  return parent?.type === "template_declaration" ? { outer: parent } : {};
}

function functionKind(found: Declared, scope: NameScope): "function" | "method" | "constructor" {
  const owner =
    found.container?.split("::").at(-1) ?? (isTypeScope(scope) && scope.name !== "" ? scope.name : undefined);
  if (owner === undefined) return "function";
  return owner === found.name ? "constructor" : "method";
}

const TEST_MACRO = /^(?:[A-Z0-9]+_)*TEST(?:_[FP])?$/;

/**
 * `TEST_F(Suite, Case) {…}` of GoogleTest and its like, which a parser takes for a function without a type. The name is the one in the test
 * framework's reports, not a member of the class that a suite is often called after.
 */
function testCase(definition: SyntaxNode): Found | undefined {
  const declarator = definition.field("declarator");
  if (definition.field("type") !== undefined || declarator?.type !== "function_declarator") return undefined;
  if (!TEST_MACRO.test(declarator.field("declarator")?.text ?? "")) return undefined;
  const [suite, name, ...rest] = declarator.field("parameters")?.namedChildren ?? [];
  if (suite === undefined || name === undefined || rest.length > 0) return undefined;
  if (!/^\w+$/.test(suite.text) || !/^\w+$/.test(name.text)) return undefined;
  return { kind: "function", name: `${suite.text}.${name.text}`, nameNode: suite };
}

const definition: Rule = (node, scope) => {
  const test = testCase(node);
  if (test) return test;
  const found = declared(node.field("declarator"));
  // Macros before a function make the parser take its body for another's; without a declarator there is no name.
  if (found === undefined || !found.isFunction || /^(?:if|for|while|switch|else)$/.test(found.name)) return undefined;
  return {
    kind: functionKind(found, scope),
    name: found.name,
    nameNode: found.nameNode,
    ...(found.container === undefined ? {} : { container: found.container }),
    ...templated(node),
  };
};

/** Prototypes, and variables of the file; members without a body in C++. */
const declaration: Rule = (node, scope) => {
  if (scope.local) return undefined;
  const parent = node.parent;
  const isMember = parent?.type === "field_declaration_list";
  if (parent === undefined || (!isMember && !FILE_LEVEL.test(parent.type))) return undefined;
  const range = templated(node).outer ?? node;
  const isConstant = /^[^=;(]*\b(?:const|constexpr|constinit)\b/.test(node.text);
  return node.fields("declarator").flatMap((declarator): Found[] => {
    const found = declared(declarator);
    if (found === undefined) return [];
    const owner = found.container === undefined ? {} : { container: found.container };
    if (found.isFunction) {
      return [
        {
          kind: functionKind(found, scope),
          name: found.name,
          nameNode: found.nameNode,
          ...owner,
          outer: range,
          headEnd: range.end,
          leaf: true,
        },
      ];
    }
    const kind = isTypeScope(scope) ? "field" : isConstant ? "constant" : "variable";
    return [{ kind, name: found.name, nameNode: found.nameNode, ...owner, outer: range, leaf: true }];
  });
};

function type(kind: "struct" | "union" | "enum" | "class"): Rule {
  return (node) => {
    const name = node.field("name");
    if (name === undefined || node.field("body") === undefined) return undefined;
    const parent = node.parent;
    const isTypedef = parent?.type === "type_definition";
    return { kind, ...splitName(name), ...(isTypedef ? { outer: parent } : templated(node)) };
  };
}

const TYPEDEF_KINDS: Record<string, "struct" | "union" | "enum"> = {
  struct_specifier: "struct",
  union_specifier: "union",
  enum_specifier: "enum",
};

/** `typedef struct {…} T` is a struct named T; other aliases are types. */
const typedef: Rule = (node, scope) => {
  if (scope.local) return undefined;
  const target = node.field("type");
  const tag = target?.field("name")?.text;
  const body = target?.field("body");
  return node.fields("declarator").flatMap((declarator): Found[] => {
    const found = declared(declarator);
    if (found === undefined || (found.name === tag && body !== undefined)) return [];
    const { name, nameNode } = found;
    const kind = body === undefined || tag !== undefined ? undefined : TYPEDEF_KINDS[target?.type ?? ""];
    if (kind === undefined || body === undefined)
      return [{ kind: "type", name, nameNode, leaf: true, headEnd: body?.start ?? node.end }];
    return [{ kind, name, nameNode, headEnd: body.start }];
  });
};

const INCLUDE_GUARD = /_(?:h|hh|hpp|hxx|inc|included|guard)_*$/i;

const macro: Rule = (node) => {
  const name = node.field("name")?.text;
  const value = node.field("value");
  if (name === undefined) return undefined;
  if (value === undefined) {
    if (INCLUDE_GUARD.test(name)) return undefined;
    return { kind: "macro", name, leaf: true, outlineOnly: true };
  }
  return { kind: "macro", name, leaf: true, ...(node.type === "preproc_def" ? {} : { headEnd: value.start }) };
};

/** The fields of a C struct or union; those of a nameless one that is a field's type belong to the field. */
const fields: Rule = (node, scope) => {
  if (scope.local || (!isTypeScope(scope) && scope.kind !== "field")) return undefined;
  const leaf = !/^(?:struct|union)\s*\{/.test(node.text);
  return node.fields("declarator").flatMap((declarator): Found[] => {
    const found = declared(declarator);
    if (found === undefined || found.name === "") return [];
    return [{ kind: "field", name: found.name, nameNode: found.nameNode, leaf, outlineOnly: true }];
  });
};

const enumerator: Rule = (node) => {
  const name = node.field("name")?.text;
  return name === undefined ? undefined : { kind: "enum_member", name, leaf: true };
};

export const cRules: GrammarRules = {
  separator: "::",
  comments: ["comment"],
  symbols: {
    function_definition: definition,
    declaration,
    struct_specifier: type("struct"),
    union_specifier: type("union"),
    enum_specifier: type("enum"),
    type_definition: typedef,
    field_declaration: fields,
    preproc_def: macro,
    preproc_function_def: macro,
    enumerator,
  },
};

const leafNamed =
  (kind: "type"): Rule =>
  (node) => {
    const name = node.field("name")?.text;
    return name === undefined ? undefined : { kind, name, ...templated(node), headEnd: node.end, leaf: true };
  };

export const cppRules: GrammarRules = {
  ...cRules,
  attributes: ["attribute_declaration"],
  symbols: {
    ...cRules.symbols,
    class_specifier: type("class"),
    namespace_definition: (node, scope) => {
      const found = named("namespace")(node, scope);
      return found ?? { name: "", local: false };
    },
    field_declaration: (node, scope) => (isTypeScope(scope) ? declaration(node, scope) : undefined),
    alias_declaration: (node, scope) => (scope.local ? undefined : leafNamed("type")(node, scope)),
    concept_definition: leafNamed("type"),
    lambda_expression: () => ({ name: "", local: true }),
  },
};
