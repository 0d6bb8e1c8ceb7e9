import type { SyntaxNode } from "../syntax-node.ts";
import {
  anonymousFunction,
  type Found,
  type GrammarRules,
  isTypeScope,
  membersOf,
  type Rule,
  type NameScope,
} from "./rule.ts";
import { functionOf } from "./wrapped-functions.ts";

const PROPERTY_MODIFIERS = new Set(["accessibility_modifier", "override_modifier", "readonly"]);
/** Number of parts of an intersection type that are examined. */
const MAX_INTERSECTION = 8;
const TOP_LEVEL_PARENTS = new Set(["program", "export_statement", "ambient_declaration"]);

/** `export class …`, `declare function …`: the statement is the symbol. */
function exported(node: SyntaxNode): SyntaxNode {
  let outer = node;
  for (let parent = node.parent; parent !== undefined && isWrapper(parent.type); parent = parent.parent) outer = parent;
  return outer;
}

function isWrapper(type: string): boolean {
  return type === "export_statement" || type === "ambient_declaration";
}

function declared(kind: "function" | "class" | "interface" | "type" | "enum"): Rule {
  return (node) => {
    const name = node.field("name")?.text;
    return name === undefined
      ? undefined
      : { kind, name, outer: exported(node), ...(kind === "type" ? headOfLine(node) : {}) };
  };
}

/** A type alias has no body: its head is as much as fits. */
function headOfLine(node: SyntaxNode): { headEnd: number } {
  return { headEnd: node.end };
}

