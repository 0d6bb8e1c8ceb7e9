/** What definitions call in languages whose uses are not read: the functions that their lines name. */
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart, nameParts } from "../../../engines/search/names.ts";
import { isCalled, isIncluded } from "./called-lines.ts";
import { type Call, isFunction, targetOf } from "./found.ts";
import { isUsedInLines, namedInLine, wordsInLine } from "./line-uses.ts";
import { rangesOf } from "./mentioning.ts";
import { isOfFolder, moduleFolder, onlyOf, soleDefinition } from "./other-files.ts";

/** Lines of a definition that are read, and different words of them that are looked up. */
const MAX_LINES = 2_000;
const MAX_WORDS = 300;

/**
 * The lines of a definition that name a function of the same language, by name; `likely`, with the function, for the only one of a name of several
 * words. As in `usesInOtherFiles`, which is the other way round.
 */
export async function calleesInLines(
  files: QuestionFiles,
  { path, name: own, startLine, endLine }: DefinedSymbol,
): Promise<{ uses: Call[]; truncated: boolean }> {
  const language = files.language(path);
  const last = Math.min(endLine, startLine + MAX_LINES);
  const [lines = []] = await rangesOf(files, [{ path, first: startLine, last }]);
  const words = [...new Set(lines.flatMap(({ text }) => wordsInLine(language, text)))];
  const uses: Call[] = [];
  for (const name of words.slice(0, MAX_WORDS)) {
    if (name === lastPart(own)) continue;
    const ofLanguage = (await files.definitions(name, path)).filter((each) => isOfLanguage(files, each, language));
    const isScoped = isOfFolder(language);
    const named = isScoped ? ofLanguage.filter((each) => moduleFolder(each.path) === moduleFolder(path)) : ofLanguage;
    if (named.length === 0) continue;
    const owners = new Set(named.flatMap(({ qualifiedName }) => nameParts(qualifiedName).at(-2) ?? []));
    const sole = isScoped ? onlyOf(named) : await soleDefinition(files, name);
    for (const { line, text } of lines) {
      const use = isUsedInLines(language, "function")
        ? namedInLine(language, text, { name, owners })
        : (isCalled(text, name) || isIncluded(text, name, owners)) && "name";
      if (!use) continue;
      const called = use === "sole" ? sole : undefined;
      const meant = called
        ? ({ certainty: "likely", target: targetOf(called) } as const)
        : ({ certainty: "name", named } as const);
      uses.push({ path, line, distance: 1, ...meant, called });
    }
  }
  uses.sort((a, b) => a.line - b.line);
  return { uses, truncated: last < endLine || words.length > MAX_WORDS };
}

const isOfLanguage = (files: QuestionFiles, { path, kind }: DefinedSymbol, language: string): boolean =>
  files.language(path) === language && (isFunction({ kind }) || isUsedInLines(language, kind));
