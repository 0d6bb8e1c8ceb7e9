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
neonConfig.fetchFunction = (input: string | URL | Request, init: RequestInit) =>
  fetch(input, { ...init, signal: AbortSignal.timeout(QUERY_TIMEOUT_MS) });

/**
 * Opens a database for a Postgres URL. A loopback host means the local stack, whose Neon-shaped endpoint answers
 * `http://host:port/sql`; any other host is reached as Neon's driver does by default.
 */
export function openDb(databaseUrl: string): Db {
  return drizzle(neon(databaseUrl), { schema });
}
