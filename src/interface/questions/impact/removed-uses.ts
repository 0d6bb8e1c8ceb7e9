/** Uses of what a change takes away: the lines that it breaks. */
import { hasUses } from "../../../engines/relations/languages.ts";
import { folderOf, modulePaths } from "../../../engines/relations/modules.ts";
import { isC, packageRuleOf } from "../../../engines/relations/packages.ts";
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import { WantedNames } from "../../../engines/relations/record-strings.ts";
import type { Target } from "../../../engines/relations/resolved.ts";
import { certainly, type Meaning, type Use } from "../../../engines/relations/types.ts";
import { methodName } from "../../../engines/relations/wrapped.ts";
import { type Certainty, type FoundUse, KINDS, rankOf } from "../relations/found.ts";

/** Names that are looked for, and files that mention one of them that are read. */
const MAX_NAMES = 40;
const MAX_FILES = 200;
/** Bases of a class that are looked at, and steps from base to base. */
const MAX_BASES = 4;
/** Different meanings of uses that are followed for a change. */
const MAX_FOLLOWED = 20_000;

/** A definition that is no longer in its file. */
export interface RemovedDefinition {
  path: string;
  name: string;
  /** The file that has it now, if the whole file was moved. */
  movedTo?: string;
}

/** A use of a definition that was removed. */
export interface RemovedUse extends FoundUse, Pick<RemovedDefinition, "name" | "movedTo"> {}

/**
 * Uses that are left of removed definitions, in an index of the files after the change. A use that leads to another definition is none of them.
 * It is `certain` or `likely` where its import or its receiver leads to the file that had the definition, and by name only where the repository
 * has no other definition of the name. At most 40 names are looked for, in 200 files each.
 */
export async function usesOfRemoved(
  files: QuestionFiles,
  removed: readonly RemovedDefinition[],
): Promise<{ uses: RemovedUse[]; truncated: boolean }> {
  const byName = Map.groupBy(removed, ({ name }) => name);
  const budget = { left: MAX_FOLLOWED };
  let truncated = byName.size > MAX_NAMES;
  const uses: RemovedUse[] = [];
  for (const [name, from] of [...byName].slice(0, MAX_NAMES)) {
    const isNowhere = (await files.definitions(name)).length === 0;
    const [movedTo] = from.flatMap((each) => each.movedTo ?? []);
    const gone = {
      name,
      wanted: new WantedNames(new Set([name])),
      movedTo,
      paths: new Set(from.map(({ path }) => path)),
      isNowhere,
      budget,
    };
    const mentioning = (await files.mentioning(name)).filter(({ language }) => hasUses(language));
    truncated ||= mentioning.length > MAX_FILES;
    const read = mentioning.slice(0, MAX_FILES).map(({ path }) => usesIn(files, path, gone));
    uses.push(...(await Promise.all(read)).flat());
  }
  return { uses, truncated: truncated || budget.left <= 0 };
}

interface Gone {
  name: string;
  wanted: WantedNames;
  movedTo: string | undefined;
  /** Files that had a definition of the name. */
  paths: ReadonlySet<string>;
  /** The repository has no definition of the name any more. */
  isNowhere: boolean;
  /** Meanings that may still be followed. */
  budget: { left: number };
}

async function usesIn(files: QuestionFiles, path: string, gone: Gone): Promise<RemovedUse[]> {
  const { name, movedTo } = gone;
  const named = { name, ...(movedTo !== undefined && { movedTo }) };
  const found = new Map<number, RemovedUse>();
  // Equal meanings of a file are the same object: a million calls in a line are followed once.
  const known = new Map<string, Map<Meaning, Certainty | undefined>>();
  for (const use of (await files.uses(path))?.usesOf(gone.wanted) ?? []) {
    if (!KINDS.callers.has(use.kind) && !KINDS.implementations.has(use.kind)) continue;
    const ofName = known.get(use.name) ?? new Map<Meaning, Certainty | undefined>();
    known.set(use.name, ofName);
    if (!ofName.has(use.meaning)) {
      if (gone.budget.left-- <= 0) break;
      ofName.set(use.meaning, await certaintyOf(files, path, use, gone));
    }
    const certainty = ofName.get(use.meaning);
    const onLine = found.get(use.line);
    if (certainty && (!onLine || rankOf(certainty) < rankOf(onLine.certainty)))
      found.set(use.line, { path, line: use.line, certainty, distance: 1, ...named });
  }
  return [...found.values()];
}

