import type { LanguageId } from "../../parsing/languages.ts";
import { createParser, type CodeParser } from "../../parsing/parser.ts";
import { nodeGrammars } from "../../parsing/grammars-node.ts";
import { contentSkipReason } from "../../parsing/skip.ts";
import type { ParsedFile } from "../../parsing/types.ts";
import { analyzeContent } from "../../retrieval/analyze.ts";
import { sha256 } from "../checksum.ts";

/** `analysis` is what the search index keeps of the file: made here, since parser threads have the time for it. */
export type ParseOutcome = { skip: string } | { file: Omit<ParsedFile, "text">; analysis: Uint8Array<ArrayBuffer> };

/** Symbols and chunks of a file, or why it is not worth any. */
export type ParseFile = (bytes: Uint8Array, language: LanguageId) => Promise<ParseOutcome>;

/**
 * Keeps V8 to its baseline compiler for WebAssembly. The optimising one takes gigabytes, and seconds beyond the last file, for the
 * huge lexer functions of some grammars: Alamofire 2.97 GB and 17.9 s with it, 213 MB and 7.9 s without. V8 takes the flag at any
 * time, for what it compiles after that.
 */
function useBaselineCompiler(): void {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  // After the start, V8 does not derive the other two from the first.
  for (const flag of ["--liftoff-only", "--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
}

/** A parser that starts with the first file that needs one. Undefined `grammars` are those of the installed packages. */
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
