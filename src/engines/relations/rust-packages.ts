/** The packages of a repository of Rust, by the names that their `Cargo.toml` gives them: programs, tests and other packages import them by these. */
import { type Manifest, readManifest } from "./manifests.ts";
import { folderOf, rustFiles } from "./modules.ts";
import type { ConfiguredFiles, Entry } from "./script-configs.ts";

/** Manifests that are read. */
const MAX_MANIFESTS = 300;

/** The files of a revision, and which of them are tests: manifests among those name no package that others import. */
type Files = ConfiguredFiles & { isTest(path: string): boolean };

type RustPackage = Extract<Manifest, { kind: "rust" }>;

/** The package that a path names: `acme` of `acme::client`. */
export const rustPackageNamed = (module: string): string => module.split("::", 1)[0] ?? "";

/** The files of a package that a path such as `acme::client` may mean. */
export function rustEntries({ sources }: RustPackage, module: string): Entry[] {
  return rustFiles(sources, module.split("::").slice(1), sources).map((path) => ({ path, isStated: true }));
}

interface Packages {
  /** By name; undefined where several packages have the name. */
  byName: ReadonlyMap<string, RustPackage | undefined>;
  /** Names that manifests give dependencies, each with the folder in which it holds. */
  renamed: ReadonlyMap<string, readonly Renamed[]>;
}

interface Renamed {
  folder: string;
  package: string;
}

/** What was read of a revision's manifests. Later questions find it here: values only, since none may wait for what another reads. */
export interface KnownRustPackages {
  known: Packages | undefined;
}

/** The packages of one revision, for one question; their manifests are read when an import first asks for them. */
export class RustPackages {
  readonly #files: Files;
  readonly #known: KnownRustPackages;
  #packages: Promise<Packages> | undefined;

  constructor(files: Files, known: KnownRustPackages) {
    this.#files = files;
    this.#known = known;
  }

  /** The files that a path such as `acme::client` may mean in a file, the likeliest first; none if no package has its name, or several do. */
  async entries(path: string, module: string): Promise<Entry[]> {
    const { byName, renamed } = (this.#known.known ??= await (this.#packages ??= this.#read()));
    const name = rustPackageNamed(module);
    const around = (renamed.get(name) ?? []).filter(({ folder }) => folder === "" || path.startsWith(`${folder}/`));
    const nearest = around.toSorted((a, b) => b.folder.length - a.folder.length)[0];
    const own = byName.get(nearest?.package ?? name);
    return own ? rustEntries(own, module).filter(({ path }) => this.#files.has(path)) : [];
  }

  async #read(): Promise<Packages> {
    const files = this.#files;
    const manifests = files.paths.filter((path) => /(?:^|\/)Cargo\.toml$/.test(path) && !files.isTest(path));
    const paths = manifests.slice(0, MAX_MANIFESTS);
    const packages = new Map<string, RustPackage | undefined>();
    const renamed = new Map<string, Renamed[]>();
    for (const [i, text] of (await files.textsOf(paths)).entries()) {
      if (text === undefined) continue;
      const found = readManifest(paths[i] ?? "", text);
      for (const [alias, name] of renamedDependencies(text))
        renamed.set(alias, [...(renamed.get(alias) ?? []), { folder: folderOf(paths[i] ?? ""), package: name }]);
      if (found?.kind === "rust") packages.set(found.name, packages.has(found.name) ? undefined : found);
    }
    return { byName: packages, renamed };
  }
}

/** Characters of a manifest that are read for renamed dependencies, and of one of its lines. */
const MAX_TEXT = 100_000;
const MAX_LINE = 500;

/** Dependencies that a `Cargo.toml` gives other names, by these: `foo = { package = "bar" }`, also in a table of its own, and for a whole workspace. */
function renamedDependencies(text: string): Map<string, string> {
  const renamed = new Map<string, string>();
  if (!text.includes("package")) return renamed;
  let table = "";
  for (const line of text.slice(0, MAX_TEXT).split("\n")) {
    const own = line.trim().slice(0, MAX_LINE);
    if (own.startsWith("[")) table = own;
    const [, name] = /\bpackage\s*=\s*"([\w-]+)"/.exec(own) ?? [];
    if (name === undefined || !table.includes("dependencies")) continue;
    const alias = own.startsWith("package") ? /dependencies\.([\w-]+)\]$/.exec(table)?.[1] : /^[\w-]+/.exec(own)?.[0];
    if (alias !== undefined) renamed.set(alias.replaceAll("-", "_"), name.replaceAll("-", "_"));
  }
  return renamed;
}
