import { createHmac, randomBytes } from "node:crypto";

const RANDOM_BYTES = 12;
const CHECK_BYTES = 6;
/** Both parts are whole groups of base64, so the id is the parts' texts one after the other. */
const RANDOM_CHARACTERS = 16;
const CHECK_CHARACTERS = 8;

/**
 * A hook's public id: 96 random bits and a check that only the service can make. A made-up id is recognised without a query and
 * without a Durable Object.
 */
export function newHookId(encryptionKey: string): string {
  const random = randomBytes(RANDOM_BYTES).toString("base64url");
  return random + checkOf(encryptionKey, random);
}

/** Whether the service has made this id. */
export function isHookId(encryptionKey: string, id: string): boolean {
  if (id.length !== RANDOM_CHARACTERS + CHECK_CHARACTERS || !/^[\w-]+$/.test(id)) return false;
  return checkOf(encryptionKey, id.slice(0, RANDOM_CHARACTERS)) === id.slice(RANDOM_CHARACTERS);
}

function checkOf(encryptionKey: string, random: string): string {
  const digest = createHmac("sha256", encryptionKey).update(`hook-id:${random}`).digest();
  return digest.subarray(0, CHECK_BYTES).toString("base64url");
}
