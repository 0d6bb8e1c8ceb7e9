/** Calls in what is given to a macro of Rust, which the grammar leaves as tokens. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, UNKNOWN } from "./expressions.ts";
import { MAX_DEPTH } from "./limits.ts";
import { pathExpression, UNWRAPPING } from "./rust-expressions.ts";
import { fieldKey } from "./rust-keys.ts";
import type { Place } from "./walk.ts";
import { UNWRAPPED } from "./wrapped.ts";

/** Macros of the standard library that take expressions. */
const OF_EXPRESSIONS =
  /^(?:std::)?(?:(?:debug_)?assert(?:_eq|_ne)?|e?print(?:ln)?|format|write|writeln|panic|vec|dbg|todo|unreachable)$/;
const NAMES = new Set(["identifier", "self", "crate", "super"]);
/** Tokens of the type arguments of a call: `parse::<Vec<u8>>(…)`. */
const MAX_TYPE_TOKENS = 20;

/** Records the calls in the tokens of a macro. What another macro makes of its tokens is not known, nor what it binds. */
export function macroCalls(node: SyntaxNode, place: Place): void {
  const tokens = node.childOfType("token_tree");
  if (tokens) tokensOf(tokens, place, OF_EXPRESSIONS.test(node.field("macro")?.text ?? ""));
}

/** What the tokens before one are together: a path, or a value of which a member may follow. */
interface Before {
  path: string[];
  value: Expression;
  /** The last name, until what follows tells whether it is called. */
  name: SyntaxNode | undefined;
}

const nothing = (): Before => ({ path: [], value: UNKNOWN, name: undefined });

/** `areSure`: whether the tokens are expressions whose names mean what they mean around the macro. Closures and blocks may bind others. */
function tokensOf(tree: SyntaxNode, place: Place, areSure: boolean): void {
  if (place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1 };
  const tokens = tree.children;
  const isSure = areSure && tokens[0]?.type !== "{" && !tokens.some(({ type }) => type === "|");
  let before = nothing();
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as SyntaxNode;
    const next = tokens[i + 1]?.type;
    if (token.type === "token_tree") {
      const isCall = before.name !== undefined && token.children[0]?.type === "(";
      before = isCall ? calling(before, place, isSure) : nothing();
      tokensOf(token, inner, isSure);
    } else if (NAMES.has(token.type)) before = named(before, token, tokens[i - 1]?.type);
    else if (token.type === "::" && next === "<") i = endOfTypes(tokens, i + 1);
    else if (token.type === "?")
      before = { ...nothing(), value: { is: "member", of: valueBefore(before, place), name: UNWRAPPED } };
    else if (token.type === ".") before = { ...nothing(), value: valueBefore(before, place) };
    else if (token.type !== "::" && token.type !== "await") before = nothing();
  }
}

function named(before: Before, token: SyntaxNode, previous: string | undefined): Before {
  if (previous === ".") return { path: [], value: before.value, name: token };
  return { path: previous === "::" ? [...before.path, token.text] : [token.text], value: UNKNOWN, name: token };
}

/** Index of the last token of the type arguments that begin at `from`. */
function endOfTypes(tokens: readonly SyntaxNode[], from: number): number {
  const end = tokens.findIndex(({ type }, i) => i > from && i < from + MAX_TYPE_TOKENS && /^>+$/.test(type));
  return end < 0 ? from : end;
}

function valueBefore({ path, value, name }: Before, { scope }: Place): Expression {
  if (name?.type === "self") return { is: "name", name: "self", scope };
  if (path.length > 0) return pathExpression(path, scope);
  return name ? { is: "member", of: value, name: fieldKey(name.text) } : value;
}

/** Records a call, and returns what it gives. */
function calling({ path, value, name }: Before, { file, scope }: Place, isSure: boolean): Before {
  const text = name?.text ?? "";
  const of: Expression = path.length > 0 ? pathExpression(path, scope) : { is: "member", of: value, name: text };
  if (name) file.use("call", text, name.row + 1, scope, isSure ? of : { is: "likely", of });
  if (path.length > 0) return { ...nothing(), value: { is: "call", of } };
  const isUnwrapped = UNWRAPPING.test(text);
  return { ...nothing(), value: isUnwrapped ? { is: "member", of: value, name: UNWRAPPED } : { is: "call", of } };
}
