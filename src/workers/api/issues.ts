import type * as z from "zod";
import type { FieldIssue } from "../../contract/index.ts";

const TYPES: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
};

const UNITS: Readonly<Record<string, string>> = { string: "characters", array: "items" };

/**
 * What is wrong with a value that a schema rejects without a message of its own: an `error` option of `safeParse`. Zod's texts
 * speak of its own types. Undefined if there is nothing better to say than zod does.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${TYPES[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value") return oneOf(issue.values);
  if (issue.code === "invalid_union" && Array.isArray(issue["options"])) return oneOf(issue["options"]);
  if (issue.code === "too_small") {
    return bounded(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
  }
  if (issue.code === "too_big") {
    return bounded(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum);
  }
  return undefined;
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  return texts.length === 1 ? `must be ${texts[0]}` : `must be one of ${texts.join(", ")}`;
}

function bounded(origin: string, relation: string, bound: number | bigint): string {
  const unit = UNITS[origin];
  return unit === undefined ? `must be ${relation} ${bound}` : `must have ${relation} ${bound} ${unit}`;
}

/** Converts a zod issue to the contract's form. */
export function toIssue({ path, message }: z.core.$ZodIssue): FieldIssue {
  return { path: path.map(String).join("."), message };
}
