/** What names are resolved with, and to. */
import type { Entry } from "./script-configs.ts";
import type { FileUses } from "./types.ts";
import { ENTRY, isSeenThrough, isStep, isWrapping, unwrappedBy, type Wrapping } from "./wrapped.ts";

/** The uses of a file; undefined if there is no such file, or its language has no rules. */
export type LoadUses = (path: string) => Promise<FileUses | undefined>;

/** Definitions with a name in all files; languages with packages need them, since their imports do not name files. */
export type FindDefinitions = (name: string) => Promise<readonly { path: string; kind?: string }[]>;

/** Files that an import of a package or through an alias may mean. */
export type FindEntries = (path: string, module: string) => Promise<readonly Entry[]>;

/**
 * A definition, by the line of its name, or a whole module. `wrapping`: types around it, the outermost one last. `isLikely`: a rule that may
 * fail led there.
 */
export type Target = { path: string; line: number | undefined; wrapping?: readonly Wrapping[]; isLikely?: true };

/**
 * What a meaning in a file leads to. `outside`: a module that is not among the files. `unknown`: the rules do not tell.
 * `none`: a variable, parameter or the like, which is no definition, or a name of the standard library.
 */
export type Resolved = Target | Unresolved;
export type Unresolved = "outside" | "unknown" | "none";

/** What a name is of a wrapped value, where that is not simply the member of what is wrapped; undefined where it is. */
export function throughWrapping(of: Target, name: string): Resolved | undefined {
  const around = of.wrapping ?? [];
  if (isWrapping(name)) return { ...of, wrapping: [...around, name] };
  if (isStep(name) && (name !== "second" || around.at(-1) === ENTRY)) {
    const wrapping = unwrappedBy(around, name);
    return wrapping ? { ...of, wrapping } : "unknown";
  }
  return around.every((each) => isSeenThrough(each, name)) ? undefined : "unknown";
}
