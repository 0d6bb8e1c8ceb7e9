/** What ranking derives from a path: words of the file's name and of its folders, and the kind of file. */
import { wordSet } from "../../lib/word-set.ts";
import { scanTerms, stemOf } from "./scanner.ts";
import { fileTraits, folderTraits, type PathParts } from "./traits.ts";

/** File names without meaning; the folder's name is used instead. */
const EMPTY_STEMS = wordSet("index mod __init__ main lib init types __main__ default");

/** Stem of a file, or its folder's name if the stem is one of `EMPTY_STEMS`. */
export function tellingStem({ stem, folders }: PathParts): string {
  return EMPTY_STEMS.has(stem.toLowerCase()) ? (folders.at(-1) ?? stem) : stem;
}

/** Stemmed words of a name, in order, each once. */
export function nameWords(name: string): string[] {
  const found = new Set<string>();
  scanTerms(name, {
    word: (_, start, end) => found.add(stemOf(name.slice(start, end))),
    whole: () => undefined,
  });
  return [...found];
}

/** Derives terms and traits of paths, and caches them by folder: a folder has many files. */
export class PathReader {
  readonly #folderTerms = new Map<string, ReadonlySet<number>>();
  readonly #folderTraits = new Map<string, number>();

  /** Terms of a path: 2 where one is in the file's name, 1 where it is only in a folder's. */
  terms(parts: PathParts): Map<number, number> {
    const terms = new Map<number, number>();
    for (const folder of parts.folders) {
      let own = this.#folderTerms.get(folder);
      if (!own) this.#folderTerms.set(folder, (own = termsIn(folder)));
      for (const hash of own) terms.set(hash, 1);
    }
    for (const hash of termsIn(parts.stem)) terms.set(hash, 2);
    const telling = tellingStem(parts);
    if (telling !== parts.stem) for (const hash of termsIn(telling)) terms.set(hash, 2);
    return terms;
  }

  /** `TRAIT` bits that the path and the language show. `exists` tells whether the revision has a path. */
  traits(path: string, parts: PathParts, language: string, exists: (path: string) => boolean): number {
    const folder = path.slice(0, path.length - parts.name.length);
    let traits = this.#folderTraits.get(folder);
    if (traits === undefined) this.#folderTraits.set(folder, (traits = folderTraits(parts.folders)));
    return traits | fileTraits(path, parts, language, exists);
  }
}

function termsIn(text: string): ReadonlySet<number> {
  const terms = new Set<number>();
  const put = (hash: number): void => {
    terms.add(hash);
  };
  scanTerms(text, { word: put, whole: put });
  return terms;
}
