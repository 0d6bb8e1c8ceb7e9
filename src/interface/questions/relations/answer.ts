/** Relations of definitions: their callers, callees and implementations, and the importers of files, each with how sure it is. */
import type { REFERENCES, Request } from "../../../contract/questions.ts";
import type { FoundReference, FoundSymbol } from "../../../engines/search/types.ts";
import { hasUses, mayCallIn } from "../../../engines/relations/languages.ts";
import { placeIn } from "../../../engines/relations/marked-paths.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart } from "../../../engines/search/names.ts";
import { InvalidFieldError, NotFoundError, nothingIndexed, type OpenIndexes } from "../code-index.ts";
import { unknownName, unknownPath } from "../unknown.ts";
import { CalleesFinder } from "./callees.ts";
import { bySureness, UsesFinder } from "./callers.ts";
import { type Counts, noCounts } from "./counts.ts";
import {
  type Certainty,
  type FoundUse,
  innermostOf,
  placeKey,
  rankOf,
  type Relation,
  symbolKey,
  type Target,
  TYPES,
} from "./found.ts";
import { ImplementationsFinder } from "./implementations.ts";
import { importersOf, packageWord } from "./importers.ts";
import { registrations } from "./registrations.ts";
import { inheritedMembers } from "./inherited.ts";

/** A use that belongs to a relation, as answers show it. */
export interface RelatedReference extends FoundReference {
  relation: Relation;
  certainty: Certainty;
  /** Steps from the definition that was asked for; 1 is a direct use. */
  distance: number;
  /** The definition that is used; absent where only the name is the same. */
  target?: Target & {
    /** The index that defines it, where it is another one. */
    revision?: number;
  };
}

type RelationRequest = Request<typeof REFERENCES> & { relation: Relation };

export interface RelationAnswer {
  references: RelatedReference[];
  total: number;
  truncated: boolean;
  /** The lines of `total` by certainty. */
  counts: Counts;
  /** Files that may hold more and were not looked at, because their uses are not stored. */
  unread: number;
  /** Number of members that implement those whose callers are asked for, and whose own callers are not among these. */
  implementing: number;
  /** Qualified names of the definitions that are meant, where the type that is asked for inherits them. */
  inherited?: string[];
  /** The modules that files take the name from, most uses first, where nothing in the index defines it. */
  outside?: string[];
  /** Names that may have been meant, where the name is used by name only. */
  similar?: string[];
}

const MAX_DEFINITIONS = 200;
/** Members of interfaces that are asked for at once, whose implementations are counted. */
const MAX_COUNTED = 5;
/** Repositories that are asked, those with the most important definitions first. */
const MAX_REVISIONS = 10;
/** Repositories in which importers of a package are looked for, those that mention it most often first. */
const MAX_IMPORTING = 50;
/** Modules of a name of outside that an answer names. */
const MAX_MODULES = 5;

/**
 * The uses that a request asks for, certain ones first. Throws `NotFoundError` for a name or path that no index has, and
 * `InvalidFieldError`.
 */
export async function relatedReferences(indexes: OpenIndexes, request: RelationRequest): Promise<RelationAnswer> {
  const { relation, path } = request;
  if (relation === "importers") {
    const answer = await collected(indexes, request, await ofPath(indexes, request), MAX_IMPORTING);
    if (answer.total === 0 && path !== undefined) await checkPath(indexes, path);
    return answer;
  }
  let defined: Defined;
  try {
    defined = await definitionsOf(indexes, request);
  } catch (error) {
    if (!(error instanceof NotFoundError) || error.field !== "name" || error.isPlace || path !== undefined) throw error;
    const outside = await outsideAnswer(indexes, request);
    if (!outside || (outside.answer.total === 0 && !outside.isMentioned && outside.answer.outside?.length === 0))
      throw error;
    const { counts } = outside.answer;
    const isByName = counts.certain + counts.likely === 0;
    return Object.assign(outside.answer, isByName && error.near.length > 0 && { similar: [...error.near] });
  }
  // What is meant may be a name of a package that a definition of another kind, or one in another case, has as well.
  const isSure = path !== undefined || isMeant(request, defined);
  const outside = isSure ? undefined : (await outsideAnswer(indexes, request))?.answer;
  if (outside && outside.counts.certain + outside.counts.likely > 0) return outside;
  const answer = await collected(indexes, request, ofDefinitions(defined.definitions, request), MAX_REVISIONS);
  if (answer.total === 0 && outside && outside.total > 0) return outside;
  const names = defined.definitions.map(({ qualifiedName }) => qualifiedName);
  return Object.assign(answer, defined.areInherited && { inherited: [...new Set(names)] });
}

/** Whether definitions are surely what a name means: one is written as it, and can be inherited from where that is asked. */
function isMeant({ name = "", relation }: RelationRequest, { definitions, areInherited }: Defined): boolean {
  const isSame = definitions.some((each) => lastPart(each.name) === lastPart(name));
  const canBe = definitions.some(({ kind }) => TYPES.has(kind) || kind === "method" || kind === "function");
  return areInherited || (isSame && (relation !== "implementations" || canBe));
}

