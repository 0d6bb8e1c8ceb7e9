/** What is looked for in files to find the uses of definitions. */
import { WantedNames } from "../../../engines/relations/record-strings.ts";
import { isWholeModule, type Meaning, type Use } from "../../../engines/relations/types.ts";
import type { DefinedSymbol } from "../../../engines/relations/question-files.ts";
import { type FoundUse, placeKey } from "./found.ts";
import type { Judge } from "./judge.ts";
import type { FilesToRead } from "./mentioning.ts";

/** What is looked for to find the uses of definitions that share a name, and what was found. */
export interface Search extends Pick<FilesToRead, "paths" | "others"> {
  /** As their uses are written. */
  name: string;
  /** Names that uses may have. */
  names: ReadonlySet<string>;
  judge: Judge;
  /** Places of the definitions, and their files. */
  places: ReadonlySet<string>;
  near: readonly string[];
  /** Languages in which their uses are found by lines. */
  languages: ReadonlySet<string>;
  /** The definition that such a line means, if there is only one of the name. */
  sole: DefinedSymbol | undefined;
  /** The definitions whose names are those of one folder, by the folder. */
  byFolder: ReadonlyMap<string, readonly DefinedSymbol[]>;
  /** Names of the types that the definitions are members of. */
  owners: ReadonlySet<string>;
  uses: FoundUse[];
}

/** Adds to the list of a key. */
export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const known = lists.get(key);
  if (known) known.push(value);
  else lists.set(key, [value]);
}

/** What searches look for together: thousands of files are asked for dozens of names. */
export class Sought {
  readonly byPath = new Map<string, Search[]>();
  /** Names that uses may have. */
  readonly names: WantedNames;
  readonly #byName = new Map<string, Search[]>();
  /** By the name of the definitions, and by their places. */
  readonly #byOwnName = new Map<string, Search[]>();
  readonly #byPlace = new Map<string, Search[]>();

  constructor(searches: readonly Search[]) {
    for (const search of searches) {
      for (const path of search.paths) addTo(this.byPath, path, search);
      for (const name of search.names) addTo(this.#byName, name, search);
      for (const place of search.places) addTo(this.#byPlace, place, search);
      addTo(this.#byOwnName, search.name, search);
    }
    this.names = new WantedNames(new Set(this.#byName.keys()));
  }

  /** The searches for what a file exports. */
  exportedAs(path: string, of: Meaning): readonly Search[] {
    if (of.to === "local") return inFile(path, this.#byPlace.get(placeKey({ path, line: of.line })));
    return of.to === "import" ? inFile(path, this.#byOwnName.get(of.name)) : [];
  }

  /** The searches for a name that a use in a file is written with, or is an alias of; all of the file for what a module exports as a whole. */
  wanting(path: string, { name, meaning }: Use): readonly Search[] {
    if (meaning.to === "import" && isWholeModule(meaning)) return this.byPath.get(path) ?? [];
    const own = inFile(path, this.#byName.get(name));
    if (meaning.to !== "import" || meaning.name === name) return own;
    return [...new Set([...own, ...inFile(path, this.#byName.get(meaning.name))])];
  }
}

const inFile = (path: string, searches: readonly Search[] = []): readonly Search[] =>
  searches.filter(({ paths }) => paths.has(path));
