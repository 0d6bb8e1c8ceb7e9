/**
 * What imports of scripts mean that name no file: the packages of the repository by the names that their `package.json` or `deno.json` gives them
 * or by their folders, the aliases of `tsconfig.json` and `jsconfig.json`, the `imports` of those manifests, and what frameworks call so.
 */
import { parse } from "jsonc-parser";
import { byTaking, folderOf, foldersAbove, inFolder, joinPath, scriptFiles } from "./modules.ts";
import { usualEntries } from "./script-aliases.ts";

/** A file that an import may mean. */
export interface Entry {
  path: string;
  /** A manifest or alias names this file; otherwise it is where the sources of what is named usually are. */
  isStated: boolean;
}

/** The files of a revision. */
export interface ConfiguredFiles {
  readonly paths: readonly string[];
  has(path: string): boolean;
  /** Whole texts of small files; undefined for those that cannot be read. */
  textsOf(paths: readonly string[]): Promise<(string | undefined)[]>;
}

/** Manifests that are read, and files with aliases. */
const MAX_FILES = 300;
const MAX_TEXT = 100_000;
/** Conditions in conditions of a manifest's `exports`, and configurations that name others. */
const MAX_DEPTH = 5;
/** Patterns of a configuration, and files that one import may mean. */
const MAX_PATTERNS = 500;
const MAX_ENTRIES = 200;

type Values = Readonly<Record<string, unknown>>;

/** A package of scripts, with the fields of its manifest that say which files others import. */
export interface ScriptPackage {
  name: string;
  folder: string;
  manifest: Values;
}

const DENO_CONFIGS = ["deno.json", "deno.jsonc"];
const MANIFEST = /(?:^|\/)(?:package\.json|(?:deno|jsr)\.jsonc?)$/;

/** Fields that name the file of the package itself, where there are no `exports`. */
const MAIN_FIELDS = ["source", "types", "module", "main"];

interface Aliases {
  /** Folder that the targets begin in. */
  folder: string;
  paths: readonly (readonly [pattern: string, targets: readonly string[]])[];
  /** Whether other imports are looked up in the folder, too. */
  hasBase: boolean;
}

type Packages = ReadonlyMap<string, ScriptPackage | undefined>;

/** What was read of a revision's configurations. Later questions find it here: values only, since none may wait for what another reads. */
export class KnownConfigs {
  packages: Packages | undefined;
  readonly aliases = new Map<string, Aliases | undefined>();
  /** Files that stand for a folder, by its manifest. */
  readonly folders = new Map<string, readonly Entry[]>();
}

/** The configurations of one revision, for one question; each is read when an import first asks for it. */
export class ScriptConfigs {
  readonly #files: ConfiguredFiles;
  readonly #known: KnownConfigs;
  #packages: Promise<Packages> | undefined;
  readonly #aliases = new Map<string, Promise<Aliases | undefined>>();

  constructor(files: ConfiguredFiles, known = new KnownConfigs()) {
    this.#files = files;
    this.#known = known;
  }

