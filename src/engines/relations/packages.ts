/** Languages in which an import names a package of many files, or none at all: what a name means is found by its definitions. */
import type { GoModules } from "./go-modules.ts";
import { splitMark } from "./marked-paths.ts";
import { folderOf } from "./modules.ts";
import type { FileUses, Meaning } from "./types.ts";
import { methodName } from "./wrapped.ts";

export interface PackageRule {
  /** Whether a file may belong to the package that another file names. An empty name is that file's own package. `modules`: those of Go. */
  holds(from: string, module: string, candidate: string, modules: GoModules): boolean;
  /** Folders that all files of the package are directly in, as `holds` tells; undefined if they may be anywhere. */
  folders?(from: string, module: string, modules: GoModules): readonly string[] | undefined;
  /** Whether such a file belongs to the package by its own declaration. */
  confirms(module: string, candidate: string, uses: FileUses): boolean;
  /** The binding of a candidate for a name, where that depends on its language. */
  bound?(name: string, candidate: string): string;
  /** Name of the definition that a binding stands for. */
  definition(name: string): string;
  /** Whether a definition of a kind can be what a name means, where that depends on the name. */
  defines?(name: string, kind: string | undefined): boolean;
  /** The package of a file's names that it does not bind. */
  ownPackage(uses: FileUses): string;
  /** Whether other files see only what a file exports. */
  hides(candidate: string): boolean;
  /** Members may be defined outside of their class. */
  membersApart: boolean;
  /** Qualified name of the symbol that a package defines under a name, in languages whose symbols have the package in theirs. */
  qualified?(module: string, definition: string): string;
}

/** Key of the binding for a Go, Java or Kotlin file's own package. No identifier has a space. */
export const PACKAGE = "package ";

/** Key of the binding for what a Kotlin file imports under a name. */
export const importKey = (name: string): string => `import ${name}`;

export const isKotlin = (path: string): boolean => /\.kts?$/.test(path);

/** Whether a file is of C, or a grammar with code in it: they are one program. */
export const isC = (path: string): boolean => /\.[chly]$/.test(path);

/** Whether a file is of Java or Kotlin, which see each other's packages. */
export const isJvm = (path: string): boolean => path.endsWith(".java") || isKotlin(path);

/** Key of the binding for one part of a class that several files declare. */
export const partialKey = (name: string): string => `partial ${name}`;

const lastName = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

const GO: PackageRule = {
  holds: (from, module, candidate, modules) => {
    if (!candidate.endsWith(".go")) return false;
    if (module === "") return folderOf(candidate) === folderOf(from);
    if (modules.isEmpty) return endsWithFolder(module, candidate);
    // What the tests of a package define is not seen by others.
    return folderOf(splitMark(candidate).own) === modules.packageFolder(module) && !candidate.endsWith("_test.go");
  },
  folders: (from, module, modules) => {
    if (module === "") return [folderOf(splitMark(from).own)];
    if (modules.isEmpty) return undefined;
    const folder = modules.packageFolder(module);
    return folder === undefined ? [] : [folder];
  },
  confirms: (module, candidate, uses) =>
    module === "" || splitMark(candidate).own.includes("/") || packageOf(uses) === lastPartOfPath(module),
  definition: lastName,
  ownPackage: () => "",
  hides: () => false,
  membersApart: true,
};

const JAVA: PackageRule = {
  holds: (from, module, candidate) => {
    if (isKotlin(candidate)) return module !== "";
    if (!candidate.endsWith(".java")) return false;
    const folder = folderOf(candidate);
    const wanted = module.replaceAll(".", "/");
    return module === "" ? folder === folderOf(from) : folder === wanted || folder.endsWith(`/${wanted}`);
  },
  confirms: (module, _candidate, uses) => module === "" || packageOf(uses) === module,
  definition: lastName,
  ownPackage: packageOf,
  hides: () => false,
  membersApart: false,
};

