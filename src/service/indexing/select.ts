import type { IndexOptions } from "../../contract/index.ts";
import { compileGlobs } from "../../lib/globs.ts";
import { detectLanguage } from "../../engines/parsing/detect.ts";
import { isDefaultName, nameVerdict, type PathVerdict } from "../../engines/parsing/name-verdict.ts";
import { skipReason } from "../../engines/parsing/skip.ts";

/** Increment when the same options may select other files. */
export const SELECTION_VERSION = 2;

/**
 * Decides by path which files of a tree are indexed: the `include` globs (default: every known language), minus
 * vendored, generated, minified and lock files, minus `exclude`. A file or folder that is skipped by default is indexed if `include`
 * names it literally, such as `vendor/**`. See `../../lib/globs.ts` for the syntax; an `include` that begins with `!` starts from
 * the default. Throws `GlobError`, as the selector does.
 */
export function createSelector(options: Pick<IndexOptions, "include" | "exclude">): (path: string) => PathVerdict {
  const excluded = compileGlobs(options.exclude ?? [], { field: "options.exclude" });
  if (!options.include) {
    return (path) => {
      const verdict = nameVerdict(path);
      return verdict.take && excluded(path) ? { take: false, reason: "excluded" } : verdict;
    };
  }
  const field = "options.include";
  const included = compileGlobs(options.include, { field, otherwise: isDefaultName });
  const unskipped = compileGlobs(options.include.filter(namesSkipped), { field });
  return (path) => {
    if (!included(path)) return { take: false, reason: "not_included" };
    const skip = skipReason(path);
    if (skip !== undefined && !unskipped(path)) return { take: false, reason: skip };
    if (excluded(path)) return { take: false, reason: "excluded" };
    return { take: true, language: detectLanguage(path) ?? (isDefaultName(path) ? null : "text") };
  };
}

/** Whether the glob spells out a segment that is skipped by default: `vendor/**`, `package-lock.json`. */
function namesSkipped(glob: string): boolean {
  if (glob.startsWith("!")) return false;
  const literal = glob.split("/").filter((segment) => segment !== "" && !/[*?[{]/.test(segment));
  return literal.some((segment) => skipReason(segment) !== undefined || skipReason(`${segment}/x.ts`) !== undefined);
}
