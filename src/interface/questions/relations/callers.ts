/** Callers and implementations: the uses of some definitions. */
import { COMPONENT, hyphenated } from "../../../engines/parsing/component-names.ts";
import { fixturesAt } from "../../../engines/relations/fixtures.ts";
import { isKotlin } from "../../../engines/relations/packages.ts";
import { type Meaning, type Use, WHOLE_MODULE } from "../../../engines/relations/types.ts";
import { folderOf } from "../../../engines/relations/modules.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { nameParts } from "../../../engines/search/names.ts";
import {
  type Certainty,
  distinct,
  type FoundUse,
  innermostOf,
  innermostOfLines,
  KINDS,
  lessSure,
  placeKey,
  rankOf,
  symbolKey,
  TYPES,
  withoutNamed,
} from "./found.ts";
import { GoInterfaces } from "./go-interfaces.ts";
import { stemOf } from "./importers.ts";
import { Judge, type Judged, writtenName } from "./judge.ts";
import { isUsedInLines } from "./line-uses.ts";
import { type FilesToRead, filesMentioning } from "./mentioning.ts";
import { isOfFolder, soleDefinition, usesInOtherFiles } from "./other-files.ts";
import { isRubyFile, JOB_CALLS } from "../../../engines/relations/ruby-keys.ts";
import { componentTypes } from "./component-types.ts";
import { constructionsOf, isInitializer } from "./constructions.ts";
import { propertyReads } from "./property-reads.ts";
import { rustConstructors } from "./rust-constructors.ts";
import { addTo, type Search, Sought } from "./sought.ts";

/** Files whose uses are read together: a remote index reads what lies near in one request. */
const BATCH = 50;
/** Different meanings of uses that are followed for a question. */
const MAX_FOLLOWED = 20_000;
/** Other names that files export a definition under. */
const MAX_ALIASES = 10;
/** Definitions whose uses are looked for at each further step. */
const MAX_DEFINITIONS = 100;

type Wanted = "callers" | "implementations";

/** Finds uses of definitions in the files of a question. One object serves one question: its limits are the question's. */
export class UsesFinder {
  readonly #files: QuestionFiles;
  readonly #relation: Wanted;
  readonly #interfaces: GoInterfaces;
  #followed = 0;
  truncated = false;

  constructor(files: QuestionFiles, relation: Wanted) {
    this.#files = files;
    this.#relation = relation;
    this.#interfaces = new GoInterfaces(files);
  }

  /** The uses of definitions, and up to `depth` steps of uses of what they are in. The nearest first, each place once. */
  async find(definitions: readonly DefinedSymbol[], depth: number): Promise<FoundUse[]> {
    return this.#from(new Map(definitions.map((each) => [each, "certain"])), depth);
  }

  /** As `find`, of the definitions that some uses are inside of. */
  async findAround(uses: readonly FoundUse[], depth: number): Promise<FoundUse[]> {
    return this.#from(await this.#around(uses, new Set()), depth);
  }

