import { hash, randomBytes } from "node:crypto";
import { bytesToUuid } from "../uuid.ts";

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
  /** SHA-256 of the secret part, lower-case hex. */
  secretHashHex: string;
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

/** Credentials that were taken apart last: taking one apart takes far longer than finding it again. They leave memory only as hashes. */
const parsed = new Map<string, ParsedCredential>();
const MAX_PARSED = 1_000;

/** Takes a credential apart; undefined when it is not one of ours or not of this kind. */
export function parseCredential(value: string, kind: CredentialKind): ParsedCredential | undefined {
  const known = parsed.get(value);
  if (known) return known.kind === kind ? known : undefined;
  const match = SHAPE.exec(value);
  if (!match || match[1] !== PREFIX[kind]) return undefined;
  const [, , id = "", secret = ""] = match;
  const tenantId = tenantOfCredential(id);
  if (tenantId === undefined) return undefined;
  const credential = { kind, id, tenantId, secretHashHex: Buffer.from(hashSecret(secret)).toString("hex") };
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(value, credential);
  return credential;
}

/** The tenant that a public credential id names. */
function tenantOfCredential(id: string): string | undefined {
  const bytes = fromBase62(id.slice(0, TENANT_DIGITS), 16);
  return bytes && bytesToUuid(bytes);
}

/** The one Bearer credential of an Authorization header; undefined when there is none or more than that. */
export function bearerOf(header: string | null | undefined): string | undefined {
  return header ? /^bearer +([^\s,]+) *$/i.exec(header)?.[1] : undefined;
}

const HEX = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Whether `hex` is this hash in lower-case hex; takes the same time wherever the two differ. */
export function isHashInHex(hash: Uint8Array, hex: string): boolean {
  if (hex.length !== hash.length * 2) return false;
  let difference = 0;
  for (const [at, byte] of hash.entries()) {
    difference |= hex.charCodeAt(2 * at) ^ (HEX[byte >> 4] ?? 0);
    difference |= hex.charCodeAt(2 * at + 1) ^ (HEX[byte & 0xf] ?? 0);
  }
  return difference === 0;
}
