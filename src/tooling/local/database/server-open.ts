/** Opens a PostgreSQL server: waits until it answers, and checks that the service can work on it. */
import { setTimeout } from "node:timers/promises";
import { Client, type ClientConfig, DatabaseError } from "pg";
import { OperatorError, errnoOf } from "../../errors.ts";
import { preferTls, readServerUrl, type ServerAddress } from "./server-address.ts";
import {
  BEHIND_POOLER,
  checkSession,
  createPool,
  type PoolOptions,
  type SessionPool,
  sessionConfig,
} from "./server-pool.ts";

/** A server that is started at the same time, for example in another container, needs some seconds. */
const START_WAIT_MS = 15_000;
const RETRY_MS = 500;
const MIN_VERSION = 150_000;

/** No server yet, or one that is starting. */
const NOT_YET = new Set(["ECONNREFUSED", "ECONNRESET", "ENOENT", "ENOTFOUND", "EAI_AGAIN", "57P03"]);

/** Throws an `Error` that says why the server cannot be used and what to do; its message holds no password. */
export async function openServer(url: string, options: PoolOptions): Promise<SessionPool> {
  const address = readServerUrl(url);
  try {
    const { client, config } = await connectFirst(address, options.onNotice);
    try {
      await checkSession(client);
      await checkServer(client);
    } finally {
      await client.end();
    }
    return createPool(config, options);
  } catch (error) {
    throw new Error(explain(error, address.config), { cause: error });
  }
}

async function connectFirst(
  address: ServerAddress,
  onNotice: PoolOptions["onNotice"],
): Promise<{ client: Client; config: ClientConfig }> {
  const deadline = Date.now() + START_WAIT_MS;
  for (let waiting = false; ; waiting = true) {
    try {
      const config = await preferTls(address);
      const client = new Client(sessionConfig(config));
      client.on("error", () => {});
      await client.connect();
      return { client, config };
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || !NOT_YET.has(code) || Date.now() > deadline) throw error;
      if (!waiting) onNotice?.(`waiting for the database (${code})`);
      await setTimeout(RETRY_MS);
    }
  }
}

interface ServerFacts {
  version: number;
  version_name: string;
  encoding: string;
  standby: boolean;
  read_only: boolean;
  may_create_schema: boolean;
  may_create_tables: boolean;
  migrated: boolean;
  /** Relations in `public` that belong to no extension. */
  tables: string[];
  /** Those that the role does not own. */
  owned_by_others: string[];
}

/** Extensions may have tables in `public`; everything else there is the service's. */
const FACTS = `
  with relations as (
    select n.nspname, c.relname, c.relowner from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'drizzle') and c.relkind in ('r', 'p', 'v', 'm', 'f')
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  )
  select current_setting('server_version_num')::int as version, current_setting('server_version') as version_name,
    current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
    current_setting('default_transaction_read_only')::bool as read_only,
    has_database_privilege(current_database(), 'create') as may_create_schema,
    coalesce(has_schema_privilege(to_regnamespace('public')::oid, 'create'), false) as may_create_tables,
    exists (select from relations where nspname = 'drizzle' and relname = '__drizzle_migrations') as migrated,
    array(select relname::text from relations where nspname = 'public' order by 1) as tables,
    array(select relname::text from relations where not pg_has_role(relowner, 'usage') order by 1) as owned_by_others`;

async function checkServer(client: Client): Promise<void> {
  const [facts] = (await client.query<ServerFacts>(FACTS)).rows;
  if (facts === undefined) throw new OperatorError("the server does not answer as PostgreSQL does");
  const { user, database } = client;
  if (facts.version < MIN_VERSION)
    throw new OperatorError(`PostgreSQL 15 or newer is needed, and the server is ${facts.version_name}`);
  if (facts.encoding !== "UTF8")
    throw new OperatorError(
      `the database ${database} has the encoding ${facts.encoding}: create one with encoding 'UTF8' template template0`,
    );
  if (facts.standby) throw new OperatorError("the server is a standby, which cannot be written to: use its primary");
  if (facts.read_only)
    throw new OperatorError("sessions are read-only by default: set default_transaction_read_only to off for the role");
  if (!facts.migrated && facts.tables.length > 0)
    throw new OperatorError(
      `the database ${database} has tables of something else (${someOf(facts.tables)}): create one for the service alone`,
    );
  if (facts.owned_by_others.length > 0)
    throw new OperatorError(
      `the role ${user} does not own the service's tables (${someOf(facts.owned_by_others)}): connect as their owner`,
    );
  if (!facts.may_create_tables || (!facts.migrated && !facts.may_create_schema))
    throw new OperatorError(
      `the role ${user} may not create tables: make it the owner of the database (alter database "${database}" owner to "${user}")`,
    );
}

function someOf(names: string[]): string {
  return names.length > 3 ? `${names.slice(0, 3).join(", ")}, …` : names.join(", ");
}

function codeOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : errnoOf(error);
}

function explain(error: unknown, { host, port, user, database }: ClientConfig): string {
  if (error instanceof OperatorError) return error.message;
  const code = codeOf(error) ?? "";
  const message = error instanceof Error ? error.message : String(error);
  const place = `${host || "localhost"}:${port ?? 5432}`;
  if (NOT_YET.has(code) || code === "EHOSTUNREACH" || code === "ETIMEDOUT" || /timeout/i.test(message))
    return `no PostgreSQL answers at ${place} (${code || "no answer in time"}): start it, or correct the host and the port`;
  if (code === "28P01") return `the server refuses the password of the role ${user}`;
  if (code === "28000") return `the server refuses the role ${user} (${message})`;
  if (code === "3D000")
    return `the server has no database ${database}: create it (create database "${database}" owner "${user}" encoding 'UTF8')`;
  if (code === "42501") return `the role ${user} lacks a right (${message}): make it the owner of the database`;
  if (code === "53300") return `the server has no free connection for the role ${user} (${message})`;
  if (code === "08P01" && message.includes("startup parameter")) return BEHIND_POOLER;
  if (message.includes("does not support SSL"))
    return "the server has no TLS: set it up there, or say sslmode=disable if the network is trusted";
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code))
    return `the server's certificate is not trusted (${code}): set sslrootcert to the file of its authority`;
  return `the server cannot be used (${message})`;
}
