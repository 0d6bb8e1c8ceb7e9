import { detectLanguage, isDefaultIncluded, mayBeScript } from "./detect.ts";
import type { LanguageId } from "./languages.ts";
import { skipReason } from "./skip.ts";

/** `language` null: the file's `#!` line may name its language; a file without one is skipped as `unknown_type`. */
export type PathVerdict = { take: true; language: LanguageId | null } | { take: false; reason: string };

/** Whether files of this name are indexed by default, if their first line names a language and the name does not. */
export const isDefaultName = (path: string): boolean => isDefaultIncluded(path) || mayBeScript(path);

/** Decides by its name whether a file is indexed by default. The hosted index and the CLI both go by this. */
export function nameVerdict(path: string): PathVerdict {
  const language = detectLanguage(path);
  if (!isDefaultName(path)) return { take: false, reason: language === undefined ? "unknown_type" : "not_included" };
  const skip = skipReason(path);
  return skip === undefined ? { take: true, language: language ?? null } : { take: false, reason: skip };
}
