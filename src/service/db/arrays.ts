/** Passes rows to PostgreSQL as one array per column, so that the number of parameters does not depend on the number of rows. */
import { sql, type SQL } from "drizzle-orm";

type Value = string | number | boolean | null;

/** Passes values as one array parameter of a SQL type. */
export const arrayOf = (values: readonly Value[], type: string): SQL =>
  sql`${sql.param(arrayLiteral(values))}::${sql.raw(type)}[]`;

/** `unnest(…)` over rows. `columns` gives each column's SQL type and its value in a row. */
export function unnest<T>(
  rows: readonly T[],
  columns: readonly (readonly [type: string, valueOf: (row: T) => Value])[],
): SQL {
  const arrays = columns.map(([type, valueOf]) => arrayOf(rows.map(valueOf), type));
  return sql`unnest(${sql.join(arrays, sql`, `)})`;
}

/**
 * Builds a PostgreSQL array literal. The driver would build the same text from one or two string pieces per element, which takes
 * ten megabytes for the symbols of one large file.
 */
function arrayLiteral(values: readonly Value[]): string {
  const elements = values.map((value) => {
    if (value === null) return "NULL";
    return typeof value === "string" ? `"${value.replace(/[\\"]/g, "\\$&")}"` : String(value);
  });
  return `{${elements.join(",")}}`;
}
