import { neon, neonConfig } from "@neondatabase/serverless";
import { drizzle, type NeonHttpDatabase } from "drizzle-orm/neon-http";
import * as schema from "./schema.ts";

/** A drizzle database over Neon's HTTP protocol: one round trip a query, nothing to set up, nothing to pool. */
export type Db = NeonHttpDatabase<typeof schema>;

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** One statement must not outlive a request; Neon itself gives up later than any client would wait. */
export const QUERY_TIMEOUT_MS = 30_000;

const remoteEndpoint = neonConfig.fetchEndpoint;
neonConfig.fetchEndpoint = (host, port, options) => {
  if (LOOPBACK.has(host)) return `http://${host}:${port}/sql`;
  return typeof remoteEndpoint === "function" ? remoteEndpoint(host, port, options) : remoteEndpoint;
};
neonConfig.fetchFunction = async (input: string | URL | Request, init: RequestInit) => {
  const abort = new AbortController();
  // Cleared when the answer is in: a timer left running would keep a Durable Object from going to sleep.
  const timer = setTimeout(
    () => abort.abort(new DOMException("the query took too long", "TimeoutError")),
    QUERY_TIMEOUT_MS,
  );
  try {
    const response = await fetch(input, { ...init, signal: abort.signal });
    return new Response(await response.arrayBuffer(), response);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Opens a database for a Postgres URL. A loopback host means the local stack, whose Neon-shaped endpoint answers
 * `http://host:port/sql`; any other host is reached as Neon's driver does by default.
 */
export function openDb(databaseUrl: string): Db {
  return drizzle(neon(databaseUrl), { schema });
}
