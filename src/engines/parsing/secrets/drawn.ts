/**
 * Long random values that are recognised by what stands in front of them: a variable of an environment, a weak name, or an id that is the
 * argument before, as in `new Client("id", "…")`. Much randomness is required, because hashes and digests are as random.
 */
import { isPlaceholder, randomnessBits } from "./randomness.ts";
import type { SecretRange } from "./types.ts";

const MIN_CHARACTERS = 20;
const MAX_CHARACTERS = 200;
const MIN_BITS = 34;
const BEFORE_CHARACTERS = 140;

/** What a value consists of, from the end of a run of token characters. */
const VALUE = /[\w+/.-]{20,200}={0,2}$/;
/** In front of the value of a variable: `NAME=`, `export NAME="`, `NAME: `. */
const VARIABLE =
  /(?:^|[\n\s"'-])([A-Z][A-Z\d]{2,30}(?:_[A-Z\d]{1,30}){0,8}|[A-Z][A-Z\d]{0,2}(?:_[A-Z\d]{1,30}){1,8})["']?[ \t]{0,4}[:=][ \t]{0,4}["']?$/;
/** In front of the value of a name that is often a secret's. */
const WEAK_NAME =
  /(?:^|[^A-Za-z\d])(?:\w{0,30}[_.-]|[a-z])?(?:api|private|priv|blowfish|license|app|hmac|signing|seed|otp|otp_?seed|totp|login|webhook|enc|encryption|cipher|vault|hash_?key|sdk|account_?sid_?auth)(?:["']?[ \t]{0,4}[:=][ \t]{0,4}["']?|>)$/i;
/** In front of an argument that follows an id. */
const ID_BEFORE =
  /[\w.:$]{2,60}[( ]\s{0,20}(?:[:@]?[\w.]{1,30}\s{0,4},\s{0,20})?(["'])([\w.@:-]{4,80})\1\s{0,4},\s{0,20}["']$/;
/** What random values are too that are no secrets. */
const HARMLESS =
  /hash|sha\d?|md5|commit|\bbuild\b|\brelease$|digest|checksum|integrity|uuid|guid|etag|fingerprint|revision|\brev\b|sum\b|_id\b|\bid\b|version|public|assert|expect|equal|verify|test|site|nonce|thumbprint|certificate|cert\b|signature|blob|oid|challenge|verifier|state|websocket|contains|entry|response|nid|tree|parent|color|font|base64|encode|decode|path|url|image|icon|template|request|cursor|\bsig\b|keyid|trace/i;

/** Adds the value at the end of a run of token characters, between `start` and `end` of the text, if it is such a secret. */
export function findDrawn(text: string, start: number, end: number, found: SecretRange[]): void {
  if (end - start < MIN_CHARACTERS || end - start > MAX_CHARACTERS + 60) return;
  const run = text.slice(start, end);
  const assigned = run.search(/=[\w+/]/) + 1;
  const from = start + assigned;
  const before = text[from - 1] ?? "\n";
  if (!"=\"'` \t>".includes(before)) return;
  const value = text.slice(from, end);
  if (value.length < MIN_CHARACTERS || !VALUE.test(value) || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return;
  const isQuoted = before === '"' || before === "'";
  if (isQuoted ? text[end] !== before : !/^[\s"'`,;&|)\\<]?$/.test(text[end] ?? "")) return;
  const rule = ruleFor(text.slice(Math.max(0, from - BEFORE_CHARACTERS), from), value);
  if (rule === undefined || (value.includes("/") && !/[\d][a-z][A-Z]|[A-Z]\d[A-Za-z]/.test(value))) return;
  if (
    randomnessBits(value) < MIN_BITS ||
    isPlaceholder(value) ||
    UUID.test(value) ||
    PUBLIC.test(value) ||
    isText(value)
  )
    return;
  found.push({ start: from, end, rule });
}

/** Keys that are made for publication, digests, and ids of accounts and services with two letters in front. */
const PUBLIC = /^(?:pk[._]|sha\d{3}-|[A-Z]{2}[\da-f]{32}$)/;
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Whether a value is base64 of a text. Secrets in such a text are found apart. */
function isText(value: string): boolean {
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(value, "base64").toString("latin1"));
}

/** In front of a literal that is assigned, an argument, or a value in a map. */
const LITERAL = /(?:[\w"'\])][ \t]{0,8}(?::=|=>|[:=])|[(,])[ \t]{0,20}["']$/;
const MIN_LITERAL_CHARACTERS = 32;
const MAX_LITERAL_CHARACTERS = 100;

/** How images, certificates, signatures and documents begin in base64. */
const MAGIC = /^(?:M[CDEFI][A-Z]|iVBOR|AAAA|R0lGOD|UklGR|LS0t|PHN2|PD94|eyJ|[A-Z]{8})/;

/** Letters of both cases and digits that alternate, as only generators of keys write them: no digest in hexadecimal, no identifier. */
function isKeyLike(value: string): boolean {
  return (
    value.length >= MIN_LITERAL_CHARACTERS &&
    value.length <= MAX_LITERAL_CHARACTERS &&
    /^[A-Za-z\d][\w+-]*$/.test(value) &&
    !MAGIC.test(value) &&
    /[a-z]\d[A-Za-z]|[A-Z]\d[A-Za-z]/.test(value) &&
    /[a-z][A-Z][a-z\d]/.test(value) &&
    /[A-Z]/.test(value) &&
    (value.match(/\d/g) ?? []).length >= 3
  );
}

function ruleFor(before: string, value: string): string | undefined {
  const variable = VARIABLE.exec(before);
  if (variable !== null) return HARMLESS.test(variable[1]!.replaceAll("_", " ")) ? undefined : "drawn-variable";
  if (WEAK_NAME.test(before)) return "drawn-named";
  if (isKeyLike(value) && LITERAL.test(before) && !HARMLESS.test(before.slice(before.lastIndexOf("\n") + 1)))
    return "drawn-literal";
  if (!/["'],?\s{0,20}["']$/.test(before.slice(-24))) return undefined;
  const call = ID_BEFORE.exec(before);
  return call === null || HARMLESS.test(call[0].replaceAll("_", " ")) ? undefined : "drawn-argument";
}
