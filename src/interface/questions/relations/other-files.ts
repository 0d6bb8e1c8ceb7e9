/** Uses of functions in files of languages whose uses are not read. */
import { mayCall } from "../../../engines/relations/languages.ts";
import { folderOf } from "../../../engines/relations/modules.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { FoundReference } from "../../../engines/search/types.ts";
import { wordSet } from "../../../lib/word-set.ts";
import { isCalled, isIncluded, isTag } from "./called-lines.ts";
import { type FoundUse, innermostOfLines, targetOf } from "./found.ts";
import { isUsedInLines, isWithinDefinitions, namedInLine } from "./line-uses.ts";
import { isMdx } from "./mentioning.ts";
import { hasWords, occurrencesOf } from "./occurrences.ts";

/** Kinds of definitions that have code. */
const WITH_CODE = wordSet("function method macro variable field test extension interface");

const NAMED = { certainty: "name" } as const;

/** A name that is looked for in some files. */
export interface WantedName {
  name: string;
  paths: ReadonlySet<string>;
  /** Languages in which uses of the definitions are found by lines. */
  languages: ReadonlySet<string>;
  /** The definition that a name of its own language means in any file: the only one of that name. */
  sole: DefinedSymbol | undefined;
  /** Names that stand before that name in the qualified ones. */
  owners: ReadonlySet<string>;
  /** The definitions whose names are those of one folder, by the folder. */
  byFolder: ReadonlyMap<string, readonly DefinedSymbol[]>;
}

/**
 * The only definition of a name that lines of its language use, if the name consists of several words: a value or parameter of the same name
 * is unlikely then. Methods are left out, since libraries have some of the same names.
 */
export async function soleDefinition(files: QuestionFiles, name: string): Promise<DefinedSymbol | undefined> {
  if (!hasWords(name)) return undefined;
  const named = (await files.definitions(name)).filter(({ path, kind }) => isUsedInLines(files.language(path), kind));
  const [sole] = named;
  return named.length === 1 && sole?.kind !== "method" ? sole : undefined;
}

/**
 * For each name, the lines of its files that use it: in the language of the function those that name it in code, in others those on
 * which it stands before a parenthesis or in a tag. They are known by name, but for those of a `sole` definition.
 */
export async function usesInOtherFiles(files: QuestionFiles, wanted: readonly WantedName[]): Promise<FoundUse[][]> {
  const lines = await files.linesMentioning(wanted);
  const found: FoundUse[][] = [];
  for (const [i, { sole, ...names }] of wanted.entries()) {
    const uses: FoundUse[] = [];
    for (const [path, own] of Map.groupBy(lines[i] ?? [], (line) => line.path)) {
      const here = isOfFolder(files.language(path)) ? (names.byFolder.get(moduleFolder(path)) ?? []) : undefined;
      for (const { line, isSole, text } of await usesInLines(files, path, own, names)) {
        const ofFolder = isOutput(text, names.name) ? undefined : here;
        // The folder has none of the definitions that are meant.
        if (ofFolder?.length === 0) continue;
        const meant = ofFolder ? onlyOf(ofFolder) : isSole ? sole : undefined;
        uses.push({ path, line, distance: 1, ...(meant ? { certainty: "likely", target: targetOf(meant) } : NAMED) });
      }
    }
    found.push(uses);
  }
  return found;
}

/** Whether the files of a folder share names that no other folder has. */
export const isOfFolder = (language: string): boolean => language === "terraform";

/** The folder of the module that a file of Terraform belongs to; files of tests may be in `tests` below it. */
export function moduleFolder(path: string): string {
  const folder = folderOf(path);
  return path.endsWith(".tftest.hcl") && /(?:^|\/)tests$/.test(folder) ? folderOf(folder) : folder;
}

/** The only one of some definitions. */
export const onlyOf = (definitions: readonly DefinedSymbol[]): DefinedSymbol | undefined =>
  definitions.length === 1 ? definitions[0] : undefined;

/** Whether a line of Terraform has a name as the output of a module, which another folder defines. */
const isOutput = (text: string, name: string): boolean =>
  occurrencesOf(text, name).some(({ before }) => /\bmodule\.[\w-]{1,100}(?:\[[^\]]{0,100}\])?\.$/.test(before));

async function usesInLines(
  files: QuestionFiles,
  path: string,
  lines: readonly FoundReference[],
  { name, languages, owners }: Omit<WantedName, "paths" | "sole">,
): Promise<{ line: number; text: string; isSole: boolean }[]> {
  const language = files.language(path);
  if (!languages.has(language)) {
    const isUse = isMdx(path) ? isTag : mayCall(language) ? isCalled : () => false;
    return lines.flatMap(({ line, text }) =>
      isUse(text, name) || isIncluded(text, name, owners) ? [{ line, text, isSole: false }] : [],
    );
  }
  const named = lines.flatMap((line) => {
    const use = namedInLine(language, line.text, { name, owners });
    return use ? [{ ...line, isSole: use === "sole" }] : [];
  });
  return isWithinDefinitions(language) ? withoutHeads(files, path, named, name) : named;
}

/** The lines that stand in definitions and begin no further clause of one: `f 0 = 1` below `f :: Int -> Int`. */
async function withoutHeads<Line extends Pick<FoundReference, "line" | "text">>(
  files: QuestionFiles,
  path: string,
  lines: readonly Line[],
  name: string,
): Promise<Line[]> {
  const symbols = await files.definitionsIn(path);
  const around = innermostOfLines(
    symbols,
    lines.map(({ line }) => line),
    WITH_CODE,
  );
  return lines.filter(({ line, text }) => {
    const definition = around.get(line);
    return definition !== undefined && !(definition.name === name && text.startsWith(name));
  });
}
