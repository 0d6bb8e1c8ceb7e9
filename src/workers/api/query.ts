import type * as z from "zod";
import type { ErrorCode } from "../../contract/index.ts";
import { invalidBody } from "../../lib/errors.ts";
import type { ApiContext } from "./context.ts";
import { describeIssue, toIssue } from "./issues.ts";

/**
 * Parses the query string with a schema; each parameter may occur once. Throws the route's error, which lists every rejected
 * parameter.
 */
export function readQuery<Schema extends z.ZodType>(
  c: ApiContext,
  schema: Schema,
  code: ErrorCode = "INVALID_BODY",
): z.output<Schema> {
  const values: Record<string, string | string[] | undefined> = {};
  for (const [name, all] of Object.entries(c.req.queries())) values[name] = all.length === 1 ? all[0] : all;
  const parsed = schema.safeParse(values, {
    error: (issue) => (Array.isArray(issue.input) ? "must be given once" : describeIssue(issue)),
  });
  if (parsed.success) return parsed.data;
  throw invalidBody(parsed.error.issues.map(toIssue), code);
}
