/**
 * Secrets that are recognised by their name: a name that suggests a secret, an assignment, and a value that looks
 * random. Covers source code, dotenv, YAML, JSON, TOML, INI, XML, Dockerfiles, command lines and connection strings.
 */
import { classifyName, MAX_NAME_CHARACTERS, type NameClass } from "./names.ts";
import { isComposedPassword, isPlaceholder, randomnessBits } from "./randomness.ts";
import { declaredAt, looksSecretNear, quotedNear } from "./nearby.ts";
import { NextOf } from "./next-of.ts";
import type { SecretRange } from "./types.ts";

/** Minimum length of a value, and minimum {@link randomnessBits}, to count as a secret under such a name. */
const LIMITS: Record<NameClass, { characters: number; bits: number }> = {
  password: { characters: 8, bits: 10 },
  secret: { characters: 12, bits: 14 },
  key: { characters: 20, bits: 20 },
};
/** Additional bits required of a value that is separated from its name only by a space, as in prose. */
const LOOSE_EXTRA_BITS = 10;
const LOOSE_MIN_CHARACTERS = 16;

/** Every name of a secret contains one of these. */
const NOUN = /pass|pwd|secret|token|key|auth|cred|salt|jwt|bearer|psk|mnemonic|pw|pat(?![a-z])|pepper|identified by/gi;

