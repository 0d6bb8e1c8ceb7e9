import { TenancyError } from "./errors.ts";

const MAX_NAME_CHARACTERS = 200;
/** Largest value of the integer column. */
const MAX_CREDITS = 2 ** 31 - 1;

/** Trims a name. Throws `TenancyError` if it is empty or too long. */
export function checkName(name: string): string {
  const text = name.trim();
  if (text === "" || text.length > MAX_NAME_CHARACTERS || text.includes("\0")) {
    throw new TenancyError("INVALID", `name: expected 1 to ${MAX_NAME_CHARACTERS} characters`, "name");
  }
  return text;
}

/** Returns a whole number of credits. Throws `TenancyError` for anything else. */
export function checkCredits(credits: number): number {
  if (Number.isInteger(credits) && credits >= 0 && credits <= MAX_CREDITS) return credits;
  throw new TenancyError(
    "INVALID",
    `monthly-credits: expected a whole number from 0 to ${MAX_CREDITS}`,
    "monthly-credits",
  );
}

/** Returns a UUID in lower case. Throws `TenancyError`, naming the field, for anything else. */
export function checkUuid(id: string, field: string): string {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) return id.toLowerCase();
  throw new TenancyError("INVALID", `${field}: expected a UUID`, field);
}
