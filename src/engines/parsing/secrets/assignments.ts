/**
 * Secrets that are recognised by their name: a name that suggests a secret, an assignment, and a value that looks
 * random. Covers source code, dotenv, YAML, JSON, TOML, INI, XML, Dockerfiles, command lines and connection strings.
 */
import { classifyName, MAX_NAME_CHARACTERS, type NameClass } from "./names.ts";
import { isComposedPassword, isPlaceholder, randomnessBits } from "./randomness.ts";
import { valuesInBlock } from "./blocks.ts";
import { choiceOf, isChosenWords, isPhrase } from "./chosen.ts";
import { declaredAt, looksSecretNear, pairsAround, quotedNear, valueBefore } from "./nearby.ts";
import { NextOf } from "./next-of.ts";
import { SEPARATORS } from "./separators.ts";
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

/** Every name of a password in an environment or its settings. */
const CAPITALS = /^[A-Z][A-Z\d_]*$/;
const FLAG_BEFORE = /(?:--|\b(?:ENV|ARG|setx|export|-gx|password|login|PASSWORD|define)[ \t]{1,4})$/;

/** What may precede the value itself: a string's prefix, or one call or constructor around it. */
const WRAPPER = /(?:[bBuUrRfFLN@$]{1,2}(?=["'`])|%[qQ][({[]|(?:new |\[\])?[A-Za-z][\w.]{0,40}\(\s{0,10}(?=["'`]))?/y;
const BARE = /[^\s"'`,;<>(){}[\]\\]{1,256}/y;
const SCHEME = /^(?:(?:Bearer|Basic|Token|SSWS|ApiKey|Bot)[ \t]{1,4}|base64:|hex:|hex2bin:|django-insecure-)/i;
/** Longer values are judged by this many leading characters. */
const MAX_VALUE_CHARACTERS = 256;

/** Adds the values that are assigned to names of secrets, or stand near them. Returns where the names are. */
export function findAssigned(text: string, found: SecretRange[]): number[] {
  const named: number[] = [];
  const passwords: number[] = [];
  const lines = new NextOf(text, "\n");
  const quotes = new Map([`"`, `'`, "`"].map((quote) => [quote, new NextOf(text, quote)]));
  // Names repeat, and a hostile file repeats values too.
  const kinds = new Map<string, NameClass | undefined>();
  const verdicts = new Map<string, boolean>();
  let nameEnd = -1;
  let blockEnd = 0;
  for (const { index } of text.matchAll(NOUN)) {
    if (index < nameEnd) continue;
    const name = identifierAround(text, index);
    nameEnd = Math.max(name.end, index + 1);
    const kind = remembered(kinds, nameOf(text, name), classifyName);
    if (kind === undefined) continue;
    named.push(name.start);
    if (kind === "password") passwords.push(name.start);
    const judge = (value: Value): boolean => {
      // `credential = s256Verifier`
      if (kind === "secret" && value.quoted === false && text[value.start - 1] === " " && IDENTIFIER.test(value.text))
        return false;
      const key = `${kind} ${value.loose} ${value.mayBeWords === true} ${value.text}`;
      const verdict = remembered(
        verdicts,
        key,
        () =>
          isSecretValue(value.text, kind, value.loose) ||
          (value.mayBeWords === true && kind === "password" && isWords(value.text)),
      );
      if (verdict) found.push({ start: value.start, end: value.start + value.text.length, rule: `assigned-${kind}` });
      return verdict;
    };
    if (kind !== "key" && name.start >= blockEnd && OF_MANY.test(text.slice(name.start, name.end))) {
      const block = valuesInBlock(text, name.end);
      blockEnd = block.end;
      for (const place of block.places)
        if (isSecretNear(place.text, "password"))
          found.push({ start: place.start, end: place.start + place.text.length, rule: `near-${kind}` });
    }
    if (valuesAfter(text, name, kind, lines, quotes).some(judge)) continue;
    const phrase =
      kind === "password" && /phrase|psk/i.test(text.slice(name.start, name.end))
        ? phraseAt(text, name.end)
        : undefined;
    if (phrase !== undefined && isPhrase(phrase.text)) {
      found.push({ start: phrase.start, end: phrase.start + phrase.text.length, rule: "assigned-password" });
      continue;
    }
    const declared = kind === "key" ? undefined : declaredAt(text, name.end);
    const value = declared === undefined ? undefined : valueAt(text, declared, false, lines, quotes);
    if (value !== undefined && judge({ ...value, loose: false })) continue;
    if (kind !== "key") {
      if (valueBefore(text, name.start).some((place) => judge({ ...place, loose: false }))) continue;
    }
    // The quote that ends the name would begin a text.
    const from = quotes.has(text[name.end] ?? "") ? name.end + 1 : name.end;
    for (const near of quotedNear(text, from, lines.from(from))) {
      if (!remembered(verdicts, `${kind} near ${near.text}`, () => isSecretNear(near.text, kind))) continue;
      found.push({ start: near.start, end: near.start + near.text.length, rule: `near-${kind}` });
    }
  }
  for (const { start, text: value } of pairsAround(text, passwords))
    found.push({ start, end: start + value.length, rule: "near-password" });
  return named;
}

/** Names whose block may hold several secrets under names of their own. */
const OF_MANY = /(?:s|creds|password|passwd|pw|pwd)$/i;
const IDENTIFIER = /^[a-z][a-z\d]{0,20}(?:[A-Z][a-z\d]{1,20}){1,8}$/;

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
  quoted?: boolean;
  /** Whether it is quoted behind a sign of assignment. */
  mayBeWords?: boolean;
}

/** What each of the separators makes the value of a name. */
function valuesAfter(
  text: string,
  name: { start: number; end: number },
  kind: NameClass,
  lines: NextOf,
  quotes: ReadonlyMap<string, NextOf>,
): Value[] {
  const values: Value[] = [];
  for (const { pattern, quoted, loose, credentials } of SEPARATORS) {
    if (credentials === true && kind !== "password" && !/credential/i.test(text.slice(name.start, name.end))) continue;
    pattern.lastIndex = name.end;
    if (!pattern.test(text)) continue;
    const isFlag = text[name.start] === "-" || FLAG_BEFORE.test(text.slice(Math.max(0, name.start - 12), name.start));
    const value = valueAt(text, pattern.lastIndex, quoted === true, lines, quotes);
    if (value === undefined) continue;
    const isWhole = isWholeLine(text, name.start, value);
    values.push({
      ...value,
      loose: loose === true && !isFlag && !value.quoted && !isWhole,
      mayBeWords:
        (loose !== true || isFlag) && (value.quoted || (isWhole && CAPITALS.test(text.slice(name.start, name.end)))),
    });
  }
  return values;
}

/** Words to the end of the line, as a pass phrase stands without quotes. */
const PHRASE_LINE = /["']?[ \t]{0,4}[:=][ \t]{0,4}([A-Za-z\d ]{12,80})\r?$/my;

function phraseAt(text: string, from: number): { start: number; text: string } | undefined {
  PHRASE_LINE.lastIndex = from;
  const words = PHRASE_LINE.exec(text)?.[1];
  return words === undefined ? undefined : { start: PHRASE_LINE.lastIndex - words.length, text: words };
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
  if (value.length < LIMITS[kind].characters && !(kind === "secret" && value.length >= MIN_CHOSEN_SECRET)) return false;
  if (value.length >= LIMITS[kind].characters && isRandom(value, kind, isLoose) && !isNoValue(value)) return true;
  return isChosen(value, kind, isLoose);
}

/** Whether a value that is assigned to a password's name is one of words alone. */
function isWords(value: string): boolean {
  return (isChosenWords(value) || isPhrase(value)) && !REFERENCE.test(value) && !isPlaceholder(value);
}

/** Secrets other than passwords are seldom chosen, so that those must be longer. */
const MIN_CHOSEN_SECRET = 10;

/** Whether a person may have chosen a value for such a name. */
function isChosen(value: string, kind: NameClass, isLoose: boolean): boolean {
  if (isLoose && kind !== "password") return false;
  if (kind === "key" || (kind === "secret" && value.length < MIN_CHOSEN_SECRET)) return false;
  const choice = choiceOf(value);
  if (choice === "none" || (choice === "weak" && (isLoose || kind === "secret"))) return false;
  return decodeBase64(value) === undefined && !isNoValue(value);
}

/** Whether a value near such a name is the secret itself. */
function isSecretNear(value: string, kind: NameClass): boolean {
  const decoded = decodeBase64(value);
  const { characters, bits } = LIMITS[kind];
  if (value.length < characters || isNoValue(value)) return false;
  return looksSecretNear(decoded === undefined ? value : withoutUser(decoded), bits, kind === "password");
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
