/** Imports of TypeScript and JavaScript. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { unquoted } from "./loaded-module.ts";
import type { Place } from "./typescript-expressions.ts";

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

/** Names that a statement exports, of this file or of another module. */
export function exportedNames(node: SyntaxNode, { file, scope }: Place): void {
  const module = unquoted(node.field("source"));
  if (module !== undefined) file.imports(module, node.row + 1);
  for (const each of node.childOfType("export_clause")?.namedChildren ?? []) {
    const name = each.field("name")?.text;
    if (name === undefined) continue;
    const alias = each.field("alias")?.text ?? name;
    file.exportAs(alias, module === undefined ? { is: "name", name, scope } : { module, name });
  }
  const namespace = node.childOfType("namespace_export")?.namedChild(0)?.text;
  if (module !== undefined && namespace !== undefined) file.exportAs(namespace, { module, name: "*" });
  else if (module !== undefined && !node.childOfType("export_clause")) file.star(module);
}

/** Binds the names of a pattern that takes a module apart: `const { a, b: c } = require("./d")`. */
export function requiredNames(name: SyntaxNode, module: string, { file, scope }: Place): void {
  for (const each of name.namedChildren) {
    const key = each.type === "pair_pattern" ? each.field("key") : each;
    const local = each.type === "pair_pattern" ? each.field("value") : each;
    if (key && local && /identifier/.test(local.type))
      file.bind(scope, local.text, { is: "import", module, name: key.text });
  }
}
