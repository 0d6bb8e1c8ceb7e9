import type { IndexOptions } from "../contract/index.ts";
import { compileGlobs } from "../globs.ts";
import { detectLanguage, isDefaultIncluded, mayBeScript } from "../parsing/detect.ts";
import type { LanguageId } from "../parsing/languages.ts";
import { skipReason } from "../parsing/skip.ts";

/** Increment when the same options may select other files. */
export const SELECTION_VERSION = 2;

/** `language` null: the file's `#!` line may name its language; a file without one is skipped as `unknown_type`. */
export type PathVerdict = { take: true; language: LanguageId | null } | { take: false; reason: string };

/**
 * Decides by path which files of a tree are indexed: the `include` globs (default: every known language), minus
 * vendored, generated, minified and lock files, minus `exclude`. A file or folder that is skipped by default is indexed if `include`
 * names it literally, such as `vendor/**`. See `../globs.ts` for the syntax; an `include` that begins with `!` starts from
 * the default.
 */
export function createSelector(options: Pick<IndexOptions, "include" | "exclude">): (path: string) => PathVerdict {
  const included = options.include ? compileGlobs(options.include, isDefault) : isDefault;
  const unskipped = compileGlobs(options.include?.filter(namesSkipped) ?? []);
  const excluded = compileGlobs(options.exclude ?? []);
  return (path) => {
    const language = detectLanguage(path);
    if (!included(path)) {
      return { take: false, reason: language === undefined && !options.include ? "unknown_type" : "not_included" };
    }
    const skip = skipReason(path);
    if (skip !== undefined && !unskipped(path)) return { take: false, reason: skip };
    if (excluded(path)) return { take: false, reason: "excluded" };
    if (language !== undefined) return { take: true, language };
    return { take: true, language: options.include && !isDefault(path) ? "text" : null };
  };
}

const isDefault = (path: string): boolean => isDefaultIncluded(path) || mayBeScript(path);

/** Whether the glob spells out a segment that is skipped by default: `vendor/**`, `package-lock.json`. */
function namesSkipped(glob: string): boolean {
  if (glob.startsWith("!")) return false;
  const literal = glob.split("/").filter((segment) => segment !== "" && !/[*?[{]/.test(segment));
  return literal.some((segment) => skipReason(segment) !== undefined || skipReason(`${segment}/x.ts`) !== undefined);
}
