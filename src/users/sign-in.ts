/**
 * Sign-in with e-mailed codes. Each step is one statement: starting inserts the code; verifying counts the guess, compares it,
 * consumes the code, creates the user if new, and opens the session. PostgreSQL locks the code's row for that statement, so at most
 * `MAX_GUESSES` concurrent guesses are compared.
 *
 * A code belongs to the browser that requested it: its row is found by the hash of that browser's pending-sign-in cookie. Guesses
 * from other browsers do not count against it, so nobody can use up another user's guesses.
 */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { signInCodes } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { bytesLiteral } from "./bytes.ts";
import { SESSION_DAYS } from "./sessions.ts";
import { hashToken, hmacCode, isToken, newCode, newToken, parseCode } from "./tokens.ts";

export const CODE_MINUTES = 10;
export const MAX_GUESSES = 5;
const MAX_USER_AGENT_CHARACTERS = 300;

export interface StartedSignIn {
  /** Value of the pending-sign-in cookie. */
  pending: string;
  /** The code to send to the address. */
  code: string;
}

/** Starts a sign-in for an address (see `checkEmail`), whether or not a user has it. One statement. */
export async function startSignIn(db: Db, encryptionKey: string, email: string): Promise<StartedSignIn> {
  const pending = newToken();
  const code = newCode();
  await db.insert(signInCodes).values({
    pendingHash: pending.hash,
    email,
    codeHmac: hmacCode(encryptionKey, pending.hash, code),
    expiresAt: sql`now() + make_interval(mins => ${CODE_MINUTES})`,
  });
  return { pending: pending.value, code };
}

export type SignInResult =
  | { outcome: "signed_in"; userId: string; /** Value of the session cookie. */ session: string }
  | { outcome: "wrong"; guessesLeft: number }
  /** This browser has no pending sign-in, or it has expired, was used, or is out of guesses. */
  | { outcome: "over" };

export interface Guess {
  /** The pending-sign-in cookie. */
  pending: string | undefined;
  /** As the user typed it. */
  code: string;
  userAgent: string;
}

/** Verifies a code and opens a session. One statement; input that cannot be a code is not counted. */
export async function finishSignIn(db: Db, encryptionKey: string, guess: Guess): Promise<SignInResult> {
  if (!isToken(guess.pending)) return { outcome: "over" };
  const code = parseCode(guess.code);
  if (code === undefined) return { outcome: "wrong", guessesLeft: MAX_GUESSES };
  const pendingHash = hashToken(guess.pending);
  const session = newToken();
  const userAgent = guess.userAgent.slice(0, MAX_USER_AGENT_CHARACTERS);
  const rows = await rowsOf<{ correct: boolean; attempts: number; user_id: string | null }>(
    db,
    sql`
      with guess as (
        update sign_in_codes
        set attempts = attempts + 1,
            used_at = case when code_hmac = ${bytesLiteral(hmacCode(encryptionKey, pendingHash, code))} then now() end
        where pending_hash = ${bytesLiteral(pendingHash)} and used_at is null and expires_at > now()
          and attempts < ${MAX_GUESSES}
        returning email, attempts, used_at is not null as correct
      ), person as (
        insert into users (email) select email from guess where correct
        on conflict (email) do update set email = excluded.email
        returning id
      ), opened as (
        insert into sessions (token_hash, user_id, user_agent, expires_at)
        select ${bytesLiteral(session.hash)}, id, ${userAgent}, now() + make_interval(days => ${SESSION_DAYS}) from person
        returning user_id
      )
      select guess.correct, guess.attempts, opened.user_id from guess left join opened on true`,
  );
  const row = rows[0];
  if (!row) return { outcome: "over" };
  if (row.user_id !== null) return { outcome: "signed_in", userId: row.user_id, session: session.value };
  const guessesLeft = MAX_GUESSES - row.attempts;
  return guessesLeft > 0 ? { outcome: "wrong", guessesLeft } : { outcome: "over" };
}
