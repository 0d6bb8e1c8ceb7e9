/** Type guards for places where loading or running a zod schema costs too much. */

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** A string of 1 to `most` UTF-16 code units. */
export function isShortText(value: unknown, most: number): value is string {
  return isText(value) && value.length > 0 && value.length <= most;
}

/** A whole number of at least 0 that a double holds exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