  async #from(definitions: ReadonlyMap<DefinedSymbol, Certainty>, depth: number): Promise<FoundUse[]> {
    const found: FoundUse[] = [];
    const seen = new Set([...definitions.keys()].map((each) => symbolKey(each)));
    let step = definitions;
    for (let distance = 1; distance <= depth && step.size > 0; distance++) {
      const direct = await this.#direct(step);
      found.push(...direct.map((use) => ({ ...use, distance })));
      if (distance < depth) step = await this.#around(direct, seen);
    }
    return found;
  }

  /** The definitions that uses are inside of; those by name only lead nowhere. */
  async #around(uses: readonly FoundUse[], seen: Set<string>): Promise<Map<DefinedSymbol, Certainty>> {
    const around = new Map<DefinedSymbol, Certainty>();
    const followed = uses.filter(({ certainty }) => certainty !== "name");
    const enclosing = await definitionsAround(this.#files, followed, this.#relation === "callers" ? CALLABLE : TYPES);
    for (const use of followed) {
      const own = enclosing.get(use);
      const key = own && symbolKey(own);
      if (!own || key === undefined || seen.has(key)) continue;
      if (around.size >= MAX_DEFINITIONS) {
        this.truncated = true;
        break;
      }
      seen.add(key);
      around.set(own, use.certainty);
    }
    return around;
  }

  async #direct(definitions: ReadonlyMap<DefinedSymbol, Certainty>): Promise<FoundUse[]> {
    const searches: Search[] = [];
    for (const [name, own] of Map.groupBy(definitions.keys(), writtenName))
      searches.push(await this.#searchFor(name, own));
    const aliases = await this.#inFiles(searches);
    // A file that uses a definition by an alias need not mention its name.
    await this.#inFiles(await this.#searchesFor(aliases));
    if (this.#relation === "callers") await this.#inOtherFiles(searches);
    const found = withoutNamed(searches.flatMap(({ uses }) => uses));
    const all = [...definitions.keys()];
    found.push(...(await this.#constructions(all.filter((each) => isInitializer(this.#files, each)))));
    if (this.#relation === "callers") {
      found.push(...(await this.#ofConstructors(all)), ...(await componentTypes(this.#files, all)));
      found.push(...(await propertyReads(this.#files, all, found)));
    }
    const sureness = new Map([...definitions].map(([each, certainty]) => [symbolKey(each), certainty]));
    for (const use of found) {
      const before = use.target && sureness.get(placeKey(use.target));
      if (before !== undefined) use.certainty = lessSure(before, use.certainty);
    }
    return distinct(found);
  }

  async #constructions(initializers: readonly DefinedSymbol[]): Promise<FoundUse[]> {
    if (this.#relation !== "callers" || initializers.length === 0) return [];
    const constructions = new UsesFinder(this.#files, "callers");
    const inheriting = new UsesFinder(this.#files, "implementations");
    const found = await constructionsOf(this.#files, initializers, {
      constructions: (classes) => constructions.find(classes, 1),
      inheriting: (classes, depth) => inheriting.find(classes, depth),
    });
    this.truncated ||= constructions.truncated || inheriting.truncated;
    return found;
  }

  /** Uses of the constructors of Rust types, except those known by name only: most types have a `new`. */
  async #ofConstructors(types: readonly DefinedSymbol[]): Promise<FoundUse[]> {
    const asked = new Set(types.map(symbolKey));
    const constructors = await rustConstructors(this.#files, types);
    const others = constructors.filter((each) => !asked.has(symbolKey(each)));
    if (others.length === 0) return [];
    const finder = new UsesFinder(this.#files, "callers");
    const found = await finder.find(others, 1);
    this.truncated ||= finder.truncated;
    return found.filter(({ certainty }) => certainty !== "name");
  }

  /** What is looked for to find the uses of definitions that share a name. */
  async #searchFor(name: string, definitions: readonly DefinedSymbol[]): Promise<Search> {
    const near = [...new Set(definitions.map(({ path }) => path))];
    const names = new Set([name, ...definitions.flatMap(invokedAs), ...(await this.#fixtureNames(definitions))]);
    const mentioned = new Set([...names, ...(await this.#wholeModules(definitions))]);
    const owners = new Set(definitions.flatMap(({ qualifiedName }) => nameParts(qualifiedName).at(-2) ?? []));
    const files = await this.#mentioning(mentioned, { near, owners });
    const judge = new Judge(this.#files, definitions, this.#interfaces);
    const places = new Set(definitions.map(symbolKey));
    const byLines = definitions.filter(({ path, kind }) => isUsedInLines(this.#files.language(path), kind));
    const languages = new Set(byLines.map(({ path }) => this.#files.language(path)));
    const sole = languages.size > 0 ? await soleDefinition(this.#files, name) : undefined;
    const ofFolders = byLines.filter(({ path }) => isOfFolder(this.#files.language(path)));
    const byFolder = Map.groupBy(ofFolders, ({ path }) => folderOf(path));
    return { name, names, near, owners, judge, places, languages, sole, byFolder, ...files, uses: [] };
  }

  /** Searches for other names, of which each search has some. */
  async #searchesFor(aliases: ReadonlyMap<Search, ReadonlySet<string>>): Promise<Search[]> {
    const searches: Search[] = [];
    for (const [search, all] of aliases) {
      const names = new Set([...all].slice(0, MAX_ALIASES));
      searches.push({ ...search, names, ...(await this.#mentioning(names, search)) });
    }
    return searches;
  }

  /** Names under which tests get definitions as fixtures of pytest. */
  async #fixtureNames(definitions: readonly DefinedSymbol[]): Promise<string[]> {
    const names: string[] = [];
    for (const { path, startLine } of definitions.slice(0, MAX_ALIASES)) {
      const uses = path.endsWith(".py") ? await this.#files.uses(path) : undefined;
      if (uses) names.push(...fixturesAt(uses, startLine));
    }
    return names;
  }

  async #mentioning(names: ReadonlySet<string>, of: Pick<Search, "near" | "owners">): Promise<FilesToRead> {
    const files = await filesMentioning(this.#files, names, of);
    this.truncated ||= files.truncated;
    return files;
  }

  /** Names of files that export one of the definitions as a whole: importers usually name it after the file or its package. */
  async #wholeModules(definitions: readonly DefinedSymbol[]): Promise<Set<string>> {
    const stems = new Set<string>();
    for (const { path, startLine, kind } of definitions.slice(0, MAX_ALIASES)) {
      const uses = await this.#files.uses(path);
      const wholes = [uses?.exports.get(WHOLE_MODULE), uses?.exports.get("default")];
      const isWhole = wholes.some((of) => of && "line" in of && of.line === startLine);
      if (!isWhole) continue;
      const [stem = ""] = stemOf(path).split(".", 1);
      if (stem !== "index") stems.add(camelCase(stem));
      // Of `account-card`, which imports and tags have as it is written, the words are known.
      if (kind === COMPONENT) stems.add(longestWord(hyphenated(stem)));
      for (const name of await this.#files.packagesLedBy(path)) {
        const word = camelCase(name.slice(name.lastIndexOf("/") + 1));
        stems.add(word).add(word.slice(0, 1).toUpperCase() + word.slice(1));
      }
    }
    return stems;
  }

  /**
   * Adds to each search the uses that it finds. A file is read once for all of them. Returns other names under which files export what is
   * looked for.
   */
  async #inFiles(searches: readonly Search[]): Promise<Map<Search, Set<string>>> {
    const sought = new Sought(searches);
    const paths = [...sought.byPath.keys()];
    const found = new Map<string, ReadonlyMap<Search, FoundUse[]>>();
    const aliases = new Map<Search, Set<string>>();
    for (let from = 0; from < paths.length; from += BATCH) {
      const batch = paths.slice(from, from + BATCH);
      const read = await Promise.all(batch.map((path) => this.#inFile(path, sought)));
      for (const [i, path] of batch.entries()) {
        found.set(path, read[i]?.uses ?? new Map());
        for (const [search, names] of read[i]?.aliases ?? [])
          aliases.set(search, new Set([...(aliases.get(search) ?? []), ...names]));
      }
    }
    for (const search of searches)
      for (const path of search.paths) {
        const uses = found.get(path)?.get(search);
        if (uses) search.uses.push(...distinct(uses));
      }
    return aliases;
  }

  async #inFile(path: string, sought: Sought) {
    const uses = new Map<Search, FoundUse[]>();
    const aliases = new Map<Search, string[]>();
    const file = await this.#files.uses(path);
    if (!file) return { uses, aliases };
    for (const [alias, of] of file.exports)
      for (const search of alias === "default" ? [] : await this.#exportedAs(path, of, sought))
        if (!search.names.has(alias)) addTo(aliases, search, alias);
    // Equal meanings of a file are the same object: a million calls in a line are followed once.
    const known = new Map<Meaning, Map<string, Map<Search, Judged>>>();
    for (const use of file.usesOf(sought.names)) {
      if (!KINDS[this.#relation].has(use.kind)) continue;
      const { name, meaning, line, arguments: given } = use;
      const written = use.kind === "reference" ? `&${name}` : given === undefined ? name : `${name}/${given}`;
      const ofMeaning = known.get(meaning) ?? new Map<string, Map<Search, Judged>>();
      known.set(meaning, ofMeaning);
      let judged = ofMeaning.get(written);
      if (!judged) {
        const wanting = sought.wanting(path, use);
        if (wanting.length > 0 && this.#followed++ >= MAX_FOLLOWED) {
          this.truncated = true;
          break;
        }
        judged = wanting.length === 0 ? new Map<Search, Judged>() : await this.#judged(path, use, wanting);
        ofMeaning.set(written, judged);
      }
      for (const [search, own] of judged) addTo(uses, search, { path, line, distance: 1, ...own });
    }
    return { uses, aliases };
  }

  /** The searches for what a file exports under some name. What it takes of another one as a whole, `export { default as A }`, is followed. */
  async #exportedAs(path: string, of: Meaning, sought: Sought): Promise<readonly Search[]> {
    if (of.to !== "import" || of.name !== "default") return sought.exportedAs(path, of);
    const searches = sought.byPath.get(path) ?? [];
    if (searches.length === 0 || this.#followed++ >= MAX_FOLLOWED) return [];
    const found = await this.#files.resolve(path, { name: of.name, meaning: of });
    if (typeof found === "string" || found.line === undefined) return [];
    const place = placeKey({ path: found.path, line: found.line });
    return searches.filter(({ places }) => places.has(place));
  }

  async #judged(path: string, use: Use, searches: readonly Search[]): Promise<Map<Search, Judged>> {
    const resolved = await this.#files.resolve(path, use);
    const judged = new Map<Search, Judged>();
    for (const search of searches) {
      const own = await search.judge.of(path, use, resolved);
      if (own) judged.set(search, own);
    }
    return judged;
  }

  /** Adds to each search the lines of files in languages without rules that use its name. */
  async #inOtherFiles(searches: readonly Search[]): Promise<void> {
    const wanted = searches.filter(({ others }) => others.size > 0);
    const asked = wanted.map(({ others, ...search }) => ({ ...search, paths: others }));
    const found = await usesInOtherFiles(this.#files, asked);
    for (const [i, { uses }] of wanted.entries()) for (const use of found[i] ?? []) uses.push(use);
  }
}

/** In Kotlin `C()` may call the `invoke` of the object `C`, or of the companion of a class. */
function invokedAs({ name, qualifiedName, path, kind }: DefinedSymbol): string[] {
  if (kind === COMPONENT) return [qualifiedName];
  if (name === "perform" && isRubyFile(path)) return [...JOB_CALLS];
  if (name !== "invoke" || !isKotlin(path)) return [];
  const around = qualifiedName.split(".").slice(0, -1);
  return around.slice(-2);
}

const longestWord = (text: string): string => text.split("-").toSorted((a, b) => b.length - a.length)[0] ?? text;

const camelCase = (text: string): string => text.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Kinds of definitions that can be called. */
export const CALLABLE: ReadonlySet<string> = new Set([
  "function",
  "method",
  "constructor",
  "class",
  "macro",
  "component",
]);

/** The innermost function, method or class around a line. */
export const innermostCallable = (symbols: readonly DefinedSymbol[], line: number): DefinedSymbol | undefined =>
  innermostOf(symbols, line, CALLABLE);

/** The innermost definition of some kinds around each of some uses, as far as there is one. Files are read in batches, each file once. */
export async function definitionsAround(
  files: QuestionFiles,
  uses: readonly FoundUse[],
  kinds: ReadonlySet<string>,
): Promise<Map<FoundUse, DefinedSymbol>> {
  const around = new Map<FoundUse, DefinedSymbol>();
  const byPath = [...Map.groupBy(uses, (use) => use.path)];
  for (let from = 0; from < byPath.length; from += BATCH) {
    const batch = byPath.slice(from, from + BATCH);
    const symbols = await Promise.all(batch.map(([path]) => files.definitionsIn(path)));
    for (const [i, [, own]] of batch.entries()) {
      const lines = own.map(({ line }) => line);
      const innermost = innermostOfLines(symbols[i] ?? [], lines, kinds);
      for (const use of own) {
        const definition = innermost.get(use.line);
        if (definition) around.set(use, definition);
      }
    }
  }
  return around;
}

/** Orders uses: the surest first, then the nearest, then as they were found. */
export function bySureness(a: FoundUse, b: FoundUse): number {
  return rankOf(a.certainty) - rankOf(b.certainty) || a.distance - b.distance;
}