/** What finders find in the first `most` of their revisions. */
async function collected(
  indexes: OpenIndexes,
  { relation, limit, certainty }: RelationRequest,
  finders: ReadonlyMap<number, Finder>,
  most: number,
): Promise<RelationAnswer> {
  const answer: RelationAnswer = {
    references: [],
    total: 0,
    truncated: finders.size > most,
    counts: noCounts(),
    unread: 0,
    implementing: 0,
  };
  const least = rankOf(certainty ?? "name");
  let seen: ReadonlySet<string> = new Set();
  for (const [revision, find] of [...finders].slice(0, most)) {
    const found = await indexes.withUses(revision, async (_, files) => {
      const { uses, truncated, implementing = 0 } = await find(files);
      const known = new Set(seen);
      const listed = uses
        .filter((use) => rankOf(use.certainty) <= least && isNew(revision, use, known))
        .sort(bySureness);
      const lines = await files.lines(listed.slice(0, limit));
      return { listed, lines, known, implementing, truncated: truncated || files.exhausted, unread: files.unread.size };
    });
    for (const [i, line] of found.lines.entries()) {
      const { target, ...use } = found.listed[i] as FoundUse;
      const own = placeIn(revision, use.path);
      const named = target && targetIn(revision, target, own.revision);
      answer.references.push(Object.assign(line, use, own, { relation }, named && { target: named }));
    }
    seen = found.known;
    answer.total += found.listed.length;
    for (const each of found.listed) answer.counts[each.certainty]++;
    answer.truncated ||= found.truncated;
    answer.unread += found.unread;
    answer.implementing += found.implementing;
  }
  answer.references = answer.references.sort(bySureness).slice(0, limit);
  answer.truncated ||= answer.total > answer.references.length;
  return answer;
}

/**
 * The uses of a name of outside in the revisions that mention it, and whether any file of code does. Undefined for other relations, and where
 * files could not be read: they may define the name.
 */
async function outsideAnswer(
  indexes: OpenIndexes,
  request: RelationRequest,
): Promise<{ answer: RelationAnswer; isMentioned: boolean } | undefined> {
  const { relation, name = "", depth = 1 } = request;
  if (relation !== "callers" && relation !== "implementations") return undefined;
  if (indexes.indexes.some(({ unread = [] }) => unread.length > 0)) return undefined;
  const isOne = indexes.indexes.length === 1;
  const mentioning = isOne ? [0] : await indexes.withUses(0, (_, files) => files.revisionsMentioning(lastPart(name)));
  const modules = new Map<string, number>();
  let isMentioned = false;
  const find: Finder = async (files) => {
    const { usesOfOutside } = await import("./outside.ts");
    const found = await usesOfOutside(files, name, { relation, depth });
    for (const [module, count] of found.modules) modules.set(module, (modules.get(module) ?? 0) + count);
    isMentioned ||= found.isMentioned;
    return found;
  };
  const finders = new Map(mentioning.map((revision): [number, Finder] => [revision, find]));
  const answer = await collected(indexes, request, finders, MAX_IMPORTING);
  const used = [...modules].sort((a, b) => b[1] - a[1]).slice(0, MAX_MODULES);
  return { answer: Object.assign(answer, { outside: used.map(([module]) => module) }), isMentioned };
}

/** Whether a use was not found before: definitions of several indexes may have uses in the same file. */
function isNew(asked: number, { path, line, target }: FoundUse, seen: Set<string>): boolean {
  const key = JSON.stringify([placeIn(asked, path), line, target && [placeIn(asked, target.path), target.line]]);
  const { size } = seen;
  return seen.add(key).size > size;
}

/** A target, with its index where that is not the one of the use. */
function targetIn(asked: number, { path, ...target }: Target, of: number): RelatedReference["target"] {
  const own = placeIn(asked, path);
  return { path: own.path, ...target, ...(own.revision !== of && { revision: own.revision }) };
}

type Finder = (
  files: QuestionFiles,
) => Promise<{ uses: FoundUse[]; truncated: boolean } & Partial<Pick<RelationAnswer, "implementing">>>;

/** A finder for each revision that defines the name. */
function ofDefinitions(
  definitions: readonly FoundSymbol[],
  { relation, name = "", depth = 1 }: RelationRequest,
): Map<number, Finder> {
  const byRevision = Map.groupBy(definitions, ({ revision }) => revision);
  const isTruncated = (finder: { truncated: boolean }) => finder.truncated || definitions.length >= MAX_DEFINITIONS;
  return new Map(
    [...byRevision].map(([revision, own]): [number, Finder] => [
      revision,
      async (files) => {
        const finder = finderOf(relation, files);
        const uses = await finder.find(own, depth);
        if (relation !== "callers") return { uses, truncated: isTruncated(finder) };
        const registering = await registrations(files, own, uses);
        const implementing = await implementingMembers(files, own);
        const others = await usesInOtherLanguages(files, own, name);
        // Of what is known by name, these lines say most.
        const truncated = isTruncated(finder) || others.truncated;
        return { uses: [...registering, ...uses, ...others.uses], truncated, implementing };
      },
    ]),
  );
}

