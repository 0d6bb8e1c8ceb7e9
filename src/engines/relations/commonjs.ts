import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { FileBuilder } from "./file-builder.ts";

/** `exports.name = …`, `module.exports.name = …` and `module.exports = { name }` export names, as CommonJS has it. */
export function commonExports(left: SyntaxNode, right: SyntaxNode, file: FileBuilder): void {
  const object = left.field("object")?.text;
  const name = left.field("property");
  const scope = file.top;
  if (name && (object === "exports" || object === "module.exports")) {
    if (right.type === "identifier") file.exportAs(name.text, { is: "name", name: right.text, scope });
    else file.exportAs(name.text, { is: "class", line: name.row + 1 });
  } else if (left.text === "module.exports" && right.type === "object")
    for (const each of right.namedChildren) {
      const value = each.field("value");
      if (each.type === "shorthand_property_identifier")
        file.exportAs(each.text, { is: "name", name: each.text, scope });
      else if (value?.type === "identifier")
        file.exportAs(each.field("key")?.text ?? "", { is: "name", name: value.text, scope });
    }
}
