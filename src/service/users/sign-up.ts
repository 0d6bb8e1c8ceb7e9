/** Who may create an account: the setting `SIGN_UP`. */
import { type SQL, sql } from "drizzle-orm";
import { arrayOf } from "../db/arrays.ts";

/** `open`: everyone. Otherwise people who are invited or known, and everyone with an address in one of these mail domains. */
export type SignUp = "open" | readonly string[];

const DOMAIN = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}$/;
const MAX_DOMAINS = 100;

/** Parses `SIGN_UP`: `open`, `invitation` (the default), or mail domains separated by commas. Throws `Error` that names the variable. */
export function readSignUp(value: string | undefined): SignUp {
  const text = (value ?? "").trim().toLowerCase();
  if (text === "open") return "open";
  if (text === "" || text === "invitation") return [];
  const domains = text.split(",").map((domain) => domain.trim());
  const bad = domains.find((domain) => !DOMAIN.test(domain));
  if (bad !== undefined || domains.length > MAX_DOMAINS) {
    const what = bad === undefined ? `more than ${MAX_DOMAINS} domains` : `"${bad}" is none of these`;
    throw new Error(`SIGN_UP: expected open, invitation, or mail domains such as example.com,example.org; ${what}`);
  }
  return domains;
}

/** Whether an address (a SQL expression) may sign in: it has an account or an open invitation, or the policy admits it. */
export function maySignIn(email: SQL, signUp: SignUp): SQL {
  if (signUp === "open") return sql`true`;
  return sql`(
    split_part(${email}, '@', 2) = any(${arrayOf(signUp, "text")})
    or exists (select 1 from users where users.email = ${email})
    or exists (select 1 from invitations i where i.email = ${email} and i.accepted_at is null and i.revoked_at is null
      and i.expires_at > now()))`;
}
