/** Rows for PostgreSQL as arrays, one to a column: a statement with few parameters, however many rows there are. */
import { sql, type SQL } from "drizzle-orm";

type Value = string | number | boolean | null;

/** Values as one array parameter of a SQL type. */
export const arrayOf = (values: readonly Value[], type: string): SQL =>
  sql`${sql.param(arrayLiteral(values))}::${sql.raw(type)}[]`;

/** `unnest(…)` over rows: for each column its SQL type and its value in a row. */
export function unnest<T>(rows: readonly T[], columns: readonly [type: string, valueOf: (row: T) => Value][]): SQL {
  const arrays = columns.map(([type, valueOf]) => arrayOf(rows.map(valueOf), type));
  return sql`unnest(${sql.join(arrays, sql`, `)})`;
}

/**
 * A PostgreSQL array literal. The driver would make the same, but from a rope of a piece or two per element: for the symbols of one
 * large file that is ten megabytes at a time.
 */
function arrayLiteral(values: readonly Value[]): string {
  const elements = values.map((value) => {
    if (value === null) return "NULL";
    return typeof value === "string" ? `"${value.replace(/[\\"]/g, "\\$&")}"` : String(value);
  });
  return `{${elements.join(",")}}`;
}
