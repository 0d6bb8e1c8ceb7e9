import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { hookDeliveries, signInCodes, signInGuesses } from "../db/people-schema.ts";
import { accountCredits } from "../db/records-schema.ts";
import { sweepNotices } from "../mail/notices.ts";
import { sweepMails } from "../mail/outbox.ts";
import { sweepSessions } from "./sessions.ts";

/** How long deliveries of hooks are kept. */
const DELIVERY_DAYS = 30;

/** Deletes expired codes, sessions and mail, old notices, counts of past days and months, and old deliveries of hooks. Part of the daily clean-up. */
export async function sweepPeople(db: Db): Promise<void> {
  await db.delete(signInCodes).where(sql`${signInCodes.expiresAt} < now()`);
  // Days and months are in UTC; the margin covers a session of the database in another time zone.
  await db.delete(signInGuesses).where(sql`${signInGuesses.day} < current_date - 2`);
  await db.delete(accountCredits).where(sql`${accountCredits.period} < to_char(now() - interval '40 days', 'YYYY-MM')`);
  await sweepMails(db);
  await sweepNotices(db);
  await sweepSessions(db);
  await db.delete(hookDeliveries).where(sql`${hookDeliveries.at} < now() - make_interval(days => ${DELIVERY_DAYS})`);
}
