/** A pool of sessions of a PostgreSQL server, each with the settings that the service's statements rely on. */
import { setTimeout } from "node:timers/promises";
import {
  type ClientBase,
  type ClientConfig,
  DatabaseError,
  Pool,
  type PoolClient,
  type QueryArrayConfig,
  type QueryArrayResult,
} from "pg";
import { OperatorError, errnoOf } from "../../errors.ts";
import { DatabaseAway, type Session } from "./neon-endpoint.ts";
import type { WireError, WireField, WireResult } from "./postgres-wire.ts";

/** Why the service cannot work on such a server, and what to do. */
export const BEHIND_POOLER =
  "a connection pooler is in front of the server, which does not keep the settings of a session: connect to PostgreSQL itself";

/** Settings of every session; they take precedence over those of the server, the database and the role. */
const PINNED: Readonly<Record<string, string>> = {
  // Statements that count, then write, rely on seeing what others have committed.
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  search_path: "public",
  // Forms in which values are read and written as text.
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  bytea_output: "hex",
  extra_float_digits: "1",
  standard_conforming_strings: "on",
  // Longer than the driver waits for an answer (`QUERY_TIMEOUT_MS`), so that no statement outlives its request for long.
  statement_timeout: "35s",
  idle_in_transaction_session_timeout: "35s",
  // A role may have one; the service does not take it for a conflict that can be tried again.
  lock_timeout: "0",
};
/** Well below the 100 connections that a server allows by default. */
const DEFAULT_CONNECTIONS = 20;
/** For a free session or a new connection; shorter than the driver waits for an answer. */
const CONNECT_TIMEOUT_MS = 10_000;
/** For an answer; noticed by the server first unless the network fails. */
const QUERY_TIMEOUT_MS = 40_000;
const IDLE_TIMEOUT_MS = 60_000;
const CLOSE_TIMEOUT_MS = 1_000;

export interface SessionPool {
  acquire(): Promise<Session>;
  close(): Promise<void>;
}

export interface PoolOptions {
  /** Maximum number of connections. */
  connections?: number | undefined;
  /** Called with a line when the server stops answering and when it answers again. */
  onNotice?: ((line: string) => void) | undefined;
}

/** Configuration of a connection with the pinned settings; options of the URL come first, so that the pinned ones win. */
export function sessionConfig(address: ClientConfig): ClientConfig {
  const pins = Object.entries(PINNED).map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`);
  return {
    ...address,
    options: [address.options ?? "", ...pins].join(" "),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: "code-context",
  };
}

/** Opens no connection yet. */
export function createPool(
  address: ClientConfig,
  { connections = DEFAULT_CONNECTIONS, onNotice }: PoolOptions = {},
): SessionPool {
  const pool = new Pool({
    ...sessionConfig(address),
    max: connections,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
  });
  // A connection that breaks fails its statement, if it has one; without listeners it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const checked = new WeakSet<PoolClient>();
  const checkNew = async (client: PoolClient) => {
    try {
      await checkSession(client);
      checked.add(client);
    } catch (error) {
      client.release(true);
      throw error;
    }
  };
  let isAway = false;
  return {
    acquire: async () => {
      try {
        const client = await pool.connect();
        if (!checked.has(client)) await checkNew(client);
        if (isAway) onNotice?.("the database answers again");
        isAway = false;
        return sessionOf(client);
      } catch (error) {
        const away = awayBecause(error);
        if (!isAway) onNotice?.(away.message);
        isAway = true;
        throw away;
      }
    },
    // The process of the pool ends next; a server that does not answer must not delay it.
    close: () => Promise.race([pool.end(), setTimeout(CLOSE_TIMEOUT_MS)]),
  };
}

function sessionOf(client: PoolClient): Session {
  let failed = false;
  return {
    query: async (text, values) => {
      if (failed) throw new DatabaseAway("the connection cannot be used any more");
      try {
        const query: WireQuery = { text, values, rowMode: "array", queryMode: "extended", types: AS_TEXT };
        const result = await client.query<(string | null)[]>(query);
        return toWireResult(result, client);
      } catch (error) {
        if (error instanceof DatabaseError) {
          // `pg` does not follow the protocol after a COPY from its input, and the connection would answer nothing more.
          if (error.routine === "CopyGetData") failed = true;
          return toWireFailure(error, client);
        }
        // The connection is lost, or its answer did not arrive in time: what it does now is unknown.
        failed = true;
        throw awayBecause(error);
      }
    },
    release: () => client.release(failed),
  };
}

/** Values stay in PostgreSQL's text form; statements without parameters use the extended protocol too, which allows one at a time. */
interface WireQuery extends QueryArrayConfig<(string | null)[]> {
  queryMode: "extended";
}

const AS_TEXT = { getTypeParser: () => (text: string) => text };

function toWireResult(result: QueryArrayResult<(string | null)[]>, client: PoolClient): WireResult {
  const { fields, rows, command, rowCount } = result;
  return {
    // `pg` asks for text only.
    fields: fields as WireField[],
    rows,
    command: command ?? "",
    rowCount,
    error: undefined,
    status: client.getTransactionStatus() ?? "I",
  };
}

const ERROR_FIELDS = [
  "severity",
  "code",
  "detail",
  "hint",
  "position",
  "internalPosition",
  "internalQuery",
  "where",
  "schema",
  "table",
  "column",
  "dataType",
  "constraint",
  "file",
  "line",
  "routine",
] as const;

function toWireFailure(failure: DatabaseError, client: PoolClient): WireResult {
  const error: WireError = { message: failure.message };
  for (const name of ERROR_FIELDS) {
    const value = failure[name];
    if (value !== undefined) error[name] = value;
  }
  const status = client.getTransactionStatus() ?? "I";
  return { fields: [], rows: [], command: "", rowCount: null, error, status };
}

/** The message names no host and no password. */
function awayBecause(error: unknown): DatabaseAway {
  const message = errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
  return new DatabaseAway(`the database does not answer (${message})`, { cause: error });
}

/** Throws `OperatorError` if the new session does not have the pinned settings: a pooler in between drops them, or shares sessions. */
export async function checkSession(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string; value: string; pid: number }>(
    "select name, current_setting(name) as value, pg_backend_pid() as pid from unnest($1::text[]) name",
    [Object.keys(PINNED)],
  );
  const { processID } = client as ClientBase & { processID: number | null };
  const [first] = rows;
  if (first !== undefined && first.pid !== processID) throw new OperatorError(BEHIND_POOLER);
  for (const { name, value } of rows) {
    if (value === PINNED[name]) continue;
    throw new OperatorError(
      `the server does not let a session set ${name} (it is "${value}", "${PINNED[name]}" is needed): connect to PostgreSQL itself, not to a pooler`,
    );
  }
}
