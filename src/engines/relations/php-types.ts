/** Types of PHP: declared ones, and those that comments state. */
import type { SyntaxNode } from "../parsing/syntax-node.ts";
import { type Expression, UNKNOWN } from "./expressions.ts";
import { named, type Place } from "./php-expressions.ts";
import { LIST } from "./wrapped.ts";

/** A declared type: a class, also one that may be null. */
export function typeOf(node: SyntaxNode | undefined, place: Place): Expression | undefined {
  switch (node?.type) {
    case "named_type":
      return named(node.text, place);
    case "optional_type":
      return typeOf(node.namedChild(0), place) ?? UNKNOWN;
    case "union_type": {
      const [only, ...others] = node.namedChildren.filter(({ text }) => text !== "null");
      return others.length === 0 && only?.type === "named_type" ? named(only.text, place) : UNKNOWN;
    }
    case undefined:
      return undefined;
    default:
      return UNKNOWN;
  }
}

/** Types that say less than what a comment states of their elements. */
const OPEN_TYPE = /^(?:\?|\\)*(?:array|iterable|\w*Collection|Generator|Iterator|Traversable)$/;

/** The type of a parameter, property or result: the declared one, unless that holds elements of which the comment states the type. */
export function declaredOrStated(
  type: SyntaxNode | undefined,
  stated: Expression | undefined,
  place: Place,
): Expression | undefined {
  const isOpen = type !== undefined && OPEN_TYPE.test(type.text.slice(0, MAX_TYPE));
  if (isOpen && stated?.is === "member") return stated;
  return typeOf(type, place) ?? stated;
}

/** Characters of a comment, and of a type in it, that are read. */
const MAX_COMMENT = 5_000;
const MAX_TYPE = 300;
/** Levels of types within types, such as `array<int, array<string, Foo[]>>`. */
const MAX_NESTED = 4;

const NO_CLASS =
  /^(?:string|int|integer|float|double|bool|boolean|array|iterable|object|callable|mixed|void|null|false|true|never|resource|scalar|numeric|list)$/i;
/** Generic types whose last argument is the type of what they hold; of a generator it is the second. */
const HOLDS =
  /^(?:array|list|iterable|non-empty-array|non-empty-list|\w*Collection|Generator|\w*Iterator|Iterable|Traversable|IteratorAggregate|ArrayObject|Enumerable)$/;

/** The type at a position of a comment, up to white space that is not within its brackets. */
function typeAt(text: string, start: number): string {
  let open = 0;
  const end = Math.min(text.length, start + MAX_TYPE);
  for (let at = start; at < end; at++) {
    const character = text[at] ?? "";
    if ("<({".includes(character)) open++;
    else if (">)}".includes(character)) open--;
    if (open < 0 || (open === 0 && /\s/.test(character))) return text.slice(start, at);
  }
  return text.slice(start, end);
}

/** What a tag of a comment such as `@return` states; undefined if the comment has none. */
export function statedIn(comment: SyntaxNode | undefined, tag: string, place: Place): Expression | undefined {
  const text = comment?.text.slice(0, MAX_COMMENT) ?? "";
  const found = new RegExp(`@${tag}\\s+(?=\\S)`).exec(text);
  return found ? (statedType(typeAt(text, found.index + found[0].length), place) ?? UNKNOWN) : undefined;
}

/** The types that a comment states of parameters or variables, by their names. */
export function statedNames(
  comment: SyntaxNode | undefined,
  tag: "param" | "var",
  place: Place,
): Map<string, Expression> {
  const text = comment?.text.slice(0, MAX_COMMENT) ?? "";
  const stated = new Map<string, Expression>();
  for (const found of text.matchAll(new RegExp(`@${tag}\\s+(?=\\S)`, "g"))) {
    const start = found.index + found[0].length;
    const type = typeAt(text, start);
    const name = /^\s{1,40}(?:\.\.\.)?(\$\w{1,100})/.exec(
      text.slice(start + type.length, start + type.length + MAX_TYPE),
    )?.[1];
    const of = name === undefined ? undefined : statedType(type, place);
    if (name !== undefined && of) stated.set(name, of);
  }
  return stated;
}

/** The type that a comment names, or a list of it; undefined for types that are none, and for several. */
export function statedType(text: string, place: Place, depth = 0): Expression | undefined {
  if (depth > MAX_NESTED) return undefined;
  const parts = splitAt(text.replace(/^\?/, ""), "|").filter((part) => part.toLowerCase() !== "null");
  const lists = parts.filter((part) => part.endsWith("[]"));
  // `Collection|Foo[]` is a collection of these.
  const isList = lists.length === 1 && parts.every((part) => part.endsWith("[]") || OPEN_TYPE.test(part));
  const [only = "", ...others] = isList ? lists : parts;
  if (others.length > 0) return undefined;
  if (only.endsWith("[]")) return listOf(statedType(only.slice(0, -2).replace(/^\((.*)\)$/, "$1"), place, depth + 1));
  const open = only.indexOf("<");
  if (open < 0 || !only.endsWith(">")) return className(only, place);
  const name = only.slice(0, open);
  const given = splitAt(only.slice(open + 1, -1), ",");
  if (!HOLDS.test(name.slice(name.lastIndexOf("\\") + 1))) return className(name, place);
  const held = name.endsWith("Generator") ? (given[1] ?? given[0]) : given.at(-1);
  return held === undefined ? undefined : listOf(statedType(held, place, depth + 1));
}

const listOf = (of: Expression | undefined): Expression | undefined => of && { is: "member", of, name: LIST };

const className = (text: string, place: Place): Expression | undefined =>
  NO_CLASS.test(text) || !/^(?:\$this|\\?[A-Za-z_][\w\\]*)$/.test(text) ? undefined : named(text, place);

/** The parts between separators that stand outside of brackets. */
function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [open, start] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    if ("<({".includes(text[at] ?? "")) open++;
    else if (">)}".includes(text[at] ?? "")) open--;
    else if (open === 0 && text[at] === separator) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}
