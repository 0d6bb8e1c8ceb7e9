/** Names that patterns of Rust bind, and what the expressions are that these match. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import {
  type Binding,
  type Expression,
  holderOf,
  NOTHING,
  oneOfValues,
  type Scope,
  stepInto,
  UNKNOWN,
} from "./expressions.ts";
import { MAX_DEPTH, MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { expressionOf, pathExpression, pathParts, typeOf } from "./rust-expressions.ts";
import { fieldKey, moduleKey } from "./rust-keys.ts";
import type { Place as BasePlace } from "./walk.ts";
import { ELEMENT, LIST, MAP, SECOND_PLACE, UNWRAPPED } from "./wrapped.ts";

type Place = Pick<BasePlace, "file" | "scope" | "depth">;

/** What a pattern matches: a value of a type, what an expression means, or a tuple. */
export type Known = { type: Expression } | { of: Expression } | { parts: readonly (Known | undefined)[] };

/** What a variable or parameter of a declared type is. */
export function ofType(node: SyntaxNode, scope: Scope, depth = 0): Known {
  if (node.type === "tuple_type" && depth < MAX_EXPRESSION_DEPTH)
    return { parts: node.namedChildren.map((each) => ofType(each, scope, depth + 1)) };
  return { type: typeOf(node, scope) };
}

/** What a variable with a value is: the result of a call, or what the value is. */
export function valueOf(node: SyntaxNode, place: Place): Known {
  if (node.type === "tuple_expression" && place.depth < MAX_DEPTH)
    return { parts: node.namedChildren.map((each) => valueOf(each, { ...place, depth: place.depth + 1 })) };
  return { of: resultOf(node, place) };
}

/** The value of a block of more statements is not followed. */
const MAX_STATEMENTS = 30;

/** What an expression gives, by the last ones of its blocks. */
function resultOf(node: SyntaxNode | undefined, place: Place, depth = 0): Expression {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  const { file } = place;
  const inner = { ...place, scope: file.inner(place.scope, undefined) };
  switch (node.type) {
    case "block": {
      const statements = node.namedChildren.filter(({ type }) => !type.endsWith("comment"));
      const last = statements.at(-1);
      if (statements.length > MAX_STATEMENTS) return UNKNOWN;
      for (const each of statements) {
        if (each.type !== "let_declaration") continue;
        const [type, value] = [each.field("type"), each.field("value")];
        const known = type ? ofType(type, inner.scope) : value && valueOf(value, inner);
        inner.scope = file.inner(inner.scope, undefined);
        bindPattern(each.field("pattern"), known, inner);
      }
      if (last?.type === "expression_statement") {
        const only = last.namedChild(0);
        return only && leaves(only) ? NOTHING : UNKNOWN;
      }
      return resultOf(last, inner, depth + 1);
    }
    case "unsafe_block":
      return resultOf(node.namedChild(0), place, depth + 1);
    case "if_expression": {
      const otherwise = node.field("alternative")?.namedChild(0);
      if (!otherwise) return UNKNOWN;
      bindConditions(node.field("condition"), inner);
      return ofOneType([resultOf(node.field("consequence"), inner, depth + 1), resultOf(otherwise, place, depth + 1)]);
    }
    case "match_expression": {
      const known = matchedBy(node, place);
      const arms = (node.field("body")?.namedChildren ?? []).filter(({ type }) => type === "match_arm");
      const values: Expression[] = [];
      for (const arm of arms) {
        const own = { ...place, scope: file.inner(place.scope, undefined) };
        bindPattern(arm.field("pattern")?.namedChild(0), known, own);
        values.push(resultOf(arm.field("value"), own, depth + 1));
      }
      return ofOneType(values);
    }
    default:
      return leaves(node) ? NOTHING : expressionOf(node, place.scope, depth);
  }
}

