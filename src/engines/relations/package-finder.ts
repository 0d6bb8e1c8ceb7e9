/** Which repository of a scope an import means that its own does not have. */
import { ASIDE } from "../search/traits.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { TextSource } from "../search/types.ts";
import { modulePrefixes } from "./go-modules.ts";
import { type Manifest, type ManifestKind, pythonName } from "./manifests.ts";
import { isPython, isScript, pythonFiles } from "./modules.ts";
import { type NamedPackage, packageNames } from "./package-names.ts";
import { rustEntries, rustPackageNamed } from "./rust-packages.ts";
import { type Entry, entriesOf, packageNamed } from "./script-configs.ts";

/** Names of one repository under which its packages are looked for. */
const MAX_NAMES = 10;

const KINDS: readonly [isOf: (path: string) => boolean, ManifestKind][] = [
  [isScript, "script"],
  [isPython, "python"],
  [(path) => path.endsWith(".rs"), "rust"],
  [(path) => path.endsWith(".go"), "go"],
];

/** A file of a package, in its repository. */
export type EntryElsewhere = Entry & { revision: number };

/** Folders of a Go package, with a slash behind each but the top. */
interface GoFolders {
  revision: number;
  folders: readonly string[];
}

export class PackageFinder {
  readonly #index: SearchIndex;
  readonly #texts: TextSource;
  readonly #home: number;
  readonly #identities: readonly (string | null)[];
  readonly #entries = new Map<string, Promise<EntryElsewhere[]>>();

  /** `revision` is the one that is asked. */
  constructor(given: {
    index: SearchIndex;
    texts: TextSource;
    revision: number;
    identities: readonly (string | null)[];
  }) {
    this.#index = given.index;
    this.#texts = given.texts;
    this.#home = given.revision;
    this.#identities = given.identities;
  }

  /** Files of other repositories that an import in a file of a revision may mean, the likeliest first. */
  entries(revision: number, path: string, module: string): Promise<EntryElsewhere[]> {
    const kind = kindOf(path);
    if (!kind || /^[./]|^\w+:(?!:)/.test(module)) return Promise.resolve([]);
    const key = `${revision} ${kind} ${module}`;
    let found = this.#entries.get(key);
    if (!found) this.#entries.set(key, (found = this.#read(revision, kind, module)));
    return found;
  }

  async #read(revision: number, kind: ManifestKind, module: string): Promise<EntryElsewhere[]> {
    const packages = await packageNames(this.#index, this.#texts);
    const others = (list: readonly NamedPackage[]) => list.filter((each) => each.revision !== revision);
    if (kind === "python") return this.#python(others(packages.all), module);
    const name = kind === "rust" ? rustPackageNamed(module) : packageNamed(module).name;
    return this.#chosen(others(packages.named(kind, name)), (own) => filesOf(own, module));
  }

