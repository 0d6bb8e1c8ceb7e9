/** Uses of a name that no index defines: a function or class of a package, of the language, or of a file that is left out. */
import { WantedNames } from "../../../engines/relations/record-strings.ts";
import { hasUses, mayCall } from "../../../engines/relations/languages.ts";
import { certainly, type Use } from "../../../engines/relations/types.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart, nameParts } from "../../../engines/search/names.ts";
import { isCalled } from "./called-lines.ts";
import { CALLABLE, definitionsAround, UsesFinder } from "./callers.ts";
import { distinct, type FoundUse, KINDS, TYPES } from "./found.ts";
import { usesByName } from "./mentioning.ts";
import { isPartOfName, occurrencesOf } from "./occurrences.ts";
import { importOf, isPackage } from "./taken.ts";

/** Files that mention the name that are read. */
const MAX_FILES = 1_000;
/** Files whose uses are read together. */
const BATCH = 50;

type Wanted = "callers" | "implementations";

export interface OutsideUses {
  uses: FoundUse[];
  /** How often the name is used of each module that files import it from. */
  modules: Map<string, number>;
  truncated: boolean;
}

/**
 * The uses of a name of outside, and up to `depth` steps of uses of what they are in. What a file imports under that name is certain, all
 * others have the same name only. Of a name with a part before it, `json.dumps`, those are left out that are written otherwise.
 */
export async function usesOfOutside(
  files: QuestionFiles,
  name: string,
  { relation, depth }: { relation: Wanted; depth: number },
): Promise<OutsideUses> {
  const [last, owner] = [lastPart(name), nameParts(name).at(-2)];
  const all = (await files.mentioning(last)).filter(({ language }) => mayCall(language));
  const read = all.slice(0, MAX_FILES);
  const modules = new Map<string, number>();
  const direct: FoundUse[] = [];
  const withRules = read.filter(({ language }) => hasUses(language)).map(({ path }) => path);
  for (let from = 0; from < withRules.length; from += BATCH) {
    const batch = withRules.slice(from, from + BATCH);
    const found = await Promise.all(batch.map((path) => usesIn(files, path, { last, owner, relation })));
    for (const { use, module } of found.flat()) {
      direct.push(use);
      if (module !== undefined && isPackage(module)) modules.set(module, (modules.get(module) ?? 0) + 1);
    }
  }
  if (relation === "callers") {
    const byText = read.filter(({ language }) => owner !== undefined || !hasUses(language)).map(({ path }) => path);
    const passes = ({ text }: { text: string }) =>
      owner === undefined ? isCalled(text, last) : isMember(text, owner, last);
    direct.push(...((await usesByName(files, [{ name: last, paths: new Set(byText) }], passes))[0] ?? []));
  }
  const uses = distinct(direct);
  const further = await usesAround(files, uses, { relation, depth: depth - 1 });
  return { uses: [...uses, ...further.uses], modules, truncated: all.length > read.length || further.truncated };
}

async function usesIn(
  files: QuestionFiles,
  path: string,
  { last, owner, relation }: { last: string; owner: string | undefined; relation: Wanted },
): Promise<{ use: FoundUse; module: string | undefined }[]> {
  const found: { use: FoundUse; module: string | undefined }[] = [];
  for (const use of (await files.uses(path))?.usesOf(new WantedNames(new Set([last]))) ?? []) {
    if (!KINDS[relation].has(use.kind)) continue;
    const taken = takenOf(use, last, owner);
    // A value that is named may be anything, and the owner of what is no import is not known here. What is imported as a whole has any name.
    if (!taken && (use.name !== last || use.kind === "reference" || owner !== undefined)) continue;
    const certainty = taken ? files.certaintyOf(path, {}) : "name";
    found.push({ use: { path, line: use.line, certainty, distance: 1 }, module: taken?.module });
  }
  return found;
}

/** The module that a use takes the name of, if it is imported: `last` of a module, or of what is imported as `owner`. */
function takenOf({ name, meaning }: Use, last: string, owner: string | undefined): { module: string } | undefined {
  const of = certainly(meaning);
  if (of.to === "import") {
    const isSame = of.name === last || (of.name === "default" && name === last);
    return isSame && (owner === undefined || endsIn(of.module, owner)) ? { module: of.module } : undefined;
  }
  const around = of.to === "member" && of.name === last ? importOf(of.of) : undefined;
  if (!around) return undefined;
  const isOwner = owner === undefined || around.name === owner || endsIn(around.module, owner);
  return isOwner && (around.name === "*" || around.name === "default" || owner !== undefined) ? around : undefined;
}

/** Whether the last part of a module's name is a word, in whatever case: `React` of `react`, `path` of `os.path`. */
const endsIn = (module: string, word: string): boolean =>
  module
    .split(/[^\p{L}\p{N}_]+/u)
    .at(-1)
    ?.toLowerCase() === word.toLowerCase();

/** Whether a line has a name as a member of another one: `json.dumps(`, `fs::read`, `Foo->bar`. */
function isMember(text: string, owner: string, name: string): boolean {
  for (const { before, after } of occurrencesOf(text, name)) {
    const [, left] = /^(.*?)(?:\.|::?|->|\\|#)$/s.exec(before.slice(-owner.length - 3)) ?? [];
    if (left?.endsWith(owner) && !isPartOfName(left.at(-owner.length - 1)) && !isPartOfName(after.at(0))) return true;
  }
  return false;
}

/** The uses of what some uses are in, for further steps. */
async function usesAround(
  files: QuestionFiles,
  uses: readonly FoundUse[],
  { relation, depth }: { relation: Wanted; depth: number },
): Promise<{ uses: FoundUse[]; truncated: boolean }> {
  if (depth < 1) return { uses: [], truncated: false };
  const followed = uses.filter(({ certainty }) => certainty !== "name");
  const around = await definitionsAround(files, followed, relation === "callers" ? CALLABLE : TYPES);
  const distinctOnes = new Map<string, DefinedSymbol>();
  for (const each of around.values()) distinctOnes.set(`${each.startLine} ${each.path}`, each);
  const finder = new UsesFinder(files, relation);
  const found = await finder.find([...distinctOnes.values()], depth);
  for (const use of found) use.distance++;
  return { uses: found, truncated: finder.truncated };
}
