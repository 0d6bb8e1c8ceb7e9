import { editDistance, nearName } from "./near-name.ts";

/** Paths that are offered for one that was not found. */
const MAX_NEAR = 5;
/** Candidates that are collected before the worst of them are dropped. */
const MAX_COLLECTED = 1_000;
/** Longer names are compared by their beginning. */
const MAX_CHARACTERS = 40;
/** Names that are compared letter by letter. */
const MAX_COMPARED = 5_000;
/** A shorter stem is in too many names to tell anything. */
const MIN_CONTAINED = 3;
/** A shorter stem is not taken for the beginning of the one asked for. */
const MIN_BEGINNING = 4;
/** What a name costs that only contains the stem asked for, or is its beginning: more than any number of wrong letters. */
const CONTAINED_COST = 10;
/** What a wrong letter costs; another extension costs 1. */
const LETTER_COST = 2;

interface Candidate {
  path: string;
  /** How far the name is from the name asked for, then how many of the folders differ. */
  cost: number;
  folders: number;
}

/**
 * Up to five of the paths that may have been meant: those below it if it is a folder, the same name in another folder, case or with another
 * extension, a name with a few wrong, missing or swapped letters, one that contains the name, or one that is its beginning. The best come
 * first; of equal names those in the most similar folder.
 * Only names with about as many of the same letters are compared letter by letter, each name once and a few thousand in all, so that the
 * time stays small for a hundred thousand paths.
 */
export function nearPaths(paths: Iterable<string>, wanted: string): string[] {
  const { folders, name } = partsOf(wanted.replace(/\/$/, ""));
  const below = `${folders}${name}/`;
  const costs = new Map<string, number | undefined>();
  const costOf = costFunction(name);
  let found: Candidate[] = [];
  for (const path of paths) {
    const own = partsOf(path);
    if (!costs.has(own.name)) costs.set(own.name, costOf(own.name));
    const cost = own.folders.startsWith(below) ? 0 : costs.get(own.name);
    if (cost === undefined) continue;
    found.push({ path, cost, folders: differing(folders, own.folders) });
    if (found.length >= MAX_COLLECTED) found = best(found);
  }
  return best(found).map(({ path }) => path);
}

function best(found: Candidate[]): Candidate[] {
  const inOrder = (a: Candidate, b: Candidate): number =>
    a.cost - b.cost || a.folders - b.folders || a.path.length - b.path.length || (a.path < b.path ? -1 : 1);
  return found.sort(inOrder).slice(0, MAX_NEAR);
}

/** Folder, with its `/`, and name of a path, in lower case. */
function partsOf(path: string): { folders: string; name: string } {
  const folded = path.toLowerCase();
  const start = folded.lastIndexOf("/") + 1;
  return { folders: folded.slice(0, start), name: folded.slice(start) };
}

/** A folder with a similar name counts as half a difference. */
const SIMILAR_FOLDER = 0.5;

/** How many folders two paths do not share at their begin or their end; a difference in depth counts as well. */
function differing(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [a.split("/"), b.split("/")];
  let begin = 0;
  while (begin < left.length && begin < right.length && left[begin] === right[begin]) begin++;
  let end = 0;
  while (end < left.length && end < right.length && left.at(-1 - end) === right.at(-1 - end)) end++;
  const shared = Math.min(begin + end, left.length, right.length);
  const count = Math.max(left.length, right.length) - shared + Math.abs(left.length - right.length);
  return count === 1 && nearName(left[begin] ?? "", [right[begin] ?? ""]) !== undefined ? SIMILAR_FOLDER : count;
}

/** Tells how far names are from `name`; undefined for those that are not near it. */
function costFunction(name: string): (other: string) => number | undefined {
  const { stem, extension } = splitName(name);
  // Swapped letters are one error, so that short names may have one as well.
  const maxErrors = stem.length <= 2 ? 0 : stem.length <= 4 ? 1 : stem.length <= 9 ? 2 : 3;
  const letters = new Set(stem);
  let compared = 0;
  return (other) => {
    const own = splitName(other);
    const extensionCost = own.extension === extension ? 0 : 1;
    if (own.stem === stem) return extensionCost;
    if (compared < MAX_COMPARED && Math.abs(own.stem.length - stem.length) <= maxErrors) {
      let strange = 0;
      for (const letter of own.stem) if (!letters.has(letter)) strange++;
      if (strange <= maxErrors) {
        compared++;
        const errors = editDistance(stem, own.stem);
        if (errors <= maxErrors) return errors * LETTER_COST + extensionCost;
      }
    }
    const isContained = stem.length >= MIN_CONTAINED && other.includes(stem);
    const isBeginning = own.stem.length >= MIN_BEGINNING && stem.startsWith(own.stem);
    return isContained || isBeginning ? CONTAINED_COST : undefined;
  };
}

function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf(".");
  if (dot <= 0) return { stem: name.slice(0, MAX_CHARACTERS), extension: "" };
  return { stem: name.slice(0, dot).slice(0, MAX_CHARACTERS), extension: name.slice(dot) };
}
