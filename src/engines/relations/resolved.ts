/** What names are resolved with, and to. */
import type { FileUses } from "./types.ts";
import { ARROW, isSeenThrough, isWrapping, OPTIONAL, SMART, UNWRAPPED, type Wrapping } from "./wrapped.ts";

/** The uses of a file; undefined if there is no such file, or its language has no rules. */
export type LoadUses = (path: string) => Promise<FileUses | undefined>;

/** Definitions with a name in all files; languages with packages need them, since their imports do not name files. */
export type FindDefinitions = (name: string) => Promise<readonly { path: string }[]>;

/** A definition, by the line of its name, or a whole module. `wrapping`: types around it, the outermost one last. */
export type Target = { path: string; line: number | undefined; wrapping?: readonly Wrapping[] };

/**
 * What a meaning in a file leads to. `outside`: a module that is not among the files. `unknown`: the rules do not tell.
 * `none`: a variable, parameter or the like, which is no definition.
 */
export type Resolved = Target | Unresolved;
export type Unresolved = "outside" | "unknown" | "none";

/** What a name is of a wrapped value, where that is not simply the member of what is wrapped; undefined where it is. */
export function throughWrapping(of: Target, name: string): Resolved | undefined {
  const around = of.wrapping ?? [];
  if (isWrapping(name)) return { ...of, wrapping: [...around, name] };
  if (name === ARROW) return around.at(-1) === SMART ? { ...of, wrapping: around.slice(0, -1) } : of;
  if (name === UNWRAPPED) return around.at(-1) === OPTIONAL ? { ...of, wrapping: around.slice(0, -1) } : "unknown";
  return around.every((each) => isSeenThrough(each, name)) ? undefined : "unknown";
}
