/**
 * Secrets that are recognised by their name: a name that suggests a secret, an assignment, and a value that looks
 * random. Covers source code, dotenv, YAML, JSON, TOML, INI, XML, Dockerfiles, command lines and connection strings.
 */
import { classifyName, MAX_NAME_CHARACTERS } from "./names.ts";
import { valuesInBlock } from "./blocks.ts";
import { isPhrase, isSignedWords } from "./chosen.ts";
import { declaredAt, isDigestAt, pairsAround, quotedNear, valueBefore } from "./nearby.ts";
import { FOREIGN_NOUN, mayHaveForeign } from "./foreign-names.ts";
import type { Hints } from "./hints.ts";
import { NextOf } from "./next-of.ts";
import { isGivenPassword, isGivenSecret } from "./given.ts";
import { givenPlace, hasNoCode, isOwnLine, OWN_DIRECTIVE, TAKES_NAME, type Value } from "./given-place.ts";
import { isPlaceholder } from "./randomness.ts";
import { SEPARATORS } from "./separators.ts";
import type { NameClass, SecretRange } from "./types.ts";
import { isSecretNear, isSecretValue, isWords, MAX_VALUE_CHARACTERS } from "./values.ts";

/** Every name of a secret contains one of these, or of another language's. */
const NOUN = /pass|pwd|secret|token|key|auth|cred|salt|jwt|bearer|psk|mnemonic|pw|pat(?![a-z])|pepper|identified by/gi;
const ANY_NOUN = new RegExp(`${NOUN.source}|${FOREIGN_NOUN}`, "gi");

/** Every name of a password in an environment or its settings. */
const CAPITALS = /^[A-Z][A-Z\d_]*$/;
const FLAG_BEFORE =
  /(?:--|\b(?:ENV|ARG|SetEnv|setenv|fastcgi_param|setx|export|-gx|password|login|PASSWORD|define)[ \t]{1,4})$/;

