/** What expressions, types and paths of Rust mean. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, lookUp, type Scope, stepInto, UNKNOWN, withArguments } from "./expressions.ts";
import { MAX_EXPRESSION_DEPTH } from "./limits.ts";
import { fieldKey, MODULE_MARK, moduleKey } from "./rust-keys.ts";
import { holderNamed } from "./rust-library.ts";
import { CELL, ELEMENT, ENTRY, LIST, OPTIONAL, POINTER, UNWRAPPED, type Wrapping } from "./wrapped.ts";

/** Methods that give the value inside of an `Option` or `Result`. */
export const UNWRAPPING = /^(?:unwrap|expect|unwrap_or|unwrap_or_else|unwrap_or_default|unwrap_unchecked)$/;
const MODULE_WORDS = new Set(["crate", "self", "super"]);

/** A path split at `::`, without type arguments; undefined for one that begins with a type, such as `<T as Trait>::f`. */
export function pathParts(node: SyntaxNode | undefined, depth = 0): string[] | undefined {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return undefined;
  switch (node.type) {
    case "identifier":
    case "type_identifier":
    case "self":
    case "crate":
    case "super":
      return [node.text];
    case "generic_type":
    case "generic_type_with_turbofish":
      return pathParts(node.field("type"), depth + 1);
    case "generic_function":
      return pathParts(node.field("function"), depth + 1);
    case "scoped_identifier":
    case "scoped_type_identifier": {
      const before = pathParts(node.field("path"), depth + 1);
      const name = node.field("name")?.text;
      return before && name !== undefined ? [...before, name] : undefined;
    }
    default:
      return undefined;
  }
}

/** What a path means in a scope. */
export function pathExpression(parts: readonly string[], scope: Scope): Expression {
  const [first = "", ...rest] = parts;
  if (!MODULE_WORDS.has(first)) {
    if (rest.length === 0) return { is: "name", name: first, scope };
    // What the file does not bind is another package.
    const otherwise: Expression = { is: "import", module: first, name: "*" };
    const own: Expression = { is: "name", name: first, scope, otherwise };
    let of: Expression = { is: "name", name: moduleKey(first), scope, otherwise: own };
    for (const name of rest) of = { is: "member", of, name };
    return of;
  }
  const around = first === "crate" ? undefined : moduleInFile(parts, scope);
  if (around) return around.rest.length > 0 ? pathExpression(around.rest, around.scope) : UNKNOWN;
  const left = first === "crate" ? parts : parts.slice(Math.min(marksAround(scope), leadingWords(parts) - 1));
  const name = left.at(-1) ?? "";
  if (MODULE_WORDS.has(name)) return { is: "import", module: left.join("::"), name: "*" };
  return { is: "import", module: left.slice(0, -1).join("::"), name };
}

const leadingWords = (parts: readonly string[]): number => {
  const count = parts.findIndex((part) => !MODULE_WORDS.has(part));
  return count < 0 ? parts.length : count;
};

const marksAround = (scope: Scope): number => {
  let marks = 0;
  for (let at: Scope | undefined = scope; at; at = at.outer) if (at.names.has(MODULE_MARK)) marks++;
  return marks;
};

/** The path of a module, given in a scope, as the top of the file names it; empty for a module inside of the file, and for the file itself. */
export function partsFromFile(parts: readonly string[], scope: Scope): readonly string[] {
  const words = leadingWords(parts);
  if (words === 0 || parts[0] === "crate") return parts;
  const supers = parts.slice(0, words).filter((part) => part === "super").length;
  const marks = marksAround(scope);
  if (supers > marks) return parts.slice(marks);
  return supers === marks && parts.length > words ? ["self", ...parts.slice(words)] : [];
}

/** The scope that `self::…` or `super::…` names, if it is inside of the file: modules may nest in it. */
function moduleInFile(parts: readonly string[], scope: Scope): { scope: Scope; rest: string[] } | undefined {
  const words = leadingWords(parts);
  let supers = parts.slice(0, words).filter((part) => part === "super").length;
  const marks = marksAround(scope);
  if (marks === 0 || supers > marks) return undefined;
  let at: Scope | undefined = scope;
  for (; at.outer; at = at.outer) if (at.names.has(MODULE_MARK) && supers-- === 0) break;
  return { scope: at, rest: parts.slice(words) };
}

