import { TenancyError } from "../tenancy/errors.ts";

/** Longest address that SMTP carries (RFC 5321 §4.5.3.1.3). */
const MAX_CHARACTERS = 254;
/** Addresses that need no quoting; stricter than RFC 5321, as is usual for sign-up forms. */
const ADDRESS =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Normalises an e-mail address: trimmed, lower case. Throws `TenancyError` for anything else. */
export function checkEmail(input: unknown): string {
  const text = typeof input === "string" ? input.trim().toLowerCase() : "";
  if (text.length > MAX_CHARACTERS || !ADDRESS.test(text)) {
    throw new TenancyError("INVALID", "email: expected an address such as name@example.com", "email");
  }
  return text;
}
