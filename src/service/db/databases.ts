/**
 * Which database holds what. Today one holds everything. Every Worker and Durable Object opens it here and says for whom, so that a
 * later map from tenant to database changes this file alone; docs/scale.md says what else such a map would take.
 */
import { type Db, openDb } from "./client.ts";

type DatabaseEnv = Pick<ApiEnv, "DATABASE_URL">;

let opened: { url: string; db: Db } | undefined;

/** The database of a tenant's rows: workspaces, indexes, runs, credentials, usage, audit log. */
export function databaseOf(env: DatabaseEnv, _tenantId: string): Db {
  return only(env);
}

/**
 * The database of what belongs to no single tenant or leads to one: people, sessions, memberships, invitations, credits of accounts,
 * the mail outbox, and the look-up of a hook by its id.
 */
export function accountsDatabase(env: DatabaseEnv): Db {
  return only(env);
}

/** Every database that holds tenants' rows, for jobs that walk all of them. */
export function tenantDatabases(env: DatabaseEnv): Db[] {
  return [only(env)];
}

/** The isolate's client, created once, since it holds no socket. */
function only({ DATABASE_URL: url }: DatabaseEnv): Db {
  if (opened?.url !== url) opened = { url, db: openDb(url) };
  return opened.db;
}