/** The type that a node names, as a value of it is: references and pointers are seen through, optional values are marked. */
export function typeOf(node: SyntaxNode | undefined, scope: Scope, depth = 0): Expression {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "reference_type":
    case "pointer_type":
      return typeOf(node.field("type"), scope, depth + 1);
    case "dynamic_type":
    case "abstract_type":
      return typeOf(node.field("trait"), scope, depth + 1);
    case "bounded_type": {
      const [only, ...others] = withoutMarkers(node.namedChildren.filter(({ type }) => type !== "lifetime"));
      return others.length === 0 ? typeOf(only, scope, depth + 1) : UNKNOWN;
    }
    case "generic_type":
      return genericType(node, scope, depth);
    case "array_type":
      return stepInto(typeOf(node.field("element"), scope, depth + 1), LIST);
    case "tuple_type": {
      const [, second, ...others] = node.namedChildren;
      return others.length === 0 ? stepInto(typeOf(second, scope, depth + 1), ENTRY) : UNKNOWN;
    }
    default: {
      const parts = pathParts(node);
      return parts ? pathExpression(parts, scope) : UNKNOWN;
    }
  }
}

/** A type with type arguments: of a type of the standard library that holds values the type of these. */
function genericType(node: SyntaxNode, scope: Scope, depth: number): Expression {
  const parts = pathParts(node);
  if (!parts) return UNKNOWN;
  const types = typeArguments(node).map((each) => typeOf(each, scope, depth + 1));
  const own = withArguments(pathExpression(parts, scope), types);
  const name = parts.at(-1) ?? "";
  // What is awaited is taken for its value.
  if (name === "Future") return types[0] ?? UNKNOWN;
  const holder = holderNamed(name);
  if (!holder) return own;
  const held = stepInto(types[holder.at] ?? UNKNOWN, holder.wrapping);
  // The repository may have a type of that name itself.
  return isOfLibrary(parts, holder.wrapping, scope) ? held : { is: "first", of: own, otherwise: held };
}

/** The types that are given to a generic type, those of a trait's associated types among them: `Iterator<Item = T>`. */
export const typeArguments = (node: SyntaxNode): SyntaxNode[] =>
  (node.field("type_arguments")?.namedChildren ?? [])
    .filter(({ type }) => type !== "lifetime")
    .map((each) => (each.type === "type_binding" ? (each.field("type") ?? each) : each));

/** Whether a path names a type of the standard library. */
function isOfLibrary([first = "", ...rest]: readonly string[], wrapping: Wrapping, scope: Scope): boolean {
  const bound = rest.length === 0 ? lookUp(scope, first) : undefined;
  if (/^(?:Option|Result|Box|Vec)$/.test(first) && !bound) return true;
  const module = bound?.is === "import" ? bound.module : rest.length > 0 ? first : "";
  return wrapping === OPTIONAL || /^(?:std|core|alloc)\b/.test(module);
}

/** Traits of the standard library that are usual bounds beside another one. */
const MARKERS =
  /^(?:Send|Sync|Unpin|UnwindSafe|RefUnwindSafe|Sized|Clone|Copy|Debug|Display|Default|Eq|PartialEq|Ord|PartialOrd|Hash)$/;

/** The bounds of a type without those traits, if there are others. */
export function withoutMarkers(bounds: readonly SyntaxNode[]): readonly SyntaxNode[] {
  if (bounds.length < 2) return bounds;
  const others = bounds.filter((each) => !MARKERS.test(pathParts(each)?.at(-1) ?? ""));
  return others.length === 0 ? bounds : others;
}

/** What is called by `function(…)`. */
export function calledOf(node: SyntaxNode, scope: Scope, depth = 0): Expression {
  const value = node.type === "field_expression" ? node.field("value") : undefined;
  const name = node.field("field");
  return value && name
    ? { is: "member", of: expressionOf(value, scope, depth + 1), name: name.text }
    : expressionOf(node, scope, depth);
}

