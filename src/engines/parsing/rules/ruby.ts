import type { SyntaxNode } from "../syntax-node.ts";
import type { Found, GrammarRules, Rule, NameScope } from "./rule.ts";

const ATTRIBUTES = /^(?:c?attr_(?:reader|writer|accessor)|mattr_(?:reader|writer|accessor))\b/;
const ATTRIBUTES_LENGTH = 20;

/** `A::B#m` for instance methods, `A::B.m` for class methods. */
function methodOf(scope: NameScope): { kind: "method" | "function"; separator: string } {
  const isMember = scope.kind === "class" || scope.kind === "module" || scope.kind === "scope";
  return { kind: isMember ? "method" : "function", separator: scope.kind === "scope" ? "." : isMember ? "#" : "::" };
}

function container(kind: "class" | "module"): Rule {
  return (node) => {
    const name = node.field("name")?.text;
    if (name === undefined) return undefined;
    const body = node.field("body");
    const headEnd = body === undefined ? {} : { headEnd: node.field("superclass")?.end ?? node.field("name")!.end };
    return { kind, name: name.replace(/\s+/g, ""), ...headEnd, local: false };
  };
}

const method: Rule = (node, scope) => {
  const name = node.field("name")?.text;
  if (name === undefined) return undefined;
  const head = node.field("parameters") ?? node.field("name")!;
  return { ...methodOf(scope), name, headEnd: head.end };
};

const singletonMethod: Rule = (node, scope) => {
  const name = node.field("name")?.text;
  if (name === undefined) return undefined;
  const object = node.field("object")?.text ?? "self";
  const head = node.field("parameters") ?? node.field("name")!;
  const owner = object === "self" || object === scope.name ? {} : { container: object };
  return { kind: "method", name, separator: ".", headEnd: head.end, ...owner };
};

/** `K = …`; `K = Struct.new(…) do … end` and its like make a class. */
const assignment: Rule = (node, scope) => {
  const left = node.field("left");
  if (left === undefined || scope.local || (left.type !== "constant" && left.type !== "scope_resolution"))
    return undefined;
  const right = node.field("right");
  const made = right?.type === "call" && /^(?:Struct|Class|Module|Data)\.(?:new|define)\b/.test(right.text);
  return { kind: made ? "class" : "constant", name: left.text, leaf: !made };
};

/** `attr_reader :a, :b`: attributes. */
const attributes: Rule = (node, scope) => {
  if (scope.local || !ATTRIBUTES.test(node.tree.text.slice(node.start, node.start + ATTRIBUTES_LENGTH)))
    return undefined;
  const { kind, separator } = methodOf(scope);
  if (kind !== "method") return undefined;
  return (node.field("arguments")?.namedChildren ?? [])
    .filter(({ type }) => type === "simple_symbol" || type === "string")
    .map((argument): Found => {
      const name = argument.text.replace(/^:|^["']|["']$/g, "");
      return {
        kind: "field",
        name,
        separator,
        outer: argument,
        headStart: node.start,
        headEnd: node.end,
        leaf: true,
        outlineOnly: true,
      };
    });
};

/** `alias new old`, `alias_method :new, :old`. */
function aliasOf(scope: NameScope, node: SyntaxNode, name: string | undefined): Found | undefined {
  const bare = name?.replace(/^:?["']?|["']$/g, "");
  if (!bare || !/^[\p{L}_=<>!~+*/%[\]&|^-][\p{L}\p{N}_=<>!~?\]]*$/u.test(bare)) return undefined;
  return { ...methodOf(scope), name: bare, headEnd: node.end, leaf: true, outlineOnly: true };
}

const call: Rule = (node, scope) => {
  if (scope.local) return undefined;
  if (node.field("method")?.text !== "alias_method") return attributes(node, scope);
  return aliasOf(scope, node, node.field("arguments")?.namedChild(0)?.text);
};

export const rubyRules: GrammarRules = {
  separator: "::",
  comments: ["comment"],
  symbols: {
    module: container("module"),
    class: container("class"),
    singleton_class: () => ({ name: "", local: false }),
    method,
    singleton_method: singletonMethod,
    assignment,
    call,
    alias: (node, scope) => (scope.local ? undefined : aliasOf(scope, node, node.field("name")?.text)),
  },
};
