import { MAX_SIGNATURE_CHARACTERS } from "../parsing/prose.ts";

/** Types of a Go function's parameters and results, in order and without names. */
export interface GoSignature {
  parameters: string[];
  results: string[];
}

/** Types that every package names alike. */
const BUILT_IN: ReadonlySet<string> = new Set(
  (
    "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 " +
    "uint64 uintptr chan func interface map struct"
  ).split(" "),
);

/**
 * Reads the head of a method, `func (r T) Name(a, b int) (string, error)` or `Name(int, int) (string, error)`. Names of the file's own
 * package are qualified with `packageName`, so that equal types of two packages are equal texts. Undefined for a head that was cut.
 */
export function readGoSignature(head: string, name: string, packageName: string): GoSignature | undefined {
  if (head.length >= MAX_SIGNATURE_CHARACTERS) return undefined;
  const start = head.startsWith("func") ? head.indexOf(`) ${name}(`) + 2 : head.indexOf(`${name}(`);
  const open = start + name.length;
  const close = closing(head, open);
  if (start < 0 || close === undefined) return undefined;
  const rest = head.slice(close + 1).trim();
  const isList = rest.startsWith("(");
  if (isList && closing(rest, 0) !== rest.length - 1) return undefined;
  const results = isList ? rest.slice(1, -1) : rest;
  return { parameters: typesIn(head.slice(open + 1, close), packageName), results: typesIn(results, packageName) };
}

/** Position of the parenthesis that closes the one at `open`. */
function closing(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) return at;
  }
  return undefined;
}

/** The types of a list of parameters: all of them have names or none has. `a, b int` are two. */
function withoutNames(list: string): string[] {
  const parts = atCommas(list);
  const named = parts.map((part) => /^([\p{L}_][\p{L}\p{N}_]*)\s+(.+)$/su.exec(part));
  if (!named.some((found) => found && !BUILT_IN.has(found[1] ?? ""))) return parts;
  const types: string[] = [];
  for (const found of named.toReversed()) types.push(found?.[2] ?? types.at(-1) ?? "");
  return types.toReversed();
}

/** Splits a list at the commas that are in no bracket. */
function atCommas(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= list.length; at++) {
    const character = list[at];
    if (character !== undefined && "([{".includes(character)) depth++;
    else if (character !== undefined && ")]}".includes(character)) depth--;
    else if (character === undefined || (character === "," && depth === 0)) {
      const part = list.slice(from, at).trim();
      if (part !== "") parts.push(part);
      from = at + 1;
    }
  }
  return parts;
}

function qualifiedType(type: string, packageName: string): string {
  const at = type.search(/\bfunc\(/);
  const open = at + "func".length;
  const close = at < 0 ? undefined : closing(type, open);
  if (close === undefined) return qualifiedWords(type, packageName);
  const parameters = typesIn(type.slice(open + 1, close), packageName);
  const result = qualifiedType(type.slice(close + 1), packageName);
  return `${qualifiedWords(type.slice(0, at), packageName)}func(${parameters.join(", ")})${result}`;
}

const typesIn = (list: string, packageName: string): string[] =>
  withoutNames(list).map((type) => qualifiedType(type, packageName));

function qualifiedWords(text: string, packageName: string): string {
  const words = text.replaceAll(/interface\s*\{\s*\}/g, "any").replaceAll(/\s+/g, " ");
  return words.replaceAll(/(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*(?![\p{L}\p{N}_.])/gu, (word) =>
    BUILT_IN.has(word) ? word : `${packageName}.${word}`,
  );
}

/**
 * Whether a method has the signature that an interface asks for: `same`, or `alike` where only the packages of types have other names, as an
 * import under another name gives them. With `isGeneric`, types that differ are `alike`: one may be an argument of the other's type parameter.
 */
export function compareSignatures(
  asked: GoSignature,
  own: GoSignature,
  isGeneric: boolean,
): "same" | "alike" | "other" {
  const one = [...asked.parameters, ...asked.results];
  const two = [...own.parameters, ...own.results];
  if (one.length !== two.length || asked.parameters.length !== own.parameters.length) return "other";
  if (one.every((type, i) => type === two[i])) return "same";
  const bare = (type: string | undefined): string | undefined => type?.replaceAll(/[\p{L}\p{N}_]+\./gu, "");
  return isGeneric || one.every((type, i) => bare(type) === bare(two[i])) ? "alike" : "other";
}
