/** Calls of JavaScript that load a module. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";

export const unquoted = (node: SyntaxNode | undefined): string | undefined => node?.text.slice(1, -1);

/** The module of `require("…")` or `await import("…")`. */
export function loadedModule(value: SyntaxNode | undefined): string | undefined {
  const call = value?.type === "await_expression" ? value.namedChild(0) : value;
  const called = call?.type === "call_expression" ? call.field("function") : undefined;
  return call && called && moduleOfCall(call, called, call === value ? /^require$/ : /^import$/);
}

/** The module that a call of one of the named functions names. */
export function moduleOfCall(call: SyntaxNode, called: SyntaxNode, by: RegExp): string | undefined {
  if ((called.type !== "identifier" && called.type !== "import") || !by.test(called.text)) return undefined;
  const [argument, ...others] = call.field("arguments")?.namedChildren ?? [];
  return argument?.type === "string" && others.length === 0 ? unquoted(argument) : undefined;
}
