/** The files of several repositories, as uses are followed from one into another whose package it imports. */
import { filesWithNames } from "../impact/names.ts";
import { filesNamed } from "../search/definitions.ts";
import { nameKey } from "../search/names.ts";
import { filesWith, hashOfIdentifier } from "../search/references.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { FoundReference, FoundSymbol, TextSource } from "../search/types.ts";
import type { GoModules } from "./go-modules.ts";
import { MAX_CANDIDATES } from "./limits.ts";
import { pathFrom, placeIn, splitMark } from "./marked-paths.ts";
import { kindOf, PackageFinder } from "./package-finder.ts";
import { isJvm, packageOf } from "./packages.ts";
import { inherits, resolveUse } from "./resolve.ts";
import type { PackageFiles, Place, Resolved, Target } from "./resolved.ts";
import type { Entry } from "./script-configs.ts";
import { isStandardModule } from "./standard-library.ts";
import type { StoredUses } from "./stored-uses.ts";
import type { Use } from "./types.ts";
import type { DefinedSymbol, QuestionFiles } from "./question-files.ts";
import { UsesIndex } from "./uses-index.ts";

/** Other repositories whose files are looked at for what uses one: those with the most files that name its package. */
const MAX_USERS = 20;
/** Files whose packages are looked for at a time. */
const MAX_NEAR = 50;

/** Languages whose imports lead to other repositories. Elsewhere the files of a repository are a program of their own. */
const isCrossing = (path: string): boolean => path.endsWith(".go") || isJvm(path) || kindOf(path) !== undefined;

export interface RepositoriesGiven {
  /** Open over all revisions. */
  index: SearchIndex;
  texts: TextSource;
  /** The revision that is asked. */
  home: UsesIndex;
  revision: number;
  /** Identities of the repositories (`github.com/owner/name`), by revision. */
  identities: readonly (string | null)[];
}

/**
 * The files of a scope. Those of the repository that is asked go by their own paths, those of others by marked ones. One object serves one
 * question: limits and what is remembered are the question's.
 */
export class Repositories implements QuestionFiles {
  readonly #given: RepositoriesGiven;
  readonly #packages: PackageFinder;
  readonly #others = new Map<number, UsesIndex>();
  readonly #importing = new Map<string, Promise<ReadonlyMap<number, readonly string[]>>>();
  #wasCut = false;

  constructor(given: RepositoriesGiven) {
    this.#given = given;
    this.#packages = new PackageFinder(given);
  }

  #of(revision: number): UsesIndex {
    const { index, texts, home } = this.#given;
    if (revision === this.#given.revision) return home;
    let files = this.#others.get(revision);
    if (!files) {
      files = new UsesIndex(index, texts, undefined, { revision, budget: home.budget });
      this.#others.set(revision, files);
    }
    return files;
  }

  #revisionOf(path: string): number {
    return placeIn(this.#given.revision, path).revision;
  }

  #at(path: string): { files: UsesIndex; mark: string; own: string } {
    return { files: this.#of(this.#revisionOf(path)), ...splitMark(path) };
  }

  #marked(revision: number, path: string): string {
    return pathFrom(this.#given.revision, { revision, path });
  }

  get paths(): readonly string[] {
    return this.#given.home.paths;
  }

  get exhausted(): boolean {
    return this.#wasCut || this.#given.home.exhausted;
  }

