/** Calls in the templates that components of Angular have in their decorator. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Place } from "./walk.ts";

/** `{{ … }}`, values of bindings (`(event)`, `[property]`, `*directive`), and heads of blocks such as `@if (…) {`. */
const EXPRESSION =
  /\{\{([^{}]*)\}\}|\s[([*][^\s"'=<>]*=(?:"([^"]*)"|'([^']*)')|@(?:if|else if|for|switch|case|let)\b([^{};]*)/g;
/** A name that is called, and is no member of something else. Strings are passed over. */
const CALL = /"[^"]*"|'[^']*'|(?<![.\w$])([A-Za-z_$][\w$]*)\s?\(/g;
const KEYWORDS = /^(?:if|for|else|switch|case|track|of|let|as|typeof)$/;

/** Reads `@Component({ template: `…` }) class A`: a name that is called there is a member of the class. */
export function templateCalls(decorator: SyntaxNode, { file, scope }: Place): void {
  const call = decorator.namedChild(0);
  if (call?.type !== "call_expression" || call.field("function")?.text !== "Component") return;
  const template = call
    .field("arguments")
    ?.namedChild(0)
    ?.namedChildren.find((each) => each.field("key")?.text === "template")
    ?.field("value");
  const around = decorator.parent;
  const name = (around?.field("declaration") ?? around)?.field("name");
  if (!name || (template?.type !== "template_string" && template?.type !== "string")) return;
  const inner = file.inner(scope, name.text);
  const { text, row } = template;
  let [line, counted] = [row + 1, 0];
  for (const found of text.matchAll(EXPRESSION)) {
    const expression = found.slice(1).find((part) => part !== undefined) ?? "";
    const start = found.index + found[0].indexOf(expression);
    for (const { 1: called, index } of expression.matchAll(CALL)) {
      if (called === undefined || KEYWORDS.test(called)) continue;
      const at = start + index;
      for (; counted < at; counted++) if (text.charCodeAt(counted) === NEWLINE) line++;
      file.use("call", called, line, inner, { is: "member", of: { is: "class", line: name.row + 1 }, name: called });
    }
  }
}

const NEWLINE = 10;
