import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Sql } from "../../src/gate/types.ts";

/** A Durable Object's SQL storage, as far as the gates use it, on an in-memory database of Node's. */
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