/** What may precede the value itself: a string's prefix, or one call or constructor around it. */
const WRAPPER = /(?:[bBuUrRfFLN@$]{1,2}(?=["'`])|%[qQ][({[]|(?:new |\[\])?[A-Za-z][\w.:]{0,40}\(\s{0,10}(?=["'`]))?/y;
const BARE = /[^\s"'`,;<>(){}[\]\\]{1,256}/y;
const SCHEME = /^(?:(?:Bearer|Basic|Token|SSWS|ApiKey|Bot)[ \t]{1,4}|base64:|hex:|hex2bin:|django-insecure-)/i;

/** Adds the values that are assigned to names of secrets, or stand near them. Returns where the names are. */
export function findAssigned(text: string, hints: Hints, found: SecretRange[]): number[] {
  const named: number[] = [];
  const passwords: number[] = [];
  const lines = new NextOf(text, "\n");
  const quotes = new Map([`"`, `'`, "`"].map((quote) => [quote, new NextOf(text, quote)]));
  // Names repeat, and a hostile file repeats values too.
  const kinds = new Map<string, NameClass | undefined>();
  const verdicts = new Map<string, boolean>();
  let settings: boolean | undefined;
  const isSettings = (): boolean => (settings ??= hasNoCode(text));
  let nameEnd = -1;
  let blockEnd = 0;
  for (const { index } of text.matchAll(mayHaveForeign(text, hints) ? ANY_NOUN : NOUN)) {
    if (index < nameEnd) continue;
    const name = identifierAround(text, index);
    nameEnd = Math.max(name.end, index + 1);
    const kind = remembered(kinds, nameOf(text, name), classifyName);
    if (kind === undefined) continue;
    if (text[name.end] === ":" && IN_ARN.test(text.slice(Math.max(0, name.start - 2), name.end + 2))) continue;
    named.push(name.start);
    if (kind === "password") passwords.push(name.start);
    const judge = (value: Value): boolean => {
      // `credential = s256Verifier`
      if (kind === "secret" && value.quoted === false && text[value.start - 1] === " " && IDENTIFIER.test(value.text))
        return false;
      if (isDigestAt(text, value.start, value.text)) return false;
      const given = kind === "password" ? givenPlace(text, name, value, isSettings) : undefined;
      const isNamedSecret = kind === "secret" && /secret/i.test(text.slice(name.start, name.end));
      const key = `${kind} ${isNamedSecret} ${value.loose} ${value.quoted} ${value.isWhole} ${value.mayBeWords === true} ${given} ${value.text}`;
      const verdict = remembered(
        verdicts,
        key,
        () =>
          isSecretValue(value.text, kind, value.loose) ||
          (given !== undefined && isGivenPassword(value.text, given) && !isPlaceholder(value.text)) ||
          (kind === "secret" && value.mayBeWords === true && isGivenSecret(value.text, isNamedSecret)) ||
          (value.mayBeWords === true && kind === "password" && isWords(value.text)) ||
          (kind !== "key" && (value.isWhole === true || value.mayBeWords === true) && isSignedWords(value.text)) ||
          (kind === "password" && value.isWhole === true && BARE_WORDS.test(value.text) && isWords(value.text)),
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
    if (value !== undefined && judge({ ...value, loose: false, mayBeWords: value.quoted })) continue;
    if (kind !== "key") {
      if (valueBefore(text, name.start).some((place) => judge({ ...place, loose: false }))) continue;
    }
    // The quote that ends the name would begin a text.
    const from = quotes.has(text[name.end] ?? "") ? name.end + 1 : name.end;
    // What is behind the name of a credential may be a password: `NetworkCredential Proxy = new("kiosk", "…")`.
    const nearKind = kind === "secret" && /credential/i.test(text.slice(name.start, name.end)) ? "password" : kind;
    for (const near of quotedNear(text, from, lines.from(from))) {
      if (!remembered(verdicts, `${nearKind} near ${near.text}`, () => isSecretNear(near.text, nearKind))) continue;
      found.push({ start: near.start, end: near.start + near.text.length, rule: `near-${kind}` });
    }
  }
  for (const { start, text: value } of pairsAround(text, passwords))
    found.push({ start, end: start + value.length, rule: "near-password" });
  return named;
}

/** `arn:aws:secretsmanager:…:418273645510:secret:name` */
const IN_ARN = /^\d:\w+:\w$/;

/** Words that no language writes as one name: `SaintBernard_Barrel`, `Mole-Hill`. */
const BARE_WORDS = /^[A-Z][a-z]+(?:[A-Z][a-z]+)*(?:[-_][A-Z][a-z]+){1,3}$/;

/** Names whose block may hold several secrets under names of their own. */
const OF_MANY = /(?:s|creds|password|passwd|pw|pwd)$/i;
const IDENTIFIER = /^[a-z][a-z\d]{0,20}(?:[A-Z][a-z\d]{1,20}){1,8}$/;

/** Controls of forms, and what is done with their text. */
const CONTROL = /_?(?:text|edit)?(?:field|input|box|edit|entry|controller|textfield|edittext|textbox)$/i;
const INPUT = /^(?:\.(?:text|value|stringValue|setText|setValue|send_?keys|fill|type|enterText)| ?= ?Text)/i;

/** A name as it is classified. Of `API key` and `secret.key` both words count. */
function nameOf(text: string, { start, end }: { start: number; end: number }): string {
  const name = text.slice(start, end);
  if ((text[end] === "." || text.startsWith(" = Text", end)) && INPUT.test(text.slice(end, end + 12)))
    return name.replace(CONTROL, "");
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

/** What each of the separators makes the value of a name. */
function valuesAfter(
  text: string,
  name: { start: number; end: number },
  kind: NameClass,
  lines: NextOf,
  quotes: ReadonlyMap<string, NextOf>,
): Value[] {
  const values: Value[] = [];
  const isFlag = text[name.start] === "-" || FLAG_BEFORE.test(text.slice(Math.max(0, name.start - 12), name.start));
  const next = text[name.end] ?? "";
  for (const { pattern, starts, quoted, loose, words, credentials, element, comma } of SEPARATORS) {
    if (starts?.includes(next) === false) continue;
    if (credentials === true && kind !== "password" && !/credential/i.test(text.slice(name.start, name.end))) continue;
    pattern.lastIndex = name.end;
    if (!pattern.test(text)) continue;
    const value = valueAt(text, pattern.lastIndex, quoted === true, lines, quotes);
    if (value === undefined) continue;
    if (kind === "password" && !value.quoted && /[?&]/.test(text[name.start - 1] ?? ""))
      value.text = value.text.split("&", 1)[0]!;
    const isWhole = isWholeLine(text, name.start, value);
    values.push({
      ...value,
      isWhole: isWhole && loose !== true,
      isElement: element === true,
      isListed:
        comma === true &&
        kind === "password" &&
        !CAPITALS.test(text.slice(name.start, name.end)) &&
        !TAKES_NAME.test(text.slice(Math.max(0, name.start - 40), name.start)),
      isFlag,
      isSentence: words === true,
      endsLine:
        kind === "password" &&
        (value.quoted || loose !== true || isFlag || OWN_DIRECTIVE.test(text.slice(name.start, name.end))) &&
        isOwnLine(text, name.start, value),
      loose: loose === true && !isFlag && !value.quoted && !isWhole,
      mayBeWords:
        (loose !== true || isFlag || (words === true && value.quoted)) &&
        (value.quoted || (isWhole && CAPITALS.test(text.slice(name.start, name.end)))),
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
  if (text.startsWith("**", start) && !mustBeQuoted) {
    const end = text.slice(start + 2, start + MAX_VALUE_CHARACTERS).search(/\*\*|\n/);
    if (end > 0 && text[start + 2 + end] === "*")
      return { start: start + 2, text: text.slice(start + 2, start + 2 + end), quoted: true };
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

/** `[\w$-]`, and letters outside ASCII. */
function isNameCode(code: number): boolean {
  if (code > 127) return isOtherLetter(code);
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 36 || code === 45;
}

/** Letters of Latin, Greek, Cyrillic and the scripts of East Asia; neither punctuation nor full-width forms. */
function isOtherLetter(code: number): boolean {
  return (code >= 0xc0 && code < 0x600 && code !== 0xd7 && code !== 0xf7) || (code >= 0x3040 && code < 0xd7a4);
}

/** The identifier around a position, up to the maximum length of a name. */
function identifierAround(text: string, at: number): { start: number; end: number } {
  let start = at;
  while (start > 0 && at - start < MAX_NAME_CHARACTERS && isNameCode(text.charCodeAt(start - 1))) start--;
  let end = at;
  while (end < text.length && end - at < MAX_NAME_CHARACTERS && isNameCode(text.charCodeAt(end))) end++;
  return { start, end };
}
