/** What speaks for each file that a change may concern. */
import { agesOf, type ChangeHistory, type CoChange, coChanges } from "../../../engines/impact/co-change.ts";
import type { LineLike } from "../../../engines/impact/lines.ts";
import type { UsesIndex } from "../../../engines/relations/uses-index.ts";
import { lastPart } from "../../../engines/search/names.ts";
import { nameWords, tellingStem } from "../../../engines/search/paths.ts";
import { splitPath, TRAIT } from "../../../engines/search/traits.ts";
import { importedFile } from "../relations/imported.ts";
import type { Change } from "./change.ts";

/** Files taken of each list. */
const MAX_ALIKE = 150;
const MAX_TOGETHER = 150;
const MAX_NAMED = 150;
/** Names that are looked up: of changed definitions, and on changed lines. */
const MAX_NAMES = 60;
/** A name in more files than this share, or this number, says nothing. */
const COMMON_SHARE = 0.2;
const COMMON_FILES = 20;
/** A name that more files define may mean any of them. */
const MAX_DEFINERS = 5;
/** Changed files whose imports are read, and folders that are compared. */
const MAX_IMPORTING = 50;

/** All that speaks for one file. Numbers are 0 where nothing does. */
export interface FileEvidence {
  path: string;
  isTest: boolean;
  /** Bits of `TRAIT`. */
  traits: number;
  words: { score: number; rank: number; shared: string[] };
  /** How much it has of a line that the change takes away; the score of the file that has most is 1. */
  removedLine: LineLike | undefined;
  /** Score and relation of co-changes, as shares of the best. */
  together: { score: number; related: number; found: CoChange | undefined };
  /** How many commits are newer than the last one that changed it; undefined if none of the history did. */
  age: number | undefined;
  /** Names that the change defines and the file uses. */
  uses: { score: number; names: string[] };
  /** Names that the change adds or takes away, and the file mentions. */
  mentions: { score: number; names: string[] };
  /** Names that the file defines and the change uses. */
  defines: { score: number; names: string[] };
  importedBy: string | undefined;
  /** A changed file whose name differs by what marks a test or a header only. */
  namedLike: string | undefined;
  /** Share of the folders that it has in common with the nearest changed file. */
  nearness: number;
  /** Share of the words of its name that are on changed lines. */
  nameShare: number;
}

export interface Evidence {
  files: FileEvidence[];
  /** Whether the change has a test itself. */
  hasTest: boolean;
  /** Whether it is of documentation, examples or generated code only. */
  isAside: boolean;
  /** Undefined where no history is at hand. */
  together: CoChange[] | undefined;
}

/** Traits of files that a change of sources seldom needs. */
export const SELDOM = TRAIT.docs | TRAIT.example | TRAIT.generated;

