/**
 * Secrets that source code writes in parts or in numbers: string literals that are joined (`"gh" + "p_…"`, adjacent literals over several
 * lines, `"".join(["…", "…"])`), arrays of bytes, and short texts in base64 that the code decodes.
 */
import type { Hints } from "./hints.ts";
import { classifyName } from "./names.ts";
import { looksSecretNear } from "./nearby.ts";
import { isPassword } from "./passwords.ts";
import type { SecretRange } from "./types.ts";
import { decodeBase64 } from "./values.ts";

type Find = (text: string) => SecretRange[];

const MAX_LITERAL = 300;
const MAX_JOINED = 2_000;
/** What of the line in front of the literals is judged with them: the name that they are assigned to. */
const HEAD_CHARACTERS = 80;

/** Adds all secrets of this kind; `find` finds those that are in one piece. */
export function findJoined(text: string, hints: Hints, find: Find, found: SecretRange[]): void {
  const hasLists = hints.hasOne(["join("]);
  if (hints.mayHave("atob(") || hints.mayHave("b64") || hints.mayHave("se64") || hints.mayHave("de64"))
    findDecoded(text, DECODED, found);
  if (hints.hasOne(["base64 -"])) findDecoded(text, DECODED_IN_SHELL, found);
  if (hints.hasOne(["0x"])) findBytes(text, found);
  findConcatenated(text, find, found);
  if (hasLists) findLists(text, find, found);
}

/**
 * Between two literals of one string: an operator, or the end of a line. A character of a token stands on either side, which passes over
 * the messages that are joined at spaces.
 */
const SEAM =
  /(["'])(?<=[\w+/=:@-]["'])(?<!\\.["'])[ \t]{0,8}(?:(?:[+.&\\]|\.\.|<>|\+\+|\|\|)[ \t]{0,8}(?:\r?\n[ \t]{0,60})?|\r?\n[ \t]{0,60}(?:(?:[+.&]|\.\.|<>|\+\+|\|\|)[ \t]{0,8})?)(?:[fFrRbBuU]{1,2})?\1(?=[\w+/=:@-])/g;

interface Literals {
  start: number;
  end: number;
  parts: string[];
}

function findConcatenated(text: string, find: Find, found: SecretRange[]): void {
  let open: (Literals & { quote: string; length: number }) | undefined;
  // Without matchAll, which copies the expression for each of many small files.
  SEAM.lastIndex = 0;
  for (let match = SEAM.exec(text); match !== null; match = SEAM.exec(text)) {
    const { 0: seam, 1: quote = "", index } = match;
    const from = index + seam.length;
    const length = text.slice(from, from + MAX_LITERAL).indexOf(quote);
    const literal = text.slice(from, from + length);
    if (length === -1 || literal.includes("\n")) continue;
    const end = from + length + 1;
    if (open?.end === index + 1 && open.length < MAX_JOINED) {
      open.parts.push(literal);
      open.length += length;
      open.end = end;
      continue;
    }
    if (open !== undefined) judge(text, open, "", find, found);
    const before = text.slice(Math.max(0, index - MAX_LITERAL), index);
    const first = before.slice(before.lastIndexOf(quote) + 1);
    const isWhole = first.length < before.length && !first.includes("\n");
    open = isWhole
      ? { start: index - first.length - 1, end, quote, parts: [first, literal], length: first.length + length }
      : undefined;
  }
  if (open !== undefined) judge(text, open, "", find, found);
}

/** Adds the literals, if the one string that they make is a secret behind what stands in front of them. */
function judge(
  text: string,
  { start, end, parts }: Literals,
  separator: string,
  find: Find,
  found: SecretRange[],
): void {
  const joined = parts.join(separator);
  if (joined.length < 12 || !/\d/.test(joined)) return;
  const before = text.slice(Math.max(0, start - HEAD_CHARACTERS), start);
  const head = before.slice(before.lastIndexOf("\n") + 1);
  if (find(`${head}"${joined}"\n`).some((secret) => secret.end > head.length))
    found.push({ start, end, rule: "joined-literals" });
}

const LITERALS = /^\s{0,40}(?:["'][^"'\n]{0,100}["']\s{0,8}(?:,\s{0,60}|$)){2,40}$/;

const GLUE = /["']([^"'\n]{0,2})["']\s{0,20}$/;

