import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Sql } from "../../src/service/gate/types.ts";

/** A Durable Object's SQL storage for tests of the gates, on an in-memory `node:sqlite` database. */
export function openSql(schema: string): Sql {
  const db = new DatabaseSync(":memory:");
  db.exec(schema);
  return {
    exec: <T>(query: string, ...bindings: SQLInputValue[]) => {
      const rows = db.prepare(query).all(...bindings) as T[];
      return { toArray: () => rows };
    },
  } as Sql;
}
