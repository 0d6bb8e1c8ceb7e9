import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { readKeyRing } from "../../lib/key-ring.ts";
import { bytesToUuid } from "../../lib/uuid.ts";

export type CredentialKind = "api_key" | "worker_token";

const PREFIX: Record<CredentialKind, string> = { api_key: "cc_live_", worker_token: "cc_wrk_" };
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Base-62 digits of a tenant's 128-bit UUID. */
const TENANT_DIGITS = 22;
/** Base-62 digits of the 64 random bits that distinguish a tenant's credentials. */
const NUMBER_DIGITS = 11;
/** Base-62 digits of the check: 47 bits, too many to guess at a few hundred requests per minute. */
const CHECK_DIGITS = 8;
const SECRET_BYTES = 32;
const NUMBER_BYTES = 8;
/** Random bytes of a credential. */
export const RANDOM_BYTES = NUMBER_BYTES + SECRET_BYTES;
/** Base-62 digits of the 256-bit secret. */
const SECRET_DIGITS = 43;

/** Key of the check in public ids. Whoever has it can forge ids that reach the database, but no valid credential. */
export type CredentialKey = string & { readonly brand: unique symbol };

/** Derives the key of credential checks from a deployment's `ENCRYPTION_KEY`. */
export function deriveCredentialKey(encryptionKey: string): CredentialKey {
  return createHmac("sha256", readKeyRing(encryptionKey).ids).update("credential-check").digest("hex") as CredentialKey;
}

export interface ParsedCredential {
  kind: CredentialKind;
  /** Public id. */
  id: string;
  tenantId: string;
  /** SHA-256 of the secret part, lower-case hex. */
  secretHash: string;
}

interface NewCredential {
  id: string;
  /** The whole credential; shown once, stored nowhere. */
  value: string;
  secretHash: Uint8Array;
}

function toBase62(bytes: Uint8Array, digits: number): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
  let text = "";
  for (let i = 0; i < digits; i++) {
    text = ALPHABET.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text;
}

function fromBase62(text: string, byteLength: number): Uint8Array | undefined {
  const bytes = new Uint8Array(byteLength);
  for (let i = 0; i < text.length; i++) {
    let carry = ALPHABET.indexOf(text.charAt(i));
    for (let at = byteLength - 1; at >= 0; at--) {
      carry += (bytes[at] as number) * 62;
      bytes[at] = carry & 0xff;
      carry >>= 8;
    }
    if (carry > 0) return undefined;
  }
  return bytes;
}

/** SHA-256 of a credential's secret part; only the hash is stored. */
function hashSecret(secret: string): Uint8Array {
  return new Uint8Array(hash("sha256", secret, "buffer"));
}

/**
 * Creates a credential `cc_live_<id>_<secret>` or `cc_wrk_<id>_<secret>`. The public id is the tenant's UUID, a random number and
 * a check of both, in base 62. It leads to the tenant's gate without a look-up, and a forged id is rejected without I/O. The
 * secret is 256 random bits. `random`: {@link RANDOM_BYTES} bytes that no one else knows, if the same credential is to be made again.
 */
export function createCredential(
  kind: CredentialKind,
  tenantId: string,
  key: CredentialKey,
  random: Uint8Array = randomBytes(RANDOM_BYTES),
): NewCredential {
  const subject =
    toBase62(Buffer.from(tenantId.replaceAll("-", ""), "hex"), TENANT_DIGITS) +
    toBase62(random.subarray(0, NUMBER_BYTES), NUMBER_DIGITS);
  const id = subject + checkOf(subject, key);
  const secret = toBase62(random.subarray(NUMBER_BYTES, RANDOM_BYTES), SECRET_DIGITS);
  return { id, value: `${PREFIX[kind]}${id}_${secret}`, secretHash: hashSecret(secret) };
}

const SHAPE = new RegExp(
  `^(cc_live_|cc_wrk_)([0-9A-Za-z]{${TENANT_DIGITS + NUMBER_DIGITS}})([0-9A-Za-z]{${CHECK_DIGITS}})_([0-9A-Za-z]{${SECRET_DIGITS}})$`,
);

/** Parses a credential; undefined if it is of another kind or was not issued by this deployment. */
export function parseCredential(value: string, kind: CredentialKind, key: CredentialKey): ParsedCredential | undefined {
  const match = SHAPE.exec(value);
  if (!match || match[1] !== PREFIX[kind]) return undefined;
  const [, , subject = "", check = "", secret = ""] = match;
  const tenant = fromBase62(subject.slice(0, TENANT_DIGITS), 16);
  if (tenant === undefined || check !== checkOf(subject, key)) return undefined;
  const secretHash = Buffer.from(hashSecret(secret)).toString("hex");
  return { kind, id: subject + check, tenantId: bytesToUuid(tenant), secretHash };
}

// Need not be compared in constant time: guessing a check grants no access.
function checkOf(subject: string, key: CredentialKey): string {
  return toBase62(createHmac("sha256", key).update(subject).digest().subarray(0, 8), NUMBER_DIGITS).slice(
    -CHECK_DIGITS,
  );
}

/** The Bearer credential of an Authorization header; undefined unless the header holds exactly one. */
export function bearerOf(header: string | null | undefined): string | undefined {
  return header ? /^bearer +([^\s,]+) *$/i.exec(header)?.[1] : undefined;
}

/** Compares two hashes (lower-case hex) in constant time. */
export function isSameHash(known: string, presented: string): boolean {
  const [a, b] = [Buffer.from(known), Buffer.from(presented)];
  return a.length === b.length && timingSafeEqual(a, b);
}
