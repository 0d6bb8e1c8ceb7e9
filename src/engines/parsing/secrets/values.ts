/** Whether a value is a secret, by the kind of name that it is assigned to or stands near. */
import { choiceOf, isChosenWords, isJoinedWords, isPhrase } from "./chosen.ts";
import type { NameClass } from "./types.ts";
import { looksSecretNear } from "./nearby.ts";
import { isComposedPassword, isPlaceholder, randomnessBits } from "./randomness.ts";

/** Minimum length of a value, and minimum {@link randomnessBits}, to count as a secret under such a name. */
const LIMITS: Record<NameClass, { characters: number; bits: number }> = {
  password: { characters: 8, bits: 10 },
  secret: { characters: 12, bits: 14 },
  key: { characters: 20, bits: 20 },
};
/** Additional bits required of a value that is separated from its name only by a space, as in prose. */
const LOOSE_EXTRA_BITS = 10;
const LOOSE_MIN_CHARACTERS = 16;
/** Longer values are judged by this many leading characters. */
export const MAX_VALUE_CHARACTERS = 256;

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
/** Regular expressions and escaped bytes look random by their symbols; text with spaces is prose or code. */
const PATTERN =
  /\s|^(?!\d{30,80}$)[^A-Za-z]*$|^[A-Z]+(?:_[A-Z]+)+$|\\r\\n|(?:%[\dA-F]{2}){3}|\\[dwsbDWSB]|\[\^?[a-zA-Z\d]-[a-zA-Z\d]|\{\d{1,4},\d{0,4}\}|\(\?[:=!<]/;
/** References to where a value is stored, rather than the value. */
const REFERENCE =
  /^(?:[a-z][a-z\d+.-]{0,20}:\/\/|arn:|ssm:|vault:|op:|secretsmanager|projects\/|[A-Za-z]:\\|@Microsoft|!(?:vault|ref|sub|getatt|secret|env)|urn:|data:|magnet:|#[\da-f]{3,8}$|\$\w{1,60}$|\$[({]|%[A-Z_]{2,40}%|sha(?:256|384|512)[-:]|0x[\da-f]{40}$)/i;
/** Paths, formats and code, unless they look so random that they can be neither. */
const TEXT_LIKE = /^(?:\.{0,2}|~)\/|^\$[A-Za-z_]|^[{[].{0,200}["']|=>|&&|\|\||\.\*|%[sdvif]\b|\w\(\w{0,20}\)/;
const TEXT_LIKE_BITS = 30;

/** Characters that XML and HTML escape are signs, whichever they are. */
const ENTITY = /&(?:amp|lt|gt|quot|apos|#\d{1,4});/g;

const unescaped = (value: string): string => (value.includes("&") ? value.replaceAll(ENTITY, "&") : value);

/** Whether a value that is assigned to such a name is the secret itself. */
export function isSecretValue(value: string, kind: NameClass, isLoose = false): boolean {
  value = unescaped(value);
  // The patterns come last, because they cost most.
  if (value.length < LIMITS[kind].characters && !(kind === "secret" && value.length >= MIN_CHOSEN_SECRET)) return false;
  if (value.length >= LIMITS[kind].characters && isRandom(value, kind, isLoose) && !isNoValue(value)) return true;
  return isChosen(value, kind, isLoose);
}

/** Whether a value that is assigned to a password's name is one of words alone. */
export function isWords(value: string): boolean {
  value = unescaped(value);
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
export function isSecretNear(value: string, kind: NameClass): boolean {
  const decoded = decodeBase64(value);
  const { characters, bits } = LIMITS[kind];
  if (value.length < characters || isNoValue(value) || (kind === "key" && UUID.test(value))) return false;
  return looksSecretNear(decoded === undefined ? value : withoutUser(decoded), bits, kind === "password");
}

function isNoValue(value: string): boolean {
  return REFERENCE.test(value) || PATTERN.test(value) || isPlaceholder(value);
}

/** Secrets of both cases with digits may have fewer bits, if they are long. */
const MIN_COMPOSED_SECRET = 16;
const COMPOSED_SECRET_BITS = 8;

function isRandom(value: string, kind: NameClass, isLoose: boolean): boolean {
  // Under the name of a key, which may be any, it is an id.
  if (UUID.test(value)) return !isLoose && kind !== "key" && randomnessBits(value.replaceAll("-", "")) > 0;
  const decoded = decodeBase64(value);
  if (decoded !== undefined) {
    const plain = withoutUser(decoded);
    return (
      isSecretValue(plain, kind === "key" ? "key" : "password", isLoose) ||
      (kind === "password" && isJoinedWords(plain))
    );
  }
  const { bits } = LIMITS[kind];
  const found = randomnessBits(value);
  if (kind === "password" && (!isLoose || found >= bits) && isComposedPassword(value)) return true;
  // Some draws have few bits although they are long.
  if (
    kind === "secret" &&
    !isLoose &&
    value.length >= MIN_COMPOSED_SECRET &&
    found >= COMPOSED_SECRET_BITS &&
    isComposedPassword(value)
  )
    return true;
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
