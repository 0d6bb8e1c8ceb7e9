/** Sign-in of a person whose address somebody else has verified. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { openSession } from "./open-session.ts";
import { maySignIn, type SignUp } from "./sign-up.ts";

/**
 * Opens a session for the person with an address, and creates the person if new. One statement. Undefined if the address may not sign in.
 *
 * @param email See `checkEmail`; verified
 */
export async function signInByEmail(
  db: Db,
  { email, userAgent, signUp }: { email: string; userAgent: string; signUp: SignUp },
): Promise<{ userId: string; session: string } | undefined> {
  const { value, insert } = openSession(userAgent);
  const [row] = await rowsOf<{ user_id: string }>(
    db,
    sql`
      with asked as (select ${email}::text as email), person as (
        insert into users (email) select email from asked where ${maySignIn(sql`asked.email`, signUp)}
        on conflict (email) do update set email = excluded.email
        returning id
      ), opened as (${insert}) select user_id from opened`,
  );
  return row && { userId: row.user_id, session: value };
}