/** Block markers, anchors and tags of YAML, emphasis of Markdown, brackets. */
const OPEN = String.raw`\*{0,2}(?:[ \t]{0,4}\\\r?\n)?\s{0,40}(?:[|>][+-]?\s{1,40}|[&!][\w!]{1,20}[ \t]{1,4}|<<[~-]?["']?\w{1,20}["']?[.\w]{0,20}\s{0,4}\n\s{0,20})?(?:[({]|<(?:code|b|strong|kbd|tt|em)>|\[{0,2})\s{0,40}`;
/** What may come between a name and its value. Each pattern is bounded, so that the time is linear in the file's size. */
const SEPARATORS: readonly { pattern: RegExp; quoted?: boolean; loose?: boolean; after?: RegExp }[] = [
  // `name: type = value`
  { pattern: new RegExp(String.raw`\s{0,4}[!?]?:\s{0,4}[A-Za-z_&][\w.<>|\[\]&' ?]{0,40}=${OPEN}`, "y"), quoted: true },
  // `"name": "DB_PASSWORD", "value": …`, `- name: DB_PASSWORD` and `value: …` on the next line
  { pattern: /["']?\s{0,4},?\s{0,80}["']?[vV]alue["']?\s{0,4}[:=]\s{0,10}/y },
  // `name = value`, `name: value`, `["name"] => value`, `name := value`, `name ||= value`, `name == value`
  { pattern: new RegExp(String.raw`["'\x60\])\\*]{0,3}\s{0,40}(?:=>|[:?|!=+]{0,3}=|:(?!:))${OPEN}`, "y") },
  // `name string = value`, `name As String = value`, `name[] = value`, `Name { get; set; } = value`
  {
    pattern:
      /(?:[ \t]{1,4}(?:As[ \t]{1,4})?[A-Za-z]\w{0,20}|\[\w{0,8}\]|[ \t]{0,4}\{[^{}\n]{0,40}\})[ \t]{0,4}=(?!=)\s{0,20}/y,
    quoted: true,
  },
  // `setName("value")`, `.name("value")`, `NAME('value')`
  { pattern: /\([ \t]{0,4}/y, quoted: true },
  // `define('NAME', value)`, `setenv("NAME", value)`, `os.environ.get("NAME", value)`
  { pattern: /["'`]\s{0,10},\s{0,40}/y, quoted: true },
  // `<add key="Name" value="…"/>`
  { pattern: /["']\s{1,20}(?:value|content)\s{0,4}=\s{0,4}/y, quoted: true },
  // `<password>…</password>`, `<key>Password</key><string>…</string>`, `<entry key="password"><value>…`, `<pass encoding="…">…`
  {
    pattern:
      /(?:<\/[\w:.-]{1,30}|["']?(?:[ \t][^<>\n]{0,80}["'\w])?)>\s{0,40}(?:<[\w:.-]{1,30}(?:\s[^<>\n]{0,60})?>\s{0,40}){0,3}(?:<!\[CDATA\[)?/y,
  },
  // A heading, and the value in a block of code below it; `token → value`
  {
    pattern:
      /(?:[*_:]{0,3}(?:<\/\w{1,10}>){0,2}\s{0,10}\n\s{0,10}(?:`{3}\w{0,10}\s{0,10}\n\s{0,10}|`)|[ \t]{1,4}(?:→|⇒|➜|->|—|–)[ \t]{1,4})/y,
    loose: true,
  },
  // `The password is value`
  { pattern: /[ \t](?:is|was)(?: now| set to)?:?[ \t]{1,4}/y, loose: true },
  // `--password value`, `ENV NAME value`, `machine … password value`, `X-Api-Key value`
  { pattern: /["'`]?[ \t]{1,8}/y, loose: true },
];
const FLAG_BEFORE = /(?:--|\b(?:ENV|ARG|setx|export|-gx|password|login|PASSWORD)[ \t]{1,4})$/;

/** What may precede the value itself: a string's prefix, or one call or constructor around it. */
const WRAPPER = /(?:[bBuUrRfFLN@$]{1,2}(?=["'`])|%[qQ][({[]|(?:new |\[\])?[A-Za-z][\w.]{0,40}\(\s{0,10}(?=["'`]))?/y;
const BARE = /[^\s"'`,;<>(){}[\]\\]{1,256}/y;
const SCHEME = /^(?:(?:Bearer|Basic|Token|SSWS|ApiKey|Bot)[ \t]{1,4}|base64:|hex:|hex2bin:|django-insecure-)/i;
/** Longer values are judged by this many leading characters. */
const MAX_VALUE_CHARACTERS = 256;

/** Adds the values that are assigned to names of secrets, or stand near them. Returns where the names are. */
export function findAssigned(text: string, found: SecretRange[]): number[] {
  const named: number[] = [];
  const lines = new NextOf(text, "\n");
  const quotes = new Map([`"`, `'`, "`"].map((quote) => [quote, new NextOf(text, quote)]));
  // Names repeat, and a hostile file repeats values too.
  const kinds = new Map<string, NameClass | undefined>();
  const verdicts = new Map<string, boolean>();
  let nameEnd = -1;
  for (const { index } of text.matchAll(NOUN)) {
    if (index < nameEnd) continue;
    const name = identifierAround(text, index);
    nameEnd = Math.max(name.end, index + 1);
    const kind = remembered(kinds, nameOf(text, name), classifyName);
    if (kind === undefined) continue;
    named.push(name.start);
    const judge = (value: Value): boolean => {
      const key = `${kind} ${value.loose} ${value.text}`;
      const verdict = remembered(verdicts, key, () => isSecretValue(value.text, kind, value.loose));
      if (verdict) found.push({ start: value.start, end: value.start + value.text.length, rule: `assigned-${kind}` });
      return verdict;
    };
    if (valuesAfter(text, name, lines, quotes).some(judge)) continue;
    const declared = kind === "key" ? undefined : declaredAt(text, name.end);
    const value = declared === undefined ? undefined : valueAt(text, declared, false, lines, quotes);
    if (value !== undefined && judge({ ...value, loose: false })) continue;
    for (const near of quotedNear(text, name.end, lines.from(name.end))) {
      if (!remembered(verdicts, `${kind} near ${near.text}`, () => isSecretNear(near.text, kind))) continue;
      found.push({ start: near.start, end: near.start + near.text.length, rule: `near-${kind}` });
    }
  }
  return named;
}

/** A name as it is classified. Of `API key` and `secret.key` both words count. */
function nameOf(text: string, { start, end }: { start: number; end: number }): string {
  const name = text.slice(start, end);
  if (!/^keys?$/i.test(name)) return name;
  const before = /([A-Za-z]{2,16})[ .]$/.exec(text.slice(Math.max(0, start - 18), start))?.[1];
  return before === undefined ? name : `${before} ${name}`;
}

function remembered<T>(known: Map<string, T>, key: string, compute: (key: string) => T): T {
  const before = known.get(key);
  if (before !== undefined || known.has(key)) return before as T;
  const made = compute(key);
  known.set(key, made);
  return made;
}

interface Value {
  start: number;
  text: string;
  /** Only a space separates name and value. */
  loose: boolean;
}

/** What each of the separators makes the value of a name. */
function valuesAfter(
  text: string,
  name: { start: number; end: number },
  lines: NextOf,
  quotes: ReadonlyMap<string, NextOf>,
): Value[] {
  const values: Value[] = [];
  for (const { pattern, quoted, loose } of SEPARATORS) {
    pattern.lastIndex = name.end;
    if (!pattern.test(text)) continue;
    const isLoose = loose === true && !FLAG_BEFORE.test(text.slice(Math.max(0, name.start - 12), name.start));
    const value = valueAt(text, pattern.lastIndex, quoted === true, lines, quotes);
    if (value === undefined) continue;
    values.push({ ...value, loose: isLoose && !value.quoted && !isWholeLine(text, name.start, value) });
  }
  return values;
}

/** Whether a line is only a name and its value, as in many configuration files. */
function isWholeLine(text: string, nameStart: number, value: { start: number; text: string }): boolean {
  const end = value.start + value.text.length;
  const before = text.slice(Math.max(0, nameStart - 20), nameStart);
  return /(?:^|\n)[ \t]{0,20}$/.test(before) && /^[ \t]{0,4}(?:\r?\n|$)/.test(text.slice(end, end + 6));
}

function valueAt(
  text: string,
  at: number,
  mustBeQuoted: boolean,
  lines: NextOf,
  quotes: ReadonlyMap<string, NextOf>,
): { start: number; text: string; quoted: boolean } | undefined {
  WRAPPER.lastIndex = at;
  let start = WRAPPER.test(text) ? WRAPPER.lastIndex : at;
  const quote = quotes.get(text[start] ?? "");
  if (quote !== undefined) {
    // `"""` opens as one quote; a backslash before a quote in a string within a string belongs to it.
    while (quotes.get(text[start] ?? "") === quote) start++;
    if (text[start] === "\\" && quotes.has(text[start + 1] ?? "")) start += 2;
    const end = Math.min(quote.from(start), lines.from(start), start + MAX_VALUE_CHARACTERS);
    return withoutScheme(start, text.slice(start, text[end - 1] === "\\" ? end - 1 : end), true);
  }
  if (text.startsWith('\\"', start)) start += 2;
  else if (mustBeQuoted) return undefined;
  const bare = bareAt(text, start);
  // A call or an index expression, not a value.
  if (bare === undefined || text[start + bare.length] === "(" || text[start + bare.length] === "[") return undefined;
  if (/^(?:Bearer|Basic|Token|SSWS)$/i.test(bare)) {
    const rest = bareAt(text, start + bare.length + 1);
    return rest === undefined ? undefined : { start: start + bare.length + 1, text: rest, quoted: false };
  }
  return withoutScheme(start, bare, false);
}

function bareAt(text: string, at: number): string | undefined {
  BARE.lastIndex = at;
  return BARE.test(text) ? text.slice(at, BARE.lastIndex) : undefined;
}

function withoutScheme(start: number, text: string, quoted: boolean): { start: number; text: string; quoted: boolean } {
  const scheme = SCHEME.exec(text)?.[0].length ?? 0;
  return { start: start + scheme, text: text.slice(scheme), quoted };
}

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
/** Regular expressions and escaped bytes look random by their symbols; text with spaces is prose or code. */
const PATTERN =
  /\s|^[^A-Za-z]*$|^[A-Z]+(?:_[A-Z]+)+$|\\r\\n|(?:%[\dA-F]{2}){3}|\\[dwsbDWSB]|\[\^?[a-zA-Z\d]-[a-zA-Z\d]|\{\d{1,4},\d{0,4}\}|\(\?[:=!<]/;
/** References to where a value is stored, rather than the value. */
const REFERENCE =
  /^(?:[a-z][a-z\d+.-]{0,20}:\/\/|arn:|ssm:|vault:|op:|secretsmanager|projects\/|[A-Za-z]:\\|@Microsoft|!(?:vault|ref|sub|getatt|secret|env)|urn:|data:|magnet:|#[\da-f]{3,8}$|\$\w{1,60}$|\$[({]|%[A-Z_]{2,40}%|sha(?:256|384|512)-|0x[\da-f]{40}$)/i;
/** Paths, formats and code, unless they look so random that they can be neither. */
const TEXT_LIKE = /^(?:\.{0,2}|~)\/|^\$[A-Za-z_]|^[{[].{0,200}["']|=>|&&|\|\||\.\*|%[sdvif]\b|\w\(\w{0,20}\)/;
const TEXT_LIKE_BITS = 30;

/** Whether a value that is assigned to such a name is the secret itself. */
export function isSecretValue(value: string, kind: NameClass, isLoose = false): boolean {
  // The patterns come last, because they cost most.
  return value.length >= LIMITS[kind].characters && isRandom(value, kind, isLoose) && !isNoValue(value);
}

/** Whether a value near such a name is the secret itself. */
function isSecretNear(value: string, kind: NameClass): boolean {
  const decoded = decodeBase64(value);
  const { characters, bits } = LIMITS[kind];
  if (value.length < characters || isNoValue(value)) return false;
  return looksSecretNear(decoded === undefined ? value : withoutUser(decoded), bits);
}

function isNoValue(value: string): boolean {
  return REFERENCE.test(value) || PATTERN.test(value) || isPlaceholder(value);
}

function isRandom(value: string, kind: NameClass, isLoose: boolean): boolean {
  if (UUID.test(value)) return !isLoose && randomnessBits(value.replaceAll("-", "")) > 0;
  const decoded = decodeBase64(value);
  if (decoded !== undefined) return isSecretValue(withoutUser(decoded), kind === "key" ? "key" : "password", isLoose);
  const { bits } = LIMITS[kind];
  const found = randomnessBits(value);
  if (kind === "password" && (!isLoose || found >= bits) && isComposedPassword(value)) return true;
  if (!isLoose) return found >= bits && (found >= TEXT_LIKE_BITS || !TEXT_LIKE.test(value));
  if (found < bits + LOOSE_EXTRA_BITS || value.length < LOOSE_MIN_CHARACTERS || !/\d/.test(value)) return false;
  return found >= TEXT_LIKE_BITS || !TEXT_LIKE.test(value);
}

/** The password of `user:password`, as headers and docker's configuration encode it. */
function withoutUser(text: string): string {
  return /^[^:\s]{1,100}:([^\s]{4,})$/.exec(text)?.[1] ?? text;
}

/** The text that a value encodes in base64; undefined if it is not printable. */
export function decodeBase64(value: string): string | undefined {
  if (value.length < 8 || value.length > MAX_VALUE_CHARACTERS || !/^[\w+/-]+={0,2}$/.test(value)) return undefined;
  const decoded = Buffer.from(value, "base64").toString("latin1");
  return /^[\t\n\r\x20-\x7e]{4,}$/.test(decoded) ? decoded : undefined;
}

/** `[\w$-]` */
function isNameCode(code: number): boolean {
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 36 || code === 45;
}

/** The identifier around a position, up to the maximum length of a name. */
function identifierAround(text: string, at: number): { start: number; end: number } {
  let start = at;
  while (start > 0 && at - start < MAX_NAME_CHARACTERS && isNameCode(text.charCodeAt(start - 1))) start--;
  let end = at;
  while (end < text.length && end - at < MAX_NAME_CHARACTERS && isNameCode(text.charCodeAt(end))) end++;
  return { start, end };
}
