/** What the name at a position of a file means: the definitions that it leads to. */
import type { DEFINITION, Request } from "../../../contract/questions.ts";
import type { FileUses, Meaning, Use } from "../../../engines/relations/types.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart } from "../../../engines/search/names.ts";
import type { FoundSymbol } from "../../../engines/search/types.ts";
import { InvalidFieldError, nothingIndexed, type OpenIndexes } from "../code-index.ts";
import { unknownPath } from "../unknown.ts";
import { placeIn } from "../../../engines/relations/marked-paths.ts";
import { type Certainty, lessSure, rankOf, symbolKey } from "./found.ts";
import { resolvedDefinition, resolvedDefinitions } from "./resolved.ts";
import { importOf, isPackage, Taken } from "./taken.ts";
import { type Word, wordAt, wordsOf, wordsText } from "./line-words.ts";
import { numberOf } from "../../../lib/display.ts";

/** Names of a line that are looked up without a column. */
const MAX_NAMES = 20;
/** Different meanings of one name on one line that are followed. */
const MAX_MEANINGS = 100;
/** Definitions of an answer. */
const MAX_DEFINITIONS = 50;
const MAX_PACKAGES = 5;

export interface DefinitionAnswer {
  /** The index that has the file. */
  revision: number;
  /** The names that were looked up. */
  names: string[];
  /** The surest first. None for a name that leads out of the index, or to what is no definition, such as a parameter. */
  definitions: (FoundSymbol & { certainty: Certainty })[];
  /** Packages that the names are imported from, where they lead to no definition. */
  outside?: string[];
  /** There are more names or definitions, or not all files could be read. */
  truncated: boolean;
}

interface Defined {
  definition: DefinedSymbol;
  certainty: Certainty;
}

/**
 * What the name at a position means; without a column, each name that the line calls or defines. Throws `NotFoundError` for a path that no
 * index has, and `InvalidFieldError` for a position without a name.
 */
export async function definitionsAt(
  indexes: OpenIndexes,
  { path, line, column }: Request<typeof DEFINITION>,
): Promise<DefinitionAnswer> {
  if (indexes.indexes.length === 0) throw nothingIndexed();
  const found = await indexes.file(path, line, line);
  if (!found) throw await unknownPath(indexes, path);
  const { revision, lineCount, text, withheld } = found;
  if (line > lineCount) throw new InvalidFieldError("line", `${path} has ${numberOf(lineCount, "line")}`);
  if (withheld.length > 0) throw new InvalidFieldError("line", "is withheld, since it may hold a secret");
  const words = wordsOf(text);
  const at = column === undefined ? undefined : wordAt(words, column);
  if (column !== undefined && !at) throw new InvalidFieldError("column", `no name stands there; ${wordsText(words)}`);
  return indexes.withUses(revision, async (_, files) => {
    const own = new Line(files, { path, line, words });
    const names = at ? [at.name] : await own.names();
    if (names.length === 0)
      throw new InvalidFieldError(
        "column",
        `is required, since nothing is called or defined there; ${wordsText(words)}`,
      );
    const looked = names.slice(0, MAX_NAMES);
    const all: Defined[] = [];
    for (const name of looked) all.push(...(await own.definitions(name, at)));
    const distinct = surestOfEach(all);
    const shown = distinct.slice(0, MAX_DEFINITIONS);
    const symbols = await files.described(shown.map(({ definition }) => definition));
    const definitions = symbols.map((symbol, i) => {
      const { certainty } = shown[i] as Defined;
      return Object.assign(symbol, placeIn(revision, symbol.path), { certainty });
    });
    const isCut = looked.length < names.length || shown.length < distinct.length;
    const outside = definitions.length === 0 ? await own.packages(looked) : [];
    const answer = { revision, names: looked, definitions, truncated: isCut || files.exhausted };
    return outside.length === 0 ? answer : { ...answer, outside };
  });
}

function surestOfEach(all: readonly Defined[]): Defined[] {
  const surest = new Map<string, Defined>();
  for (const each of all.toSorted((a, b) => rankOf(a.certainty) - rankOf(b.certainty))) {
    const key = symbolKey(each.definition);
    if (!surest.has(key)) surest.set(key, each);
  }
  return [...surest.values()];
}

/** One line, and what its names mean. Records of uses have lines and no columns, so a name stands for all its uses on the line. */
class Line {
  readonly #files: QuestionFiles;
  readonly #path: string;
  readonly #line: number;
  readonly #words: readonly Word[];

  constructor(files: QuestionFiles, { path, line, words }: { path: string; line: number; words: readonly Word[] }) {
    this.#files = files;
    this.#path = path;
    this.#line = line;
    this.#words = words;
  }

