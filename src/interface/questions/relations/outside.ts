/** Uses of a name that no index defines: it may be of a package, of the language, or of a file that is not indexed. */
import { WantedNames } from "../../../engines/relations/record-strings.ts";
import { hasUses, mayCall } from "../../../engines/relations/languages.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { FileUses, Use } from "../../../engines/relations/types.ts";
import { lastPart, nameParts } from "../../../engines/search/names.ts";
import { wordSet } from "../../../lib/word-set.ts";
import { isCalled } from "./called-lines.ts";
import { UsesFinder } from "./callers.ts";
import { distinct, type FoundUse, KINDS, placeKey } from "./found.ts";
import { isUsedInLines, namedInLine, tellsSole } from "./line-uses.ts";
import { usesByName } from "./mentioning.ts";
import { isPartOfName, occurrencesOf } from "./occurrences.ts";
import { isOfPackage } from "./imported.ts";
import { importOf, isAll, isPackage, Taken } from "./taken.ts";

/** Files that mention the name that are read. */
const MAX_FILES = 1_000;
/** Files whose uses are read together. */
const BATCH = 50;
/** Words of languages that stand before a parenthesis or in a tag, and call nothing. */
const KEYWORDS = wordSet(
  "if elif else elsif elseif unless for foreach while until do switch case match when with return catch end in not and or typeof",
);

type Wanted = "callers" | "implementations";

interface OutsideUses {
  uses: FoundUse[];
  /** How often the name is used of each module that files import it from. Without uses, the name itself, if files import a package of that name. */
  modules: Map<string, number>;
  /** Whether some file of code has a name without parts before it at all. */
  isMentioned: boolean;
  truncated: boolean;
}

/** The last part of a name, and those before it. */
interface Parts {
  last: string;
  owners: readonly string[];
}

/**
 * The uses of a name of outside, and up to `depth` steps of uses of what they are in. Those of what a file imports by that name are certain, all
 * others have the same name only. Of a name with parts before it, `os.path.join`, those are listed that are imported from there under any
 * alias, and the lines that have all its parts.
 */
export async function usesOfOutside(
  files: QuestionFiles,
  name: string,
  { relation, depth }: { relation: Wanted; depth: number },
): Promise<OutsideUses> {
  const all = nameParts(name);
  const parts: Parts = { last: lastPart(name), owners: all.slice(0, -1) };
  const mentioning = (await files.mentioning(parts.last)).filter(({ language }) => mayCall(language));
  const read = mentioning.slice(0, MAX_FILES);
  const modules = new Map<string, number>();
  const direct: FoundUse[] = [];
  /** Lines of calls of which the text tells whether the parts before the name are the same. */
  const undecided = new Set<string>();
  const withRules = read.filter(({ language }) => hasUses(language)).map(({ path }) => path);
  for (let from = 0; from < withRules.length; from += BATCH) {
    const batch = withRules.slice(from, from + BATCH);
    const found = await Promise.all(batch.map((path) => usesIn(files, path, parts, relation)));
    for (const { use, module } of found.flat()) {
      if (module !== undefined && isPackage(module)) modules.set(module, (modules.get(module) ?? 0) + 1);
      if (use.certainty !== "name" || parts.owners.length === 0) direct.push(use);
      else undecided.add(placeKey(use));
    }
  }
  if (relation === "callers" && !KEYWORDS.has(parts.last)) {
    const paths = new Set(read.map(({ path }) => path));
    const passes = ({ path, line, text }: { path: string; line: number; text: string }): boolean => {
      const language = files.language(path);
      if (hasUses(language)) return undecided.has(placeKey({ path, line })) && isMember(text, parts);
      return parts.owners.length > 0 ? isMember(text, parts) : isCalledIn(language, text, parts.last);
    };
    direct.push(...((await usesByName(files, [{ name: parts.last, paths }], passes))[0] ?? []));
  }
  const uses = distinct(direct);
  if (uses.length === 0 && (await isImported(files, name, withRules))) modules.set(name, 1);
  const finder = new UsesFinder(files, relation);
  const further = depth > 1 ? await finder.findAround(uses, depth - 1) : [];
  for (const use of further) use.distance++;
  return {
    uses: [...uses, ...further],
    modules,
    isMentioned: mentioning.length > 0 && parts.owners.length === 0,
    truncated: mentioning.length > read.length || finder.truncated,
  };
}