/** What an expression means. Names are looked up in `scope`. */
export function expressionOf(node: SyntaxNode | undefined, scope: Scope, depth = 0): Expression {
  if (!node || depth > MAX_EXPRESSION_DEPTH) return UNKNOWN;
  switch (node.type) {
    case "self":
      return { is: "name", name: "self", scope };
    case "field_expression": {
      const name = node.field("field");
      const of = expressionOf(node.field("value"), scope, depth + 1);
      return name ? { is: "member", of, name: fieldKey(name.text) } : UNKNOWN;
    }
    case "call_expression":
      return resultOf(node, scope, depth);
    case "try_expression":
      return { is: "member", of: expressionOf(node.namedChild(0), scope, depth + 1), name: UNWRAPPED };
    case "reference_expression":
      return expressionOf(node.field("value"), scope, depth + 1);
    case "index_expression": {
      const [of, index] = node.namedChildren;
      const value = expressionOf(of, scope, depth + 1);
      return index?.type === "range_expression" ? value : { is: "member", of: value, name: ELEMENT };
    }
    case "array_expression":
      return stepInto(expressionOf(node.namedChild(0), scope, depth + 1), LIST);
    case "await_expression":
    case "parenthesized_expression":
    case "unary_expression":
      return expressionOf(node.namedChild(0), scope, depth + 1);
    case "struct_expression":
      return { is: "call", of: typeOf(node.field("name"), scope, depth + 1) };
    case "generic_function":
      return calledOf(node.field("function") ?? node, scope, depth + 1);
    default: {
      const parts = pathParts(node);
      return parts ? pathExpression(parts, scope) : UNKNOWN;
    }
  }
}

/** What functions that are called by a path make of their argument. */
const MAKERS: readonly (readonly [RegExp, Wrapping])[] = [
  [/^(?:Some|Ok)$/, OPTIONAL],
  [/^(?:Box|Rc|Arc|Pin)::new$|^Box::pin$/, POINTER],
  [/^(?:Mutex|RwLock|RefCell)::new$/, CELL],
];

function resultOf(node: SyntaxNode, scope: Scope, depth: number): Expression {
  const called = node.field("function");
  if (!called) return UNKNOWN;
  const [argument] = node.field("arguments")?.namedChildren ?? [];
  const method = calledMethod(called);
  if (method) {
    const { name, value, type } = method;
    const of = expressionOf(value, scope, depth + 1);
    if (UNWRAPPING.test(name)) return { is: "member", of, name: UNWRAPPED };
    if (name === "clone") return of;
    if (name === "parse" && type) return stepInto(typeOf(type, scope, depth + 1), OPTIONAL);
    // Part of a list.
    if (argument?.type === "range_expression" && /^get(?:_mut)?$/.test(name)) return UNKNOWN;
    if (name === "collect" && !/^Vec\w*<_>$|Set<_>$/.test(type?.text ?? "")) return typeOf(type, scope, depth + 1);
    return { is: "call", of: { is: "member", of, name } };
  }
  // `Some(x)`, `Ok(x)`, `Box::new(x)` and `Arc::new(x)` are what they hold, `Arc::clone(&x)` is `x`.
  const { text } = called;
  if (/^(?:Rc|Arc)::clone$/.test(text)) return expressionOf(argument, scope, depth + 1);
  const maker = MAKERS.find(([names]) => names.test(text));
  if (maker) return { is: "member", of: expressionOf(argument, scope, depth + 1), name: maker[1] };
  return madeByTrait(called, scope) ?? { is: "call", of: calledOf(called, scope, depth + 1) };
}

/** The method that is called on a value, with the only type that is given to it. */
function calledMethod(
  called: SyntaxNode,
): { name: string; value: SyntaxNode; type: SyntaxNode | undefined } | undefined {
  const field = called.type === "generic_function" ? called.field("function") : called;
  const [name, value] = [field?.field("field"), field?.field("value")];
  if (field?.type !== "field_expression" || !name || !value) return undefined;
  return { name: name.text, value, type: called.field("type_arguments")?.namedChild(0) };
}

/** What `T::default()` and `T::from(x)` make: traits say that it is a `T`, whether they are implemented or derived, once or several times. */
function madeByTrait(called: SyntaxNode, scope: Scope): Expression | undefined {
  const parts = pathParts(called) ?? [];
  const name = parts.at(-1);
  const type = parts.slice(0, -1);
  if (!/^(?:default|from|try_from)$/.test(name ?? "") || !/^\p{Lu}/u.test(type.at(-1) ?? "")) return undefined;
  const of: Expression = { is: "call", of: pathExpression(type, scope) };
  if (name === "try_from") return { is: "member", of, name: OPTIONAL };
  // A method of the type's own may be named so: `fn default() -> Result<Self>`.
  return name === "default" ? { is: "first", of: { is: "call", of: pathExpression(parts, scope) }, otherwise: of } : of;
}
