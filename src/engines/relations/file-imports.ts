/**
 * Which imports lead to a file in languages whose imports do not name it from where they stand: headers and scripts are looked for in several
 * folders, and a package of Go, Java, Kotlin, C# or PHP is many files.
 */
import { wordSet } from "../../lib/word-set.ts";
import { splitMark } from "./marked-paths.ts";
import type { GoModules } from "./go-modules.ts";
import { folderOf, joinPath } from "./modules.ts";
import { isC, packageOf, type PackageRule, packageRuleOf } from "./packages.ts";
import type { QuestionFiles } from "./question-files.ts";
import type { FileUses, Import } from "./types.ts";

/** Names of a file that are looked for in files that import its package. */
const MAX_NAMES = 100;

/** How a language's imports spell the paths of files. */
interface Spelling {
  paths(each: Import): readonly string[];
  /** Which paths begin at the folder of the file that imports. */
  relative: "all" | "dotted" | "none";
  /** Folders in which others begin, besides the root of the repository; any if absent. */
  roots?: RegExp;
}

const asWritten = ({ module }: Import): readonly string[] => [module];
/** Headers of the system, whatever other folders of the repository have. */
const SYSTEM_HEADERS = wordSet(
  "assert.h ctype.h errno.h float.h inttypes.h limits.h locale.h math.h pthread.h regex.h setjmp.h signal.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h time.h unistd.h wchar.h",
);
const INCLUDES: Spelling = {
  paths: ({ module }) => [SYSTEM_HEADERS.has(module) ? `./${module}` : module],
  relative: "all",
};

