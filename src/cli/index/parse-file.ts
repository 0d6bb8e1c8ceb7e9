import type { LanguageId } from "../../parsing/languages.ts";
import { createParser, type CodeParser } from "../../parsing/parser.ts";
import { nodeGrammars } from "../../parsing/grammars-node.ts";
import { contentSkipReason } from "../../parsing/skip.ts";
import type { ParsedFile } from "../../parsing/types.ts";

export type ParseOutcome = { skip: string } | { file: Omit<ParsedFile, "text"> };

/** Symbols and chunks of a file, or why it is not worth any. */
export type ParseFile = (bytes: Uint8Array, language: LanguageId) => Promise<ParseOutcome>;

/** A parser that starts with the first file that needs one. Undefined `grammars` are those of the installed packages. */
export function fileParser(grammars: string | undefined): ParseFile {
  let parser: Promise<CodeParser> | undefined;
  return async (bytes, language) => {
    const skip = contentSkipReason(bytes, language);
    if (skip !== undefined) return { skip };
    parser ??= createParser(nodeGrammars(grammars));
    const { text: _, ...file } = await (await parser).parse({ bytes, language });
    return { file };
  };
}
