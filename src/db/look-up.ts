import { type SQL, sql } from "drizzle-orm";

/**
 * A part of a `from` clause: looks up one row by its key for each row before it. Use it instead of a join of large tables. The planner
 * may reorder a join, and where its statistics do not know a tenant yet it does so wrongly and reads the rows of all tenants; a
 * subquery with a limit stays a look-up.
 */
export const lookUp = (query: SQL, alias: "c" | "k" | "t" | "v"): SQL =>
  sql`cross join lateral (${query} limit 1) ${sql.raw(alias)}`;
