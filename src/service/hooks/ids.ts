import { createHmac, randomBytes } from "node:crypto";
import { readKeyRing } from "../../lib/key-ring.ts";

const RANDOM_BYTES = 12;
const CHECK_BYTES = 6;
/** Both parts are whole base64 groups, so their texts can be concatenated. */
const RANDOM_CHARACTERS = 16;
const CHECK_CHARACTERS = 8;

/**
 * Creates a hook's public id: 96 random bits and a keyed check, so that a forged id is rejected without a query or a Durable
 * Object.
 */
export function newHookId(encryptionKey: string, bytes: Uint8Array = randomBytes(RANDOM_BYTES)): string {
  const random = Buffer.from(bytes.subarray(0, RANDOM_BYTES)).toString("base64url");
  return random + checkOf(encryptionKey, random);
}

/** Whether this service created the id. */
export function isHookId(encryptionKey: string, id: string): boolean {
  if (id.length !== RANDOM_CHARACTERS + CHECK_CHARACTERS || !/^[\w-]+$/.test(id)) return false;
  return checkOf(encryptionKey, id.slice(0, RANDOM_CHARACTERS)) === id.slice(RANDOM_CHARACTERS);
}

function checkOf(encryptionKey: string, random: string): string {
  const digest = createHmac("sha256", readKeyRing(encryptionKey).ids).update(`hook-id:${random}`).digest();
  return digest.subarray(0, CHECK_BYTES).toString("base64url");
}
