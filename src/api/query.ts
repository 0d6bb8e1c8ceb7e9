import type * as z from "zod";
import type { ErrorCode } from "../contract/index.ts";
import { invalidBody } from "../errors.ts";
import type { ApiContext } from "./context.ts";
import { toIssue } from "./middleware/body.ts";

/**
 * The query string as a schema reads it: each parameter once, as text. Throws the route's error that names every rejected
 * parameter.
 */
export function readQuery<Schema extends z.ZodType>(
  c: ApiContext,
  schema: Schema,
  code: ErrorCode = "INVALID_SELECTOR",
): z.output<Schema> {
  const values: Record<string, string | string[] | undefined> = {};
  for (const [name, all] of Object.entries(c.req.queries())) values[name] = all.length === 1 ? all[0] : all;
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw invalidBody(parsed.error.issues.map(toIssue), code);
}