  /** A package of Python is a folder beside the manifest or in `src`; it usually has the name of the project. */
  #python(projects: readonly NamedPackage[], module: string): EntryElsewhere[] {
    const [top = "", ...rest] = module.split(".");
    const holding = projects.filter(
      (each) => each.kind === "python" && this.#existing(each, pythonEntries(each, top)).length > 0,
    );
    const named = holding.filter((each) => each.name === pythonName(top));
    return this.#chosen(named.length > 0 ? named : holding, (own) =>
      pythonEntries(own, [top, ...rest].join("/")).map((path) => ({ path, isStated: named.length > 0 })),
    );
  }

  /**
   * The files of the one package that has a name. Where several have it, none is meant for sure: the one of the repository that is asked may be,
   * another is not followed.
   */
  #chosen(packages: readonly NamedPackage[], files: (own: NamedPackage) => readonly Entry[]): EntryElsewhere[] {
    const own = packages.filter(({ revision }) => revision === this.#home);
    const [only, ...more] = packages.length > 1 ? own : packages;
    if (!only || more.length > 0) return [];
    const isSure = packages.length === 1;
    const existing = new Set(
      this.#existing(
        only,
        files(only).map(({ path }) => path),
      ),
    );
    return files(only)
      .filter(({ path }) => existing.has(path))
      .map(({ path, isStated }) => ({ path, isStated: isStated && isSure, revision: only.revision }));
  }

  /** Files of a package that exist; those of tests and examples are not imported by others. */
  #existing({ revision }: NamedPackage, paths: readonly string[]): string[] {
    return paths.filter((path) => this.#isImportable(revision, path));
  }

  #isImportable(revision: number, path: string): boolean {
    const file = this.#index.fileAt(revision, path);
    return file !== undefined && ((this.#index.traits[file] as number) & ASIDE) === 0;
  }

  /**
   * The repository and folders of the package that an import of Go names; undefined if none of the scope has it. Of several repositories that
   * state the path of its module, as forks do, the one is meant that is there.
   */
  async goFolders(module: string): Promise<GoFolders | undefined> {
    if (!module.split("/", 1)[0]?.includes(".")) return undefined;
    const packages = await packageNames(this.#index, this.#texts);
    const identified = this.#identified(module.toLowerCase());
    for (const [prefix, inner] of modulePrefixes(module)) {
      const stated = packages.named("go", prefix);
      if (stated.length === 0) continue;
      const own = stated.length === 1 ? stated : stated.filter(({ revision }) => revision === identified?.revision);
      const [only, ...more] = own;
      if (!only || more.length > 0) return undefined;
      return { revision: only.revision, folders: [goFolder([...only.folder.split("/"), ...inner.split("/")])] };
    }
    return identified && { revision: identified.revision, folders: goFolders(module.slice(identified.length)) };
  }

  /** The repository with the longest identity that a path begins with; undefined without one, or if several have it. */
  #identified(path: string): { revision: number; length: number } | undefined {
    let best: { revision: number; length: number } | undefined;
    let isOne = true;
    for (const [revision, name] of this.#identities.entries()) {
      if (name === null || !(path === name || path.startsWith(`${name}/`))) continue;
      if (name.length === best?.length) isOne = false;
      if (name.length <= (best?.length ?? 0)) continue;
      best = { revision, length: name.length };
      isOne = true;
    }
    return isOne ? best : undefined;
  }

  /** Names under which other repositories import what a file defines. */
  async namesOf(revision: number, path: string): Promise<string[]> {
    if (!this.#isImportable(revision, path)) return [];
    const kind = kindOf(path);
    const { all } = await packageNames(this.#index, this.#texts);
    const own = all.filter((each) => each.kind === kind && each.revision === revision);
    // The package around the file first: another one may export what it defines.
    const around = ({ folder }: Manifest) => (folder === "" || path.startsWith(`${folder}/`) ? folder.length : -1);
    const sorted = own.toSorted((a, b) => around(b) - around(a));
    const names = sorted.flatMap((each) => (each.kind === "python" ? pythonTops(each, path) : [each.name]));
    const identity = kind === "go" ? this.#identities[revision] : null;
    return [...new Set(identity ? [identity, ...names] : names)].slice(0, MAX_NAMES);
  }

  /** Whether a manifest of one revision states a dependency on a package of another. */
  async dependsByManifest(revision: number, on: number): Promise<boolean> {
    const { all } = await packageNames(this.#index, this.#texts);
    const names = all.filter((each) => each.kind === "maven" && each.revision === on).map(({ name }) => name);
    return all.some(
      (each) =>
        each.kind === "maven" && each.revision === revision && names.some((name) => each.dependencies.has(name)),
    );
  }
}

/** The kind of manifest that names the package of a file; undefined for languages that go by other rules. */
export const kindOf = (path: string): ManifestKind | undefined => KINDS.find(([isOf]) => isOf(path))?.[1];

function filesOf(own: NamedPackage, module: string): Entry[] {
  if (own.kind === "script") return entriesOf(own, packageNamed(module).inner);
  return own.kind === "rust" ? rustEntries(own, module) : [];
}

const pythonRoots = ({ folder }: Manifest): string[] => [folder === "" ? "src" : `${folder}/src`, folder];

const pythonEntries = (own: Manifest, path: string): string[] =>
  pythonRoots(own).flatMap((root) => pythonFiles(root, path));

/** The top package of a project that a file is in. */
function pythonTops(own: Manifest, path: string): string[] {
  const root = pythonRoots(own).find((each) => each === "" || path.startsWith(`${each}/`));
  if (root === undefined) return [];
  const [top = ""] = path.slice(root === "" ? 0 : root.length + 1).split("/", 1);
  return [top.replace(/\.pyi?$/, "")];
}

/** Folders of what stands behind the identity of a repository of Go: a major version may be one. */
function goFolders(rest: string): string[] {
  const parts = rest.split("/").filter((part) => part !== "");
  return /^v\d+$/.test(parts[0] ?? "") ? [goFolder(parts), goFolder(parts.slice(1))] : [goFolder(parts)];
}

const goFolder = (parts: readonly string[]): string =>
  parts
    .filter((part) => part !== "")
    .map((part) => `${part}/`)
    .join("");
