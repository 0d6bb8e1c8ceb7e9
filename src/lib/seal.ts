/** AES-256-GCM under a key derived from the deployment's ENCRYPTION_KEY, for credentials that are stored until a run uses them. */
import { readKeyRing } from "./key-ring.ts";

const IV_BYTES = 12;

async function deriveKey(secret: string, purpose: string) {
  if (secret.length < 32) throw new Error("ENCRYPTION_KEY must hold at least 32 characters of randomness");
  const encoder = new TextEncoder();
  const material = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: encoder.encode(purpose) },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

/** Encrypts `plain` for one purpose (such as a run id) and can be decrypted only for that purpose. Base64. */
export async function seal(secret: string, purpose: string, plain: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const key = await deriveKey(readKeyRing(secret).current, purpose);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new TextEncoder().encode(plain));
  return Buffer.concat([iv, new Uint8Array(sealed)]).toString("base64");
}

/** Reverses `seal` with any key of the ring. Throws if no key fits, the purpose differs, or the text was altered. */
export async function unseal(secret: string, purpose: string, sealed: string): Promise<string> {
  const { current, others } = readKeyRing(secret);
  for (const key of others) {
    const opened = await open(key, purpose, sealed).catch(() => undefined);
    if (opened !== undefined) return opened;
  }
  return open(current, purpose, sealed);
}

async function open(secret: string, purpose: string, sealed: string): Promise<string> {
  const bytes = Buffer.from(sealed, "base64");
  const key = await deriveKey(secret, purpose);
  const plain = await crypto.subtle.decrypt(
    { name: "AES-GCM", iv: bytes.subarray(0, IV_BYTES) },
    key,
    bytes.subarray(IV_BYTES),
  );
  return new TextDecoder().decode(plain);
}
