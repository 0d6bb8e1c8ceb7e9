/** Imports of TypeScript and JavaScript. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Place } from "./typescript-expressions.ts";

export const unquoted = (node: SyntaxNode | undefined): string | undefined => node?.text.slice(1, -1);

export function importStatement(node: SyntaxNode, { file, scope }: Place): void {
  const module = unquoted(node.field("source"));
  const clause = node.childOfType("import_clause");
  if (module !== undefined) file.imports(module, node.row + 1);
  if (module === undefined || !clause) return;
  const bind = (local: string, name: string) => file.bind(scope, local, { is: "import", module, name });
  for (const child of clause.namedChildren) {
    if (child.type === "identifier") bind(child.text, "default");
    else if (child.type === "namespace_import") bind(child.childOfType("identifier")?.text ?? "", "*");
    else
      for (const each of child.namedChildren) {
        const name = each.field("name")?.text;
        if (name !== undefined) bind(each.field("alias")?.text ?? name, name);
      }
  }
}

/** The module of `require("…")`. */
export function requiredModule(value: SyntaxNode | undefined): string | undefined {
  const called = value?.type === "call_expression" ? value.field("function") : undefined;
  return value && called && moduleOfCall(value, called, /^require$/);
}

/** The module that a call of one of the named functions names. */
export function moduleOfCall(call: SyntaxNode, called: SyntaxNode, by: RegExp): string | undefined {
  if ((called.type !== "identifier" && called.type !== "import") || !by.test(called.text)) return undefined;
  const [argument, ...others] = call.field("arguments")?.namedChildren ?? [];
  return argument?.type === "string" && others.length === 0 ? unquoted(argument) : undefined;
}
