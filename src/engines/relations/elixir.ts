/** Uses of Elixir, which are known by name alone. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Found, NameRules } from "./named.ts";

/** Takes the calls of a node, functions that it names with their arity, and those of templates in it. */
function read(node: SyntaxNode, found: Found): void {
  switch (node.type) {
    case "call":
      call(node, found);
      return;
    // `&name/1`, which names a function for sure.
    case "unary_operator": {
      const [captured] = node.namedChildren;
      const name = captured?.field("operator")?.text === "/" ? captured.field("left") : undefined;
      if (name?.type === "identifier") found.use("call", name);
      return;
    }
    // Functions after a pipe may have no parentheses.
    case "binary_operator": {
      const piped = node.field("operator")?.text === "|>" ? node.field("right") : undefined;
      if (piped?.type === "identifier") found.use("call", piped);
      return;
    }
    case "sigil":
      if (/^~[HLEF]/.test(node.text.slice(0, 2))) template(node, found);
  }
}

export const elixir: NameRules = { read };

function call(node: SyntaxNode, found: Found): void {
  const target = node.field("target");
  const [first] = node.childOfType("arguments")?.namedChildren ?? [];
  if (target?.type === "dot") found.use("call", target.field("right"));
  else if (/^(?:use|import|alias|require)$/.test(target?.text ?? "")) {
    if (first?.type === "alias") found.imports(first.text, node);
    // alias A.{B, C}
    else if (first?.type === "dot")
      for (const inner of first.field("right")?.namedChildren ?? [])
        found.imports(`${first.field("left")?.text ?? ""}.${inner.text}`, node);
  } else if (target?.type === "identifier" && !DEFINING.test(target.text) && !isDefined(node))
    found.use("call", target);
}

/** Tags of components, `<.button` and `<Layouts.app`, and names before a parenthesis. */
const CALLED = /<(?:[A-Z][\w.]*)?\.([a-z_]\w*[?!]?)|(?<![\w@:])([a-z_]\w*[?!]?)\(/g;

/** Reads the text of a template, as of HEEx. */
function template(node: SyntaxNode, found: Found): void {
  const { text, row } = node;
  let [line, counted] = [row + 1, 0];
  for (const { 0: whole, 1: component, 2: name, index } of text.matchAll(CALLED)) {
    for (; counted < index; counted++) if (text.charCodeAt(counted) === NEWLINE) line++;
    const called = component ?? name ?? "";
    if (whole.length < MAX_CALLED) found.useName("call", called, line);
  }
}

const NEWLINE = 10;
/** Longer ones name nothing. */
const MAX_CALLED = 200;

const DEFINING = /^(?:def|defp|defmodule|defmacro|defmacrop|defguard|defguardp|defdelegate|defstruct)$/;

/** Whether a call is the head of a definition: `def f(x)`, also with `when`. */
function isDefined(node: SyntaxNode): boolean {
  let around = node.parent;
  for (let steps = 0; around && /^(?:arguments|binary_operator)$/.test(around.type) && steps < 3; steps++)
    around = around.parent;
  return around?.type === "call" && DEFINING.test(around.field("target")?.text ?? "");
}
