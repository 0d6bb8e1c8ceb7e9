import { MAX_INPUT_CHARACTERS } from "../contract/index.ts";
import { ApiError } from "../errors.ts";
import type { BodyResult } from "./middleware/body.ts";

/**
 * Holds a valid body to the cap on characters: the texts of each field together, in UTF-16 code units (JavaScript
 * `length`).
 */
export function capCharacters<T>(
  body: BodyResult<T>,
  fieldsOf: (data: T) => Record<string, readonly string[]>,
): BodyResult<T> {
  if (!body.ok) return body;
  for (const [field, texts] of Object.entries(fieldsOf(body.data))) {
    let characters = 0;
    for (const text of texts) characters += text.length;
    if (characters <= MAX_INPUT_CHARACTERS) continue;
    const message = `${field} has ${characters} characters (UTF-16 code units); at most ${MAX_INPUT_CHARACTERS} are taken, so split the request`;
    return { ok: false, error: new ApiError("INPUT_TOO_LARGE", message) };
  }
  return body;
}