  /** The files that an import in a script may mean, the likeliest first; none for a package of another repository. */
  async entries(path: string, module: string): Promise<Entry[]> {
    if (/^\.{1,2}(?:\/|$)/.test(module)) return this.#entriesOfFolder(path, module);
    if (/^[./]|^\w+:/.test(module)) return [];
    const aliases = await this.#nearest(path, ["tsconfig.json", "jsconfig.json"], (own) => this.#readAliases(own, 0));
    const aliased = aliases
      ? targetsOf(aliases, module).flatMap((target) => filesAt(joinPath(aliases.folder, target), true))
      : [];
    // Node takes names with `#`, Deno any.
    const manifests = module.startsWith("#") ? ["package.json", ...DENO_CONFIGS] : DENO_CONFIGS;
    const imports = await this.#nearest(path, manifests, (own) => this.#readImports(own));
    const { name, inner } = packageNamed(module);
    const own = (await this.#allPackages()).get(name);
    const entries = [
      ...aliased,
      ...(imports ? statedEntries(imports.folder, targetsOf(imports, module)) : []),
      ...(own ? entriesOf(own, inner) : []),
    ].slice(0, MAX_ENTRIES);
    const existing = entries.filter((entry) => this.#files.has(entry.path));
    const found = existing.length > 0 ? existing : usualEntries((own) => this.#files.has(own), path, module);
    return found.toSorted(takenBy(path));
  }

  /** The files that the manifest of a folder names: `exports` are for those who name the package. */
  async #entriesOfFolder(path: string, module: string): Promise<Entry[]> {
    const folder = joinPath(folderOf(path), module);
    if (folder === undefined) return [];
    const manifest = inFolder(folder, "package.json");
    if (!this.#files.has(manifest)) return [];
    let entries = this.#known.folders.get(manifest);
    if (!entries) {
      if (this.#known.folders.size >= MAX_FILES) return [];
      const [text] = await this.#files.textsOf([manifest]);
      const values = valuesOf(text);
      const stated = values ? MAIN_FIELDS.flatMap((field) => stringsIn(values[field])).slice(0, MAX_ENTRIES) : [];
      entries = stated
        .flatMap((target) => filesAt(joinPath(folder, target), true))
        .filter((entry) => this.#files.has(entry.path));
      this.#known.folders.set(manifest, entries);
    }
    return entries.toSorted(takenBy(path));
  }

  /** Names of packages whose manifests state a file as what others import. */
  async packagesLedBy(path: string): Promise<string[]> {
    const all = [...(await this.#allPackages()).values()].filter((own) => own !== undefined);
    const isEntry = ({ path: at, isStated }: Entry) => isStated && at === path;
    return all.filter((own) => entriesOf(own, "").some(isEntry)).map(({ name }) => name);
  }

  async #allPackages(): Promise<Packages> {
    return (this.#known.packages ??= await (this.#packages ??= this.#readPackages()));
  }

  async #readPackages(): Promise<Packages> {
    const paths = this.#files.paths.filter((path) => MANIFEST.test(path)).slice(0, MAX_FILES);
    const packages = new Map<string, ScriptPackage | undefined>();
    for (const [i, text] of (await this.#files.textsOf(paths)).entries()) {
      const own = scriptPackage(paths[i] ?? "", text);
      // Of two packages of one name, as fixtures have them, none is meant for sure.
      if (!own) continue;
      const known = packages.get(own.name);
      // A package may have manifests for several runtimes.
      if (known?.folder !== own.folder) packages.set(own.name, packages.has(own.name) ? undefined : own);
    }
    return packages;
  }

  /** The aliases of the nearest configuration of some names above a file. */
  async #nearest(
    path: string,
    names: readonly string[],
    read: (file: string) => Promise<Aliases | undefined>,
  ): Promise<Aliases | undefined> {
    for (const folder of foldersAbove(path)) {
      const own = names.map((name) => inFolder(folder, name)).find((each) => this.#files.has(each));
      const found = own === undefined ? undefined : await this.#aliasesIn(own, read);
      // A part of a workspace of Deno that has no imports has those of the whole.
      const goesOn = own === undefined || (found === undefined && names.includes("deno.json"));
      if (!goesOn) return found;
    }
    return undefined;
  }

  async #aliasesIn(file: string, read: (file: string) => Promise<Aliases | undefined>): Promise<Aliases | undefined> {
    const { aliases: known } = this.#known;
    if (known.has(file)) return known.get(file);
    let aliases = this.#aliases.get(file);
    if (!aliases) {
      if (this.#aliases.size >= MAX_FILES) return undefined;
      aliases = read(file);
      this.#aliases.set(file, aliases);
    }
    const found = await aliases;
    known.set(file, found);
    return found;
  }

  /** The `imports` of a manifest that lead to files of the repository. A name of Deno that ends with `/` stands for all that begin with it. */
  async #readImports(path: string): Promise<Aliases | undefined> {
    const [text] = await this.#files.textsOf([path]);
    const imports = asValues(valuesOf(text)?.["imports"]);
    if (!imports) return undefined;
    const paths = Object.entries(imports)
      .slice(0, MAX_PATTERNS)
      .map(([pattern, targets]) => {
        const own = stringsIn(targets).filter((target) => /^\.{0,2}\//.test(target));
        const isPrefix = pattern.endsWith("/");
        const all = own.slice(0, MAX_ENTRIES).map((target) => (isPrefix ? `${target}*` : target));
        return [isPrefix ? `${pattern}*` : pattern, all] as const;
      });
    return { folder: folderOf(path), paths, hasBase: false };
  }

  async #readAliases(path: string, depth: number): Promise<Aliases | undefined> {
    const [text] = await this.#files.textsOf([path]);
    const config = valuesOf(text);
    if (!config) return undefined;
    const options = asValues(config["compilerOptions"]);
    const base = options?.["baseUrl"];
    const paths = asValues(options?.["paths"]);
    if (typeof base === "string" || paths) {
      const folder = joinPath(folderOf(path), typeof base === "string" ? base : ".");
      if (folder === undefined) return undefined;
      const pairs = Object.entries(paths ?? {})
        .slice(0, MAX_PATTERNS)
        .map(([pattern, targets]) => [pattern, stringsIn(targets).slice(0, MAX_ENTRIES)] as const);
      return { folder, paths: pairs, hasBase: typeof base === "string" };
    }
    // Bases, or the parts of a configuration that only refers to them, as bundlers' templates have it.
    const references = Array.isArray(config["references"]) ? config["references"] : [];
    const others = [
      ...stringsIn(config["extends"]),
      ...references.flatMap((each) => stringsIn(asValues(each)?.["path"])),
    ];
    for (const other of others.slice(0, MAX_DEPTH)) {
      const named = other.startsWith(".") && depth < MAX_DEPTH ? joinPath(folderOf(path), other) : undefined;
      const found = [named, `${named}.json`, `${named}/tsconfig.json`].find(
        (each) => each !== undefined && this.#files.has(each),
      );
      const aliases = found === undefined ? undefined : await this.#readAliases(found, depth + 1);
      if (aliases) return aliases;
    }
    return undefined;
  }
}

function takenBy(path: string): (a: Entry, b: Entry) => number {
  const order = byTaking(path);
  return (a, b) => order(a.path, b.path);
}

/** The package that a `package.json` describes; undefined if it names none, is too long or cannot be read. */
export function scriptPackage(path: string, text: string | undefined): ScriptPackage | undefined {
  const values = valuesOf(text);
  const name = values?.["name"];
  if (!values || typeof name !== "string" || name === "") return undefined;
  const fields = ["exports", ...MAIN_FIELDS].filter((field) => Object.hasOwn(values, field));
  return { name, folder: folderOf(path), manifest: Object.fromEntries(fields.map((field) => [field, values[field]])) };
}

/** The package that an import in a script names, and the path in it. */
export function packageNamed(module: string): { name: string; inner: string } {
  const [, name = "", inner = ""] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.+))?$/.exec(module) ?? [];
  return { name, inner };
}

/** Paths from the folder of the aliases that a module is mapped to: the pattern with the longest text before its `*` counts, as TypeScript has it. */
function targetsOf({ paths, hasBase }: Aliases, module: string): string[] {
  let best: { before: number; rest: string; targets: readonly string[] } | undefined;
  for (const [pattern, targets] of paths) {
    const rest = restOf(pattern, module);
    const before = pattern.includes("*") ? pattern.indexOf("*") : pattern.length + 1;
    if (rest !== undefined && before > (best?.before ?? -1)) best = { before, rest, targets };
  }
  return best ? best.targets.map((target) => target.replace("*", () => best.rest)) : hasBase ? [module] : [];
}

/** What stands for the `*` of a pattern; empty for a pattern without one. Undefined if the module does not match. */
function restOf(pattern: string, module: string): string | undefined {
  const star = pattern.indexOf("*");
  if (star < 0) return pattern === module ? "" : undefined;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  if (module.length < before.length + after.length) return undefined;
  return module.startsWith(before) && module.endsWith(after)
    ? module.slice(before.length, module.length - after.length)
    : undefined;
}

/** Files of a package: those that its manifest names for `inner` (empty for the package itself), their sources, and where both usually are. */
export function entriesOf({ folder, manifest }: ScriptPackage, inner: string): Entry[] {
  const stated = statedFor(manifest, inner).slice(0, MAX_ENTRIES);
  const usual = (inner === "" ? ["index", "main"] : [inner]).flatMap((name) => [`src/${name}`, name, `lib/${name}`]);
  return [...statedEntries(folder, stated), ...usual.flatMap((target) => filesAt(joinPath(folder, target), false))];
}

/** Targets of `exports`, or of the fields before it. */
function statedFor(manifest: Values, inner: string): string[] {
  const { exports } = manifest;
  const subpaths = asValues(exports);
  const hasSubpaths = subpaths !== undefined && Object.keys(subpaths).some((key) => key.startsWith("."));
  if (exports !== undefined && exports !== null && !hasSubpaths) return inner === "" ? stringsIn(exports) : [];
  if (hasSubpaths) {
    for (const [pattern, target] of Object.entries(subpaths).slice(0, MAX_PATTERNS)) {
      const rest = restOf(pattern, inner === "" ? "." : `./${inner}`);
      if (rest !== undefined) return stringsIn(target).map((each) => each.replaceAll("*", () => rest));
    }
    return [];
  }
  return inner === "" ? MAIN_FIELDS.flatMap((field) => stringsIn(manifest[field])) : [];
}

/** The files that a manifest in a folder names, then where their sources usually are. */
function statedEntries(folder: string, targets: readonly string[]): Entry[] {
  return [
    ...targets.flatMap((target) => filesAt(joinPath(folder, target), true)),
    ...targets.flatMap((target) => filesAt(joinPath(folder, sourceOf(target)), false)),
  ];
}

/** Where the source of a built file usually is: `dist/esm/index.d.ts` comes from `src/index`. */
function sourceOf(target: string): string {
  const plain = target.replace(/^\.\//, "").replace(/(?:\.d)?\.[cm]?[jt]sx?$/, "");
  return plain.replace(/^(?:dist|build|lib|out|es|esm|cjs|types)\/(?:(?:es|esm|cjs|types|src)\/)?/, "src/");
}

function filesAt(path: string | undefined, isStated: boolean): Entry[] {
  return path === undefined ? [] : scriptFiles(path).map((each) => ({ path: each, isStated }));
}

/** All texts in a value of a manifest, in their order. */
function stringsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
  return Object.values(value).flatMap((each) => stringsIn(each, depth + 1));
}

const asValues = (value: unknown): Values | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : undefined;

/** The values of a JSON file, with comments and trailing commas as configurations have them; undefined if it is none. */
function valuesOf(text: string | undefined): Values | undefined {
  if (text === undefined || text.length > MAX_TEXT) return undefined;
  try {
    return asValues(parse(text, [], { allowTrailingComma: true }));
  } catch (error) {
    // The parser calls itself for each level; a file with thousands of them is no configuration.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
