import { sql } from "drizzle-orm";
import { openDb } from "../../src/service/db/client.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { startDatabase } from "../../src/tooling/local/database/database.ts";

/** Of this process, whose test files use it one after another; it ends with the process. */
let database: Promise<{ url: string }> | undefined;

/** The URL of this process's embedded database, with all tables and no rows: for test files that do not stop or damage it. */
export async function emptyDatabase(): Promise<string> {
  database ??= startDatabase();
  const { url } = await database;
  const db = openDb(url);
  const tables = await rowsOf<{ name: string }>(
    db,
    sql`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  await db.execute(sql.raw(`truncate ${tables.map(({ name }) => name).join(", ")} restart identity`));
  return url;
}
