/** Secrets of sign-in: random tokens that are stored as SHA-256, and six-digit codes that are stored as a keyed HMAC. */
import { createHash, createHmac, hkdfSync, randomBytes, randomInt } from "node:crypto";

const TOKEN_BYTES = 32;
const CODE_DIGITS = 6;

export interface NewToken {
  /** For the cookie or link; stored nowhere. */
  value: string;
  hash: Uint8Array;
}

/** A token of 256 random bits, in base64url. */
export function newToken(): NewToken {
  const value = randomBytes(TOKEN_BYTES).toString("base64url");
  return { value, hash: hashToken(value) };
}

/** SHA-256 of a token: all that is stored of it. */
export function hashToken(value: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(value).digest());
}

/** Whether a value has the form of a token: anything else needs no query. */
export function isToken(value: string | undefined): value is string {
  return value !== undefined && /^[\w-]{43}$/.test(value);
}

/** Six random digits. */
export function newCode(): string {
  return String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0");
}

/** The digits of a code as a person may write it ("123 456"); undefined when there are not six. */
export function parseCode(input: string): string | undefined {
  const digits = input.replace(/[\s-]/g, "");
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/**
 * HMAC-SHA-256 of a code for one pending sign-in, keyed with a key derived from ENCRYPTION_KEY: a copy of the database alone does not allow
 * trying the million codes.
 */
export function hmacCode(encryptionKey: string, pendingHash: Uint8Array, code: string): Uint8Array {
  const key = new Uint8Array(hkdfSync("sha256", encryptionKey, "", "sign-in-code", 32));
  return new Uint8Array(createHmac("sha256", key).update(pendingHash).update(code).digest());
}
