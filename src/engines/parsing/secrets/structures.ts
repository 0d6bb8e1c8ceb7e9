/** Secrets that are recognised by the surrounding text: key blocks, URLs, headers, manifests and credential files. */
import { isPlaceholder, randomnessBits } from "./randomness.ts";
import { valuesInBlock } from "./blocks.ts";
import { isGivenPassword } from "./given.ts";
import { choiceOf, isSignedWords } from "./chosen.ts";
import type { Hints } from "./hints.ts";
import { looksSecretNear, quotedNear } from "./nearby.ts";
import { findKubernetesSecrets } from "./manifests.ts";
import { NextOf } from "./next-of.ts";
import { isPassword, MIN_PASSWORD_BITS, MIN_PASSWORD_CHARACTERS } from "./passwords.ts";
import { PASSWORD_PLACES } from "./places.ts";
import type { SecretRange } from "./types.ts";
import { decodeBase64 } from "./values.ts";

/** Minimum evidence for a user name in a URL to count as a token. */
const MIN_USER_CHARACTERS = 16;
const MIN_USER_BITS = 16;

/** Adds all secrets of this kind. */
export function findStructured(text: string, hints: Hints, found: SecretRange[]): void {
  if (hints.hasOne(["BEGIN", "PuTTY", "RWRTY0Iy"])) findKeyBlocks(text, found);
  if (hints.hasOne(["://"])) findUrlCredentials(text, found);
  for (const { rule, hints: needed, pattern, strict, words, maxCharacters } of PASSWORD_PLACES) {
    if (
      (maxCharacters !== undefined && text.length > maxCharacters) ||
      !(pattern.ignoreCase ? hints.mayHaveOne(needed) : hints.hasOne(needed))
    )
      continue;
    for (const match of text.matchAll(pattern)) {
      const password = match[1]!;
      if (
        strict === true
          ? !password.includes("=") && looksSecretNear(password, MIN_PASSWORD_BITS, true)
          : isPassword(password, words === true ? "setting" : "joined")
      )
        add(found, match.index + match[0].lastIndexOf(password), password.length, rule);
    }
  }
  if (hints.hasOne(["sers", "SERS", "ccounts", "ogins"])) findAccounts(text, found);
  if (hints.hasOne(["asic"])) findBasicCredentials(text, found);
  if (hints.hasOne(["Secret"])) findKubernetesSecrets(text, found);
  findArguments(text, hints.mayHave("SecureString"), found);
  if (hints.mayHave("key")) findBareKeys(text, found);
  if (hints.hasOne(KEY_HINTS)) findKeysInProse(text, found);
  if (hints.hasOne(["SecureString"])) findSecureStrings(text, found);
  if (hints.hasOne(["kty"])) findJsonWebKeys(text, found);
  if (hints.mayHave("mnemonic") || hints.mayHave("phrase")) findMnemonics(text, found);
}

function add(found: SecretRange[], start: number, length: number, rule: string): void {
  found.push({ start, end: start + length, rule });
}

const BLOCK_HEADER =
  /-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}|-{5}BEGIN OpenVPN Static key V1-{5}|PuTTY-User-Key-File-\d:|RWRTY0Iy[A-Za-z0-9+/]{100,250}={0,2}/g;