const SPELLINGS: ReadonlyMap<string, Spelling> = new Map([
  ["c", INCLUDES],
  ["cpp", INCLUDES],
  ["yacc", INCLUDES],
  ["lex", INCLUDES],
  ["zig", { paths: asWritten, relative: "all" }],
  ["php", { paths: asWritten, relative: "dotted" }],
  [
    "ruby",
    {
      paths: ({ module }) => [`${module}.rb`, module],
      relative: "dotted",
      roots: /(?:^|\/)(?:lib|test|spec|app)$/,
    },
  ],
  ["dart", { paths: ({ module }) => dartPaths(module), relative: "all" }],
  [
    "lua",
    {
      paths: ({ module }) => luaPaths(module.replaceAll(".", "/")),
      relative: "none",
      roots: /(?:^|\/)(?:lua|src|lib|test|spec)$/,
    },
  ],
  // What a variable or command stands for is a folder.
  ["bash", { paths: ({ module }) => [module.replace(/^(?:\$\(.*\)|\$\{[^}]*\}|\$\w+)\//, "")], relative: "none" }],
  [
    "elixir",
    { paths: ({ module }) => [".ex", ".exs"].map((ending) => `lib/${elixirPath(module)}${ending}`), relative: "none" },
  ],
  ["scala", { paths: ({ module, name }) => [`${module.replaceAll(".", "/")}/${name}.scala`], relative: "none" }],
]);

/** The package is the whole repository (a path with a leading `/` begins at its root), or a folder of its name. */
function dartPaths(module: string): string[] {
  const [, name, path] = /^package:([^/]*)\/(.*)$/.exec(module) ?? [];
  return path === undefined ? [module] : [`/lib/${path}`, `${name}/lib/${path}`];
}

const luaPaths = (path: string): string[] => [`${path}.lua`, `${path}/init.lua`];

/** `HTTPClient.Pool` is in `http_client/pool`. */
function elixirPath(module: string): string {
  return module
    .replaceAll(".", "/")
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_")
    .toLowerCase();
}

/** What a file's package has of it. */
interface Packaged {
  rule: PackageRule;
  uses: FileUses;
  modules: GoModules;
  /** Names at its top. */
  names: ReadonlySet<string>;
  /** Files that mention one of the names. */
  mentioning: ReadonlySet<string>;
}

/** The imports that lead to one file. */
export class FileImports {
  readonly #files: QuestionFiles;
  readonly #path: string;
  /** Other files of its name. */
  readonly #twins: readonly string[];
  readonly #package: Packaged | undefined;

  private constructor(files: QuestionFiles, path: string, packaged: Packaged | undefined) {
    this.#files = files;
    this.#path = path;
    const name = path.slice(path.lastIndexOf("/") + 1);
    this.#twins = files.paths.filter((own) => own !== path && (own === name || own.endsWith(`/${name}`)));
    this.#package = packaged;
  }

  static async of(files: QuestionFiles, path: string): Promise<FileImports> {
    return new FileImports(files, path, await packagedOf(files, path));
  }

  /** Whether imports of a language name files in one of several folders. */
  static isSpelled(language: string): boolean {
    return SPELLINGS.has(language);
  }

  /** The files that may import it; undefined if any may. */
  get mentioning(): ReadonlySet<string> | undefined {
    return this.#package?.mentioning;
  }

  /** How sure it is that an import leads to the file; undefined if it does not. */
  certaintyOf(from: string, each: Import): "certain" | "likely" | undefined {
    return this.#asPackage(from, each) ?? this.#asPath(from, each);
  }

  #asPackage(from: string, { module, name }: Import): "certain" | "likely" | undefined {
    const own = this.#package;
    if (!own || module === "" || packageRuleOf(from) === undefined) return undefined;
    const { rule, uses, modules, names, mentioning } = own;
    const isOwn = (wanted: string) =>
      rule.holds(from, wanted, this.#path, modules) && rule.confirms(wanted, this.#path, uses);
    if (name === "*" && isOwn(module)) return mentioning.has(from) ? "likely" : undefined;
    if (names.has(name) && isOwn(module)) return "certain";
    // A class in a class of the file.
    const around = packageOf(uses);
    if (around === "" || !module.startsWith(`${around}.`)) return undefined;
    const [outer = ""] = module.slice(around.length + 1).split(".");
    return names.has(outer) && isOwn(around) ? "certain" : undefined;
  }

  #asPath(from: string, each: Import): "certain" | "likely" | undefined {
    const { mark, own } = splitMark(from);
    const spelling = mark === "" ? SPELLINGS.get(this.#files.language(own)) : undefined;
    if (!spelling) return undefined;
    for (const wanted of spelling.paths(each)) {
      if (wanted === `/${this.#path}`) return "likely";
      if (wanted.startsWith("/")) continue;
      const isDotted = /^\.{1,2}\//.test(wanted);
      if (spelling.relative === "all" || (spelling.relative === "dotted" && isDotted)) {
        const near = joinPath(folderOf(own), wanted);
        if (near === this.#path) return "certain";
        if (isDotted || (near !== undefined && this.#files.has(near))) continue;
      }
      if (this.#isNearest(own, wanted.replace(/^(?:\.{1,2}\/)+/, ""), spelling.roots)) return "likely";
    }
    return undefined;
  }

  /** Whether the file ends with the path, and no other that does shares more folders with the importing file. */
  #isNearest(from: string, wanted: string, roots?: RegExp): boolean {
    const ends = (path: string) =>
      path === wanted || (path.endsWith(`/${wanted}`) && roots?.test(path.slice(0, -wanted.length - 1)) !== false);
    if (wanted === "" || !ends(this.#path)) return false;
    const shared = sharedFolders(from, this.#path);
    return this.#twins.every((twin) => !ends(twin) || sharedFolders(from, twin) <= shared);
  }
}

/** C finds headers by their paths, though it has the rule of a package. */
async function packagedOf(files: QuestionFiles, path: string): Promise<Packaged | undefined> {
  const rule = packageRuleOf(path);
  const uses = rule && !isC(path) ? await files.uses(path) : undefined;
  if (!rule || !uses) return undefined;
  const around = packageOf(uses);
  const top = (await files.definitionsIn(path)).filter(
    ({ name, qualifiedName, kind }) =>
      kind !== "namespace" && [name, `${around}.${name}`, `${around}\\${name}`].includes(qualifiedName),
  );
  const names = new Set(top.slice(0, MAX_NAMES).map(({ name }) => name));
  const found = await Promise.all([...names].map((name) => files.mentioning(name)));
  const modules = await files.goModules(path);
  return { rule, uses, modules, names, mentioning: new Set(found.flat().map((each) => each.path)) };
}

/** Number of folders that two paths begin with. */
function sharedFolders(a: string, b: string): number {
  const [own, other] = [folderOf(a).split("/"), folderOf(b).split("/")];
  const at = own.findIndex((folder, i) => folder !== other[i]);
  return at === -1 ? own.length : at;
}
