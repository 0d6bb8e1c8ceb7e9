/** Uses of functions in files of languages whose uses are not read. */
import type { QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { FoundReference } from "../../../engines/search/types.ts";
import { isCalled, isTag } from "./called-lines.ts";
import { type FoundUse, innermostOfLines } from "./found.ts";
import { isWithinDefinitions, namesFunction } from "./line-uses.ts";
import { isMdx } from "./mentioning.ts";

/** Kinds of definitions that have code. */
const WITH_CODE: ReadonlySet<string> = new Set(
  "function method macro variable field test extension interface".split(" "),
);

/** A name that is looked for in some files. */
export interface WantedName {
  name: string;
  paths: ReadonlySet<string>;
  /** Languages in which lines tell of uses of the definitions of that name. */
  languages: ReadonlySet<string>;
  /** Names that stand before that name in the qualified ones. */
  owners: ReadonlySet<string>;
}

/**
 * For each name, the lines of its files that use it, by name: in the language of the function those that name it in code, in others those on
 * which it stands before a parenthesis or in a tag.
 */
export async function usesInOtherFiles(files: QuestionFiles, wanted: readonly WantedName[]): Promise<FoundUse[][]> {
  const lines = await files.linesMentioning(wanted);
  const found: FoundUse[][] = [];
  for (const [i, { name, languages, owners }] of wanted.entries()) {
    const uses: FoundUse[] = [];
    for (const [path, own] of Map.groupBy(lines[i] ?? [], (line) => line.path)) {
      const language = files.language(path);
      const isOwn = languages.has(language);
      const passing = own.filter(({ text }) => {
        if (isOwn) return namesFunction(language, text, name, owners);
        return isMdx(path) ? isTag(text, name) : isCalled(text, name);
      });
      const kept = isOwn && isWithinDefinitions(language) ? await withoutHeads(files, path, passing, name) : passing;
      for (const { line } of kept) uses.push({ path, line, certainty: "name", distance: 1 });
    }
    found.push(uses);
  }
  return found;
}

/** The lines that stand in definitions and begin no further clause of one: `f 0 = 1` below `f :: Int -> Int`. */
async function withoutHeads(
  files: QuestionFiles,
  path: string,
  lines: readonly FoundReference[],
  name: string,
): Promise<FoundReference[]> {
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
