import { randomInt } from "node:crypto";

const MAX_CHARACTERS = 40;
const SUFFIX_CHARACTERS = 5;
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
/** First path segments below /app that the dashboard uses. */
const RESERVED = new Set(["api", "assets", "sign-in", "sign-out", "join", "account", "new", "tenants"]);

/**
 * Derives a tenant's URL slug from its name. Adds a random suffix with `isTaken`, and always if the slug is reserved or the name
 * has no usable character.
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
