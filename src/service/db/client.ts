import { neon, neonConfig } from "@neondatabase/serverless";
import { drizzle, type NeonHttpDatabase } from "drizzle-orm/neon-http";
import { backoffMs } from "../../lib/backoff.ts";
import { pause } from "../../lib/pause.ts";
import { PG_CONFLICTS } from "./errors.ts";
import * as schema from "./schema.ts";

/** A drizzle database over Neon's HTTP protocol: one round trip per query, without connections to open or pool. */
export type Db = NeonHttpDatabase<typeof schema>;

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Whether a database at this host is reached through a local endpoint of Neon's protocol. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}

/** Time limit of a statement; Neon's own limit is longer than clients wait. */
const QUERY_TIMEOUT_MS = 30_000;

/** Tries of a request that the server rolls back because of a conflict with another transaction. */
const CONFLICT_TRIES = 5;
/** Longer answers are not read as errors. */
const MAX_ERROR_BYTES = 64 * 1024;
const CONFLICT_BACKOFF = { baseMs: 20, capMs: 500 };

const remoteEndpoint = neonConfig.fetchEndpoint;
neonConfig.fetchEndpoint = (host, port, options) => {
  if (isLoopback(host)) return `http://${host}:${port}/sql`;
  return typeof remoteEndpoint === "function" ? remoteEndpoint(host, port, options) : remoteEndpoint;
};
neonConfig.fetchFunction = async (input: string | URL | Request, init: RequestInit) => {
  const abort = new AbortController();
  // Cleared after the answer: a running timer would keep a Durable Object from hibernating.
  const timer = setTimeout(
    () => abort.abort(new DOMException("the query took too long", "TimeoutError")),
    QUERY_TIMEOUT_MS,
  );
  try {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(input, { ...init, signal: abort.signal });
      const body = await response.arrayBuffer();
      if (attempt === CONFLICT_TRIES || !isConflict(response, body)) return new Response(body, response);
      await pause(backoffMs(attempt, CONFLICT_BACKOFF));
    }
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Whether the server chose the request as the victim of a deadlock or could not serialize it. A request is one statement or one
 * transaction, so nothing of it was done and it can be sent again.
 */
function isConflict(response: Response, body: ArrayBuffer): boolean {
  if (response.ok || body.byteLength > MAX_ERROR_BYTES) return false;
  try {
    const { code } = JSON.parse(new TextDecoder().decode(body)) as { code?: unknown };
    return PG_CONFLICTS.some((conflict) => conflict === code);
  } catch {
    return false;
  }
}

/**
 * Opens the database of a Postgres URL. A loopback host means the local stack, whose Neon-compatible endpoint is
 * `http://host:port/sql`; any other host is reached with the driver's defaults.
 */
export function openDb(databaseUrl: string): Db {
  return drizzle(neon(databaseUrl), { schema });
}
