import { globalUsings, KnownProjects, razorUsings } from "./csharp-projects.ts";
import { type GoModules, NO_MODULES, readGoModules } from "./go-modules.ts";
import { hasSureRules, hasUses, isScriptLanguage } from "./languages.ts";
import { decodeUses, type StoredUses } from "./stored-uses.ts";
import { inherits, resolveUse } from "./resolve.ts";
import { ReadBudget } from "./read-budget.ts";
import type { DefinedSymbol, QuestionFiles } from "./question-files.ts";
import { isDirectlyIn } from "./modules.ts";
import type { PackageFiles, Place, Resolved, Target } from "./resolved.ts";
import { type KnownRustPackages, RustPackages } from "./rust-packages.ts";
import { type Entry, KnownConfigs, ScriptConfigs } from "./script-configs.ts";
import type { Use } from "./types.ts";
import { COMPONENT } from "../parsing/component-names.ts";
import { definingFiles, definitionsOf } from "../search/component-files.ts";
import { type NamedFile, outlinesOf } from "../search/definitions.ts";
import { lastPart, nameKey } from "../search/names.ts";
import { symbolsAt } from "../search/lookups.ts";
import { innermost } from "../search/places.ts";
import { kindOfNumber } from "../search/record.ts";
import { documentsWith, filesWith, referencesIn, shownLine, sourcesFirst } from "../search/references.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { TRAIT } from "../search/traits.ts";
import type { QueryTerm } from "../search/query.ts";
import type { FoundReference, FoundSymbol, TextSource } from "../search/types.ts";
import { wholeTexts } from "../search/wanted-text.ts";
import { type Alike, filesAlike } from "../impact/alike.ts";
import { filesWithNames } from "../impact/names.ts";

/** Files whose definitions are remembered: the uses of one file are asked for one after another. */
const MAX_OUTLINES = 100;
/** Documents whose texts are read for a name in languages without rules. */
const MAX_DOCUMENTS = 1_000;

/** SHA-256 of no bytes: an empty file has no record, since there is nothing to say. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const NO_USES: StoredUses = {
  uses: [],
  usesOf: () => [],
  imports: [],
  bindings: new Map(),
  exports: new Map(),
  stars: [],
  classes: [],
  returns: new Map(),
  callbacks: new Map(),
};

/** What was read of the manifests and configurations of a revision. */
interface Known {
  scripts: KnownConfigs;
  rust: KnownRustPackages;
  go: GoModules | undefined;
  csharp: KnownProjects;
}

/** The same of open indexes, by revision: these do not change. */
const manifests = new WeakMap<SearchIndex, Map<number, Known>>();

function knownOf(index: SearchIndex, revision: number): Known {
  const ofIndex = manifests.get(index) ?? new Map<number, Known>();
  manifests.set(index, ofIndex);
  const known = ofIndex.get(revision) ?? {
    scripts: new KnownConfigs(),
    rust: { known: undefined },
    go: undefined,
    csharp: new KnownProjects(),
  };
  ofIndex.set(revision, known);
  return known;
}

/** Reads the uses of a file whose record is not stored; undefined if that is not possible. */
export type UsesFallback = (path: string, language: string) => Promise<StoredUses | undefined>;

/** The files of one revision as one question about relations reads them: it remembers what it has read, up to a limit. */
export class UsesIndex implements QuestionFiles {
  readonly #index: SearchIndex;
  readonly #texts: TextSource;
  readonly #read: UsesFallback;
  readonly #revision: number;
  readonly #budget: ReadBudget;
  readonly #configs: ScriptConfigs;
  readonly #rustPackages: RustPackages;
  readonly #manifests: Known;
  #goModules: Promise<GoModules> | undefined;
  readonly #known = new Map<string, Promise<StoredUses | undefined>>();
  /** Of files that were asked for: a question asks for each many times. */
  readonly #fileNumbers = new Map<string, number>();
  /** By name, and by folder and name. */
  readonly #named = new Map<string, Promise<DefinedSymbol[]>>();
  readonly #defining = new Map<string, Promise<NamedFile[]>>();
  readonly #outlines = new Map<string, Promise<DefinedSymbol[]>>();
  /** Files in languages with rules whose uses are not known. */
  readonly unread = new Set<string>();

