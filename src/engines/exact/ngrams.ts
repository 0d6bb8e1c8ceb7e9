/**
 * N-grams: three or four bytes of UTF-8, ASCII letters in lower case, so that one filter serves both kinds of comparison. A text that matches
 * a pattern holds all that `queryOf` says of it. Those of four bytes tell large texts apart, which hold most of three; those of three
 * serve short patterns.
 */
import type { PatternNode } from "./pattern-syntax.ts";

/** `all` of no parts is true of every text, `any` of no parts of none. */
export type NgramQuery =
  | { kind: "ngram"; hash: number; isLong: boolean }
  | { kind: "all"; parts: readonly NgramQuery[] }
  | { kind: "any"; parts: readonly NgramQuery[] };

const SHORT_BYTES = 3;
const LONG_BYTES = 4;
/** Bits of an n-gram's hash. */
export const HASH_BITS = 24;
const SHORT_MULTIPLIER = 0x9e3779b1;
const LONG_MULTIPLIER = 0x85ebca6b;
const EVERY_TEXT: NgramQuery = { kind: "all", parts: [] };

/** Whether a query leaves no text out. */
export const isEveryText = (query: NgramQuery): boolean => query.kind === "all" && query.parts.length === 0;

/** Texts that a part of a pattern may match, beyond which only their n-grams count. */
const MAX_TEXTS = 16;
/** Length beyond which the beginning of a text is turned into n-grams. */
const MAX_TEXT_BYTES = 64;
/** Nodes of a query; what is beyond is not required. */
const MAX_QUERY_PARTS = 4_000;

const encoder = new TextEncoder();

/** Each byte as n-grams hold it. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

const foldByte = (byte: number): number => FOLDED[byte] as number;

/** Hash of the short n-gram in the last three bytes of `last`. */
const shortHash = (last: number): number => Math.imul(last & 0xff_ff_ff, SHORT_MULTIPLIER) >>> (32 - HASH_BITS);
/** Hash of the long n-gram in all four bytes of `last`. */
const longHash = (last: number): number => Math.imul(last ^ (last >>> 15), LONG_MULTIPLIER) >>> (32 - HASH_BITS);

/** Hashes that a text has at most for each of its bytes. */
export const HASHES_PER_BYTE = 2;

/**
 * Writes the hashes of the n-grams that end in a range of a text, repeated ones again. None crosses a line break. In one loop, since a call
 * for each n-gram makes a filter take twice the time.
 *
 * @param into has room for {@link HASHES_PER_BYTE} for each byte of the range
 * @param isLong where it is to be known whether an n-gram is long, 1 for those that are
 * @returns the number of hashes
 */
export function readNgrams(
  text: Uint8Array,
  { from, to }: { from: number; to: number },
  into: Uint32Array,
  isLong?: Uint8Array,
): number {
  let count = 0;
  let last = 0;
  let length = 0;
  for (let at = Math.max(0, from - LONG_BYTES + 1); at < to; at++) {
    const byte = text[at] as number;
    if (byte === 10) {
      length = 0;
      continue;
    }
    last = (last << 8) | foldByte(byte);
    length++;
    if (length < SHORT_BYTES || at < from) continue;
    into[count++] = shortHash(last);
    if (length < LONG_BYTES) continue;
    if (isLong) isLong[count] = 1;
    into[count++] = longHash(last);
  }
  return count;
}

/** What a text must hold that holds these bytes. */
export function queryOfBytes(bytes: Uint8Array): NgramQuery {
  const ngrams = new Map<string, NgramQuery>();
  const hashes = new Uint32Array(HASHES_PER_BYTE * bytes.length);
  const long = new Uint8Array(hashes.length);
  const count = readNgrams(bytes, { from: 0, to: bytes.length }, hashes, long);
  for (let i = 0; i < count; i++) {
    const [hash, isLong] = [hashes[i] as number, long[i] === 1];
    ngrams.set(`${isLong} ${hash}`, { kind: "ngram", hash, isLong });
  }
  return all([...ngrams.values()].slice(0, MAX_QUERY_PARTS));
}

/** What a text must hold to match a pattern. Line breaks count as any character: no n-gram crosses them. */
export function queryOf(tree: PatternNode): NgramQuery {
  const { texts, query } = required(tree);
  const whole = texts === undefined ? query : all([query, textsQuery(texts)]);
  return partsOf(whole) > MAX_QUERY_PARTS ? EVERY_TEXT : whole;
}

/**
 * What a part of a pattern requires: its match is exactly one of `texts` (undefined if they are too many or not known), and the text
 * around it satisfies `query`. Texts are bytes as characters of one unit each.
 */
interface Required {
  texts: readonly string[] | undefined;
  query: NgramQuery;
}

