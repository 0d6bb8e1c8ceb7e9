import { type SQL, sql } from "drizzle-orm";
import { bytesLiteral } from "./bytes.ts";
import { SESSION_DAYS } from "./sessions.ts";
import { newToken } from "./tokens.ts";

const MAX_USER_AGENT_CHARACTERS = 300;

/** A new session: the value of its cookie, and its insert for each row of a common table expression `person` with an `id`. */
export function openSession(userAgent: string): { value: string; insert: SQL } {
  const { value, hash } = newToken();
  const insert = sql`
    insert into sessions (token_hash, user_id, user_agent, expires_at)
    select ${bytesLiteral(hash)}, id, ${userAgent.slice(0, MAX_USER_AGENT_CHARACTERS)}, now() + make_interval(days => ${SESSION_DAYS})
    from person
    returning user_id`;
  return { value, insert };
}
