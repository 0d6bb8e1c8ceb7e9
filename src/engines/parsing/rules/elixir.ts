import { dedent } from "../prose.ts";
import type { SyntaxNode } from "../syntax-node.ts";
import type { SymbolKind } from "../types.ts";
import type { Found, GrammarRules, Rule } from "./rule.ts";

const DEFINITIONS: Record<string, SymbolKind> = {
  def: "function",
  defp: "function",
  defdelegate: "function",
  defguard: "function",
  defguardp: "function",
  defn: "function",
  defnp: "function",
  defcallback: "function",
  defmacro: "macro",
  defmacrop: "macro",
  defmodule: "module",
  defimpl: "module",
  defprotocol: "interface",
  test: "test",
};

/** Name of `f(x)`, `f`, `f(x) when …` or `a + b`. */
function functionName(head: SyntaxNode | undefined): string | undefined {
  if (head === undefined) return undefined;
  if (head.type === "call") return head.field("target")?.text;
  if (head.type === "identifier") return head.text;
  if (head.type !== "binary_operator") return undefined;
  const left = head.field("left");
  const right = head.field("right");
  if (left === undefined || right === undefined) return undefined;
  const operator = head.tree.text.slice(left.end, right.start).trim();
  return operator === "when" ? functionName(left) : operator;
}

function moduleName(node: SyntaxNode, keyword: string): string | undefined {
  const [first, options] = node.childOfType("arguments")?.namedChildren ?? [];
  if (first === undefined) return undefined;
  const target = keyword === "defimpl" ? /\bfor:\s*([\w.]+)/.exec(options?.text ?? "")?.[1] : undefined;
  return target === undefined ? first.text : `${first.text}.${target}`;
}

/** The text of `@doc """…"""` or `@moduledoc`; none for `@doc false`. */
function docAttribute(text: string): string | undefined {
  const match = /^@(?:module|type)?doc\s+(?:~[sS])?("""|'''|")(.*)\1\s*$/s.exec(text);
  const doc = match === null ? "" : dedent(match[2]!.split(/\r?\n/));
  return doc === "" ? undefined : doc;
}

function moduleDoc(body: SyntaxNode | undefined): string | undefined {
  const attribute = body?.namedChildren
    .slice(0, 3)
    .find((child) => child.type === "unary_operator" && /^@moduledoc\b/.test(child.text));
  return attribute === undefined ? undefined : docAttribute(attribute.text);
}

const call: Rule = (node): Found | undefined => {
  const target = node.field("target");
  if (target?.type !== "identifier") return undefined;
  const keyword = target.text;
  if (!Object.hasOwn(DEFINITIONS, keyword)) return undefined;
  const kind = DEFINITIONS[keyword]!;
  const body = node.childOfType("do_block");
  const head = body === undefined ? {} : { headEnd: body.start };
  if (kind === "module" || kind === "interface") {
    const name = moduleName(node, keyword);
    if (name === undefined || body === undefined) return undefined;
    const doc = moduleDoc(body);
    return { kind, name, ...head, local: false, ...(doc === undefined ? {} : { doc }) };
  }
  const first = node.childOfType("arguments")?.namedChild(0);
  if (kind === "test") {
    return first?.type === "string" && body !== undefined
      ? { kind, name: first.text.slice(1, -1), ...head }
      : undefined;
  }
  const name = functionName(first);
  return name === undefined ? undefined : { kind, name, headEnd: body?.start ?? first?.end ?? node.end, local: true };
};

const ATTRIBUTES: Record<string, SymbolKind> = {
  type: "type",
  typep: "type",
  opaque: "type",
  callback: "function",
  macrocallback: "macro",
};

/** `@type t :: …`, `@callback f(x) :: …`. */
const attribute: Rule = (node): Found | undefined => {
  const operand = node.field("operand");
  const keyword = operand?.type === "call" ? operand.field("target")?.text : undefined;
  if (keyword === undefined || !Object.hasOwn(ATTRIBUTES, keyword)) return undefined;
  let spec = operand?.childOfType("arguments")?.namedChild(0);
  if (spec?.type === "binary_operator") spec = spec.field("left");
  const name = functionName(spec);
  return name === undefined ? undefined : { kind: ATTRIBUTES[keyword]!, name, headEnd: node.end, leaf: true };
};

export const elixirRules: GrammarRules = {
  separator: ".",
  comments: ["comment"],
  attributes: ["unary_operator"],
  attributeDoc: docAttribute,
  symbols: { call, unary_operator: attribute },
};
