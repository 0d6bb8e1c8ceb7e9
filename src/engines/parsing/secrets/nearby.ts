/**
 * Secrets that stand near a name instead of behind an assignment: fallbacks (`process.env.TOKEN || "…"`), arguments of calls
 * (`setPassword("…")`), defaults of declared variables, and values in prose. Less certain than an assignment, so more randomness is required.
 */
import { choiceOf } from "./chosen.ts";
import { isComposedPassword, isPlaceholder, randomnessBits } from "./randomness.ts";

/** How far behind a name a quoted value may stand, on the same line. */
const LINE_CHARACTERS = 240;
const MIN_CHARACTERS = 10;
const MIN_CHOSEN_CHARACTERS = 8;
/** Quoted texts of a line that are judged. */
const MAX_JUDGED = 6;
const QUOTED = /(["'`])([^\s"'`\\]{8,256})\1/g;
/**
 * The default or the value of a declaration that begins with the name, within a few lines: a Terraform variable, a parameter of
 * CloudFormation, ARM or a chart. Between braces small blocks may lie in front of it, elsewhere no empty line.
 */
const BEFORE = String.raw`(?:["'\x60]?\s{0,4}[:=,]?\s{0,8}\{[^{}]{0,300}?(?:\{[^{}]{0,200}\}[^{}]{0,200}?){0,2}?|(?:["'\x60]?\s{0,4}:\s{0,4}\n|["'\x60][ \t]{0,4}(?:,|\r?\n(?:\s{1,20}\w{1,20}\s{0,4}[:=]\s{0,4}\{)?))(?:[^{}\n]|\n(?!\s{0,40}\n)){0,300}?)`;
const DECLARED = new RegExp(
  String.raw`${BEFORE}(?<![A-Za-z_])(?:parameter)?(?:default|value)(?:_?value)?["']?\s{0,20}[:=]\s{0,8}`,
  "iy",
);
/** An expression goes on in the next line where one line ends or the next one begins with an operator. */
const ENDS_OPEN = /(?:\?\?|\|\||[=(?:+.]|\bor)[ \t]{0,20}$/;
const GOES_ON = /^[ \t]{0,80}(?:\?\?|\|\||[?:+.]|\bor\b)/;
const MAX_LINES = 3;

export interface Place {
  start: number;
  text: string;
}

/** Quoted texts in the rest of an expression, whose first line ends at `end`. */
export function quotedNear(text: string, from: number, end: number): Place[] {
  const window = expression(text.slice(from, from + LINE_CHARACTERS), Math.max(0, end - from));
  if (window.length < MIN_CHOSEN_CHARACTERS) return [];
  const places: Place[] = [];
  let left = MAX_JUDGED;
  for (const { 0: whole, 2: value = "", index } of window.matchAll(QUOTED)) {
    if (left-- === 0) break;
    const start = from + index + (whole.length - value.length) / 2;
    if (!isDigestAt(text, start, value)) places.push({ start, text: value });
  }
  return places;
}

const DIGEST = /^(?:[\da-f]{32}|[\da-f]{40}|(?:1220)?[\da-f]{64}|[\da-f]{128})$/i;
const OF_DIGEST = /checksum|\bhash(?:["']?\s{0,4}[:=]|\()|commit|fingerprint|digest|integrity|\bsha-?\d{1,3}\b(?!\()/i;
const BEFORE_DIGEST_CHARACTERS = 160;

/** Whether a value has a digest's form, and its line says before it that it is one. */
export function isDigestAt(text: string, start: number, value: string): boolean {
  if (!DIGEST.test(value)) return false;
  const before = text.slice(Math.max(0, start - BEFORE_DIGEST_CHARACTERS), start);
  return OF_DIGEST.test(before.slice(before.lastIndexOf("\n") + 1));
}

/** What belongs to an expression, of a text that begins in it. */
function expression(text: string, firstLine: number): string {
  let end = firstLine;
  for (let lines = 1; lines < MAX_LINES && end < text.length; lines++) {
    if (!ENDS_OPEN.test(text.slice(Math.max(0, end - 24), end)) && !GOES_ON.test(text.slice(end + 1, end + 90))) break;
    const next = text.indexOf("\n", end + 1);
    end = next === -1 ? text.length : next;
  }
  return text.slice(0, end);
}

/** Where the default or the value of a declaration begins; undefined if the name begins none. */
export function declaredAt(text: string, from: number): number | undefined {
  DECLARED.lastIndex = from;
  return DECLARED.test(text) ? DECLARED.lastIndex : undefined;
}

/** A value in front of its name: `"…".equals(password)`, `"…" == password`, `"value": "…", "key": "password"`, `set("…", forKey: "password")`. */
const VALUE_BEFORE =
  /(["'])([^\s"'\\]{8,256})\1(?:\.\w{0,10}[eE]q\w{0,20}\([\w.$@]{0,40}|\s{0,4}[!=]={1,2}\s{0,4}[\w.$@[]{0,40}["']?|,\s{0,40}["']?(?:key|name|id|for|forKey|forHTTPHeaderField|type)["']?\s{0,4}[:=]\s{0,4}["']?[\w.-]{0,20})$/;
const BEFORE_CHARACTERS = 330;
/** What is in front of a name then. Most names are decided by this. */
const MAY_FOLLOW = /[:=(][ \t]{0,4}["']?[\w.$@[]{0,40}["']?$/;

export function valueBefore(text: string, name: number): Place[] {
  const from = Math.max(0, name - BEFORE_CHARACTERS);
  const before = text.slice(from, name);
  if (!MAY_FOLLOW.test(before.slice(-60))) return [];
  const match = VALUE_BEFORE.exec(before);
  return match === null ? [] : [{ start: from + match.index + 1, text: match[2]! }];
}

/** Additional evidence that a value near a name needs. */
const EXTRA_BITS = 8;
/** Identifiers, paths, addresses and file names are not keys, however they are drawn. */
const ORDINARY =
  /^[a-z]+(?:[-_.:/][a-z\d]+)*$|^\/|^[\w.-]+\.[a-z]{2,4}$|[()<>{}[\]|;,]|\.\w+\.|^[\w.-]+@(?:[\w-]+\.|\d|$)|^xn--/i;

/** Composed, with a symbol that is neither of a glob nor of an address. */
const isComposedNear = (value: string): boolean => /[!#$%^&?~]/.test(value) && isComposedPassword(value);

/** A string behind another one, or two in one string: `("user", "…")`, `"user, …"`. */
const PAIR = /["'`][\w.@+-]{2,60}(?:["'`]\s{0,4},\s{0,20}["'`]|,[ \t]{0,4})([^\s"'`\\,]{8,64})["'`]/g;
const PAIR_CHARACTERS = 400;

/** Second strings of pairs around names of passwords, as in the parameters of tests. `names` are positions in order. */
export function pairsAround(text: string, names: readonly number[]): Place[] {
  if (names.length === 0) return [];
  const places: Place[] = [];
  let next = 0;
  for (const { 0: whole, 1: value = "", index } of text.matchAll(PAIR)) {
    while (next < names.length && names[next]! < index - PAIR_CHARACTERS) next++;
    if (next === names.length) break;
    if (names[next]! > index + PAIR_CHARACTERS) continue;
    if (choiceOf(value) === "strong" && !isPlaceholder(value))
      places.push({ start: index + whole.length - 1 - value.length, text: value });
  }
  return places;
}

/** Whether a value near a name is random enough to be the secret. `bits` is what an assigned one needs. */
export function looksSecretNear(value: string, bits: number, mayBeChosen = false): boolean {
  if (mayBeChosen && choiceOf(value) === "strong" && !isPlaceholder(value)) return true;
  return (
    value.length >= MIN_CHARACTERS &&
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    !ORDINARY.test(value) &&
    (randomnessBits(value) >= bits + EXTRA_BITS || isComposedNear(value)) &&
    !isPlaceholder(value)
  );
}
