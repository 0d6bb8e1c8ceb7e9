import { neon, neonConfig } from "@neondatabase/serverless";
import { drizzle, type NeonHttpDatabase } from "drizzle-orm/neon-http";
import * as schema from "./schema.ts";

/** A drizzle database over Neon's HTTP protocol: one round trip per query, without connections to open or pool. */
export type Db = NeonHttpDatabase<typeof schema>;

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Time limit of a statement; Neon's own limit is longer than clients wait. */
export const QUERY_TIMEOUT_MS = 30_000;

const remoteEndpoint = neonConfig.fetchEndpoint;
neonConfig.fetchEndpoint = (host, port, options) => {
  if (LOOPBACK.has(host)) return `http://${host}:${port}/sql`;
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
    const response = await fetch(input, { ...init, signal: abort.signal });
    return new Response(await response.arrayBuffer(), response);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Opens the database of a Postgres URL. A loopback host means the local stack, whose Neon-compatible endpoint is
 * `http://host:port/sql`; any other host is reached with the driver's defaults.
 */
export function openDb(databaseUrl: string): Db {
  return drizzle(neon(databaseUrl), { schema });
}
