import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Expression } from "./expressions.ts";
import type { FileBuilder } from "./file-builder.ts";
import { WHOLE_MODULE } from "./types.ts";

/**
 * `exports.name = …`, `module.exports.name = …`, `module.exports = { name }` and `module.exports = value`, as CommonJS has it; `expressionOf`
 * reads a value.
 */
export function commonExports(
  left: SyntaxNode,
  right: SyntaxNode,
  file: FileBuilder,
  expressionOf: (value: SyntaxNode) => Expression,
): void {
  const object = left.field("object")?.text;
  const name = left.field("property");
  const local = (node: SyntaxNode): Expression => ({ is: "class", line: node.row + 1 });
  // A value that is not followed is known by the place where it is exported.
  const exportPart = (key: SyntaxNode, of: Expression): void =>
    file.exportAs(key.text, of.is === "unknown" || of.is === "call" ? local(key) : of);
  if (name && (object === "exports" || object === WHOLE_MODULE)) {
    exportPart(name, expressionOf(right));
  } else if (left.text !== WHOLE_MODULE) return;
  else if (right.type !== "object") {
    const of = FUNCTION_OR_CLASS.test(right.type) ? local(right.field("name") ?? right) : expressionOf(right);
    if (of.is !== "unknown") file.exportAs(WHOLE_MODULE, of);
  } else
    for (const each of right.namedChildren) {
      const key = each.field("key") ?? each.field("name") ?? each;
      const value = each.field("value");
      if (!/identifier/.test(key.type)) continue;
      const isName = each.type === "shorthand_property_identifier";
      const named: Expression = isName ? { is: "name", name: key.text, scope: file.top } : local(key);
      exportPart(key, value ? expressionOf(value) : named);
    }
}

const FUNCTION_OR_CLASS = /^(?:function_expression|arrow_function|generator_function|class)$/;