/** One of the values of branches, which are of one type: two that are followed tell it. */
function ofOneType(values: readonly Expression[]): Expression {
  const known = values.filter(({ is }) => is !== "unknown").slice(0, 2);
  return known.length === 0 && values.includes(UNKNOWN) ? UNKNOWN : oneOfValues(known);
}

/** What a `match` looks at. */
export function matchedBy(node: SyntaxNode, place: Place): Known | undefined {
  const value = node.field("value");
  return value && valueOf(value, place);
}

function bindConditions(node: SyntaxNode | undefined, place: Place): void {
  const conditions = node?.type === "let_chain" ? node.namedChildren : node ? [node] : [];
  for (const each of conditions) {
    const value = each.field("value");
    if (each.type === "let_condition") bindPattern(each.field("pattern"), value && valueOf(value, place), place);
  }
}

/** Whether an expression gives no value, or none that tells a type: `None`, or `vec![]`. */
function leaves(node: SyntaxNode): boolean {
  switch (node.type) {
    case "return_expression":
    case "break_expression":
    case "continue_expression":
      return true;
    case "identifier":
      return node.text === "None";
    case "macro_invocation":
      return LEAVING.test(node.field("macro")?.text ?? "") || node.text === "vec![]";
    case "call_expression":
      return EMPTY.test(node.field("function")?.text.slice(-MAX_PATH) ?? "");
    default:
      return false;
  }
}

const LEAVING = /(?:^|::)(?:panic|unreachable|todo|unimplemented|bail)$/;
const EMPTY = /(?:^|::)(?:exit|Err)$/;
const MAX_PATH = 60;

/** Takes what is assigned to a variable that has no value yet. */
export function assigned(node: SyntaxNode, place: Place): void {
  const [left, right] = [node.field("left"), node.field("right")];
  const scope = left?.type === "identifier" ? scopeOfEmpty(left.text, place) : undefined;
  if (left && right && scope) place.file.bind(scope, left.text, bindingOf({ of: resultOf(right, place) }));
}

/** Takes what is added to a list or map that is made empty: of a variable without a type, the first one tells what it holds. */
export function pushed(call: SyntaxNode, place: Place): void {
  const called = call.field("function");
  const [name, list] = [called?.field("field")?.text ?? "", called?.field("value")];
  if (!/^(?:push|push_back|push_front|insert)$/.test(name) || list?.type !== "identifier") return;
  const holder = holderOf(place.scope, list.text);
  const bound = holder?.names.get(list.text);
  const given = call.field("arguments")?.namedChildren ?? [];
  const last = given.at(-1);
  if (!holder || !last || bound?.is !== "variable" || !isEmpty(bound.value)) return;
  const held = stepInto(expressionOf(last, place.scope), given.length === 2 ? MAP : LIST);
  if (held.is === "unknown") return;
  // The repository may have a type of that name itself.
  const value: Expression = bound.value === NOTHING ? held : { is: "first", of: bound.value, otherwise: held };
  holder.names.set(list.text, { is: "variable", value });
}

/** Whether a value is a list or map without elements: `vec![]`, `Vec::new()`, `HashMap::with_capacity(1)`. */
function isEmpty(value: Expression | undefined): value is Expression {
  if (value === NOTHING) return true;
  if (value?.is !== "call" || value.of.is !== "member" || !/^(?:new|with_capacity)$/.test(value.of.name)) return false;
  const { of } = value.of;
  return of.is === "name" && FILLED.has(of.name);
}

const FILLED: ReadonlySet<string> = new Set(
  ["Vec", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "IndexMap", "IndexSet"].map((name) =>
    moduleKey(name),
  ),
);

/** The scope of a variable of which nothing is known yet. */
function scopeOfEmpty(name: string, { scope }: Place): Scope | undefined {
  const holder = holderOf(scope, name);
  const bound = holder?.names.get(name);
  return bound?.is === "variable" && bound.value === NOTHING ? holder : undefined;
}

