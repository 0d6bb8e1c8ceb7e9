/**
 * Applies the migrations that drizzle-kit generated, over the HTTP driver: each one in a single transaction together with
 * its row in drizzle's own table, so that a migration is either there and recorded or neither. (drizzle's migrator for this
 * driver runs statement by statement.)
 */
import { fileURLToPath } from "node:url";
import { neon, type NeonQueryFunction } from "@neondatabase/serverless";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { pgErrorCode } from "../../../service/db/errors.ts";
// Sets the driver's endpoint for a loopback database.
import "../../../service/db/client.ts";
import { OperatorError } from "../../errors.ts";
import { pinSessions, unfitSettings } from "./session-settings.ts";

const FOLDER = fileURLToPath(new URL("../../../../drizzle", import.meta.url));

/** Key of the advisory lock: an arbitrary number, shared by all migrating processes. */
const ADVISORY_LOCK = 7_216_401;
const PG_DIVISION_BY_ZERO = "22012";

/**
 * Applies pending migrations. Safe to run from several processes at once. Returns the number of applied migrations.
 * Throws `OperatorError` when the database has migrations of another history, or sessions that {@link pinSessions} cannot make fit.
 */
export async function migrate(databaseUrl: string, folder: string = FOLDER): Promise<number> {
  const sql = neon(databaseUrl);
  const migrations = readMigrationFiles({ migrationsFolder: folder });
  await sql.transaction([
    sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`,
    sql`create schema if not exists drizzle`,
    sql`create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`,
  ]);
  const applied = await appliedHashes(sql);
  const known = new Set(migrations.map((migration) => migration.hash));
  if (applied.some((hash) => !known.has(hash))) {
    throw new OperatorError(
      "the database was made by another version of the service (it has migrations that are not in drizzle/): " +
        "update this checkout, or use another DATA_DIR or DATABASE_URL",
    );
  }
  let count = 0;
  for (const migration of migrations) {
    if (applied.includes(migration.hash)) continue;
    if (await apply(sql, migration)) count++;
  }
  await pinSessions(sql);
  return count;
}

/** Number of pending migrations. Changes nothing. */
export async function pendingMigrations(databaseUrl: string, folder: string = FOLDER): Promise<number> {
  const sql = neon(databaseUrl);
  const [table] = await sql`select to_regclass('drizzle.__drizzle_migrations')::text as name`;
  const applied = table?.["name"] === null ? [] : await appliedHashes(sql);
  return readMigrationFiles({ migrationsFolder: folder }).filter(({ hash }) => !applied.includes(hash)).length;
}

/** Names of session settings that {@link migrate} would make the role's defaults. Changes nothing. */
export async function pendingSettings(databaseUrl: string): Promise<string[]> {
  return (await unfitSettings(neon(databaseUrl))).map(({ name }) => name);
}

async function appliedHashes(sql: NeonQueryFunction<false, false>): Promise<string[]> {
  const rows = await sql`select hash from drizzle.__drizzle_migrations order by created_at`;
  return rows.map((row) => String(row["hash"]));
}

/** Returns false if another process has applied it meanwhile. */
async function apply(
  sql: NeonQueryFunction<false, false>,
  migration: { sql: string[]; hash: string; folderMillis: number },
): Promise<boolean> {
  try {
    await sql.transaction([
      sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`,
      // A batch cannot branch; a division by zero aborts it if the migration is already applied.
      sql`select 1 / (select count(*) = 0 from drizzle.__drizzle_migrations where hash = ${migration.hash})::int`,
      ...migration.sql.map((statement) => sql.query(statement)),
      sql`insert into drizzle.__drizzle_migrations (hash, created_at) values (${migration.hash}, ${migration.folderMillis})`,
    ]);
    return true;
  } catch (error) {
    if (pgErrorCode(error) === PG_DIVISION_BY_ZERO) return false;
    throw error;
  }
}
