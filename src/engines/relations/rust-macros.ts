/** Calls in what is given to a macro of Rust, which the grammar leaves as tokens. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, lookUp, UNKNOWN } from "./expressions.ts";
import { MAX_DEPTH } from "./limits.ts";
import { pathExpression, UNWRAPPING } from "./rust-expressions.ts";
import { fieldKey, macroKey, macroName } from "./rust-keys.ts";
import { MACROS } from "./types.ts";
import type { Place } from "./walk.ts";
import { UNWRAPPED } from "./wrapped.ts";

/** Macros of the standard library that take expressions. */
const OF_EXPRESSIONS =
  /^(?:std::)?(?:(?:debug_)?assert(?:_eq|_ne)?|e?print(?:ln)?|format|write|writeln|panic|vec|dbg|todo|unreachable)$/;
const NAMES = new Set(["identifier", "self", "crate", "super"]);
/** Tokens of the type arguments of a call: `parse::<Vec<u8>>(…)`. */
const MAX_TYPE_TOKENS = 20;

/** Other macros of the standard library. */
const OF_LIBRARY =
  /^(?:assert_matches|cfg|column|compile_error|concat|concat_idents|debug_assert_matches|env|file|format_args|global_asm|include|include_bytes|include_str|line|matches|module_path|option_env|stringify|thread_local|try|unimplemented)$/;

/** Binds a macro for its whole file. */
export function declareMacro(name: SyntaxNode, { file }: Place): void {
  file.bindOnce(file.top, macroKey(name.text), name.row + 1);
}

/** Records the macros that a macro uses in what it is replaced by. */
export function macroBodies(definition: SyntaxNode, place: Place): void {
  const scope = place.file.inner(place.scope, definition.field("name")?.text);
  for (const rule of definition.namedChildren) {
    const body = rule.field("right");
    if (body) macrosIn(body, { ...place, scope });
  }
}

function macrosIn(tree: SyntaxNode, place: Place): void {
  if (place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1 };
  const tokens = tree.children;
  for (const [i, token] of tokens.entries()) {
    const [bang, name, before, module] = [1, 2, 3, 4].map((back) => tokens[i - back]);
    if (/^token_(?:tree|repetition)/.test(token.type)) macrosIn(token, inner);
    if (token.type === "token_tree" && bang?.type === "!" && name?.type === "identifier")
      macroUse(before?.type === "::" ? [module?.text ?? "", name.text] : [name.text], name, place);
  }
}

/** Records the use of a macro by its path. */
function macroUse(path: readonly string[], name: SyntaxNode, { file, scope }: Place): void {
  const { text } = name;
  const bound = lookUp(scope, text);
  const module = path.length > 1 ? path.slice(0, -1).join("::") : bound?.is === "import" ? bound.module : "";
  const isOwn = module === "" || /^(?:\$?crate|self|super)\b/.test(module);
  const isOfLibrary = module === "" && (OF_EXPRESSIONS.test(text) || OF_LIBRARY.test(text));
  if (/^(?:std|core|alloc)\b/.test(module) || (isOfLibrary && !lookUp(file.top, macroKey(text)))) return;
  const elsewhere: Expression = { is: "likely", of: { is: "import", module: MACROS, name: text } };
  const of: Expression = isOwn
    ? { is: "name", name: macroKey(text), scope: file.top, otherwise: elsewhere }
    : { is: "import", module, name: macroKey(text) };
  file.use("call", macroName(text), name.row + 1, scope, of);
}

/** Records the calls in the tokens of a macro. What another macro makes of its tokens is not known, nor what it binds. */
export function macroCalls(node: SyntaxNode, place: Place): void {
  const macro = node.field("macro");
  const name = macro?.type === "scoped_identifier" ? macro.field("name") : macro;
  if (macro && name) macroUse(macro.text.split("::"), name, place);
  const tokens = node.childOfType("token_tree");
  if (tokens) tokensOf(tokens, place, OF_EXPRESSIONS.test(macro?.text ?? ""));
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
    if (token.type === "!" && next === "token_tree" && before.name && before.path.length > 0)
      macroUse(before.path, before.name, place);
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