const KOTLIN: PackageRule = {
  holds: (_from, _module, candidate) => /\.(?:kts?|java)$/.test(candidate),
  confirms: (module, _candidate, uses) => packageOf(uses) === module,
  // Java knows classes by their names alone.
  bound: (name, candidate) => (candidate.endsWith(".java") ? methodName(name) : name.replace(/\(.*/, "")),
  definition: (name) => methodName(lastName(name)),
  // An extension, `.get/1`, is no method.
  defines: (name, kind) => !name.startsWith(".") || kind === "function",
  ownPackage: packageOf,
  hides: () => false,
  membersApart: false,
};

const C: PackageRule = {
  holds: (_from, _module, candidate) => isC(candidate),
  confirms: () => true,
  // Structures are bound by their tags.
  definition: (name) => name.replace(/^struct /, ""),
  ownPackage: () => "",
  // A header is part of the files that include it.
  hides: (candidate) => !candidate.endsWith(".h"),
  membersApart: false,
};

const PHP_FILE = /\.(?:php\d?|phtml|inc)$/;

const PHP: PackageRule = {
  holds: (_from, _module, candidate) => PHP_FILE.test(candidate),
  confirms: (module, _candidate, uses) => packageOf(uses) === module,
  // Functions are bound as `name()`.
  definition: (name) => name.replace("()", ""),
  ownPackage: packageOf,
  hides: () => false,
  membersApart: false,
  qualified: (module, definition) => (module === "" ? definition : `${module}\\${definition}`),
};

const CSHARP: PackageRule = {
  holds: (_from, _module, candidate) => /\.csx?$/.test(candidate),
  confirms: (module, _candidate, uses) => packageOf(uses) === module,
  // Generic types are bound with the number of their parameters, extensions with that of their arguments: `.Add/2`.
  definition: (name) => name.replace(/^\./, "").replace(/[`/]\d+$/, ""),
  ownPackage: packageOf,
  hides: () => false,
  membersApart: false,
};

const RULES: Readonly<Record<string, PackageRule>> = {
  go: GO,
  java: JAVA,
  c: C,
  h: C,
  l: C,
  y: C,
  php: PHP,
  php5: PHP,
  php7: PHP,
  php8: PHP,
  phtml: PHP,
  inc: PHP,
  cs: CSHARP,
  csx: CSHARP,
  razor: CSHARP,
  cshtml: CSHARP,
  kt: KOTLIN,
  kts: KOTLIN,
};

/** The rule of a file's language; undefined if its imports name files. */
export function packageRuleOf(path: string): PackageRule | undefined {
  const ending = path.slice(path.lastIndexOf(".") + 1);
  return Object.hasOwn(RULES, ending) ? RULES[ending] : undefined;
}

/**
 * Whether a file may be of a package of Go in a repository without a `go.mod`: the path of the package ends with its folder in the repository,
 * except for the one at the top. Those of the standard library have no host.
 */
function endsWithFolder(module: string, candidate: string): boolean {
  const folder = folderOf(splitMark(candidate).own);
  const [host = "", owner = "", repository = "", ...inner] = module.split("/");
  if (!host.includes(".")) return false;
  // A module's version is part of its path, but no folder: `github.com/owner/name/v2/inner`.
  const parts = inner.filter((part, i) => i > 0 || !/^v\d+$/.test(part));
  if (parts.length === 0) return folder === "" && owner !== "" && repository !== "";
  const path = parts.join("/");
  return folder === path || folder === inner.join("/");
}

/** The package that a file says it is of. */
export function packageOf(uses: FileUses): string {
  const own = uses.bindings.get(PACKAGE);
  return own?.to === "import" ? own.module : "";
}

/** Name of the package that a path of Go usually means. */
export function lastPartOfPath(module: string): string {
  return module.split("/").findLast((part) => !/^v\d+$/.test(part)) ?? "";
}

/** A member of a package is looked up as a name of it: a package is no file. */
export function ofPackage(path: string, meaning: Meaning): Meaning {
  if (meaning.to !== "member" || meaning.of.to !== "import" || meaning.of.name !== "*" || !packageRuleOf(path))
    return meaning;
  return { to: "import", module: meaning.of.module, name: meaning.name };
}
