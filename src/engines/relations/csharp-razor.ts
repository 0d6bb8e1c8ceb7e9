/** Files of Razor. */
import { COMPONENT_LINE } from "../parsing/component-names.ts";
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { children, classBody, type Open, property, visit } from "./csharp.ts";
import { typeOf } from "./csharp-expressions.ts";
import { declared } from "./csharp-methods.ts";
import type { OpenClass } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { PACKAGE } from "./packages.ts";
import { CODE_BEHIND } from "./types.ts";

/** Characters of the first word of a directive. */
const MAX_DIRECTIVE = 10;

/**
 * Reads the directives and members of a file of Razor. They are of the class that the file is, without a name, on the line of the component.
 * Its parser has written `using` before the types of `@model` and `@inherits`.
 */
export function readRazor(root: SyntaxNode, file: FileBuilder): void {
  const opened = file.openClass(COMPONENT_LINE);
  opened.bases.push({ is: "import", module: CODE_BEHIND, name: "class" });
  const place = razorPlace(file, opened);
  for (const node of root.namedChildren) {
    const body = node.type === "class_declaration" ? node.field("body") : undefined;
    const type = node.type === "using_directive" ? node.namedChildren.at(-1) : undefined;
    const [directive = ""] = /\w+/.exec(node.tree.text.slice(node.start, node.start + MAX_DIRECTIVE)) ?? [];
    if (body) classBody(body, opened, place);
    else if (type && directive === "model") file.member(opened, "Model", type.row + 1, typeOf(type, place));
    else if (type && directive === "inherits") {
      opened.superclass = typeOf(type, { ...place, isPartial: false });
      opened.bases.push(opened.superclass);
    } else if (node.type === "global_statement") {
      const declaration = node.namedChild(0)?.childOfType("variable_declaration");
      for (const each of declaration?.namedChildren ?? [])
        if (declaration && each.type === "variable_declarator")
          property(each, opened, place, declared(declaration, place));
    } else visit(node, place);
  }
  for (const using of place.usings) file.star(using);
}

/** Reads the statements in the markup of a file of Razor. */
export function readRazorMarkup(root: SyntaxNode, file: FileBuilder): void {
  children(root, razorPlace(file, file.classAt(COMPONENT_LINE)));
}

function razorPlace(file: FileBuilder, opened: OpenClass): Open {
  const scope = file.inner(file.top, undefined, opened);
  const own = file.top.names.get(PACKAGE);
  const names = { namespace: own?.is === "import" ? own.module : "", scope: file.top, statics: [] };
  return { file, scope, depth: 0, names, isPartial: false, usings: [] };
}
