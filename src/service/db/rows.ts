import type { SQL } from "drizzle-orm";
import type { Db } from "./client.ts";

/** Runs a raw statement and returns its rows, typed by the caller. */
export async function rowsOf<T>(db: Db, statement: SQL): Promise<T[]> {
  return (await db.execute(statement)).rows as T[];
}
