/**
 * Names of a whole program, as C++ has them: all files of a repository are taken as one program, and a name is looked up from the namespaces
 * and classes around it outwards. They are imports whose module begins with `::`.
 */
import type { Expression } from "./expressions.ts";
import { MAX_CANDIDATES } from "./limits.ts";
import { amongIncluded } from "./includes.ts";
import { functionsOf, MAX_OVERLOADS } from "./overload-sets.ts";
import type { Candidate, RelatedFiles } from "./resolved.ts";
import type { Meaning } from "./types.ts";

const PROGRAM = "::";
const EXACT = "::=";

/** A name as it is looked up from inside of `context`, such as `a::b::Class`. */
export const programName = (context: string, name: string): Expression => ({
  is: "import",
  module: PROGRAM + context,
  name,
});

/** The name with this full path and no other. */
export const exactName = (name: string): Expression => ({ is: "import", module: EXACT, name });

export const isProgram = (module: string): boolean => module.startsWith(PROGRAM);

/** Namespaces and classes around a name that are looked through. */
const MAX_CONTEXTS = 8;

/** The contexts from which a module says that a name is looked up, the innermost one first. */
export function contextsOf(module: string): string[] {
  if (module === EXACT) return [""];
  const parts = module.slice(PROGRAM.length).split("::");
  const contexts = parts.map((_, i) => parts.slice(0, parts.length - i).join("::")).filter((each) => each !== "");
  return [...contexts.slice(0, MAX_CONTEXTS), ""];
}

export const isExact = (module: string): boolean => module === EXACT;

/** Key of the member that is declared in a class and defined elsewhere. No identifier has a space. */
export const declaredKey = (name: string): string => `${DECLARED}${name}`;
const DECLARED = "declared ";
/** Of the key of a member that a class defines the key of one that it declares, and the reverse. */
export const counterpartKey = (key: string): string =>
  key.startsWith(DECLARED) ? key.slice(DECLARED.length) : declaredKey(key);
/** Files of a program. */
export const IN_PROGRAM = /\.(?:h|hh|hpp|hxx|h\+\+|cc|cpp|cxx|c\+\+|ipp|inl|tpp|txx|cu|cuh)$/;

/**
 * The binding of a full path: that of the file `path` itself, else the only one of other files, else the overloads that several files define.
 * Undefined if there is none; unknown if there are several that are not all functions.
 */
export async function findInProgram(
  files: RelatedFiles,
  path: string,
  full: string,
): Promise<{ path: string; of: Meaning; functions?: readonly Candidate[] } | "unknown" | undefined> {
  const here = (await files.uses(path))?.bindings.get(full);
  // A repository may hold several programs: what the file defines itself is meant.
  if (here && here.to !== "ambiguous") return { path, of: here };
  // A namespace is opened by any number of files, and binds nothing.
  const named = (await files.definitions(full.slice(full.lastIndexOf(":") + 1), path)).filter(
    ({ kind }) => kind !== "namespace",
  );
  const others = [...new Set(named.map((each) => each.path))].filter((each) => each !== path && IN_PROGRAM.test(each));
  if (others.length > MAX_CANDIDATES) return "unknown";
  if (here) return "unknown";
  const found: { path: string; of: Meaning }[] = [];
  for (const own of others) {
    const of = (await files.uses(own))?.exports.get(full);
    if (of) found.push({ path: own, of });
  }
  const seen = found.length > 1 ? await amongIncluded(files, path, found) : found;
  if (found.length === 0) return undefined;
  const [first, ...more] = seen;
  if (!first || first.of.to === "ambiguous") return "unknown";
  if (more.length === 0) return first;
  const functions = seen.map((each) => functionsOf(each.path, each.of));
  const areFunctions = functions.every((own) => own.length > 0) && functions.flat().length <= MAX_OVERLOADS;
  return areFunctions ? { ...first, functions: functions.flat() } : "unknown";
}

/** Functions of the C library and of POSIX: a name that a file does not define is usually one of these. */
const LIBRARY = new Set(
  (
    "abort abs accept access assert atexit atoi bind calloc chdir close connect dup dup2 exec execvp exit fclose fcntl feof fflush fgets fopen fork " +
    "fprintf fputc fputs fread free fseek fstat ftell fwrite getc getcwd getenv getpagesize getpid gettimeofday ioctl isalpha isdigit isspace kill listen " +
    "localtime lseek malloc memchr memcmp memcpy memmove memset mkdir mmap munmap open perror pipe poll printf putc putchar puts qsort raise rand read " +
    "realloc recv remove rename rmdir select send setenv sigaction signal sleep snprintf socket sprintf sqrt srand sscanf stat strcat strchr strcmp strcpy " +
    "strdup strerror strlen strncmp strncpy strrchr strstr strtod strtol strtoul system time tolower toupper unlink usleep vfprintf vprintf vsnprintf wait waitpid write"
  ).split(" "),
);

/** Whether a name without a namespace is rather one of the system's than that of another file. */
export const isOfLibrary = (name: string): boolean => LIBRARY.has(name);
