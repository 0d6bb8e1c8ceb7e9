import * as z from "zod";
import { MAX_INPUT_CHARACTERS, MAX_REPO_CHARACTERS } from "./limits.ts";

/** Whether a string can be stored and forwarded: Postgres rejects NUL, and UTF-8 cannot encode a lone surrogate. */
export function isCleanText(value: string): boolean {
  return value.isWellFormed() && !value.includes("\0");
}

/** Error message for a string that is not clean. */
export const UNCLEAN_TEXT = "must be well-formed Unicode without NUL characters";

/** Schema of every string that reaches the database, a git host or a model provider. */
export const text = z.string().refine(isCleanText, UNCLEAN_TEXT);

/** Schema of a clean string that must not be empty. */
export const nonEmptyText = text.min(1, "must not be empty");

/**
 * Schema of a text for a model. Its bound is that of all texts of a request together, which is checked apart from the schema because it
 * has a code of its own (413 `INPUT_TOO_LARGE`): here it is for the documentation.
 */
export const inputText = nonEmptyText.meta({ maxLength: MAX_INPUT_CHARACTERS });

/** Schema of a repository: its identity, or a clone URL. */
export const repoText = text.max(MAX_REPO_CHARACTERS);

/** Schema of a whole number in a query string, in decimal digits. Its metadata describe the number, for the documentation. */
export function numberParameter(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.int().min(min, message).max(max, message))
    .meta({ type: "integer", minimum: min, maximum: max });
}

/** Deeper JSON values are rejected, so that recursive code cannot overflow the stack. */
const MAX_DEPTH = 64;

/** Adds an issue for each unclean string or key, and for nesting beyond `MAX_DEPTH`, in any JSON value. Linear in the value's size. */
export function checkJson(value: unknown, context: z.core.$RefinementCtx): void {
  const pending: { value: unknown; path: (string | number)[] }[] = [{ value, path: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, path } = next;
    if (typeof value === "string" && !isCleanText(value)) {
      context.addIssue({ code: "custom", path, message: UNCLEAN_TEXT, input: value });
    }
    if (typeof value !== "object" || value === null) continue;
    if (path.length >= MAX_DEPTH) {
      context.addIssue({
        code: "custom",
        path: path.slice(0, 1),
        message: `is nested more than ${MAX_DEPTH} levels deep`,
      });
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      if (!isCleanText(key))
        context.addIssue({
          code: "custom",
          path,
          message: "has a key that is not well-formed Unicode without NUL characters",
        });
      pending.push({ value: inner, path: [...path, key] });
    }
  }
}
