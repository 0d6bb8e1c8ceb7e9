/** The packages of a repository of Rust, by the names that their `Cargo.toml` gives them: programs, tests and other packages import them by these. */
import { type Manifest, readManifest } from "./manifests.ts";
import { rustFiles } from "./modules.ts";
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

/** By name; undefined for a name that several have. */
type NamedPackages = ReadonlyMap<string, RustPackage | undefined>;

/** What was read of a revision's manifests. Later questions find it here: values only, since none may wait for what another reads. */
export interface KnownRustPackages {
  packages: NamedPackages | undefined;
}

/** The packages of one revision, for one question; their manifests are read when an import first asks for them. */
export class RustPackages {
  readonly #files: Files;
  readonly #known: KnownRustPackages;
  #packages: Promise<NamedPackages> | undefined;

  constructor(files: Files, known: KnownRustPackages) {
    this.#files = files;
    this.#known = known;
  }

  /** The files that a path such as `acme::client` may mean, the likeliest first; none if no package has its name, or several do. */
  async entries(module: string): Promise<Entry[]> {
    const own = (this.#known.packages ??= await (this.#packages ??= this.#read())).get(rustPackageNamed(module));
    return own ? rustEntries(own, module).filter(({ path }) => this.#files.has(path)) : [];
  }

  async #read(): Promise<NamedPackages> {
    const files = this.#files;
    const manifests = files.paths.filter((path) => /(?:^|\/)Cargo\.toml$/.test(path) && !files.isTest(path));
    const paths = manifests.slice(0, MAX_MANIFESTS);
    const packages = new Map<string, RustPackage | undefined>();
    for (const [i, text] of (await files.textsOf(paths)).entries()) {
      const found = text === undefined ? undefined : readManifest(paths[i] ?? "", text);
      if (found?.kind === "rust") packages.set(found.name, packages.has(found.name) ? undefined : found);
    }
    return packages;
  }
}
