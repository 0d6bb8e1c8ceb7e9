/**
 * Sign-in with e-mailed codes. Each step is one statement: starting inserts the code and queues its message; verifying counts the
 * guess, compares it, consumes the code, creates the user if new, and opens the session. PostgreSQL locks the code's row for that
 * statement, so at most `MAX_GUESSES` concurrent guesses are compared.
 *
 * A code belongs to the browser that requested it: its row is found by the hash of that browser's pending-sign-in cookie. Guesses
 * from other browsers do not count against it, so nobody can use up another user's guesses. Requesting many codes does not give many
 * guesses: wrong ones are counted by address and day. A browser that has signed in as the user before has a count of its own, so
 * that somebody else's guesses do not lock the user out.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { mailInsert, type QueuedMail } from "../mail/outbox.ts";
import { bytesLiteral } from "./bytes.ts";
import { openSession } from "./open-session.ts";
import { maySignIn, type SignUp } from "./sign-up.ts";
import { hashToken, hmacCode, isToken, newCode, newToken, parseCode } from "./tokens.ts";

export const CODE_MINUTES = 10;
export const MAX_GUESSES = 5;
/** Wrong guesses of one UTC day, by address, or by browser that has signed in as the user before. */
export const MAX_WRONG_A_DAY = 20;

interface SignInRequest {
  /** See `checkEmail`. */
  email: string;
  /** Who gets a code; default: everyone. */
  signUp?: SignUp;
  /** Makes the message with the code; it is queued in the statement that stores the code. */
  compose?: (code: string) => Promise<QueuedMail>;
}

interface StartedSignIn {
  /** Value of the pending-sign-in cookie. */
  pending: string;
  /** The code to send to the address. */
  code: string;
  /** The message, which is queued only if the address may sign in. */
  mailId: string | undefined;
}

/** Starts a sign-in for an address, whether or not it may sign in. One statement. */
export async function startSignIn(
  db: Db,
  encryptionKey: string,
  { email, signUp = "open", compose }: SignInRequest,
): Promise<StartedSignIn> {
  const pending = newToken();
  const code = newCode();
  const mail = await compose?.(code);
  const source = sql`asked where ${maySignIn(sql`asked.email`, signUp)}`;
  await db.execute(sql`
    with asked as (
      insert into sign_in_codes (pending_hash, email, code_hmac, expires_at)
      values (${bytesLiteral(pending.hash)}, ${email}, ${bytesLiteral(hmacCode(encryptionKey, pending.hash, code))},
        now() + make_interval(mins => ${CODE_MINUTES}))
      returning email
    )
    ${mail ? mailInsert(mail, { source }) : sql`select 1 from asked`}`);
  return { pending: pending.value, code, mailId: mail?.id };
}

type SignInResult =
  | { outcome: "signed_in"; userId: string; /** Value of the session cookie. */ session: string }
  | { outcome: "wrong"; guessesLeft: number }
  /** This browser has no pending sign-in, or it has expired, was used, or is out of guesses. */
  | { outcome: "over" }
  /** There were too many wrong guesses for this address today; nothing was compared. */
  | { outcome: "capped" }
  /** The code is right, but the address may no longer sign in. */
  | { outcome: "refused" };

/** A browser that has signed in as a user before. */
export interface KnownBrowser {
  userId: string;
  /** Identifies the browser or its session. */
  id: string;
}

interface Guess {
  /** The pending-sign-in cookie. */
  pending: string | undefined;
  /** As the user typed it. */
  code: string;
  userAgent: string;
  /** Who gets an account; default: everyone. */
  signUp?: SignUp;
  browser?: KnownBrowser | undefined;
}

/** Verifies a code and opens a session. One statement; input that cannot be a code is not counted. */
export async function finishSignIn(db: Db, encryptionKey: string, guess: Guess): Promise<SignInResult> {
  if (!isToken(guess.pending)) return { outcome: "over" };
  const code = parseCode(guess.code);
  if (code === undefined) return { outcome: "wrong", guessesLeft: MAX_GUESSES };
  const pendingHash = hashToken(guess.pending);
  const session = openSession(guess.userAgent);
  const isOpen = sql`pending_hash = ${bytesLiteral(pendingHash)} and used_at is null and expires_at > now() and attempts < ${MAX_GUESSES}`;
  const rows = await rowsOf<{
    counted: boolean;
    correct: boolean | null;
    attempts: number | null;
    user_id: string | null;
  }>(
    db,
    sql`
      with asked as (
        select email, code_hmac = ${bytesLiteral(hmacCode(encryptionKey, pendingHash, code))} as correct
        from sign_in_codes where ${isOpen} for update
      ), counted as (
        insert into sign_in_guesses as g (subject, day, wrong)
        select ${subjectOf(guess.browser)}, (now() at time zone 'utc')::date, case when correct then 0 else 1 end from asked
        on conflict (subject, day) do update set wrong = g.wrong + excluded.wrong where g.wrong < ${MAX_WRONG_A_DAY}
        returning 1
      ), guess as (
        update sign_in_codes set attempts = attempts + 1, used_at = case when asked.correct then now() end
        from asked where ${isOpen} and exists (select 1 from counted)
        returning sign_in_codes.email, attempts, used_at is not null as correct
      ), person as (
        insert into users (email) select email from guess where correct and ${maySignIn(sql`guess.email`, guess.signUp ?? "open")}
        on conflict (email) do update set email = excluded.email
        returning id
      ), opened as (${session.insert})
      select exists (select 1 from counted) as counted, guess.correct, guess.attempts, opened.user_id
      from asked left join guess on true left join opened on true`,
  );
  const row = rows[0];
  if (row?.counted === false) return { outcome: "capped" };
  if (!row || row.attempts === null) return { outcome: "over" };
  if (row.user_id !== null) return { outcome: "signed_in", userId: row.user_id, session: session.value };
  if (row.correct === true) return { outcome: "refused" };
  const guessesLeft = MAX_GUESSES - row.attempts;
  return guessesLeft > 0 ? { outcome: "wrong", guessesLeft } : { outcome: "over" };
}

/** Whose count a wrong guess increases: the address's, or that of a browser that has signed in as its user. */
function subjectOf(browser: KnownBrowser | undefined): SQL {
  const address = sql`'email:' || asked.email`;
  if (!browser) return address;
  const isOwn = sql`exists (select 1 from users u where u.id = ${browser.userId} and u.email = asked.email)`;
  return sql`case when ${isOwn} then ${`browser:${browser.id}`} else ${address} end`;
}