  /**
   * `index` may hold further revisions, but `mentioning`, `alike`, `filesWith` and `filesDefining` look at all of its files. `read` is called for
   * files without a record.
   */
  constructor(
    index: SearchIndex,
    texts: TextSource,
    read: UsesFallback = () => Promise.resolve(undefined),
    { revision = 0, budget = new ReadBudget() }: { revision?: number; budget?: ReadBudget } = {},
  ) {
    this.#index = index;
    this.#texts = texts;
    this.#read = read;
    this.#revision = revision;
    this.#budget = budget;
    this.#manifests = knownOf(index, revision);
    this.#configs = new ScriptConfigs(this, this.#manifests.scripts);
    this.#rustPackages = new RustPackages(this, this.#manifests.rust);
  }

  /** The limit was reached before everything was read. */
  get exhausted(): boolean {
    return this.#budget.exhausted;
  }

  get budget(): ReadBudget {
    return this.#budget;
  }

  /** Whether a file, given by its number, is of this revision. */
  #isOwn(file: number): boolean {
    const { firstFiles } = this.#index;
    return file >= (firstFiles[this.#revision] as number) && file < (firstFiles[this.#revision + 1] as number);
  }

  #fileAt(path: string): number | undefined {
    let file = this.#fileNumbers.get(path);
    if (file !== undefined) return file;
    file = this.#index.fileAt(this.#revision, path);
    if (file !== undefined) this.#fileNumbers.set(path, file);
    return file;
  }

