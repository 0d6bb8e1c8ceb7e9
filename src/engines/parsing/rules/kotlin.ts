import type { SyntaxNode } from "../syntax-node.ts";
import { anonymousFunction, callable, type GrammarRules, isTypeScope, membersOf, type Rule } from "./rule.ts";

/** Modifiers and a receiver take no more characters than this before a name. */
const MAX_HEAD = 300;

function head(node: SyntaxNode): { headEnd: number } {
  const body = node.childOfType("class_body", "enum_class_body", "function_body", "block");
  return { headEnd: body?.start ?? node.end };
}

/** Text of a declaration before its name: modifiers and keyword. */
function beforeName(node: SyntaxNode, name: SyntaxNode): string {
  return node.tree.text.slice(Math.max(node.start, name.start - MAX_HEAD), name.start);
}

const type: Rule = (node) => {
  const name = node.field("name");
  if (name === undefined) return undefined;
  const words = beforeName(node, name);
  const kind = /\binterface\s*$/.test(words) ? "interface" : /\benum\s+class\s*$/.test(words) ? "enum" : "class";
  return [{ kind, name: name.text, ...head(node) }, ...membersOf(name.text, propertyParameters(node), parameterName)];
};

/** `class P(val a: Int)`: parameters of the primary constructor that are properties. */
function propertyParameters(node: SyntaxNode): SyntaxNode[] {
  const parameters = node.childOfType("primary_constructor")?.childOfType("class_parameters")?.namedChildren ?? [];
  return parameters.filter((parameter) => {
    const name = parameter.childOfType("identifier");
    return name !== undefined && /\b(?:val|var)\s+$/.test(beforeName(parameter, name));
  });
}

const parameterName = (parameter: SyntaxNode) => parameter.childOfType("identifier")?.text;

/** `fun String.ext()` belongs to the type it extends. */
const func: Rule = (node, scope) => {
  const name = node.field("name");
  const found = callable()(node, scope);
  if (name === undefined || found === undefined || Array.isArray(found)) return found;
  const receiver = /([\w.]{1,200})(?:<[^()]{0,200}>)?\??\.\s{0,100}$/.exec(beforeName(node, name))?.[1];
  return { ...found, ...head(node), ...(receiver === undefined ? {} : { container: receiver }) };
};

const property: Rule = (node, scope) => {
  if (scope.local) return undefined;
  const name = node.childOfType("variable_declaration")?.namedChildren.find((child) => child.type === "identifier");
  if (name === undefined) return undefined;
  const isConstant =
    /\bconst\s/.test(beforeName(node, name)) || (scope.kind === "root" && /^[A-Z][A-Z0-9_]*$/.test(name.text));
  return { kind: isConstant ? "constant" : isTypeScope(scope) ? "field" : "variable", name: name.text, local: true };
};

export const kotlinRules: GrammarRules = {
  separator: ".",
  comments: ["line_comment", "block_comment"],
  attributes: ["annotation"],
  symbols: {
    class_declaration: type,
    object_declaration: (node) => {
      const name = node.field("name")?.text;
      return name === undefined ? undefined : { kind: "object", name, ...head(node) };
    },
    companion_object: (node) => {
      const name = node.field("name") ?? node.children.find((child) => child.type === "companion");
      return {
        kind: "object",
        name: node.field("name")?.text ?? "Companion",
        ...head(node),
        ...(name && { nameNode: name }),
      };
    },
    function_declaration: func,
    secondary_constructor: (node) => ({ kind: "constructor", name: "constructor", ...head(node) }),
    property_declaration: property,
    type_alias: (node) => {
      const name = (node.field("type") ?? node.namedChildren.find((child) => child.type === "identifier"))?.text;
      return name === undefined ? undefined : { kind: "type", name, headEnd: node.end, leaf: true };
    },
    enum_entry: (node) => {
      const name = node.namedChildren.find((child) => child.type === "identifier")?.text;
      return name === undefined ? undefined : { kind: "enum_member", name, local: false };
    },
    anonymous_initializer: anonymousFunction,
    anonymous_function: anonymousFunction,
    lambda_literal: anonymousFunction,
    object_literal: () => ({ name: "", local: false }),
  },
};
