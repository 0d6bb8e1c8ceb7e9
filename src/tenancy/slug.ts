import { randomInt } from "node:crypto";

const MAX_CHARACTERS = 40;
const SUFFIX_CHARACTERS = 5;
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
/** First path segments below /app that the dashboard itself uses. */
const RESERVED = new Set(["api", "assets", "sign-in", "sign-out", "join", "account", "new", "tenants"]);

/**
 * A tenant's short name for addresses, from its name. With `isTaken` it gets a random suffix, because the plain one belongs to another
 * tenant already; what is reserved or has no usable character always gets one.
 */
export function newSlug(name: string, isTaken = false): string {
  const plain = name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_CHARACTERS)
    .replace(/^-|-$/g, "");
  if (plain !== "" && !isTaken && !RESERVED.has(plain)) return plain;
  const suffix = Array.from({ length: SUFFIX_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${plain || "team"}-${suffix}`;
}
