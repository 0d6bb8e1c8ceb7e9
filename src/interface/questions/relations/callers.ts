/** Callers and implementations: the uses of some definitions. */
import { hasUses } from "../../../engines/relations/languages.ts";
import type { Resolved } from "../../../engines/relations/resolved.ts";
import { isKotlin } from "../../../engines/relations/packages.ts";
import { isRubyFile, isSuperCall } from "../../../engines/relations/ruby-keys.ts";
import { type Meaning, type Use, WHOLE_MODULE } from "../../../engines/relations/types.ts";
import { lastPart } from "../../../engines/search/names.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import {
  type Certainty,
  distinct,
  type FoundUse,
  innermostOf,
  KINDS,
  lessSure,
  placeKey,
  rankOf,
  symbolKey,
  targetOf,
  TYPES,
} from "./found.ts";
import { GoInterfaces } from "./go-interfaces.ts";
import { constructionsOf, isInitializer } from "./ruby-constructions.ts";

/** Files that mention a name that are read for it. */
const MAX_FILES = 1_000;
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
  #followed = 0;
  truncated = false;

  constructor(files: QuestionFiles, relation: Wanted) {
    this.#files = files;
    this.#relation = relation;
  }

  /** The uses of definitions, and up to `depth` steps of uses of what they are in. The nearest first, each place once. */
  async find(definitions: readonly DefinedSymbol[], depth: number): Promise<FoundUse[]> {
    const found: FoundUse[] = [];
    const seen = new Set(definitions.map((each) => symbolKey(each)));
    let step = new Map<DefinedSymbol, Certainty>(definitions.map((each) => [each, "certain"]));
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
    for (const { path, line, certainty } of uses) {
      if (certainty === "name") continue;
      const symbols = await this.#files.definitionsIn(path);
      const own = this.#relation === "callers" ? innermostCallable(symbols, line) : innermostOf(symbols, line, TYPES);
      const key = own && symbolKey(own);
      if (!own || key === undefined || seen.has(key)) continue;
      if (around.size >= MAX_DEFINITIONS) {
        this.truncated = true;
        break;
      }
      seen.add(key);
      around.set(own, certainty);
    }
    return around;
  }

  async #direct(definitions: ReadonlyMap<DefinedSymbol, Certainty>): Promise<FoundUse[]> {
    const found: FoundUse[] = [];
    for (const [name, own] of Map.groupBy(definitions.keys(), writtenName))
      found.push(...(await this.#ofName(name, own)));
    found.push(...(await this.#constructions([...definitions.keys()].filter(isInitializer))));
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

  /** Uses of definitions that share a name. */
  async #ofName(name: string, definitions: readonly DefinedSymbol[]): Promise<FoundUse[]> {
    const near = [...new Set(definitions.map(({ path }) => path))];
    const files = await this.#mentioning(name, near);
    const judge = new Judge(this.#files, definitions);
    const withRules = files.filter(({ language }) => hasUses(language)).map(({ path }) => path);
    const names = await this.#exportedAs(name, definitions, withRules);
    for (const invoked of definitions.flatMap(invokedAs)) names.add(invoked);
    for (const alias of [...names, ...(await this.#wholeModules(definitions))])
      if (alias !== name)
        for (const { path, language } of await this.#mentioning(alias, near))
          if (hasUses(language) && !withRules.includes(path)) withRules.push(path);
    const found = await this.#inBatches(withRules, (path) => this.#inFile(path, names, judge));
    const others = new Set(files.filter(({ language }) => !hasUses(language)).map(({ path }) => path));
    if (others.size > 0 && this.#relation === "callers") found.push(...(await this.#byName(name, others)));
    return found;
  }

  async #mentioning(name: string, near: readonly string[]): Promise<{ path: string; language: string }[]> {
    const files = await this.#files.mentioning(name, near);
    if (files.length > MAX_FILES) this.truncated = true;
    return files.slice(0, MAX_FILES);
  }

  async #inBatches<T>(paths: readonly string[], read: (path: string) => Promise<T[]>): Promise<T[]> {
    const found: T[] = [];
    for (let from = 0; from < paths.length; from += BATCH)
      found.push(...(await Promise.all(paths.slice(from, from + BATCH).map(read))).flat());
    return found;
  }

  /** The name, and those under which files export what may be one of the definitions. */
  async #exportedAs(
    name: string,
    definitions: readonly DefinedSymbol[],
    paths: readonly string[],
  ): Promise<Set<string>> {
    const places = new Set(definitions.map((each) => symbolKey(each)));
    const aliases = await this.#inBatches(paths, async (path) =>
      [...((await this.#files.uses(path))?.exports ?? [])].flatMap(([alias, of]) => {
        const isOwn = of.to === "local" && places.has(placeKey({ path, line: of.line }));
        return alias !== "default" && (isOwn || (of.to === "import" && of.name === name)) ? [alias] : [];
      }),
    );
    return new Set([name, ...aliases.slice(0, MAX_ALIASES)]);
  }

  /** Names of files that export one of the definitions as a whole: importers usually name it after the file. */
  async #wholeModules(definitions: readonly DefinedSymbol[]): Promise<Set<string>> {
    const stems = new Set<string>();
    for (const { path, startLine } of definitions.slice(0, MAX_ALIASES)) {
      const uses = await this.#files.uses(path);
      const wholes = [uses?.exports.get(WHOLE_MODULE), uses?.exports.get("default")];
      const isWhole = wholes.some((of) => of && "line" in of && of.line === startLine);
      const [stem = ""] = path.slice(path.lastIndexOf("/") + 1).split(".", 1);
      if (isWhole && stem !== "index") stems.add(camelCase(stem));
    }
    return stems;
  }

  async #inFile(path: string, names: ReadonlySet<string>, judge: Judge): Promise<FoundUse[]> {
    const uses = (await this.#files.uses(path))?.uses ?? [];
    const found: FoundUse[] = [];
    // Equal meanings of a file are the same object: a million calls in a line are followed once.
    const judged = new Map<Meaning, Judged | undefined>();
    for (const use of uses) {
      if (!KINDS[this.#relation].has(use.kind) || !mayMean(use, names)) continue;
      if (!judged.has(use.meaning)) {
        if (this.#followed++ >= MAX_FOLLOWED) {
          this.truncated = true;
          break;
        }
        judged.set(use.meaning, await judge.of(path, use));
      }
      const own = judged.get(use.meaning);
      if (own) found.push({ path, line: use.line, distance: 1, ...own });
    }
    return distinct(found);
  }

  /** Lines of files in languages without rules on which the name stands before a parenthesis. */
  async #byName(name: string, paths: ReadonlySet<string>): Promise<FoundUse[]> {
    const lines = await this.#files.linesMentioning(name, paths);
    return lines
      .filter(({ text }) => isCalled(text, name))
      .map(({ path, line }) => ({ path, line, certainty: "name", distance: 1 }));
  }
}

/** The name that uses of a definition have: in Ruby, `x.name = 1` calls the method `name=`. */
const writtenName = ({ name, path }: DefinedSymbol): string =>
  isRubyFile(path) ? lastPart(name).replace(/(?<=[\p{L}\p{N}_])=$/u, "") : lastPart(name);

/** In Kotlin `C()` may call the `invoke` of the object `C`, or of the companion of a class. */
function invokedAs({ name, qualifiedName, path }: DefinedSymbol): string[] {
  if (name !== "invoke" || !isKotlin(path)) return [];
  const around = qualifiedName.split(".").slice(0, -1);
  return around.slice(-2);
}

/** Whether a use is written with a name, or is an alias of it. */
function isWritten({ name, meaning }: Use, wanted: ReadonlySet<string>): boolean {
  return wanted.has(name) || (meaning.to === "import" && wanted.has(meaning.name));
}

/** Whether a use may be one of a name; what a module exports as a whole may go by any other. */
function mayMean(use: Use, wanted: ReadonlySet<string>): boolean {
  return isWritten(use, wanted) || (use.meaning.to === "import" && /^(?:default|\*)$/.test(use.meaning.name));
}

const camelCase = (text: string): string => text.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

type Judged = Pick<FoundUse, "certainty" | "target">;
type Place = Exclude<Resolved, string>;

/** Judges which of some definitions uses mean. */
class Judge {
  readonly #files: QuestionFiles;
  readonly #definitions: readonly DefinedSymbol[];
  readonly #names: ReadonlySet<string>;
  /** Files of the definitions. */
  readonly #paths: ReadonlySet<string>;
  readonly #byPlace: ReadonlyMap<string, DefinedSymbol>;
  /** Whether a file imports the package of a definition, or is of its repository. */
  readonly #importing = new Map<string, boolean>();
  readonly #interfaces: GoInterfaces;
  /** The definition that overrides what is at a place. */
  readonly #overriding = new Map<string, DefinedSymbol | undefined>();

  constructor(files: QuestionFiles, definitions: readonly DefinedSymbol[]) {
    this.#files = files;
    this.#definitions = definitions;
    this.#names = new Set(definitions.map(writtenName));
    this.#paths = new Set(definitions.slice(0, MAX_DEFINITIONS).map(({ path }) => path));
    this.#byPlace = new Map(definitions.map((each) => [symbolKey(each), each]));
    this.#interfaces = new GoInterfaces(files);
  }

  /** How sure it is that a use means one of the definitions; undefined if it means something else. */
  async of(path: string, use: Use): Promise<Judged | undefined> {
    const resolved = await this.#files.resolve(path, use);
    if (resolved === "none") return undefined;
    if (resolved === "outside" || resolved === "unknown") return this.#byName(path, use);
    if (resolved.line === undefined) return undefined;
    const key = placeKey({ path: resolved.path, line: resolved.line });
    const own = this.#byPlace.get(key);
    const certainty = this.#files.certaintyOf(path, resolved);
    if (own) return { certainty, target: targetOf(own) };
    // Rules that may err do not rule a use out.
    if (certainty !== "certain") return this.#byName(path, use);
    // `super` never calls what overrides it.
    if (isSuperCall(use.meaning)) return undefined;
    if (!this.#overriding.has(key)) this.#overriding.set(key, await this.#overrides(resolved));
    const overriding = this.#overriding.get(key);
    return overriding && { certainty: "likely", target: targetOf(overriding) };
  }

  /** In another repository, a name alone says something only where the file imports the package of a definition. */
  async #byName(path: string, use: Use): Promise<Judged | undefined> {
    if (!isWritten(use, this.#names)) return undefined;
    if (!this.#importing.has(path)) this.#importing.set(path, await this.#imports(path));
    return this.#importing.get(path) ? { certainty: "name" } : undefined;
  }

  async #imports(path: string): Promise<boolean> {
    for (const file of this.#paths) if (await this.#files.importsPackageOf(path, file)) return true;
    return false;
  }

  /**
   * The first definition that overrides the member at a place: its class inherits from that member's class, or its type has all methods of
   * that interface of Go.
   */
  async #overrides(other: Place): Promise<DefinedSymbol | undefined> {
    const base = await this.#classOf(other.path, other.line);
    if (!base) return undefined;
    const asked = await this.#interfaces.interfaceAt({ path: other.path, line: base.line });
    for (const each of this.#definitions)
      if (
        asked ? await this.#implements(each, asked) : await this.#isDerived(each, { path: other.path, line: base.line })
      )
        return each;
    return undefined;
  }

  /** Whether the type of a method has all methods of an interface of Go. */
  async #implements(method: DefinedSymbol, asked: DefinedSymbol): Promise<boolean> {
    const type = await this.#interfaces.typeOf(method);
    return type !== undefined && (await this.#interfaces.certaintyOf(type, asked)) !== undefined;
  }

  /** Whether the class of a member inherits from another class. */
  async #isDerived({ path, startLine }: DefinedSymbol, base: { path: string; line: number }): Promise<boolean> {
    const derived = await this.#classOf(path, startLine);
    return derived !== undefined && this.#files.inherits({ path, line: derived.line }, base);
  }

  async #classOf(path: string, line: number | undefined) {
    const uses = await this.#files.uses(path);
    return uses?.classes.find(({ members }) => [...members.values()].some((each) => each.line === line));
  }
}

function isCalled(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    const after = text.slice(at + name.length).trimStart();
    if (!/[\p{L}\p{N}_$]/u.test(text[at - 1] ?? "") && after.startsWith("(")) return true;
  }
  return false;
}

const CALLABLE: ReadonlySet<string> = new Set(["function", "method", "constructor", "class", "macro"]);

/** The innermost function, method or class around a line. */
export const innermostCallable = (symbols: readonly DefinedSymbol[], line: number): DefinedSymbol | undefined =>
  innermostOf(symbols, line, CALLABLE);

/** Orders uses: the surest first, then the nearest, then as they were found. */
export function bySureness(a: FoundUse, b: FoundUse): number {
  return rankOf(a.certainty) - rankOf(b.certainty) || a.distance - b.distance;
}
