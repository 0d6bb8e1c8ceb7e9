/** Impact: what a change may break or need besides, by calls, words, history, names and imports. */
import type { IMPACT, Request } from "../../../contract/questions.ts";
import { placeIn } from "../../../engines/relations/marked-paths.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { UsesIndex } from "../../../engines/relations/uses-index.ts";
import { hasUses } from "../../../engines/relations/languages.ts";
import { NotFoundError, type OpenIndexes } from "../code-index.ts";
import { bySureness, CALLABLE, definitionsAround, UsesFinder } from "../relations/callers.ts";
import { type FoundUse, symbolKey } from "../relations/found.ts";
import type { ChangedSymbol, Dependent, ImpactAnswer, ReachingTest } from "./answer.ts";
import { type Change, changeIn, readChange, revisionOf } from "./change.ts";
import { type Evidence, evidenceOf, type FileEvidence } from "./evidence.ts";
import type { OutsideImpact } from "./outside.ts";
import { rankFiles } from "./rank.ts";
import { type RemovedUse, usesOfRemoved } from "./removed-uses.ts";
import { numberOf } from "../../../lib/display.ts";

/** Definitions whose callers are looked for. */
const MAX_FOLLOWED = 40;
/** Words and names that a reason lists. */
const MAX_SHARED = 4;
const MAX_REASONS = 5;
/** How much of a line a file has of which that is a reason, and characters that it shows of the line. */
const MOST_OF_LINE = 0.7;
const MAX_SHOWN_LINE = 80;
const CHARACTERS_PER_TOKEN = 4;
/** Characters of an entry besides its texts, as an answer shows it. */
const ENTRY_FRAME = 12;

/** Answers what a change concerns. Throws `InvalidFieldError`, `NotFoundError`, and `QuestionError` if several repositories may be meant. */
export async function impactOf(indexes: OpenIndexes, request: Request<typeof IMPACT>): Promise<ImpactAnswer> {
  const asked = readChange(request);
  const { revision, definitions } = await revisionOf(indexes, asked).catch((error: unknown) => {
    if (asked.name === undefined || !(error instanceof NotFoundError)) throw error;
    return { revision: 0, definitions: [] };
  });
  if (asked.name !== undefined) {
    const { impactOfOutside } = await import("./outside.ts");
    const found = await impactOfOutside(indexes, { name: asked.name, depth: request.depth }, definitions);
    if (found) return ofOutside(found, request);
  }
  return indexes.withUses(revision, async (files, all) => {
    const change = await changeIn(indexes, revision, files, asked, definitions);
    const history = await indexes.history?.();
    const evidence = await evidenceOf(files, change, history);
    const finder = new UsesFinder(all, "callers");
    const followed = followable(files, change.symbols);
    const uses = await finder.find(followed.slice(0, MAX_FOLLOWED), request.depth);
    const broken = await usesOfRemoved(files, change.removed);
    const dependents = await dependentsOf(all, [...broken.uses, ...uses].sort(byImpact), change, request.limit);
    const byPath = Map.groupBy(dependents, ({ path }) => path);
    const failing = new Set(broken.uses.filter(isBroken).map(({ path }) => path));
    // Files that no longer work come before those that may need a change. Sorting is stable.
    const ranked = rankFiles(evidence).sort((a, b) => Number(failing.has(b.path)) - Number(failing.has(a.path)));
    const whole = {
      changed: changedOf(change),
      files: ranked.map((each) => ({
        path: each.path,
        test: each.isTest,
        because: reasonsOf(each, byPath.get(each.path) ?? [], change),
      })),
      dependents: dependents.map((each) => inOwn(revision, each)),
      tests: testsOf(all, dependents, evidence).map((each) => inOwn(revision, each)),
      interfaces: change.interfaces,
    };
    const wasCut =
      change.truncated ||
      broken.truncated ||
      finder.truncated ||
      all.exhausted ||
      followed.length > MAX_FOLLOWED ||
      all.unread.size > 0;
    return { revision, ...withinBounds(whole, evidence.together, request, wasCut) };
  });
}

