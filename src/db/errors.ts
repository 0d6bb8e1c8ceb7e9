/** SQLSTATE codes that callers handle. */
export const PG_UNIQUE_VIOLATION = "23505";
export const PG_FOREIGN_KEY_VIOLATION = "23503";

/**
 * SQLSTATE of a failed query. A single query throws `DrizzleQueryError` with the driver's error as its cause; a batch throws the
 * driver's error itself. Undefined if the database was not reached.
 */
export function pgErrorCode(error: unknown): string | undefined {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if ("code" in current && typeof current.code === "string" && /^[0-9A-Z]{5}$/.test(current.code))
      return current.code;
  }
  return undefined;
}

/** Whether the database could not be reached or is shutting down, so that a retry may help. */
export function isUnreachable(error: unknown): boolean {
  const code = pgErrorCode(error);
  if (code !== undefined) return code.startsWith("08") || code.startsWith("57P") || code.startsWith("53");
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if (current.name === "NeonDbError" || current.name === "DrizzleQueryError" || current.name === "TimeoutError")
      return true;
  }
  return false;
}
