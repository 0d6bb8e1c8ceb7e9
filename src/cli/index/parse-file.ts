import type { LanguageId } from "../../parsing/languages.ts";
import { createParser, type CodeParser } from "../../parsing/parser.ts";
import { nodeGrammars } from "../../parsing/grammars-node.ts";
import { contentSkipReason } from "../../parsing/skip.ts";
import type { ParsedFile } from "../../parsing/types.ts";
import { analyzeContent } from "../../retrieval/analyze.ts";
import { sha256 } from "../checksum.ts";

/** `analysis` is the file's input for the search index, computed here to run in the parser threads. */
export type ParseOutcome = { skip: string } | { file: Omit<ParsedFile, "text">; analysis: Uint8Array<ArrayBuffer> };

/** Parses a file to symbols and chunks, or a reason to skip it. */
export type ParseFile = (bytes: Uint8Array, language: LanguageId) => Promise<ParseOutcome>;

/**
 * Restricts V8 to its baseline compiler for WebAssembly. The optimising compiler needs gigabytes of memory for the huge lexer
 * functions of some grammars: indexing Alamofire took 2.97 GB and 17.9 s with it, 213 MB and 7.9 s without. The flags affect
 * everything that is compiled after they are set.
 */
function useBaselineCompiler(): void {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  // All three flags are needed: after start-up, V8 does not derive the others from the first.
  for (const flag of ["--liftoff-only", "--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
}

/** Creates a parser, which is initialised with the first file. Default `grammars`: those of the installed packages. */
export function fileParser(grammars: string | undefined): ParseFile {
  let parser: Promise<CodeParser> | undefined;
  return async (bytes, language) => {
    const skip = contentSkipReason(bytes, language);
    if (skip !== undefined) return { skip };
    if (!parser) {
      useBaselineCompiler();
      parser = createParser(nodeGrammars(grammars));
    }
    const { text: _, ...file } = await (await parser).parse({ bytes, language });
    const { chunks, symbols } = file;
    const analysis = analyzeContent({ sha256: sha256(bytes).toString("hex"), language, chunks, symbols });
    return { file, analysis };
  };
}