function ofOutside(
  { revision, outside, files, dependents, tests, total, truncated }: OutsideImpact,
  request: Request<typeof IMPACT>,
): ImpactAnswer {
  const lists = { changed: [], files, dependents, tests, interfaces: [] };
  const answer = withinBounds(lists, undefined, request, truncated);
  answer.total.dependents = total;
  return { revision, ...answer, outside };
}

/** Definitions that can be called; those in languages whose uses are read come first, calls of others are found by name. */
function followable(files: UsesIndex, symbols: readonly DefinedSymbol[]): DefinedSymbol[] {
  // Nothing calls what a test defines, but for other tests.
  const callable = symbols.filter(({ kind, path }) => CALLABLE.has(kind) && !files.isTest(path));
  const known = new Map<string, boolean>();
  for (const { path } of callable) if (!known.has(path)) known.set(path, hasUses(files.language(path)));
  return callable.toSorted((a, b) => Number(known.get(b.path)) - Number(known.get(a.path)));
}

function changedOf({ paths, symbols, around }: Change): ChangedSymbol[] {
  const touched = [...symbols, ...around];
  return paths.flatMap((path): ChangedSymbol[] => {
    const own = touched.filter((each) => each.path === path);
    if (own.length === 0) return [{ path, symbol: null, kind: null, line: null }];
    return own.map(({ qualifiedName, kind, startLine }) => ({ path, symbol: qualifiedName, kind, line: startLine }));
  });
}

/** A dependent or test, by its path among all files of the question. */
type Found<T extends { revision: number }> = Omit<T, "revision">;

function inOwn<T extends { path: string }>(asked: number, found: T): T & { revision: number } {
  return { ...found, ...placeIn(asked, found.path) };
}

/** Uses outside of the change. The definition around one is looked for only where the answer names it: of tests, and of the first `limit`. */
async function dependentsOf(
  files: QuestionFiles,
  uses: readonly (FoundUse | RemovedUse)[],
  { paths, symbols }: Change,
  limit: number,
): Promise<Found<Dependent>[]> {
  const changed = new Set(symbols.map((each) => symbolKey(each)));
  const inside = await definitionsAround(
    files,
    uses.filter(({ path }) => paths.includes(path)),
    CALLABLE,
  );
  // A call from one changed definition to another is no news, unless there is nothing to call any more.
  const outside = uses.filter((use) => {
    if ("name" in use) return true;
    const around = inside.get(use);
    return !around || !changed.has(symbolKey(around));
  });
  const named = outside.filter(({ path }, i) => i < limit || files.isTest(path));
  const enclosing = await definitionsAround(files, named, CALLABLE);
  return outside.map((use) => {
    const { path, line, certainty, distance } = use;
    const because = `${useOf(use)} (${certainty === "name" ? "by name only" : certainty})`;
    return { path, line, enclosing: enclosing.get(use)?.qualifiedName ?? null, certainty, distance, because };
  });
}

/** Whether a use has nothing to call any more; of one by name only that is not sure. */
const isBroken = (use: FoundUse | RemovedUse): boolean => "name" in use && use.certainty !== "name";

/** Orders uses: those that no longer work first, except by name only, then by sureness. Sorting is stable. */
function byImpact(a: FoundUse | RemovedUse, b: FoundUse | RemovedUse): number {
  return Number(isBroken(b)) - Number(isBroken(a)) || bySureness(a, b);
}

function useOf(use: FoundUse | RemovedUse): string {
  if ("name" in use) return `uses \`${use.name}\`, which is ${use.movedTo ? `now in ${use.movedTo}` : "removed"}`;
  return use.target === undefined ? "uses a changed name" : `calls \`${use.target.qualifiedName}\``;
}

