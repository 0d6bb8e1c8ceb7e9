import type { LanguageId } from "../../engines/parsing/languages.ts";
import { createParser, type CodeParser } from "../../engines/parsing/parser.ts";
import { readUses } from "../../engines/relations/read-uses.ts";
import { nodeGrammars } from "../../engines/parsing/grammars-node.ts";
import { contentSkipReason } from "../../engines/parsing/skip.ts";
import type { ParsedFile } from "../../engines/parsing/types.ts";
import { analyzeContent } from "../../engines/search/analyze.ts";
import { sha256 } from "../machine/checksum.ts";
import { packFile, type PackedFile } from "./packed-file.ts";

/** `analysis` is the file's input for the search index, computed here to run in the parser threads. */
export type ParseOutcome =
  | { skip: string }
  | { file: Omit<ParsedFile, "text" | "uses">; analysis: Uint8Array<ArrayBuffer> };

/** Parses a file to symbols and chunks, or a reason to skip it. */
export type ParseFile = (bytes: Uint8Array, language: LanguageId) => Promise<ParseOutcome>;

/** A parsed file as the index stores it, packed in the parser threads. */
export interface ParsedForStore {
  lineCount: number;
  /** As in `SnapshotFile`. */
  outcome: string;
  packed: PackedFile;
  analysis: Uint8Array<ArrayBuffer>;
}

/** A file to store, or a reason to skip it. */
export type StoreOutcome = { skip: string } | ParsedForStore;

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

/** Parses a file to what the index stores of it, or a reason to skip it. */
export type ParseForStore = (bytes: Uint8Array, language: LanguageId) => Promise<StoreOutcome>;

/** As {@link fileParser}, for the index. */
export function storeParser(grammars: string | undefined, core?: WebAssembly.Module): ParseForStore {
  const parse = fileParser(grammars, core);
  return async (bytes, language) => {
    const outcome = await parse(bytes, language);
    if ("skip" in outcome) return outcome;
    const { file, analysis } = outcome;
    return {
      lineCount: file.lineCount,
      outcome: file.outcome === "fallback" ? `fallback:${file.fallbackReason ?? ""}` : file.outcome,
      packed: packFile(file.symbols, file.chunks),
      analysis,
    };
  };
}
