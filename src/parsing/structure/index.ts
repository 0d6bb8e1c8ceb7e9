import type { LanguageId } from "../languages.ts";
import { layoutLevels } from "../levels.ts";
import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";

/** Outline of a language that has sections rather than syntax. */
export function structureOutline(_language: LanguageId, source: SourceText): Outline {
  return { symbols: [], levels: layoutLevels(source), hasErrors: false };
}