/** Whether some file imports a package of that name, or a module in it. */
async function isImported(files: QuestionFiles, name: string, paths: readonly string[]): Promise<boolean> {
  for (let from = 0; from < paths.length; from += BATCH) {
    const read = await Promise.all(paths.slice(from, from + BATCH).map((path) => files.uses(path)));
    const imports = read.flatMap((each) => each?.imports ?? []);
    if (imports.some((each) => isPackage(each.module) && isOfPackage(each, name))) return true;
  }
  return false;
}

const NO_OWNERS: ReadonlySet<string> = new Set();

/** Whether a line in a language whose uses are not read calls a function. Of words of documentation only what can be nothing else counts. */
function isCalledIn(language: string, text: string, name: string): boolean {
  if (!isUsedInLines(language, "function")) return isCalled(text, name);
  const use = namedInLine(language, text, { name, owners: NO_OWNERS });
  return use === "sole" || (use === "name" && !tellsSole(language));
}

async function usesIn(
  files: QuestionFiles,
  path: string,
  parts: Parts,
  relation: Wanted,
): Promise<{ use: FoundUse; module: string | undefined }[]> {
  const file = await files.uses(path);
  if (!file) return [];
  const found: { use: FoundUse; module: string | undefined }[] = [];
  const taken = new Taken(file);
  for (const use of file.usesOf(new WantedNames(new Set([parts.last])))) {
    if (!KINDS[relation].has(use.kind)) continue;
    const module = moduleOf(file, use, { parts, taken });
    // A value that is named may be anything. What is imported as a whole has any name.
    if (module === undefined && (use.name !== parts.last || use.kind === "reference")) continue;
    const certainty = module === undefined ? "name" : files.certaintyOf(path, {});
    found.push({ use: { path, line: use.line, certainty, distance: 1 }, module });
  }
  return found;
}

/** The module of which a use takes the name: what the file imports as that, or a member of what it imports. */
function moduleOf(
  file: Pick<FileUses, "bindings">,
  { name, meaning }: Use,
  { parts: { last, owners }, taken }: { parts: Parts; taken: Taken },
): string | undefined {
  const own = importOf(meaning);
  if (!own || !taken.has(own)) return undefined;
  // `import debounce from "lodash.debounce"`
  const isDefault = own.name === "default" && name === last;
  if (own.name !== last && !isDefault) return undefined;
  const around = [...own.path, ...own.parents];
  if (owners.length === 0) return own.isOfModule ? own.module : undefined;
  if (isEndOf(owners, around)) return own.module;
  const bound = owners.length === 1 ? file.bindings.get(owners[0] ?? "") : undefined;
  const alias = bound && importOf(bound);
  const isAlias =
    alias?.module === own.module && (own.isOfModule ? isAll(alias.imported) : alias.imported === own.imported);
  return isAlias ? own.module : undefined;
}

/** Whether words are the last of others, in whatever case: `React` of `react`. */
function isEndOf(words: readonly string[], all: readonly string[]): boolean {
  const end = all.slice(-words.length);
  return end.length === words.length && end.every((word, i) => word.toLowerCase() === words[i]?.toLowerCase());
}

/** What stands between a name and what it is a member of. */
const SEPARATOR = /[?!]?(?:\.|::?|->|\\|#|\/)$/;

/** Whether a line has a name as a member of others: `json.dumps(`, `fs::read`, `foo?->bar`. */
function isMember(text: string, { last, owners }: Parts): boolean {
  return occurrencesOf(text, last).some(({ before, after }) => {
    let left = before;
    for (const owner of owners.toReversed()) {
      const separator = SEPARATOR.exec(left.slice(-3))?.[0] ?? "";
      left = left.slice(0, -separator.length);
      if (separator === "" || !left.endsWith(owner)) return false;
      left = left.slice(0, -owner.length);
    }
    return !isPartOfName(left.at(-1)) && !isPartOfName(after.at(0));
  });
}
