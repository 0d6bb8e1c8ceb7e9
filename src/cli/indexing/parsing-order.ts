import { languageInfo } from "../../engines/parsing/detect.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";

/**
 * Files grouped by grammar, in the order of each grammar's first file. So the parser threads need the same few grammars at a time,
 * whose code they share, and load each grammar once.
 */
export function inParsingOrder<T extends { language: LanguageId }>(files: readonly T[]): T[] {
  return [...Map.groupBy(files, ({ language }) => languageInfo(language).grammar).values()].flat();
}