/** Binds the names of a pattern; `known` is what the whole pattern matches. */
export function bindPattern(node: SyntaxNode | undefined, known: Known | undefined, place: Place): void {
  const { file, scope } = place;
  if (!node || place.depth >= MAX_DEPTH) return;
  const inner = { ...place, depth: place.depth + 1 };
  switch (node.type) {
    case "identifier":
      // A constant or a variant is matched, not bound.
      if (!/^\p{Lu}/u.test(node.text)) file.bind(scope, node.text, bindingOf(known));
      return;
    case "mut_pattern":
    case "ref_pattern":
    case "reference_pattern":
      for (const child of node.namedChildren) if (child.type !== "mutable_specifier") bindPattern(child, known, inner);
      return;
    case "captured_pattern":
    case "or_pattern":
      for (const child of node.namedChildren) bindPattern(child, known, inner);
      return;
    case "tuple_pattern": {
      const parts = node.namedChildren;
      for (const [at, part] of parts.entries()) bindPattern(part, partOf(known, at, parts.length), inner);
      return;
    }
    case "slice_pattern":
      for (const part of node.namedChildren) bindPattern(part, stepOf(known, ELEMENT), inner);
      return;
    case "tuple_struct_pattern": {
      const [variant, ...parts] = node.namedChildren;
      const isWrapped = /^(?:Some|Ok)$/.test(variant?.text ?? "") && parts.length === 1;
      for (const [at, part] of parts.entries())
        bindPattern(part, isWrapped ? stepOf(known, UNWRAPPED) : fieldOf(variant, String(at), scope), inner);
      return;
    }
    case "struct_pattern": {
      const type = node.field("type");
      for (const each of node.namedChildren) {
        const name = each.type === "field_pattern" ? each.field("name") : undefined;
        if (name) bindPattern(each.field("pattern") ?? name, fieldOf(type, name.text, scope), inner);
      }
      return;
    }
    case "shorthand_field_identifier":
      file.bind(scope, node.text, bindingOf(known));
      return;
    default:
      for (const child of node.namedChildren) bindPattern(child, undefined, inner);
  }
}

function bindingOf(known: Known | undefined): Binding {
  if (!known || "parts" in known) return { is: "variable" };
  if ("type" in known) return { is: "variable", type: known.type };
  const { of } = known;
  // A function may be known by another name; what is held or given is a value.
  const isName = of.is === "name" || of.is === "import" || (of.is === "member" && !isHeld(of.name));
  return isName ? { is: "alias", of } : { is: "variable", value: of };
}

/** Whether a member is a field, a constant or variant by custom, or what a step gives. */
const isHeld = (name: string): boolean => name.startsWith(fieldKey("")) || /^[<\p{Lu}]/u.test(name);

/** What is matched at a place of a tuple. Of an entry of a map the second is the value. */
function partOf(known: Known | undefined, at: number, count: number): Known | undefined {
  if (known && "parts" in known) return known.parts.length === count ? known.parts[at] : undefined;
  return at === 1 && count === 2 ? stepOf(known, SECOND_PLACE) : undefined;
}

/** What a step leads to from what is matched. */
export function stepOf(known: Known | undefined, name: string): Known | undefined {
  if (!known || "parts" in known) return undefined;
  const of = "of" in known ? known.of : known.type;
  return of.is === "unknown" ? undefined : { of: { is: "member", of, name } };
}

/** The field of a struct, or of a variant of an enumeration. */
function fieldOf(type: SyntaxNode | undefined, name: string, scope: Scope): Known | undefined {
  const parts = pathParts(type);
  if (!parts) return undefined;
  const own: Expression = { is: "member", of: pathExpression(parts, scope), name: fieldKey(name) };
  if (parts.length === 1) return { of: own };
  const ofVariant = fieldKey(`${parts.at(-1)}.${name}`);
  const of: Expression = { is: "member", of: pathExpression(parts.slice(0, -1), scope), name: ofVariant };
  return { of: { is: "first", of, otherwise: own } };
}