const namespace: Rule = (node) => {
  const name = node.field("name")?.text.replace(/^["'`]|["'`]$/g, "");
  return name === undefined ? undefined : { kind: "namespace", name, outer: exported(node) };
};

function memberName(node: SyntaxNode | undefined): string | undefined {
  return node?.text.replace(/^["'`]|["'`]$/g, "").replace(/^\[\s*(.*?)\s*\]$/s, "[$1]");
}

const method: Rule = (node) => {
  const name = memberName(node.field("name"));
  if (name === undefined) return undefined;
  const found: Found = {
    kind: name === "constructor" ? "constructor" : "method",
    name,
    ...(node.field("body") ? {} : { headEnd: node.end }),
  };
  return name === "constructor" ? [found, ...parameterProperties(node)] : found;
};

/** `constructor(private readonly a: A)` declares a field as well. */
function parameterProperties(node: SyntaxNode): Found[] {
  const parameters = node.field("parameters");
  if (parameters === undefined || !/\b(?:public|private|protected|readonly|override)\b/.test(parameters.text))
    return [];
  const declaring = parameters.namedChildren.filter(({ children }) =>
    children.some(({ type }) => PROPERTY_MODIFIERS.has(type)),
  );
  return membersOf("", declaring, (parameter) => parameter.field("pattern")?.text);
}

/** A class field; one that holds a function is a method. */
const field: Rule = (node) => {
  const name = memberName(node.field("name") ?? node.field("property"));
  if (name === undefined) return undefined;
  const held = functionOf(node.field("value"));
  return held ? { kind: "method", name, headEnd: bodyStart(held) } : { kind: "field", name };
};

function bodyStart(value: SyntaxNode): number {
  return value.field("body")?.start ?? value.end;
}

/** The kind of symbol that a value makes of the name it is assigned to. */
function valued(value: SyntaxNode | undefined): { kind: "function" | "class"; headEnd: number } | undefined {
  if (value === undefined) return undefined;
  const held = functionOf(value);
  if (held) return { kind: "function", headEnd: bodyStart(held) };
  if (value.type === "class") return { kind: "class", headEnd: bodyStart(value) };
  return undefined;
}

const variable: Rule = (node, scope) => {
  const name = node.field("name");
  if (name?.type === "object_pattern" || name?.type === "array_pattern") return destructured(node, name, scope);
  if (name === undefined || (name.type !== "identifier" && name.type !== "type_identifier")) return undefined;
  const value = node.field("value");
  const made = valued(value);
  if (made === undefined && scope.local) return undefined;
  const statement = node.parent;
  if (statement === undefined) return undefined;
  const outer = exported(statement);
  if (made === undefined && !isTopLevel(outer, scope)) return undefined;
  // Several declarators in one statement each keep to their own text.
  const alone = statement.namedChildren.filter((child) => child.type === "variable_declarator").length === 1;
  const range = alone ? { outer } : {};
  if (made !== undefined) return { name: name.text, ...made, ...range };
  if (value?.type === "call_expression" && value.field("function")?.text === "require") return undefined;
  const kind =
    statement.type === "lexical_declaration" && statement.field("kind")?.text === "const" ? "constant" : "variable";
  return { kind, name: name.text, ...range };
};

/** `const { a, b: c } = value` at the top of a file declares `a` and `c`. */
function destructured(node: SyntaxNode, pattern: SyntaxNode, scope: NameScope): Found[] | undefined {
  const statement = node.parent;
  if (statement === undefined || scope.local) return undefined;
  const outer = exported(statement);
  const value = node.field("value");
  const called = value?.type === "call_expression" ? value.field("function")?.text : undefined;
  if (!isTopLevel(outer, scope) || called === "require") return undefined;
  const kind = statement.field("kind")?.text === "const" ? "constant" : "variable";
  return pattern.namedChildren.flatMap((child): Found[] => {
    const name = child.type === "pair_pattern" ? child.field("value") : child;
    if (name?.type !== "identifier" && name?.type !== "shorthand_property_identifier_pattern") return [];
    return [{ kind, name: name.text, nameNode: name, outer, leaf: true }];
  });
}

function isTopLevel(outer: SyntaxNode, scope: NameScope): boolean {
  if (isWrapper(outer.type)) return true;
  const parent = outer.parent?.type ?? "";
  return TOP_LEVEL_PARENTS.has(parent) || (parent === "statement_block" && scope.kind === "namespace");
}

/** `exports.x = …`, `A.prototype.b = …`, `app.use = function …`. */
const assignment: Rule = (node, scope) => {
  const left = node.field("left");
  if (left?.type !== "member_expression") return undefined;
  const right = node.field("right");
  const made = valued(right);
  const target = left.text.replace(/\s+/g, "");
  const statement = node.parent?.type === "expression_statement" ? { outer: node.parent } : {};
  if (target === "module.exports") {
    if (made === undefined) return right?.type === "object" ? { name: "" } : undefined;
    return { ...made, ...statement, name: right?.field("name")?.text ?? "exports" };
  }
  const parts = /^(?:(.*)\.)?([^.]+)$/s.exec(target);
  const name = parts?.[2] ?? "";
  const object = (parts?.[1] ?? "").replace(/^(?:module\.)?exports(?:\.|$)/, "").replace(/\.prototype$/, "");
  const isExport = /^(?:module\.)?exports\./.test(target);
  const ofPrototype = parts?.[1]?.endsWith(".prototype");
  if (made === undefined) {
    if (right?.type === "object" && !scope.local && target.endsWith(".prototype")) return { name: object };
    if (ofPrototype) {
      // The value may be a function that is declared elsewhere.
      const kind = right?.type === "identifier" || right?.type === "member_expression" ? "method" : "field";
      return { ...statement, kind, name, container: object, leaf: true };
    }
    return isExport && !scope.local && right?.type !== "identifier"
      ? { ...statement, kind: "constant", name }
      : undefined;
  }
  const own = object === "this" ? "" : object;
  // A chain (`a.b = a.c = function`) has the inner assignment as its value, which matches by itself.
  const kind = made.kind === "function" && own !== "" ? "method" : made.kind;
  return { ...made, ...statement, kind, name, ...(own === "" ? {} : { container: own }) };
};

/** A member of an object literal. */
const pair: Rule = (node) => {
  const value = node.field("value");
  const name = memberName(node.field("key"));
  if (value === undefined || name === undefined) return undefined;
  const held = functionOf(value);
  if (held) return { kind: "method", name, headEnd: bodyStart(held) };
  return value.type === "object" ? { name } : undefined;
};

/** `export default function () {}` and its like are named after the export; other functions only make a scope. */
function anonymous(kind: "function" | "class"): Rule {
  return (node, scope) => {
    const before = node.tree.text.slice(Math.max(0, node.start - 40), node.start);
    const local = kind === "function";
    const own = node.field("name");
    // `defineGetter(request, "ip", function ip() {…})` at the top of a file.
    if (own !== undefined && node.parent?.type === "arguments" && !scope.local && scope.kind === "root")
      return { kind, name: own.text, headEnd: bodyStart(node) };
    if (!/\bexport\s+default\s+$/.test(before)) return { name: "", local };
    const outer = node.parent;
    return { kind, name: node.field("name")?.text ?? "default", ...(outer ? { outer } : {}), local };
  };
}

const signature: Rule = (node, scope): Found | undefined => {
  const name = memberName(node.field("name"));
  if (name === undefined || (node.type === "method_signature" && !isTypeScope(scope))) return undefined;
  return { kind: "method", name, headEnd: node.end };
};

/** Whether the node is directly in an interface or in a type that is a symbol (not, for example, in a parameter's type). */
const property: Rule = (node, scope) => {
  if (scope.kind !== "scope" || scope.local) return undefined;
  const name = memberName(node.field("name"));
  return name === undefined ? undefined : { kind: "field", name, headEnd: node.end, outlineOnly: true };
};

/** The members of `type T = {…}`, also as a part of an intersection, and of a property whose type is written out. */
const objectType: Rule = (node, scope) => {
  if (scope.local || (scope.kind !== "type" && scope.kind !== "field")) return undefined;
  let parent = node.parent;
  if (scope.kind === "field")
    return parent?.type === "type_annotation" && parent.parent?.type === "property_signature"
      ? { name: "" }
      : undefined;
  for (let depth = 0; parent?.type === "intersection_type" && depth < MAX_INTERSECTION; depth++) parent = parent.parent;
  return parent?.type === "type_alias_declaration" ? { name: "", outlineOnly: true } : undefined;
};

const enumBody: Rule = (node) =>
  node.namedChildren.flatMap((child): Found[] => {
    if (child.type === "comment") return [];
    const name = memberName(child.type === "enum_assignment" ? child.field("name") : child);
    if (name === undefined) return [];
    return [{ kind: "enum_member", name, outer: child, headEnd: child.end, leaf: true, outlineOnly: true }];
  });

const shared: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  attributes: ["decorator"],
  symbols: {
    function_declaration: declared("function"),
    generator_function_declaration: declared("function"),
    class_declaration: declared("class"),
    method_definition: method,
    variable_declarator: variable,
    assignment_expression: assignment,
    pair,
    arrow_function: anonymous("function"),
    function_expression: anonymous("function"),
    generator_function: anonymousFunction,
    class: anonymous("class"),
    field_definition: field,
  },
};

export const javascriptRules: GrammarRules = shared;

export const typescriptRules: GrammarRules = {
  ...shared,
  symbols: {
    ...shared.symbols,
    abstract_class_declaration: declared("class"),
    interface_declaration: declared("interface"),
    type_alias_declaration: declared("type"),
    enum_declaration: declared("enum"),
    internal_module: namespace,
    module: namespace,
    function_signature: (node) => {
      const name = node.field("name")?.text;
      return name === undefined
        ? undefined
        : { kind: "function", name, outer: exported(node), headEnd: node.end, leaf: true };
    },
    method_signature: signature,
    abstract_method_signature: signature,
    public_field_definition: field,
    interface_body: () => ({ name: "" }),
    object_type: objectType,
    property_signature: property,
    call_signature: anonymousFunction,
    construct_signature: anonymousFunction,
    index_signature: anonymousFunction,
    enum_body: enumBody,
  },
};