/**
 * Where only tests define a name, the uses of it in languages that cannot call them: `printf` of a test in Lua is not the one that the sources in
 * C call.
 */
async function usesInOtherLanguages(
  files: QuestionFiles,
  definitions: readonly FoundSymbol[],
  name: string,
): Promise<{ uses: FoundUse[]; truncated: boolean }> {
  const none = { uses: [], truncated: false };
  if (name === "" || !definitions.every(({ path }) => files.isTest(path))) return none;
  const languages = new Set(definitions.map(({ language }) => language));
  const isElsewhere = (language: string) => [...languages].every((own) => !mayCallIn(language, own));
  const mentioning = await files.mentioning(lastPart(name));
  if (!mentioning.some(({ path, language }) => hasUses(language) && isElsewhere(language) && !files.isTest(path)))
    return none;
  const { usesOfOutside } = await import("./outside.ts");
  const { uses, truncated } = await usesOfOutside(files, name, { relation: "callers", depth: 1 });
  return { uses: uses.filter(({ path }) => isElsewhere(files.language(path))), truncated };
}

/** How many members implement those of interfaces that are asked for, besides what is asked for itself. */
async function implementingMembers(files: QuestionFiles, definitions: readonly FoundSymbol[]): Promise<number> {
  if (definitions.length > MAX_COUNTED) return 0;
  const found = await new ImplementationsFinder(files).find(await membersOfInterfaces(files, definitions), 1);
  const asked = new Set(definitions.map((each) => symbolKey(each)));
  return found.filter((each) => each.certainty !== "name" && !asked.has(placeKey(each))).length;
}

async function membersOfInterfaces(files: QuestionFiles, definitions: readonly FoundSymbol[]): Promise<FoundSymbol[]> {
  const members: FoundSymbol[] = [];
  for (const each of definitions) {
    const around = innermostOf(await files.definitionsIn(each.path), each.startLine, TYPES);
    if (!TYPES.has(each.kind) && /^(?:interface|trait)$/.test(around?.kind ?? "")) members.push(each);
  }
  return members;
}

function finderOf(relation: Relation, files: QuestionFiles): CalleesFinder | ImplementationsFinder | UsesFinder {
  if (relation === "callees") return new CalleesFinder(files);
  return relation === "implementations" ? new ImplementationsFinder(files) : new UsesFinder(files, "callers");
}

/** A finder of a path's importers for each revision. */
async function ofPath(indexes: OpenIndexes, { path, name }: RelationRequest): Promise<Map<number, Finder>> {
  const wanted = path ?? name;
  if (wanted === undefined || wanted === "")
    throw new InvalidFieldError("path", "importers are those of a file, folder or package: give its path or name");
  if (indexes.indexes.length === 0) throw nothingIndexed();
  const find: Finder = async (files) => ({ uses: await importersOf(files, wanted), truncated: false });
  const all = [...indexes.indexes.keys()];
  const having = all.length > 1 ? await indexes.having([wanted]) : [];
  const own = all.filter((revision) => (having[revision] ?? 0) > 0);
  // What no repository has as a file may be a package, which any may import that mentions it.
  const mentioning = () => indexes.withUses(0, (_, files) => files.revisionsMentioning(packageWord(wanted)));
  const asked = own.length > 0 ? own : all.length > 1 ? await mentioning() : all;
  return new Map(asked.map((revision) => [revision, find]));
}

/** Throws `NotFoundError` for what looks like a path and is no file of an index; anything else may be a package. */
async function checkPath(indexes: OpenIndexes, path: string): Promise<void> {
  if (!path.includes("/") || !/\.\w+$/.test(path)) return;
  const having = await indexes.having([path]);
  if (having.every((count) => count === 0)) throw await unknownPath(indexes, path);
}

interface Defined {
  definitions: FoundSymbol[];
  /** A type of the name inherits them. */
  areInherited: boolean;
}

/** The definitions of the name, at the given place if there is one; else those that a type of the name inherits. */
async function definitionsOf(indexes: OpenIndexes, request: RelationRequest): Promise<Defined> {
  const { name, path, line } = request;
  if (name === undefined) throw new InvalidFieldError("name", "is required: the definition that is meant");
  const definedIn = async (file: string | undefined) =>
    (await indexes.symbols({ name, match: "exact", limit: MAX_DEFINITIONS, path: file })).symbols;
  const symbols = await definedIn(path);
  const there = symbols.filter((own) => line === undefined || (own.startLine <= line && line <= own.endLine));
  if (there.length > 0) return { definitions: there, areInherited: false };
  const anywhere = path === undefined ? symbols : await definedIn(undefined);
  if (anywhere.length === 0) {
    const inherited = await inheritedMembers(indexes, name, path);
    if (inherited.length === 0) throw await unknownName(indexes, name);
    return { definitions: inherited, areInherited: true };
  }
  const places = anywhere.slice(0, 5).map((own) => `${own.path}:${own.startLine}`);
  throw new InvalidFieldError("path", `${name} is not defined there, but at ${places.join(", ")}`);
}