/** Collects the evidence of a change. */
export async function evidenceOf(
  files: UsesIndex,
  change: Change,
  history: ChangeHistory | undefined,
): Promise<Evidence> {
  const own = new Set([...change.paths, ...change.formerPaths]);
  const found = new Map<string, FileEvidence>();
  const nearnessOf = nearness(change.paths);
  const entry = (path: string): FileEvidence => {
    let known = found.get(path);
    if (!known) {
      known = emptyEvidence(path, files, nearnessOf(path));
      found.set(path, known);
    }
    return known;
  };
  const isCandidate = (path: string) => !own.has(path) && files.has(path);
  const [alike, used, mentioned, defined] = await Promise.all([
    files.alike(change.words.terms(), MAX_ALIKE + own.size, change.removedLines),
    mentioning(files, definedNames(change)),
    mentioning(files, gainedNames(change)),
    definersOf(files, change),
  ]);
  for (const [rank, { path, score, words }] of alike.files.filter(({ path }) => isCandidate(path)).entries())
    entry(path).words = { score: score / (alike.files[0]?.score ?? 1), rank: rank + 1, shared: words };
  for (const [path, like] of mostLike(alike.withLines, isCandidate)) entry(path).removedLine = like;
  const together = history && coChanges(history, [...own]).filter(({ path }) => isCandidate(path));
  const usual = (together ?? []).slice(0, MAX_TOGETHER);
  const most = usual[0]?.score ?? 1;
  const closest = Math.max(0, ...usual.map(({ related }) => related));
  for (const found of usual)
    entry(found.path).together = { score: found.score / most, related: found.related / closest, found };
  for (const [path, evidence] of used) if (isCandidate(path)) entry(path).uses = evidence;
  for (const [path, evidence] of mentioned) if (isCandidate(path)) entry(path).mentions = evidence;
  for (const [path, evidence] of defined) if (isCandidate(path)) entry(path).defines = evidence;
  for (const [path, like] of namedLike(files, own)) if (isCandidate(path)) entry(path).namedLike = like;
  await addImports(files, change, entry, isCandidate);
  const ages = agesOf(history ?? []);
  for (const each of found.values()) {
    each.age = ages.get(each.path);
    each.nameShare = nameShare(each.path, change.changedWords);
  }
  return {
    files: [...found.values()],
    hasTest: change.paths.some((path) => isTestPath(files, path)),
    isAside: change.paths.every((path) => (files.traits(path) & SELDOM) !== 0),
    together,
  };
}

/** A new file has no traits yet: its name tells. */
function isTestPath(files: UsesIndex, path: string): boolean {
  return files.has(path) ? files.isTest(path) : /(?:^|[/_.-])(?:tests?|specs?)(?:[/_.-]|$)|Tests?\./.test(path);
}

function emptyEvidence(path: string, files: UsesIndex, near: number): FileEvidence {
  return {
    path,
    isTest: files.isTest(path),
    traits: files.traits(path),
    words: { score: 0, rank: 0, shared: [] },
    removedLine: undefined,
    together: { score: 0, related: 0, found: undefined },
    age: undefined,
    uses: { score: 0, names: [] },
    mentions: { score: 0, names: [] },
    defines: { score: 0, names: [] },
    importedBy: undefined,
    namedLike: undefined,
    nearness: near,
    nameShare: 0,
  };
}

/** The files that have most of a line, with their scores as a share of the best. */
function mostLike(found: ReadonlyMap<string, LineLike>, isCandidate: (path: string) => boolean): [string, LineLike][] {
  const own = [...found].filter(([path]) => isCandidate(path));
  const best = own.sort((a, b) => b[1].score - a[1].score || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_ALIKE);
  const most = best[0]?.[1].score ?? 1;
  return best.map(([path, like]) => [path, { ...like, score: like.score / most }]);
}

type Named = Map<string, { score: number; names: string[] }>;

/** Names that the change defines or removes. */
function definedNames({ symbols, removed }: Change): string[] {
  // A heading of a document is no name that code mentions.
  const defined = symbols.filter(({ kind }) => kind !== "heading").map(({ name }) => lastPart(name));
  const names = [...new Set([...removed.map(({ name }) => name), ...defined])];
  return names.filter((name) => /^[\p{L}_$][\p{L}\p{N}_$]{2,}$/u.test(name));
}

/** Names of which the change has more or fewer than before, those that change most first: what stays the same on a changed line says little. */
function gainedNames({ gained }: Change): string[] {
  const changed = [...gained].filter(([, count]) => count !== 0);
  return changed.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).map(([name]) => name);
}

/** Files that mention some names. A rare name counts more. */
async function mentioning(files: UsesIndex, all: readonly string[]): Promise<Named> {
  const names = all.slice(0, MAX_NAMES);
  const lists = await files.filesWith(names);
  const common = Math.max(COMMON_FILES, COMMON_SHARE * files.paths.length);
  return weighed(
    names,
    lists.map((list) => (list && list.length <= common ? list : [])),
    files.paths.length,
  );
}

