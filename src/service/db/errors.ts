/** SQLSTATE codes that callers handle. */
export const PG_UNIQUE_VIOLATION = "23505";
export const PG_FOREIGN_KEY_VIOLATION = "23503";
/** `serialization_failure` and `deadlock_detected`: the transaction was rolled back and may succeed if it is repeated. */
export const PG_CONFLICTS = ["40001", "40P01"] as const;

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

/**
 * Whether a retry may help: the database could not be reached, is shutting down, or rolled the transaction back because of others
 * (after the tries of `openDb`).
 */
export function isUnreachable(error: unknown): boolean {
  const code = pgErrorCode(error);
  if (code !== undefined) return /^(?:08|40|53|57P)/.test(code);
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if (current.name === "NeonDbError" || current.name === "DrizzleQueryError" || current.name === "TimeoutError")
      return true;
  }
  return false;
}
