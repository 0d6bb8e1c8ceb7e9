/** Names that patterns of Rust bind. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import type { Expression, Scope } from "./expressions.ts";
import { MAX_DEPTH } from "./limits.ts";
import { expressionOf } from "./rust-expressions.ts";
import type { Place } from "./walk.ts";
import { UNWRAPPED } from "./wrapped.ts";

/** What a pattern matches: a value of a type, or what an expression means. */
type Known = { type: Expression } | { of: Expression };

/** What a variable with a value is: the result of a call, or what the value is. */
export const valueOf = (node: SyntaxNode, scope: Scope): Known => ({ of: expressionOf(node, scope) });

/** Binds the names of a pattern; `known` is what the whole pattern matches. */
export function bindPattern(node: SyntaxNode | undefined, known: Known | undefined, place: Place): void {
  const { file, scope } = place;
  if (!node || place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1 };
  switch (node.type) {
    case "identifier":
      // A constant or a variant is matched, not bound.
      if (/^\p{Lu}/u.test(node.text)) return;
      if (!known) file.bind(scope, node.text, { is: "variable" });
      else if ("type" in known) file.bind(scope, node.text, { is: "variable", type: known.type });
      else if (known.of.is === "call") file.bind(scope, node.text, { is: "variable", value: known.of });
      else file.bind(scope, node.text, { is: "alias", of: known.of });
      return;
    case "mut_pattern":
    case "ref_pattern":
    case "reference_pattern":
      for (const child of node.namedChildren) if (child.type !== "mutable_specifier") bindPattern(child, known, inner);
      return;
    case "tuple_struct_pattern": {
      const [variant, ...parts] = node.namedChildren;
      const isWrapped = /^(?:Some|Ok)$/.test(variant?.text ?? "") && parts.length === 1;
      const of = known && ("of" in known ? known.of : known.type);
      const value: Known | undefined =
        isWrapped && of && of.is !== "unknown" ? { of: { is: "member", of, name: UNWRAPPED } } : undefined;
      for (const part of parts) bindPattern(part, value, inner);
      return;
    }
    case "field_pattern": {
      const pattern = node.field("pattern");
      if (pattern) bindPattern(pattern, undefined, inner);
      else bindPattern(node.field("name"), undefined, inner);
      return;
    }
    case "shorthand_field_identifier":
      file.bind(scope, node.text, { is: "variable" });
      return;
    default:
      for (const child of node.namedChildren) bindPattern(child, undefined, inner);
  }
}