  /** The names that are called or defined on the line, in its order. */
  async names(): Promise<string[]> {
    const uses = (await this.#files.uses(this.#path))?.uses ?? [];
    const used = uses.filter(({ line }) => line === this.#line).map(({ name }) => lastPart(name));
    const known = new Set([...used, ...(await this.#defined()).map(({ name }) => lastPart(name))]);
    return [...new Set(this.#words.map(({ name }) => name))].filter((name) => known.has(name));
  }

  /** The packages that names of the line are imported from, or members of what is. */
  async packages(names: readonly string[]): Promise<string[]> {
    const uses = await this.#files.uses(this.#path);
    const here = (uses?.uses ?? []).filter(({ line, name }) => line === this.#line && names.includes(lastPart(name)));
    const meanings = [
      ...here.map(({ meaning }) => meaning),
      ...names.flatMap((name) => uses?.bindings.get(name) ?? []),
    ];
    const taken = uses && new Taken(uses);
    const modules = meanings.flatMap((of) => {
      const own = importOf(of);
      return own && taken?.has(own) ? [own.module] : [];
    });
    return [...new Set(modules.filter(isPackage))].slice(0, MAX_PACKAGES);
  }

  /** What a name of the line leads to; `at` is the place that is meant, if it is known. */
  async definitions(name: string, at: Word | undefined): Promise<Defined[]> {
    const uses = await this.#files.uses(this.#path);
    const own = (await this.#defined()).filter((each) => lastPart(each.name) === name);
    const here = (uses?.uses ?? []).filter((use) => use.line === this.#line && lastPart(use.name) === name);
    if (own.length + here.length === 0) return uses ? this.#ofName(name, uses, at) : this.#byName(name);
    // Equal meanings of a file are the same object.
    const meanings = new Map<Meaning, Use>();
    for (const use of here) {
      const known = meanings.get(use.meaning);
      if (!known) meanings.set(use.meaning, { ...use, name });
      else if (known.arguments !== use.arguments) delete known.arguments;
    }
    const outcomes = new Map<string, DefinedSymbol | undefined>(own.map((each) => [symbolKey(each), each]));
    let certainty: Certainty = this.#files.certaintyOf(this.#path, {});
    if (meanings.size > MAX_MEANINGS) outcomes.set("unknown", undefined);
    for (const use of [...meanings.values()].slice(0, MAX_MEANINGS)) {
      const resolved = await resolvedDefinitions(this.#files, this.#path, use);
      if (typeof resolved === "string") outcomes.set(resolved, undefined);
      else {
        for (const each of resolved.definitions) outcomes.set(symbolKey(each), each);
        certainty = lessSure(certainty, resolved.certainty);
      }
    }
    const found = [...outcomes.values()].filter((each) => each !== undefined);
    if (found.length === 0) return outcomes.has("unknown") ? this.#byName(name) : [];
    const isSure = outcomes.size === 1 && this.#areAllUses(name, own.length + here.length, at);
    return found.map((definition) => ({ definition, certainty: isSure ? certainty : "likely" }));
  }

  /** Whether the known uses of a name are all that the line has of it, or all that are called if the one that is meant is. */
  #areAllUses(name: string, known: number, at: Word | undefined): boolean {
    const same = this.#words.filter((word) => word.name === name);
    return same.length <= known || (at?.isCalled === true && same.filter(({ isCalled }) => isCalled).length <= known);
  }

  /** A name that is neither called nor defined on the line: what the file binds at its top, which a local name may hide. */
  async #ofName(name: string, { bindings, exports, imports }: FileUses, at: Word | undefined): Promise<Defined[]> {
    const onLine = new Set(imports.filter(({ line }) => line === this.#line).map(({ module }) => module));
    const isImported = (of: Meaning) => of.to === "import" && onLine.has(of.module);
    const bound = bindings.get(name);
    const alias = [...bindings.values(), ...exports.values()].find(
      (of) => of.to === "import" && of.name === name && onLine.has(of.module),
    );
    const meaning = bound && (isImported(bound) || !alias) ? bound : alias;
    if (!meaning || (at?.isMember === true && !isImported(meaning))) return this.#byName(name);
    const resolved = await resolvedDefinition(this.#files, this.#path, { name, meaning });
    if (typeof resolved === "string") return resolved === "unknown" ? this.#byName(name) : [];
    return [{ ...resolved, certainty: isImported(meaning) ? resolved.certainty : "likely" }];
  }

  /** The definitions of the same name: those of the file first, then those of its language. */
  async #byName(name: string): Promise<Defined[]> {
    const language = this.#files.language(this.#path);
    const distance = ({ path }: DefinedSymbol): number =>
      path === this.#path ? 0 : this.#files.language(path) === language ? 1 : 2;
    const named = (await this.#files.definitions(name, this.#path)).toSorted((a, b) => distance(a) - distance(b));
    return named.map((definition) => ({ definition, certainty: "name" }));
  }

  async #defined(): Promise<readonly DefinedSymbol[]> {
    return (await this.#files.definitionsIn(this.#path)).filter(({ startLine }) => startLine === this.#line);
  }
}
