import { type SQL, sql } from "drizzle-orm";

/**
 * A part of a `from` clause: looks up one row by its key for each row before it. Use it instead of a join of large tables. The planner
 * may reorder a join, and where its statistics do not know a tenant yet it does so wrongly and reads the rows of all tenants; a
 * subquery with an offset stays a look-up. (One with a limit does too, but makes the planner hope to find a row early in a scan.)
 */
export const lookUp = (query: SQL, alias: "c" | "k" | "t" | "v"): SQL =>
  sql`cross join lateral (${query} offset 0) ${sql.raw(alias)}`;
