import picomatch from "picomatch/posix.js";
import type { IndexOptions } from "../contract/index.ts";
import { detectLanguage, isDefaultIncluded } from "../parsing/detect.ts";
import type { LanguageId } from "../parsing/languages.ts";
import { skipReason } from "../parsing/skip.ts";

/** Bumped when the same options may select other files. */
export const SELECTION_VERSION = 1;

export type PathVerdict = { take: true; language: LanguageId } | { take: false; reason: string | null };

type Match = (path: string) => boolean;

/**
 * Decides by path which files of a tree are indexed: the `include` globs (default: every known language), minus
 * vendored, generated, minified and lock files, minus `exclude`. A skipped file or folder can be had by naming it in
 * `include` literally, such as `vendor/**`.
 * Globs follow .gitignore's habit: without a slash they match in any folder, and a folder stands for all below it.
 */
export function createSelector(options: Pick<IndexOptions, "include" | "exclude">): (path: string) => PathVerdict {
  const include = options.include?.map((glob) => ({ match: compile(glob), insists: namesSkipped(glob) }));
  const exclude = options.exclude?.map(compile) ?? [];
  return (path) => {
    const named = include?.filter(({ match }) => match(path));
    if (named ? named.length === 0 : !isDefaultIncluded(path)) return { take: false, reason: null };
    const skip = skipReason(path);
    if (skip !== undefined && !named?.some(({ insists }) => insists)) return { take: false, reason: skip };
    if (exclude.some((match) => match(path))) return { take: false, reason: null };
    return { take: true, language: detectLanguage(path) ?? "text" };
  };
}

function compile(glob: string): Match {
  const anchored = glob.replace(/^\.?\//, "");
  const body = anchored.replace(/\/+$/, "");
  const patterns = [body, `${body}/**`];
  if (!body.includes("/") && !glob.startsWith("/")) patterns.push(`**/${body}`, `**/${body}/**`);
  // Extended globs can be made to backtrack without end; nobody needs them here.
  return picomatch(anchored.endsWith("/") ? patterns.filter((p) => p.endsWith("/**")) : patterns, {
    dot: true,
    noextglob: true,
  });
}

/** True when the glob spells out a segment that is skipped by default: `vendor/**`, `package-lock.json`. */
function namesSkipped(glob: string): boolean {
  const literal = glob.split("/").filter((segment) => segment !== "" && !/[*?[{]/.test(segment));
  return literal.some((segment) => skipReason(segment) !== undefined || skipReason(`${segment}/x.ts`) !== undefined);
}