/** `["…", "…"].join("")`, `"".join(["…", "…"])` */
function findLists(text: string, find: Find, found: SecretRange[]): void {
  for (const { 0: call, 1: own, index } of text.matchAll(/\.join\(\s{0,4}(?:["']([^"'\n]{0,2})["']|[[(])/g)) {
    const isAfter = own === undefined;
    const before = isAfter ? GLUE.exec(text.slice(Math.max(0, index - 24), index)) : null;
    const glue = own ?? before?.[1];
    if (glue === undefined) continue;
    const from = isAfter ? index + call.length : Math.max(0, index - MAX_JOINED);
    const window = isAfter ? text.slice(from, from + MAX_JOINED) : text.slice(from, index);
    const open = isAfter ? 0 : window.lastIndexOf("[") + 1;
    const close = isAfter ? window.search(/[\])]/) : window.lastIndexOf("]");
    const body = window.slice(open, close);
    if (close <= open || body.length > MAX_JOINED || !LITERALS.test(body)) continue;
    const parts = Array.from(body.matchAll(/["']([^"'\n]{0,100})["']/g), ([, part = ""]) => part);
    const start = isAfter ? index - before![0].length : from + open - 1;
    judge(text, { start, end: from + close + 1, parts }, glue, find, found);
  }
}

const BYTES =
  /0x[\da-f]{2}(?:[,\s]{1,40}(?:\(s?byte\)\s{0,4})?0x[\da-f]{2}){15,63}(?!\s{0,40},\s{0,40}(?:\(s?byte\)\s{0,4})?0x)/gi;
/** The name of an array, in front of its first byte. */
const ARRAY_NAME =
  /([A-Za-z_$][\w$]{0,60})(?:\[\w{0,20}\]|["']|: ?[\w[\]; ]{1,20})?\s{0,4}(?::?=|:|=>)\s{0,8}(?:[\w[\]&. ]{1,30})?[{[(]\s{0,20}(?:\(s?byte\)\s{0,4})?$/;
const CLOSE = /^(?:\s{0,16},?\s{0,16}[}\])])?/;
const ARRAY_NAME_CHARACTERS = 140;

/** The bytes of a key. */
function findBytes(text: string, found: SecretRange[]): void {
  for (const { 0: bytes, index } of text.matchAll(BYTES)) {
    const head = ARRAY_NAME.exec(text.slice(Math.max(0, index - ARRAY_NAME_CHARACTERS), index));
    if (head === null || classifyName(head[1]!) === undefined) continue;
    const values = Array.from(bytes.matchAll(/0x([\da-f]{2})/gi), ([, byte = ""]) => Number.parseInt(byte, 16));
    const steps = new Set(values.map((value, i) => value - (values[i - 1] ?? 0)));
    // Keys of tests count up, or repeat a byte.
    if (steps.size > values.length / 2 && new Set(values).size > values.length / 2)
      found.push({
        start: index - head[0].length,
        end: index + bytes.length + CLOSE.exec(text.slice(index + bytes.length, index + bytes.length + 24))![0].length,
        rule: "key-bytes",
      });
  }
}

const DECODED =
  /(?:b64decode|atob|base64_decode|decode64!?|decodeBase64|FromBase64String|Base64\.(?:getDecoder\(\)\.)?decode\w{0,12}|DecodeString|Buffer\.from)\(\s{0,8}(?:base64\.\w{3,12}, ?)?b?["']([\w+/-]{8,200}={0,2})["']/g;
const DECODED_IN_SHELL =
  /\b(?:echo|printf)[ \t]{1,4}(?:-n[ \t]{1,4})?["']?([\w+/-]{8,200}={0,2})["']?[ \t]{0,4}\|[ \t]{0,4}base64[ \t]{1,4}(?:-d|-D|--decode)\b/g;

/** Shorter texts than those that are decoded wherever they stand. */
function findDecoded(text: string, pattern: RegExp, found: SecretRange[]): void {
  for (const { 0: whole, 1: encoded = "", index } of text.matchAll(pattern)) {
    const decoded = decodeBase64(encoded);
    if (decoded === undefined) continue;
    const password = /^[^:\s]{1,60}:(\S{6,100})$/.exec(decoded)?.[1];
    const start = index + whole.lastIndexOf(encoded);
    if (password === undefined ? looksSecretNear(decoded, 10, true) : isPassword(password))
      found.push({ start, end: start + encoded.length, rule: "encoded-secret" });
  }
}
