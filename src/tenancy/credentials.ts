import { hash, randomBytes, timingSafeEqual } from "node:crypto";

export type CredentialKind = "api_key" | "worker_token";

const PREFIX: Record<CredentialKind, string> = { api_key: "cc_live_", worker_token: "cc_wrk_" };
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Digits that hold 128 bits in base 62. */
const TENANT_DIGITS = 22;
/** Digits that hold the 64 random bits which tell a tenant's credentials apart. */
const NUMBER_DIGITS = 11;
const SECRET_BYTES = 32;
/** Digits that hold 256 bits in base 62. */
const SECRET_DIGITS = 43;

export interface ParsedCredential {
  kind: CredentialKind;
  /** Public id. */
  id: string;
  tenantId: string;
  secretHash: Uint8Array;
}

export interface NewCredential {
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

/** SHA-256 of a credential's secret part: all that is stored of it. */
export function hashSecret(secret: string): Uint8Array {
  return new Uint8Array(hash("sha256", secret, "buffer"));
}

/**
 * Makes a credential `cc_live_<id>_<secret>` or `cc_wrk_<id>_<secret>`. The public id begins with the tenant's UUID in
 * base 62, so that a request finds its tenant's gate without a look-up; the secret is 256 random bits.
 */
export function createCredential(kind: CredentialKind, tenantId: string): NewCredential {
  const id =
    toBase62(Buffer.from(tenantId.replaceAll("-", ""), "hex"), TENANT_DIGITS) + toBase62(randomBytes(8), NUMBER_DIGITS);
  const secret = toBase62(randomBytes(SECRET_BYTES), SECRET_DIGITS);
  return { id, value: `${PREFIX[kind]}${id}_${secret}`, secretHash: hashSecret(secret) };
}

const SHAPE = new RegExp(
  `^(cc_live_|cc_wrk_)([0-9A-Za-z]{${TENANT_DIGITS + NUMBER_DIGITS}})_([0-9A-Za-z]{${SECRET_DIGITS}})$`,
);

/** Takes a credential apart; undefined when it is not one of ours or not of this kind. */
export function parseCredential(value: string, kind: CredentialKind): ParsedCredential | undefined {
  const match = SHAPE.exec(value);
  if (!match || match[1] !== PREFIX[kind]) return undefined;
  const [, , id = "", secret = ""] = match;
  const tenantId = tenantOfCredential(id);
  return tenantId === undefined ? undefined : { kind, id, tenantId, secretHash: hashSecret(secret) };
}

/** Tenants of the ids that came last: decoding one takes longer than all else that a credential needs. */
const decoded = new Map<string, string>();
const MAX_DECODED = 1_000;

/** The tenant that a public credential id names. */
export function tenantOfCredential(id: string): string | undefined {
  const tenant = id.slice(0, TENANT_DIGITS);
  const known = decoded.get(tenant);
  if (known !== undefined) return known;
  const tenantId = decodeTenant(tenant);
  if (tenantId === undefined) return undefined;
  if (decoded.size >= MAX_DECODED) decoded.clear();
  decoded.set(tenant, tenantId);
  return tenantId;
}

function decodeTenant(digits: string): string | undefined {
  const bytes = fromBase62(digits, 16);
  if (!bytes) return undefined;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The one Bearer credential of an Authorization header; undefined when there is none or more than that. */
export function bearerOf(header: string | null | undefined): string | undefined {
  return header ? /^bearer +([^\s,]+) *$/i.exec(header)?.[1] : undefined;
}

/** Compares two hashes in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