/** Between header and key: line breaks (also escaped or joined in source code), and the headers of an encrypted key. */
const BLOCK_START = /(?:[\s"'+,\\.]|\\[nr]|[\w-]{3,20}: ?[^\n\\]{1,100}(?:\n|\\n)){0,60}?[A-Za-z0-9+/=]{16}/y;
const MAX_BLOCK_CHARACTERS = 32_768;
/** Examples in documentation leave out what comes after the first line of a key. */
const ELIDED = /(?:^|\n|\\n)[ \t#*|-]{0,20}(?:\[?\.{3}\]?|…)[ \t]{0,8}(?:\r?\n|\\n|$)/;
const ELIDED_CHARACTERS = 2_000;

/** PEM, OpenSSH, PGP and PuTTY private keys, to the end of their block. */
function findKeyBlocks(text: string, found: SecretRange[]): void {
  let done = 0;
  const privateLines = new NextOf(text, "Private-Lines:");
  const footers = new NextOf(text, "END ");
  for (const match of text.matchAll(BLOCK_HEADER)) {
    if (match.index < done) continue;
    const bodyAt = match.index + match[0].length;
    let end = bodyAt;
    if (match[0].startsWith("PuTTY")) {
      if (privateLines.from(bodyAt) > bodyAt + MAX_BLOCK_CHARACTERS) continue;
      const block = text.slice(bodyAt, bodyAt + MAX_BLOCK_CHARACTERS);
      const mac = block.indexOf("Private-MAC");
      end += mac === -1 ? block.length : mac;
    } else if (match[0].includes("BEGIN")) {
      BLOCK_START.lastIndex = bodyAt;
      const start = BLOCK_START.exec(text);
      if (start === null) continue;
      end = Math.min(footers.from(bodyAt), bodyAt + MAX_BLOCK_CHARACTERS, text.length);
      if (ELIDED.test(text.slice(bodyAt, Math.min(end, bodyAt + ELIDED_CHARACTERS)))) continue;
    }
    done = end;
    add(found, match.index, end - match.index, "private-key");
  }
}

const AUTHORITY = /:\/\/([^\s:@/"'`<>{}()|\\]{0,200})(?::([^\s@/"'`<>|\\]{3,300}))?@(?=[\w[{$-])/g;

/** `scheme://user:password@host` and `scheme://token@host`. */
function findUrlCredentials(text: string, found: SecretRange[]): void {
  for (const match of text.matchAll(AUTHORITY)) {
    const [whole, user = "", password] = match;
    if (password !== undefined) {
      if (
        isPassword(unescaped(password), user === password ? "joined" : "setting") ||
        (isGiven(password) && HOSTED.test(text.slice(match.index + whole.length, match.index + whole.length + 120)))
      )
        add(found, match.index + whole.length - 1 - password.length, password.length, "url-credentials");
      continue;
    }
    if (
      user.length >= MIN_USER_CHARACTERS &&
      /^[\w.=+-]*$/.test(user) &&
      !isPlaceholder(user) &&
      randomnessBits(user) >= MIN_USER_BITS
    )
      add(found, match.index + 3, user.length, "url-credentials");
  }
}

/** Hosts of networks and services where nobody tries out a client: whatever stands in front of them is a password. */
const HOSTED =
  /^(?:10|192\.168|172\.\d\d)\.\d{1,3}\.|^[\w.-]{1,100}\.(?:mongodb\.net|amazonaws\.com|azure\.com|windows\.net|azure-api\.net|neon\.tech|supabase\.co|cloudamqp\.com|redislabs\.com|redis-cloud\.com|rediscloud\.com|upstash\.io|render\.com|railway\.app|rlwy\.net|aivencloud\.com|digitalocean\.com|elephantsql\.com|planetscale\.com|psdb\.cloud|cockroachlabs\.cloud|mlab\.com|elastic-cloud\.com|es\.io|heroku\.com|ngrok\.io)\b/;

/** Whether something is given for a password, instead of a word for one. */
function isGiven(password: string): boolean {
  return (
    password.length >= MIN_PASSWORD_CHARACTERS &&
    /^[\w!#%&*+.~-]+$/.test(password) &&
    !isPlaceholder(password) &&
    !/pass|pwd|user|secret|^\*+$/i.test(password)
  );
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `Basic` with the base64 of `user:password`, and the `auth` of docker's configuration. */
function findBasicCredentials(text: string, found: SecretRange[]): void {
  for (const match of text.matchAll(/\b[Bb]asic[ \t]{1,4}([\w+/-]{8,600}={0,2})/g)) {
    const encoded = match[1]!;
    const password = /^[^:\s]{0,100}:(.{1,300})$/.exec(decodeBase64(encoded) ?? "")?.[1];
    if (password !== undefined && isPassword(password))
      add(found, match.index + match[0].length - encoded.length, encoded.length, "basic-credentials");
  }
}

/** Names of users and their passwords: `users: { admin: "…" }`. */
function findAccounts(text: string, found: SecretRange[]): void {
  let done = 0;
  for (const { 0: name, index } of text.matchAll(/(?:\b|_)(?:users|accounts|logins)\b/gi)) {
    if (index < done) continue;
    const { places, end } = valuesInBlock(text, index + name.length);
    done = end;
    for (const { start, text: value } of places)
      if (choiceOf(value) === "strong" && !isPlaceholder(value)) add(found, start, value.length, "accounts");
  }
}

/** Calls with a password or a key among their arguments, which have no names. */
const CALL =
  /(?:connect|connection|login|basic|create_?async|password_?hash|hashsync|hashpw|bcrypt\.hash|make_password|password_?encoder\.encode|auth=?|authenticate|authentication|credentials?|cookie_?store|sign|verify|signwith|signedstring|hmac|hmac\.(?:new|(?:hex)?digest)|serializer|cipher|cipheriv|encrypt|decrypt|superuser|create_?user|pdo|mysqli|sequelize|fernet|ftp|secretkeyspec|aes\.new|wifi\.begin|securestring)$/i;
const CALL_CHARACTERS = 24;
/** The last two letters of those names, so that most calls are passed over at a glance. */
const CALL_ENDS = new Set(
  "ct on in ic nc sh pw rd de th h= te al ls re gn fy ac ew st er iv pt do li ze et tp ec ng".split(" "),
);

/** A password that was chosen needs no capital or symbol as an argument behind another one, such as a user's name. */
function isChosenArgument(value: string): boolean {
  return value.length >= MIN_CHOSEN_ARGUMENT && choiceOf(value) === "weak" && !isPlaceholder(value);
}

const MIN_CHOSEN_ARGUMENT = 10;

/** Those whose password a person may have chosen. */
const LOGIN =
  /connect|login|auth|credential|user|pdo|mysqli|sequelize|ftp|wifi|securestring|basic|async|sign(?!ed|w)|cipher|hash|make_password|encode/i;

/** Those with a password behind a user, and those with nothing else. */
const CONNECTION =
  /connect(?:ion)?$|mysqli$|pdo$|login$|ftp$|credentials$|networkcredential$|basic_?auth$|wifi\.begin$|passwordauthentication$/i;
const ONLY_PASSWORD = /^auth$|[sS]ecure[sS]tring$/;

function findArguments(text: string, hasSecureStrings: boolean, found: SecretRange[]): void {
  const lines = new NextOf(text, "\n");
  for (let open = text.indexOf("("); open !== -1; open = text.indexOf("(", open + 1)) {
    if (!CALL_ENDS.has(text.slice(open - 2, open).toLowerCase())) continue;
    const name = CALL.exec(text.slice(Math.max(0, open - CALL_CHARACTERS), open))?.[0];
    if (name !== undefined) judgeArguments(text, open + 1, lines, name, found);
  }
  if (!hasSecureStrings) return;
  // PowerShell separates arguments by spaces.
  for (const { 0: name, index } of text.matchAll(/SecureString[ \t]/g)) {
    const from = index + name.length;
    judgeArguments(text, from, lines, "SecureString", found);
    for (const { start, text: value } of quotedNear(text, from, lines.from(from)))
      if (isGivenPassword(value, "quoted") && !isPlaceholder(value)) add(found, start, value.length, "argument");
  }
}

function judgeArguments(text: string, from: number, lines: NextOf, call: string, found: SecretRange[]): void {
  const mayBeChosen = LOGIN.test(call);
  for (const { start, text: value } of quotedNear(text, from, lines.from(from))) {
    if (UUID.test(value)) continue;
    const isLater = text.slice(from, start).includes(",");
    if (
      looksSecretNear(value, MIN_PASSWORD_BITS, mayBeChosen) ||
      (mayBeChosen && isLater && (isChosenArgument(value) || isSignedWords(value))) ||
      (((isLater && CONNECTION.test(text.slice(Math.max(0, from - CALL_CHARACTERS), from - 1))) ||
        ONLY_PASSWORD.test(call)) &&
        isGivenPassword(value, "joined") &&
        !isPlaceholder(value))
    )
      add(found, start, value.length, "argument");
  }
}

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** `key: "…"` and `keys: ["…", "…"]`: the name says little, so that much randomness is required. */
const MIN_BARE_KEY_BITS = 36;
const BARE_KEY =
  /(?<![\w-])["']?keys?["']?\s{0,4}(?:=>|[:=])\s{0,4}\[?\s{0,8}["']([\w+/=-]{24,128})["'](?:\s{0,4},\s{0,8}["']([\w+/=-]{24,128})["'])?/gi;

const KEY_HINTS = ["ey is ", "ey for ", "ey of ", "--key ", "--key=", "icense is ", "icense for ", "icense of "];
/** `the key of the sandbox is "…"`, `--key …` */
const KEY_IN_PROSE =
  /(?:(?:[kK]ey|[lL]icense)\b[^\n"'`=(){}[\]<>;]{1,60}["`]|(?<![\w-])--key[ =]["']?)([\w+/-]{24,128}={0,2})(?=["`'\s]|$)/g;

function findKeysInProse(text: string, found: SecretRange[]): void {
  for (const { 0: whole, 1: key = "", index } of text.matchAll(KEY_IN_PROSE))
    if (
      /\d/.test(key) &&
      /[a-z]\w{0,128}[A-Z]|[A-Z]\w{0,128}[a-z]|[G-Z]/.test(key) &&
      !isPlaceholder(key) &&
      randomnessBits(key) >= MIN_BARE_KEY_BITS
    )
      add(found, index + whole.length - key.length, key.length, "bare-key");
}

function findBareKeys(text: string, found: SecretRange[]): void {
  for (const match of text.matchAll(BARE_KEY))
    for (const key of [match[1]!, match[2] ?? ""])
      if (/\d/.test(key) && /[A-Za-z]/.test(key) && !isPlaceholder(key) && randomnessBits(key) >= MIN_BARE_KEY_BITS)
        add(found, match.index + match[0].indexOf(key), key.length, "bare-key");
}

/** Parameters that are declared as `SecureString`, whatever their names are. */
const SECURE_STRING =
  /\btype["']?\s{0,8}[:=]\s{0,8}["']?SecureString["']?(?:[^{}\n]{0,200}\n){0,4}?[^{}\n]{0,40}?\bvalue["']?\s{0,8}[:=]\s{0,8}["']([^"'\n]{8,300})["']/gi;

function findSecureStrings(text: string, found: SecretRange[]): void {
  for (const { 0: whole, 1: value = "", index } of text.matchAll(SECURE_STRING))
    if (isPassword(value)) add(found, index + whole.length - 1 - value.length, value.length, "argument");
}

const JWK_AROUND = 3_000;

/** Private members of JSON Web Keys: `d` of asymmetric keys, `k` of symmetric ones. */
function findJsonWebKeys(text: string, found: SecretRange[]): void {
  for (const match of text.matchAll(/(?<!\w)["']?[dk]["']?\s{0,4}:\s{0,4}["']([\w-]{20,2000})["']/g)) {
    const around = text.slice(Math.max(0, match.index - JWK_AROUND), match.index + JWK_AROUND);
    const key = match[1]!;
    if (around.includes("kty") && !isPlaceholder(key) && randomnessBits(key) >= MIN_USER_BITS)
      add(found, match.index + match[0].indexOf(key), key.length, "json-web-key");
  }
}

/** Recovery phrases of wallets: twelve words or more with hardly any repetition. */
function findMnemonics(text: string, found: SecretRange[]): void {
  const pattern =
    /(?:mnemonic|(?:seed|recovery|backup)[_ -]?phrase)["']?\s{0,4}[:=]\s{0,4}["'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![\w ])/gi;
  for (const match of text.matchAll(pattern)) {
    const phrase = match[1]!;
    const words = phrase.split(" ");
    if (words.length % 3 === 0 && new Set(words).size >= words.length - 2)
      add(found, match.index + match[0].length - phrase.length, phrase.length, "mnemonic");
  }
}