const ANY: Required = { texts: undefined, query: EVERY_TEXT };

function required(node: PatternNode): Required {
  switch (node.kind) {
    case "empty":
      return { texts: [""], query: EVERY_TEXT };
    case "character":
      return characters([node.character], node.isFolded);
    case "class":
      return node.characters ? characters(node.characters, node.isFolded) : ANY;
    case "concatenation":
      return concatenated(node.parts.map(required));
    case "alternation": {
      const parts = node.parts.map(required);
      const texts = parts.every((part) => part.texts) ? unique(parts.flatMap((part) => part.texts ?? [])) : undefined;
      if (texts && texts.length <= MAX_TEXTS && parts.every(({ query }) => query === EVERY_TEXT))
        return { texts, query: EVERY_TEXT };
      return {
        texts: undefined,
        query: any(parts.map(({ texts, query }) => all([query, ...(texts ? [textsQuery(texts)] : [])]))),
      };
    }
    case "repetition": {
      if (node.min === 0) return node.max === 0 ? { texts: [""], query: EVERY_TEXT } : optional(node.part, node.max);
      const part = required(node.part);
      if (node.min === 1 && node.max === 1) return part;
      if (node.min === node.max && node.min <= MAX_TEXTS)
        return concatenated(Array.from({ length: node.min }, () => part));
      return { texts: undefined, query: all([part.query, ...(part.texts ? [textsQuery(part.texts)] : [])]) };
    }
  }
}

function optional(node: PatternNode, max: number): Required {
  const { texts, query } = required(node);
  if (max > 1 || !texts || query !== EVERY_TEXT || texts.length >= MAX_TEXTS) return ANY;
  return { texts: unique(["", ...texts]), query: EVERY_TEXT };
}

/** One of the characters, in any case if `isFolded`. */
function characters(members: readonly string[], isFolded: boolean): Required {
  const texts = members.flatMap((member) => {
    // Whatever is not ASCII has more cases than these.
    if (member === "\n" || (isFolded && member > "\u007f")) return [undefined];
    const own = byteText(member);
    // Characters that Unicode folds to these letters.
    if (isFolded && own === "k") return [own, byteText("\u212a")];
    return isFolded && own === "s" ? [own, byteText("\u017f")] : [own];
  });
  return texts.includes(undefined) || texts.length > MAX_TEXTS
    ? ANY
    : { texts: unique(texts as string[]), query: EVERY_TEXT };
}

/** The bytes of a character as units, folded as in n-grams. */
function byteText(character: string): string {
  return String.fromCharCode(...[...encoder.encode(character)].map(foldByte));
}

function concatenated(parts: readonly Required[]): Required {
  const queries: NgramQuery[] = [];
  let texts: readonly string[] | undefined = [""];
  let isWhole = true;
  const end = (): void => {
    if (texts) queries.push(textsQuery(texts));
  };
  for (const part of parts) {
    if (part.query !== EVERY_TEXT) queries.push(part.query);
    const product: readonly string[] | undefined = texts && part.texts && productOf(texts, part.texts);
    if (product) {
      texts = product;
      continue;
    }
    end();
    isWhole = false;
    texts = part.texts ?? [""];
  }
  if (isWhole) return { texts, query: all(queries) };
  end();
  return { texts: undefined, query: all(queries) };
}

/** Each text followed by each; undefined if they are too many or too long. */
function productOf(first: readonly string[], second: readonly string[]): string[] | undefined {
  if (first.length * second.length > MAX_TEXTS) return undefined;
  const texts = unique(first.flatMap((before) => second.map((after) => before + after)));
  return texts.some((text) => text.length > MAX_TEXT_BYTES) ? undefined : texts;
}

/** What a text must hold that holds one of the texts. */
function textsQuery(texts: readonly string[]): NgramQuery {
  return any(texts.map((text) => queryOfBytes(Uint8Array.from(text, (unit) => unit.charCodeAt(0)))));
}

function all(parts: readonly NgramQuery[]): NgramQuery {
  const own = parts.flatMap((part) => (part.kind === "all" ? part.parts : [part]));
  if (own.some((part) => part.kind === "any" && part.parts.length === 0)) return { kind: "any", parts: [] };
  if (own.length === 1) return own[0] as NgramQuery;
  return own.length === 0 ? EVERY_TEXT : { kind: "all", parts: own };
}

function any(parts: readonly NgramQuery[]): NgramQuery {
  if (parts.some((part) => part.kind === "all" && part.parts.length === 0)) return EVERY_TEXT;
  return parts.length === 1 ? (parts[0] as NgramQuery) : { kind: "any", parts };
}

function partsOf(query: NgramQuery): number {
  return query.kind === "ngram" ? 1 : query.parts.reduce((sum, part) => sum + partsOf(part), 1);
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
