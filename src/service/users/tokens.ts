/** Secrets of sign-in: random tokens that are stored as SHA-256, and six-digit codes that are stored as a keyed HMAC. */
import { createHash, createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { readKeyRing } from "../../lib/key-ring.ts";

const TOKEN_BYTES = 32;
const CODE_DIGITS = 6;

interface NewToken {
  /** For the cookie or link; never stored. */
  value: string;
  hash: Uint8Array;
}

/** Creates a token of 256 random bits, in base64url. */
export function newToken(bytes: Uint8Array = randomBytes(TOKEN_BYTES)): NewToken {
  const value = Buffer.from(bytes.subarray(0, TOKEN_BYTES)).toString("base64url");
  return { value, hash: hashToken(value) };
}

/** SHA-256 of a token; only the hash is stored. */
export function hashToken(value: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(value).digest());
}

/** Whether a value has the form of a token; anything else needs no query. */
export function isToken(value: string | undefined): value is string {
  return value !== undefined && /^[\w-]{43}$/.test(value);
}

/** Creates a code of six random digits. */
export function newCode(): string {
  return String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0");
}

/** Parses a code as users may type it ("123 456"); undefined unless it has six digits. */
export function parseCode(input: string): string | undefined {
  const digits = input.replace(/[\s-]/g, "");
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/**
 * HMAC-SHA-256 of a code for one pending sign-in, with a key derived from ENCRYPTION_KEY, so that a copy of the database is not
 * enough to find the code by trying all million.
 */
export function hmacCode(encryptionKey: string, pendingHash: Uint8Array, code: string): Uint8Array {
  const key = new Uint8Array(hkdfSync("sha256", readKeyRing(encryptionKey).current, "", "sign-in-code", 32));
  return new Uint8Array(createHmac("sha256", key).update(pendingHash).update(code).digest());
}

/**
 * Creates the value of the cookie that marks a browser as one in which a user has signed in: `<user>.<random>.<HMAC>`. It grants
 * nothing but a count of wrong codes of its own, so it is not stored and outlives its session.
 */
export function newBrowserMark(encryptionKey: string, userId: string): string {
  const marked = `${userId}.${randomBytes(16).toString("base64url")}`;
  return `${marked}.${markHmac(encryptionKey, marked).toString("base64url")}`;
}

/** Reads a cookie of {@link newBrowserMark}; undefined unless this service made it. */
export function readBrowserMark(
  encryptionKey: string,
  value: string | undefined,
): { userId: string; id: string } | undefined {
  const [, marked = "", userId = "", id = "", mac = ""] =
    /^(([\da-f-]{36})\.([\w-]{22}))\.([\w-]{43})$/.exec(value ?? "") ?? [];
  if (marked === "") return undefined;
  const isOurs = timingSafeEqual(markHmac(encryptionKey, marked), Buffer.from(mac, "base64url"));
  return isOurs ? { userId, id } : undefined;
}

// With the key that is never rotated: a rotation must not make users' browsers unknown.
function markHmac(encryptionKey: string, marked: string): Buffer {
  const key = new Uint8Array(hkdfSync("sha256", readKeyRing(encryptionKey).ids, "", "known-browser", 32));
  return createHmac("sha256", key).update(marked).digest();
}
