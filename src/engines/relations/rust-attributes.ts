/** Functions that attributes of Rust name: `#[serde(default = "port")]`, `#[arg(value_parser = duration)]`. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { pathExpression } from "./rust-expressions.ts";
import { MAX_DEPTH } from "./limits.ts";
import type { Place } from "./walk.ts";

/** Keys whose text is the path of a function, in serde and in crates that follow it. */
const OF_FUNCTIONS =
  /^(?:default|serialize_with|deserialize_with|skip_serializing_if|getter|schema_with|custom|function|parse_with|try_from_str)$/;
/** A path whose last part is a function's name by custom. */
const FUNCTION_PATH = /^(?:[A-Za-z_]\w{0,99}::){0,9}[a-z_]\w{0,99}$/;

/** Records the functions that an attribute is given by name or by their path in a text. */
export function attributeUses(item: SyntaxNode, place: Place): void {
  const given = item.childOfType("attribute")?.childOfType("token_tree");
  if (given) tokensOf(given, place);
}

function tokensOf(tree: SyntaxNode, place: Place): void {
  if (place.depth >= MAX_DEPTH) return;
  const tokens = tree.children;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as SyntaxNode;
    if (token.type === "token_tree") tokensOf(token, { ...place, depth: place.depth + 1 });
    if (token.type !== "=") continue;
    const value = tokens[i + 1];
    if (value?.type === "string_literal") {
      if (OF_FUNCTIONS.test(tokens[i - 1]?.text ?? "")) named(value.text.slice(1, -1).split("::"), value, place);
      continue;
    }
    const parts: string[] = [];
    for (let at = i + 1; /^(?:identifier|crate|self|super|::)$/.test(tokens[at]?.type ?? ""); at++)
      if (tokens[at]?.type !== "::") parts.push(tokens[at]?.text ?? "");
    // Another crate's macro may take it for anything.
    if (value && parts.length > 0) named(parts, value, place, true);
  }
}

function named(parts: readonly string[], at: SyntaxNode, { file, scope }: Place, isLikely = false): void {
  const name = parts.at(-1) ?? "";
  if (!FUNCTION_PATH.test(parts.join("::"))) return;
  const of = pathExpression(parts, scope);
  file.reference(name, at.row + 1, scope, isLikely ? { is: "likely", of } : of);
}