/** Files that define what the change mentions. */
async function definersOf(files: UsesIndex, { mentioned }: Change): Promise<Named> {
  const counts = new Map<string, number>();
  for (const name of mentioned) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const looked = names.filter((name) => name.length > 2).slice(0, MAX_NAMES);
  const lists = await files.filesDefining(looked);
  return weighed(
    looked,
    lists.map((list) => (list.length <= MAX_DEFINERS ? list : [])),
    files.paths.length,
  );
}

function weighed(names: readonly string[], lists: readonly (readonly string[])[], count: number): Named {
  const found: Named = new Map();
  for (const [i, list] of lists.entries())
    for (const path of list) {
      const known = found.get(path) ?? { score: 0, names: [] };
      found.set(path, known);
      known.score += Math.log(1 + count / list.length);
      known.names.push(names[i] ?? "");
    }
  const best = [...found].sort((a, b) => b[1].score - a[1].score).slice(0, MAX_NAMED);
  const most = best[0]?.[1].score ?? 1;
  return new Map(best.map(([path, { score, names: own }]) => [path, { score: score / most, names: own }]));
}

/** What marks a test, a header or a declaration in the name of a file. */
const MARKS = /^tests?[_-]|[_.-](?:tests?|specs?|e2e|d)$|(?<=[a-z0-9])(?:Tests?|Spec|TestCase|IT)$/g;

function plainStem(path: string): string {
  const parts = splitPath(path);
  const bare = { ...parts, stem: parts.name.replace(/\.[^.]*$/, "") };
  return tellingStem(bare).replace(MARKS, "").toLowerCase();
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Files named like a changed one. */
function namedLike(files: UsesIndex, own: ReadonlySet<string>): Map<string, string> {
  const stems = new Map([...own].map((path) => [plainStem(path), path]));
  stems.delete("");
  const wanted = [...stems.keys()];
  const found = new Map<string, string>();
  for (const path of files.paths) {
    // Most names do not hold any of the stems; taking them apart takes ten times as long as looking.
    const folder = path.lastIndexOf("/", path.lastIndexOf("/") - 1);
    const folded = path.slice(folder + 1).toLowerCase();
    if (!wanted.some((stem) => folded.includes(stem))) continue;
    const like = stems.get(plainStem(path));
    // `package.json` of another folder is not about the same.
    const isSame =
      like !== undefined && nameOf(like) === nameOf(path) && isTestPath(files, like) === files.isTest(path);
    if (like !== undefined && !isSame) found.set(path, like);
  }
  return found;
}

/** Share of the words in the name of a file that are among the words of a change. */
function nameShare(path: string, words: ReadonlySet<string>): number {
  const own = nameWords(splitPath(path).stem);
  return own.length === 0 ? 0 : own.filter((word) => words.has(word)).length / own.length;
}

/** How near a path is to some others, by its folders: 1 in the same folder, 0 at other ends of the tree. */
function nearness(paths: readonly string[]): (path: string) => number {
  const folders = [...new Set(paths.map((path) => path.slice(0, path.lastIndexOf("/") + 1)))].map((each) =>
    each.split("/"),
  );
  return (path) => {
    const own = path.slice(0, path.lastIndexOf("/") + 1).split("/");
    let nearest = 0;
    for (const other of folders.slice(0, MAX_IMPORTING)) {
      let same = 0;
      while (same < own.length && same < other.length && own[same] === other[same]) same++;
      nearest = Math.max(nearest, same / Math.max(own.length, other.length));
    }
    return nearest;
  };
}

/** Files that the change imports. Those that import it would cost more to find than they tell beside the names that they use. */
async function addImports(
  files: UsesIndex,
  change: Change,
  entry: (path: string) => FileEvidence,
  isCandidate: (path: string) => boolean,
): Promise<void> {
  const changed = change.paths.filter((path) => files.has(path)).slice(0, MAX_IMPORTING);
  for (const path of changed)
    for (const { module } of (await files.uses(path))?.imports ?? []) {
      const target = await importedFile(path, module, files);
      if (target !== undefined && isCandidate(target.path)) entry(target.path).importedBy ??= path;
    }
}