/** Tests that call the change, then those that are named like a changed file. */
function testsOf(
  files: QuestionFiles,
  dependents: readonly Found<Dependent>[],
  { files: known }: Evidence,
): Found<ReachingTest>[] {
  const found = new Map<string, Found<ReachingTest>>();
  for (const { path, enclosing, certainty } of dependents) {
    const key = `${path}\n${enclosing ?? ""}`;
    if (files.isTest(path) && !found.has(key)) found.set(key, { path, symbol: enclosing, certainty });
  }
  const reached = new Set([...found.values()].map(({ path }) => path));
  for (const { path, isTest, namedLike } of known)
    if (isTest && namedLike !== undefined && !reached.has(path))
      found.set(path, { path, symbol: null, certainty: "name" });
  return [...found.values()];
}

/** Why a file is listed; `dependents` are those in it. */
function reasonsOf(file: FileEvidence, dependents: readonly Found<Dependent>[], { paths }: Change): string[] {
  const isOne = paths.length === 1;
  const sure = dependents.filter(({ certainty }) => certainty !== "name");
  const reasons = [...new Set(sure.map(({ because }) => because))].slice(0, 2);
  const { found } = file.together;
  if (found) {
    const beside = isOne ? "" : ` with ${found.with}`;
    reasons.push(`changed together${beside} in ${found.times} of ${numberOf(found.of, "commit")}`);
  }
  if (file.namedLike !== undefined) reasons.push(`is named like ${file.namedLike}`);
  if (reasons.length === 0 && file.uses.names.length > 0)
    reasons.push(`mentions ${quoted(file.uses.names)}, which the change defines or removes`);
  if (reasons.length === 0 && file.mentions.names.length > 0)
    reasons.push(`mentions ${quoted(file.mentions.names)}, which the change adds or takes away`);
  if (file.defines.names.length > 0) reasons.push(`defines ${quoted(file.defines.names)}, which the change uses`);
  const like = file.removedLine;
  if (like !== undefined && like.share >= MOST_OF_LINE)
    reasons.push(`has most words of the changed line \`${like.line.slice(0, MAX_SHOWN_LINE)}\``);
  const words = file.words.shared.slice(0, MAX_SHARED);
  if (words.length > 0) reasons.push(`shares the ${words.length === 1 ? "word" : "words"} ${words.join(", ")}`);
  if (file.importedBy !== undefined) reasons.push(`is imported by ${file.importedBy}`);
  if (reasons.length === 0) reasons.push("is near the change");
  return reasons.slice(0, MAX_REASONS);
}

function quoted(names: readonly string[]): string {
  return names
    .slice(0, MAX_SHARED)
    .map((name) => `\`${name}\``)
    .join(", ");
}

type Lists = Pick<ImpactAnswer, "changed" | "files" | "dependents" | "tests" | "interfaces">;

/** The beginning of each list: `limit` entries at most, and what `maxTokens` has room for, files first. */
function withinBounds(
  all: Lists,
  together: Evidence["together"],
  { limit, maxTokens }: Request<typeof IMPACT>,
  wasCut: boolean,
): Omit<ImpactAnswer, "revision"> {
  let room = maxTokens * CHARACTERS_PER_TOKEN;
  let truncated = wasCut;
  const take = <T extends object>(list: readonly T[]): T[] => {
    const taken: T[] = [];
    for (const each of list.slice(0, limit)) {
      const texts = Object.values(each).flat().map(String);
      room -= texts.reduce((sum, text) => sum + text.length, ENTRY_FRAME);
      if (room < 0 && taken.length > 0) break;
      taken.push(each);
    }
    truncated ||= taken.length < list.length;
    return taken;
  };
  const usual = together?.map(({ path, times, of }) => ({ path, times, of }));
  const total = {
    changed: all.changed.length,
    files: all.files.length,
    dependents: all.dependents.length,
    tests: all.tests.length,
    interfaces: all.interfaces.length,
  };
  const answer = {
    files: take(all.files),
    interfaces: take(all.interfaces),
    tests: take(all.tests),
    dependents: take(all.dependents),
    changed: take(all.changed),
    usuallyTogether: usual ? take(usual) : null,
  };
  return { ...answer, total, truncated };
}
