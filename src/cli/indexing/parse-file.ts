import type { LanguageId } from "../../engines/parsing/languages.ts";
import { createParser, type CodeParser } from "../../engines/parsing/parser.ts";
import { readUses } from "../../engines/relations/read-uses.ts";
import { nodeGrammars } from "../../engines/parsing/grammars-node.ts";
import { contentSkipReason } from "../../engines/parsing/skip.ts";
import type { ParsedFile } from "../../engines/parsing/types.ts";
import { analyzeContent } from "../../engines/search/analyze.ts";
import { sha256 } from "../machine/checksum.ts";

/** `analysis` is the file's input for the search index, computed here to run in the parser threads. */
export type ParseOutcome =
  | { skip: string }
  | { file: Omit<ParsedFile, "text" | "uses">; analysis: Uint8Array<ArrayBuffer> };

/** Parses a file to symbols and chunks, or a reason to skip it. */
export type ParseFile = (bytes: Uint8Array, language: LanguageId) => Promise<ParseOutcome>;

/** Creates a parser, which is initialised with the first file. The parameters are those of `nodeGrammars`. */
export function fileParser(grammars: string | undefined, core?: WebAssembly.Module): ParseFile {
  let parser: Promise<CodeParser> | undefined;
  return async (bytes, language) => {
    const skip = contentSkipReason(bytes);
    if (skip !== undefined) return { skip };
    parser ??= createParser(nodeGrammars(grammars, core), { readUses });
    const { text: _, uses, ...file } = await (await parser).parse({ bytes, language });
    const { chunks, symbols } = file;
    const analysis = analyzeContent({ sha256: sha256(bytes).toString("hex"), language, chunks, symbols, uses });
    return { file, analysis };
  };
}
