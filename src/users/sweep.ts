import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { hookDeliveries, signInCodes } from "../db/people-schema.ts";
import { sweepSessions } from "./sessions.ts";

/** How long deliveries of hooks are kept. */
const DELIVERY_DAYS = 30;

/** Deletes expired codes and sessions, and old deliveries of hooks. Part of the daily clean-up. */
export async function sweepPeople(db: Db): Promise<void> {
  await db.delete(signInCodes).where(sql`${signInCodes.expiresAt} < now()`);
  await sweepSessions(db);
  await db.delete(hookDeliveries).where(sql`${hookDeliveries.at} < now() - make_interval(days => ${DELIVERY_DAYS})`);
}