/** How sure it is that a use means the removed definition; undefined if it means something else. */
async function certaintyOf(
  files: QuestionFiles,
  path: string,
  use: Use,
  { name, paths, isNowhere }: Gone,
): Promise<Certainty | undefined> {
  const resolved = await files.resolve(path, use);
  if (resolved !== "unknown" && resolved !== "outside") return undefined;
  const meaning = certainly(use.meaning);
  const imported = importOf(meaning);
  if (imported?.name === name && (await isOfModule(files, path, imported.module, paths))) return "certain";
  if (meaning.to === "member" && plainName(meaning.name) === name) {
    const of = await files.resolve(path, { name, meaning: { to: "value", of: meaning.of } });
    const owner = typeof of === "string" ? undefined : await ownerIn(files, of, paths);
    if (owner && typeof of !== "string") return owner === "only" ? files.certaintyOf(path, of) : "likely";
  }
  if (imported?.name === name && (await isInPackage(files, path, imported.module, paths))) return "likely";
  if (meaning.to === "global" && use.name === name && paths.has(path)) return "likely";
  return resolved === "unknown" && use.name === name && isNowhere ? "name" : undefined;
}

/** The module and name that a meaning is of: `import { name }`, or `module.name`. */
function importOf(meaning: Meaning): { module: string; name: string } | undefined {
  if (meaning.to === "import") return meaning;
  if (meaning.to !== "member" || meaning.of.to !== "import" || meaning.of.name !== "*") return undefined;
  return { module: meaning.of.module, name: plainName(meaning.name) };
}

/** The name of a member as it is written: keys of methods end with parentheses in PHP, and with their parameters in Java and C#. */
const plainName = (name: string): string => methodName(name).replace(/(?:\(\)|`\d+)$/, "");

/** Whether a module is one of some files, of which some may be gone. */
async function isOfModule(
  files: QuestionFiles,
  path: string,
  module: string,
  paths: ReadonlySet<string>,
): Promise<boolean> {
  const whole = await files.resolve(path, { name: "*", meaning: { to: "import", module, name: "*" } });
  if (typeof whole !== "string") return paths.has(whole.path);
  return modulePaths(path, module).some((each) => paths.has(each));
}

/** Whether one of some files, which may be gone, may belong to a package: by the rules of Go and C, else to that of the file itself if it is beside it. */
async function isInPackage(
  files: QuestionFiles,
  path: string,
  module: string,
  paths: ReadonlySet<string>,
): Promise<boolean> {
  // Other languages confirm a package by what the file states.
  const rule = path.endsWith(".go") || isC(path) ? packageRuleOf(path) : undefined;
  const modules = await files.goModules(path);
  const isBeside = (each: string) => module === "" && folderOf(each) === folderOf(path);
  return [...paths].some((each) => (rule ? rule.holds(path, module, each, modules) : isBeside(each)));
}

/**
 * Whether a class or module, or a base of it, is in one of some files: `only` if it is itself and has no bases, of which one may define the name
 * as well.
 */
async function ownerIn(
  files: QuestionFiles,
  of: Target,
  paths: ReadonlySet<string>,
  depth = 0,
): Promise<"only" | "among" | undefined> {
  const bases = (await files.uses(of.path))?.classes.find(({ line }) => line === of.line)?.bases ?? [];
  if (paths.has(of.path)) return bases.length === 0 ? "only" : "among";
  // Methods of Go may stand in any file of the package.
  if (of.path.endsWith(".go") && [...paths].some((path) => folderOf(path) === folderOf(of.path))) return "among";
  if (depth >= MAX_BASES) return undefined;
  for (const meaning of bases.slice(0, MAX_BASES)) {
    const base = await files.resolve(of.path, { name: "", meaning });
    if (typeof base !== "string" && (await ownerIn(files, base, paths, depth + 1)) !== undefined) return "among";
  }
  return undefined;
}