  /** Files that mention an identifier, sources first. Nearly all files for a name that is too common to be looked up. */
  async mentioning(name: string, _near?: readonly string[]): Promise<{ path: string; language: string }[]> {
    const files = await filesWith(this.#index, name);
    return files.map((file) => ({ path: this.#index.path(file), language: this.#index.language(file) }));
  }

  /** There is no other repository. */
  revisionsMentioning(_name: string): Promise<readonly number[]> {
    return Promise.resolve([this.#revision]);
  }

  /** All files, in order of path. */
  get paths(): readonly string[] {
    return this.#index.tables[this.#revision]?.paths ?? [];
  }

  has(path: string): boolean {
    return this.#fileAt(path) !== undefined;
  }

  /** Bits of `TRAIT` that a file has; 0 for a path that is none. */
  traits(path: string): number {
    const file = this.#fileAt(path);
    return file === undefined ? 0 : (this.#index.traits[file] as number);
  }

  /** Language id of a file; empty for a path that is none. */
  language(path: string): string {
    const file = this.#fileAt(path);
    return file === undefined ? "" : this.#index.language(file);
  }

  isTest(path: string): boolean {
    return (this.traits(path) & TRAIT.test) !== 0;
  }

  /** The files that share most with some words, the best first, and those that have the words of one of some lines. */
  alike(words: readonly QueryTerm[], limit: number, lines?: readonly string[]): Promise<Alike> {
    return filesAlike(this.#index, words, limit, lines);
  }

  /** For each identifier the files that mention it; undefined for one that is too common to be looked up. */
  async filesWith(names: readonly string[]): Promise<(string[] | undefined)[]> {
    const found = await filesWithNames(this.#index, names);
    return found.map((files) => files?.map((file) => this.#index.path(file)));
  }

  /** For each name the files that define it, without regard to case. */
  filesDefining(names: readonly string[]): Promise<string[][]> {
    return Promise.all(
      names.map(async (name) => {
        const named = await definingFiles(this.#index, nameKey(name, ""));
        // A heading of a document is no definition of what code mentions.
        const defining = named.filter(({ entry }) => kindOfNumber(entry.kind) !== "heading");
        return [...new Set(defining.map(({ file }) => this.#index.path(file)))];
      }),
    );
  }

  /** The uses of a file; undefined if there is no such file, its language has no rules, or they are not known (`unread`). */
  uses(path: string): Promise<StoredUses | undefined> {
    let found = this.#known.get(path);
    if (!found) {
      found = this.#load(path);
      this.#known.set(path, found);
    }
    return found;
  }

  async #load(path: string): Promise<StoredUses | undefined> {
    const file = this.#fileAt(path);
    if (file === undefined || !hasUses(this.#index.language(file))) return undefined;
    if (!this.#budget.takesFile()) return undefined;
    const [record] = await this.#index.segmentOfFile(file).readUses([this.#index.ordinalOf[file] as number]);
    if (record && record.length > 0) {
      this.#budget.remember(record.length, () => this.#known.delete(path));
      return decodeUses(record);
    }
    if (this.#index.contentKey(file).sha256 === EMPTY) return NO_USES;
    const read = await this.#read(path, this.#index.language(file));
    if (!read) this.unread.add(path);
    return read;
  }

  /** Files that an import in a script may mean that does not begin with a dot: of a package of the repository, or through an alias. */
  async entries(path: string, module: string): Promise<readonly Entry[]> {
    if (path.endsWith(".rs")) return this.#rustPackages.entries(path, module);
    return isScriptLanguage(this.language(path)) ? this.#configs.entries(path, module) : [];
  }

  async packagesLedBy(path: string): Promise<readonly string[]> {
    return isScriptLanguage(this.language(path)) ? this.#configs.packagesLedBy(path) : [];
  }

  async goModules(path: string): Promise<GoModules> {
    if (!path.endsWith(".go")) return NO_MODULES;
    return (this.#manifests.go ??= await (this.#goModules ??= readGoModules(this)));
  }

  async globalUsings(path: string): Promise<readonly string[]> {
    if (/\.(?:razor|cshtml)$/.test(path)) return razorUsings(this, this.#manifests.csharp, path);
    return path.endsWith(".cs") ? globalUsings(this, this.#manifests.csharp, path) : [];
  }

  /** Whole texts of small files; undefined for those without one. */
  textsOf(paths: readonly string[]): Promise<(string | undefined)[]> {
    return wholeTexts(
      this.#index,
      paths.map((path) => this.#fileAt(path) as number),
      this.#texts,
    );
  }

  /** Definitions with a name, by the last part of their qualified names and with regard to case. */
  definitions(name: string, _path?: string, folder?: string): Promise<DefinedSymbol[]> {
    const key = folder === undefined ? name : `${folder}\n${name}`;
    let found = this.#named.get(key);
    if (!found) {
      found = this.#definitionsNamed(name, folder);
      this.#named.set(key, found);
    }
    return found;
  }

  /** Files that define a name, without regard to case. */
  #namedFiles(name: string): Promise<NamedFile[]> {
    let found = this.#defining.get(name);
    if (!found) {
      found = definingFiles(this.#index, nameKey(name, ""), (file) => this.#isOwn(file));
      this.#defining.set(name, found);
    }
    return found;
  }

  async #definitionsNamed(name: string, folder: string | undefined): Promise<DefinedSymbol[]> {
    const all = await this.#namedFiles(name);
    const named = folder === undefined ? all : all.filter(({ file }) => isDirectlyIn(folder, this.#index.path(file)));
    // A file with thousands of overloads is read once.
    const files = [...new Set(named.map(({ file }) => file))];
    const read = await definitionsOf(
      this.#index,
      files.map((file) => ({ file })),
    );
    const symbols = new Map(files.map((file, i) => [file, read[i]]));
    return named.flatMap(({ file, entry }) => {
      const symbol = symbols.get(file)?.at(entry.symbol);
      const isNamed = symbol?.kind === COMPONENT ? symbol.qualifiedName === name : false;
      return symbol && (isNamed || lastPart(symbol.name) === lastPart(name))
        ? [{ ...symbol, path: this.#index.path(file) }]
        : [];
    });
  }

  /** The definitions of a file. */
  definitionsIn(path: string): Promise<readonly DefinedSymbol[]> {
    let found = this.#outlines.get(path);
    if (!found) {
      found = this.#definitionsIn(path);
      if (this.#outlines.size >= MAX_OUTLINES) this.#outlines.delete(this.#outlines.keys().next().value ?? "");
      this.#outlines.set(path, found);
    }
    return found;
  }

  async #definitionsIn(path: string): Promise<DefinedSymbol[]> {
    const file = this.#fileAt(path);
    const [symbols = []] = file === undefined ? [] : await definitionsOf(this.#index, [{ file }]);
    return symbols.map((symbol) => Object.assign({ path }, symbol));
  }

  /** How sure a definition is to which the rules of the language of the file `path` lead. */
  certaintyOf(path: string, { isLikely }: Pick<Target, "isLikely">): "certain" | "likely" {
    return isLikely !== true && hasSureRules(this.language(path)) ? "certain" : "likely";
  }

  /** What a use in a file leads to by the rules of its language. */
  resolve(path: string, use: Pick<Use, "name" | "meaning" | "arguments">): Promise<Resolved> {
    return resolveUse(path, use, this);
  }

  /** Whether the class around a member has another class among its bases, at any distance. */
  inherits(of: Place, base: Place): Promise<boolean> {
    return inherits(of, base, this);
  }

  /** There is no other repository. */
  packageElsewhere(): Promise<PackageFiles | undefined> {
    return Promise.resolve(undefined);
  }

  /** Whether uses in a file may be of a definition in another one by their name alone. */
  importsPackageOf(_path: string, _definition: string): Promise<boolean> {
    return Promise.resolve(true);
  }

  /** Files of other repositories that import a package of a file's repository. */
  importing(_path: string): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  /** Definitions with their languages and signatures, in the order given. */
  described(definitions: readonly DefinedSymbol[]): Promise<FoundSymbol[]> {
    return symbolsAt(this.#index, definitions, this.#texts, this.#revision);
  }

  /** Lines with the symbols around them, in the order asked for; the text of a withheld one is empty. */
  async lines(places: readonly { path: string; line: number }[]): Promise<FoundReference[]> {
    const index = this.#index;
    const paths = [...new Set(places.map(({ path }) => path))].filter((path) => this.#fileAt(path) !== undefined);
    const files = paths.map((path) => ({ file: this.#fileAt(path) as number }));
    const [outlines, symbols] = await Promise.all([outlinesOf(index, files), definitionsOf(index, files)]);
    const wanted = paths.map((path, i) => {
      const own = places.filter((place) => place.path === path).map(({ line }) => line);
      const chunks = (outlines[i]?.chunks ?? []).flatMap(({ startLine, endLine }, ordinal) =>
        own.some((line) => startLine <= line && line <= endLine) ? [{ ordinal, startLine, endLine }] : [],
      );
      return { ...index.contentKey(files[i]?.file as number), revision: this.#revision, path, chunks, symbols: [] };
    });
    const loaded = wanted.length === 0 ? [] : await this.#texts(wanted);
    return places.map(({ path, line }) => {
      const at = paths.indexOf(path);
      const chunks = wanted[at]?.chunks ?? [];
      const chunk = chunks.findIndex(({ startLine, endLine }) => startLine <= line && line <= endLine);
      const text = loaded[at]?.chunks[chunk]?.split("\n")[line - (chunks[chunk]?.startLine ?? 0)] ?? "";
      const own = symbols[at] ?? [];
      const around = innermost({ symbols: own }, [...own.keys()], line, line);
      const enclosing = around === undefined ? null : (own[around]?.qualifiedName ?? null);
      return { revision: this.#revision, path, line, text: shownLine(text), enclosing };
    });
  }

  /** For each identifier, lines of some files that mention it, in order of path and line, those of its definitions left out. */
  async linesMentioning(wanted: readonly { name: string; paths: ReadonlySet<string> }[]): Promise<FoundReference[][]> {
    const index = this.#index;
    const lookUps: { name: string; documents: number[] }[] = [];
    for (const { name, paths } of wanted) {
      const files = new Set([...paths].map((path) => this.#fileAt(path)));
      const documents = sourcesFirst(
        index,
        (await documentsWith(index, name)).filter((document) => files.has(index.fileOfDocument[document])),
      );
      if (documents.length > MAX_DOCUMENTS) this.#budget.exhausted = true;
      lookUps.push({ name, documents: documents.slice(0, MAX_DOCUMENTS) });
    }
    return referencesIn(index, lookUps, this.#texts);
  }
}
