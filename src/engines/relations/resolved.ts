/** What names are resolved with, and to. */
import type { GoModules } from "./go-modules.ts";
import { isScript } from "./modules.ts";
import type { Entry } from "./script-configs.ts";
import type { ClassInfo, FileUses, Meaning } from "./types.ts";
import {
  ELEMENT,
  isKeyOfRecord,
  isSeenThrough,
  ITERATED,
  isStep,
  isWrapping,
  unwrappedBy,
  type Wrapping,
} from "./wrapped.ts";

/** A package in another repository. */
export interface PackageFiles {
  /** Its files that define the name that is asked for. */
  paths: readonly string[];
  /** It may be the wrong package. */
  isLikely: boolean;
}

/** The files in which meanings are followed: those of one revision, and those of others whose packages they import. */
export interface RelatedFiles {
  /** The uses of a file; undefined if there is no such file, or its language has no rules. */
  uses(path: string): Promise<FileUses | undefined>;
  /**
   * Definitions with a name in all files of the repository of the file `path`, or of the one that is asked; languages with packages need them,
   * since their imports do not name files. `folder`: those of files directly in a folder of that repository; a name such as `Close` has thousands.
   */
  definitions(
    name: string,
    path?: string,
    folder?: string,
  ): Promise<readonly { path: string; kind?: string; qualifiedName?: string }[]>;
  /** The package of another repository that an import of Go, Java or Kotlin may mean, where it defines a name. */
  packageElsewhere(path: string, module: string, name: string): Promise<PackageFiles | undefined>;
  /** The modules of Go in the repository of a file. */
  goModules(path: string): Promise<GoModules>;
  /** Namespaces that a file of C# uses because its project does. */
  globalUsings(path: string): Promise<readonly string[]>;
  /** Files that an import of a package or through an alias may mean, the likeliest first. */
  entries(path: string, module: string): Promise<readonly Entry[]>;
}

/** A function that a call may mean, and how many arguments it takes (`takes` of `overload-sets.ts`). */
export interface Candidate extends Place {
  takes: number;
}

/**
 * A definition, by the line of its name, or a whole module. `wrapping`: types around it, the outermost one last. `isLikely`: a rule that may
 * fail led there. `given`: what is given to its type parameters. `among`: the overloads of which it is one, itself among them, where the rules do not tell which.
 */
export type Target = {
  path: string;
  line: number | undefined;
  given?: readonly TypeArgument[];
  wrapping?: readonly Wrapping[];
  isLikely?: true;
  among?: readonly Candidate[];
};

/**
 * What a meaning in a file leads to. `outside`: a module that is not among the files. `unknown`: the rules do not tell.
 * `none`: a variable, parameter or the like, which is no definition, or a name of the standard library.
 */
export type Resolved = Target | Unresolved;
export type Unresolved = "outside" | "unknown" | "none";

/** A type argument: what `of` means in a file, whose own type parameters are those of `receiver`. */
export interface TypeArgument {
  path: string;
  of: Meaning;
  receiver: Resolved;
}

/** A definition, by the line of its name. */
export interface Place {
  path: string;
  line: number;
}

/** Reads what a meaning in a file leads to. */
export type Read = (path: string, meaning: Meaning) => Promise<Resolved>;

/** What a file binds a name to. */
export interface Bound {
  path: string;
  of: Meaning;
}

/** Reads which of the meanings is meant that several files of a package have for a name. */
export type ReadSeveral = (bound: readonly Bound[]) => Promise<Resolved>;

/** Follows the meanings of one use, with a limit on the number of steps. */
export interface Follower {
  readonly files: RelatedFiles;
  /** A rule that may fail was followed. */
  isLikely: boolean;
  /** Number of ambiguous names met so far. */
  ambiguous: number;
  /** Whether the meaning that is followed has an alternative. */
  isFirst: boolean;
  /** Counts a step; false after the last one. */
  takesStep(): boolean;
  /** What a member is taken of whose type is read. */
  receiver: Resolved;
  /** Reads a type that is written at a member of `receiver`, whose class gives type parameters their types. */
  of<T>(receiver: Resolved, read: () => Promise<T>): Promise<T>;
  resolve(path: string, meaning: Meaning): Promise<Resolved>;
  valueOf(path: string, meaning: Meaning): Promise<Resolved>;
  receiverOf(path: string, of: Meaning): Promise<Resolved>;
  /** The value of a member, named in the file `path`; of a method the method itself. `outer`: name of a type that is none of the repository. */
  valueOfMember(path: string, of: Resolved, name: string, outer?: string): Promise<Resolved>;
  /** What a file defines or exports under a name, through its re-exports. */
  nameOf(path: string, name: string): Promise<Resolved>;
  /**
   * What a package that a file names defines under a name; an empty `module` is the file's own package. Without `readSeveral` it is not known
   * which of several files is meant.
   */
  fromPackage(path: string, module: string, name: string, read?: Read, readSeveral?: ReadSeveral): Promise<Resolved>;
  inherits(of: Place, base: Place): Promise<boolean>;
  classAt(of: Place): Promise<ClassInfo | undefined>;
}

/** A member of a class. */
export interface FoundMember extends Place {
  type: Meaning | undefined;
  /** As that of a target. */
  among?: readonly Candidate[];
}

/** A member that was found, as a target. */
export const placeOf = ({ path, line, among }: FoundMember): Target => ({ path, line, ...(among && { among }) });

/** The place that two meanings lead to; its type arguments are known if both give the same. Undefined if they lead to different places. */
export function samePlace(one: Resolved, other: Resolved): Target | undefined {
  if (!isSamePlace(one, other)) return undefined;
  const { given, ...place } = one;
  return given && isGivenTheSame(given, (other as Target).given ?? []) ? one : place;
}

const isSamePlace = (one: Resolved, other: Resolved): one is Target =>
  typeof one !== "string" &&
  typeof other !== "string" &&
  one.path === other.path &&
  one.line === other.line &&
  (one.wrapping ?? []).join(" ") === (other.wrapping ?? []).join(" ");

/** Levels of type arguments within type arguments that are compared. */
const MAX_COMPARED = 3;

function isGivenTheSame(one: readonly TypeArgument[], other: readonly TypeArgument[], depth = 0): boolean {
  if (one.length !== other.length || depth > MAX_COMPARED) return false;
  return one.every(({ path, of, receiver }, at) => {
    const second = other[at];
    if (path !== second?.path || JSON.stringify(of) !== JSON.stringify(second.of)) return false;
    if (receiver === second.receiver) return true;
    if (!isSamePlace(receiver, second.receiver)) return false;
    return isGivenTheSame(receiver.given ?? [], (second.receiver as Target).given ?? [], depth + 1);
  });
}

/** What a name is of a wrapped value, where that is not simply the member of what is wrapped; undefined where it is. */
export function throughWrapping(of: Target, name: string): Resolved | undefined {
  const around = of.wrapping ?? [];
  if (isWrapping(name)) return { ...of, wrapping: [...around, name] };
  // A type that has a name is asked for what its values hold.
  if (around.length === 0 && (name === ELEMENT || name === ITERATED) && of.path.endsWith(".go")) return undefined;
  if (isStep(name, around.at(-1))) {
    const wrapping = unwrappedBy(around, name);
    return wrapping ? { ...of, wrapping } : "unknown";
  }
  if (isScript(of.path) && isKeyOfRecord(around.at(-1), name)) return { ...of, wrapping: around.slice(0, -1) };
  return around.every((each) => isSeenThrough(each, name)) ? undefined : "unknown";
}