  get unread(): Set<string> {
    const marked = [...this.#others].flatMap(([revision, { unread }]) =>
      [...unread].map((path) => this.#marked(revision, path)),
    );
    return new Set([...this.#given.home.unread, ...marked]);
  }

  has(path: string): boolean {
    const { files, own } = this.#at(path);
    return files.has(own);
  }

  language(path: string): string {
    const { files, own } = this.#at(path);
    return files.language(own);
  }

  isTest(path: string): boolean {
    const { files, own } = this.#at(path);
    return files.isTest(own);
  }

  uses(path: string): Promise<StoredUses | undefined> {
    const { files, own } = this.#at(path);
    return files.uses(own);
  }

  certaintyOf(path: string, target: Pick<Target, "isLikely">): "certain" | "likely" {
    const { files, own } = this.#at(path);
    return files.certaintyOf(own, target);
  }

  async revisionsMentioning(name: string): Promise<readonly number[]> {
    const { index } = this.#given;
    const counts = Map.groupBy(await filesWith(index, name), (file) => index.revisionOf(file));
    return [...counts].sort((one, other) => other[1].length - one[1].length).map(([revision]) => revision);
  }

  async definitions(name: string, path = "", folder?: string): Promise<DefinedSymbol[]> {
    const { files, mark, own } = this.#at(path);
    return withMark(mark, await files.definitions(name, own, folder));
  }

  async definitionsIn(path: string): Promise<readonly DefinedSymbol[]> {
    const { files, mark, own } = this.#at(path);
    return withMark(mark, await files.definitionsIn(own));
  }

  async resolve(path: string, use: Pick<Use, "name" | "meaning" | "arguments">): Promise<Resolved> {
    if (isCrossing(path)) return resolveUse(path, use, this);
    const { files, mark, own } = this.#at(path);
    const found = await files.resolve(own, use);
    return typeof found === "string" ? found : { ...found, path: mark + found.path };
  }

  async inherits(of: Place, base: Place): Promise<boolean> {
    if (isCrossing(of.path)) return inherits(of, base, this);
    const { files, mark, own } = this.#at(of.path);
    const other = splitMark(base.path);
    return other.mark === mark && files.inherits({ ...of, path: own }, { ...base, path: other.own });
  }

  /** Files that an import may mean: of its own repository, else of the package of another one. */
  async entries(path: string, module: string): Promise<readonly Entry[]> {
    const { files, mark, own } = this.#at(path);
    const entries = await files.entries(own, module);
    if (entries.length > 0) return entries.map(({ path: at, isStated }) => ({ path: mark + at, isStated }));
    if (isStandardModule(own, module)) return [];
    const found = await this.#packages.entries(this.#revisionOf(path), own, module);
    return found.map(({ revision, path: at, isStated }) => ({ path: this.#marked(revision, at), isStated }));
  }

  packagesLedBy(path: string): Promise<readonly string[]> {
    const { files, own } = this.#at(path);
    return files.packagesLedBy(own);
  }

  goModules(path: string): Promise<GoModules> {
    return this.#at(path).files.goModules(path);
  }

  globalUsings(path: string): Promise<readonly string[]> {
    const { files, own } = this.#at(path);
    return files.globalUsings(own);
  }

  async packageElsewhere(path: string, module: string, name: string): Promise<PackageFiles | undefined> {
    if (isStandardModule(path, module)) return undefined;
    if (path.endsWith(".go")) return this.#goPackage(path, module, name);
    return isJvm(path) ? this.#javaPackage(path, module, name) : undefined;
  }

  async #goPackage(path: string, module: string, name: string): Promise<PackageFiles | undefined> {
    const own = this.#revisionOf(path);
    const found = await this.#packages.goFolders(module);
    if (!found || found.revision === own) return undefined;
    const named = await this.#of(found.revision).definitions(name);
    const holding = named.filter(
      (each) =>
        /(?<!_test)\.go$/.test(each.path) && found.folders.includes(each.path.slice(0, each.path.lastIndexOf("/") + 1)),
    );
    return { paths: holding.map((each) => this.#marked(found.revision, each.path)), isLikely: false };
  }

  /** An import of Java or Kotlin names a package, which any repository may have. */
  async #javaPackage(path: string, module: string, name: string): Promise<PackageFiles | undefined> {
    const { index, revision: home } = this.#given;
    const own = this.#revisionOf(path);
    const files = (await filesNamed(index, nameKey(name, ""))).map(({ file }) => file);
    const places = [...new Set(files)]
      .map((file) => ({ revision: index.revisionOf(file), path: index.path(file) }))
      .filter((each) => each.revision !== own && isJvm(each.path));
    const found: typeof places = [];
    for (const each of places.slice(0, MAX_CANDIDATES)) {
      const uses = await this.#of(each.revision).uses(each.path);
      if (uses && packageOf(uses) === module) found.push(each);
    }
    const revisions = [...new Set(found.map(({ revision }) => revision))];
    const revision = revisions.length === 1 ? revisions[0] : revisions.find((each) => each === home);
    if (revision === undefined || places.length > MAX_CANDIDATES) return undefined;
    const paths = found.filter((each) => each.revision === revision).map((each) => this.#marked(revision, each.path));
    const isLikely = revisions.length > 1 || !(await this.#packages.dependsByManifest(own, revision));
    return { paths, isLikely };
  }

  /**
   * Files that mention an identifier: of the repositories that some files are of, the one that is asked without any, and of those that import
   * their packages.
   */
  async mentioning(name: string, near: readonly string[] = [""]): Promise<{ path: string; language: string }[]> {
    const { index, home, revision: asked } = this.#given;
    const wanted = new Set(near.map((path) => this.#revisionOf(path)));
    for (const path of near.slice(0, MAX_NEAR))
      for (const user of (await this.#importingOf(path)).keys()) wanted.add(user);
    const found = wanted.has(asked) ? await home.mentioning(name) : [];
    wanted.delete(asked);
    if (wanted.size === 0) return found;
    const others = (await filesWith(index, name))
      .filter((file) => wanted.has(index.revisionOf(file)))
      .map((file) => ({
        path: this.#marked(index.revisionOf(file), index.path(file)),
        language: index.language(file),
      }));
    return [...found, ...others];
  }

  async importing(path: string): Promise<readonly string[]> {
    const found = await this.#importingOf(path);
    return [...found].flatMap(([revision, paths]) => paths.map((each) => this.#marked(revision, each)));
  }

  /** Files that hold the name of a package of the repository of a file, by revision; those of the repositories with the most. */
  async #importingOf(path: string): Promise<ReadonlyMap<number, readonly string[]>> {
    const own = this.#revisionOf(path);
    const names = await this.#namesOf(path);
    const key = `${own} ${names.join(" ")}`;
    let found = this.#importing.get(key);
    if (!found) this.#importing.set(key, (found = this.#naming(own, names)));
    return found;
  }

  /** Names under which others import the package of a file. */
  async #namesOf(path: string): Promise<readonly string[]> {
    const { own } = splitMark(path);
    if (!isCrossing(own)) return [];
    if (!isJvm(own)) return this.#packages.namesOf(this.#revisionOf(path), own);
    const uses = await this.uses(path);
    return uses ? [packageOf(uses)] : [];
  }

  async #naming(own: number, names: readonly string[]): Promise<ReadonlyMap<number, readonly string[]>> {
    const { index } = this.#given;
    const found = new Map<number, Set<string>>();
    for (const name of names) {
      const words = name.split(/[^\p{L}\p{N}_$]+/u).filter((word) => hashOfIdentifier(word) !== undefined);
      const [first = [], ...others] = (await filesWithNames(index, words)).map((files) => files ?? []);
      const sets = others.map((files) => new Set(files));
      for (const file of first) {
        const revision = index.revisionOf(file);
        if (revision === own || !sets.every((files) => files.has(file))) continue;
        const same = found.get(revision);
        if (same) same.add(index.path(file));
        else found.set(revision, new Set([index.path(file)]));
      }
    }
    if (found.size > MAX_USERS) this.#wasCut = true;
    const most = [...found].toSorted(([a, one], [b, two]) => two.size - one.size || a - b).slice(0, MAX_USERS);
    return new Map(most.toSorted(([a], [b]) => a - b).map(([revision, paths]) => [revision, [...paths]]));
  }

  async importsPackageOf(path: string, definition: string): Promise<boolean> {
    if (this.#revisionOf(path) === this.#revisionOf(definition)) return true;
    const names = await this.#namesOf(definition);
    const imports = (await this.uses(path))?.imports ?? [];
    return imports.some(({ module }) =>
      names.some((name) => module.startsWith(name) && /^(?:$|[/.:])/.test(module.slice(name.length))),
    );
  }

  async described(definitions: readonly DefinedSymbol[]): Promise<FoundSymbol[]> {
    const byRevision = Map.groupBy(definitions, ({ path }) => this.#revisionOf(path));
    const found = new Map<string, FoundSymbol>();
    const keyOf = (revision: number, { path, startLine, qualifiedName }: FoundSymbol | DefinedSymbol) =>
      `${revision} ${startLine} ${qualifiedName} ${path}`;
    for (const [revision, own] of byRevision) {
      const plain = own.map((each) => Object.assign({}, each, { path: splitMark(each.path).own }));
      for (const symbol of await this.#of(revision).described(plain))
        found.set(keyOf(revision, symbol), { ...symbol, path: this.#marked(revision, symbol.path) });
    }
    return definitions.flatMap((each) => {
      const revision = this.#revisionOf(each.path);
      return found.get(keyOf(revision, { ...each, path: splitMark(each.path).own })) ?? [];
    });
  }

  /** Lines of files, each with its path in its own repository. */
  async lines(places: readonly { path: string; line: number }[]): Promise<FoundReference[]> {
    const byRevision = Map.groupBy(places, ({ path }) => this.#revisionOf(path));
    const found = new Map<object, FoundReference>();
    for (const [revision, own] of byRevision) {
      const plain = own.map(({ path, line }) => ({ path: splitMark(path).own, line }));
      for (const [i, line] of (await this.#of(revision).lines(plain)).entries()) found.set(own[i] as object, line);
    }
    return places.map((place) => found.get(place) as FoundReference);
  }

  /** Lines of the repository that is asked: in languages without rules nothing leads to another. */
  linesMentioning(wanted: readonly { name: string; paths: ReadonlySet<string> }[]): Promise<FoundReference[][]> {
    return this.#given.home.linesMentioning(wanted);
  }
}

function withMark(mark: string, symbols: readonly DefinedSymbol[]): DefinedSymbol[] {
  if (mark === "") return symbols as DefinedSymbol[];
  return symbols.map((each) => Object.assign({}, each, { path: mark + each.path }));
}
