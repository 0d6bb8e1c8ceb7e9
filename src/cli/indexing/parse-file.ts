import type { LanguageId } from "../../engines/parsing/languages.ts";
import { createParser, type CodeParser } from "../../engines/parsing/parser.ts";
import { readUses } from "../../engines/relations/read-uses.ts";
import { nodeGrammars } from "../../engines/parsing/grammars-node.ts";
import { contentSkipReason } from "../../engines/parsing/skip.ts";
import type { FallbackReason, ParsedFile } from "../../engines/parsing/types.ts";
import { analyzeContent } from "../../engines/search/analyze.ts";
import { sha256 } from "../machine/checksum.ts";
import { TimeLimitError, withinTime } from "../machine/time-limit.ts";
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

/** A file to parse. */
export interface ParseRequest {
  bytes: Uint8Array;
  language: LanguageId;
}

/** Loads all that a file needs; what is returned parses it and waits for nothing. `as`: the language to read it as. */
type Prepare = (request: ParseRequest, as?: LanguageId) => Promise<() => ParseOutcome>;

/** The parser is initialised with the first file. */
function preparer(grammars: string | undefined, core?: WebAssembly.Module): Prepare {
  let parser: Promise<CodeParser> | undefined;
  return async ({ bytes, language }, as = language) => {
    const skip = contentSkipReason(bytes);
    if (skip !== undefined) return () => ({ skip });
    parser ??= createParser(nodeGrammars(grammars, core), { readUses });
    const parse = await (await parser).prepare({ bytes, language: as });
    return () => {
      const { text: _, uses, ...file } = parse();
      const { chunks, symbols } = file;
      const analysis = analyzeContent({ sha256: sha256(bytes).toString("hex"), language, chunks, symbols, uses });
      return { file, analysis };
    };
  };
}

/** Creates a parser, which is initialised with the first file. The parameters are those of `nodeGrammars`. */
export function fileParser(grammars: string | undefined, core?: WebAssembly.Module): ParseFile {
  const prepare = preparer(grammars, core);
  return async (bytes, language) => (await prepare({ bytes, language }))();
}

/** What the index stores of a file, or why it could not be parsed. */
export type ParseAnswer = StoreOutcome | { error: string };

/** Parses files to what the index stores of them, in their order. */
export type ParseForStore = (requests: readonly ParseRequest[]) => Promise<ParseAnswer[]>;

/** Milliseconds that files of so many bytes may take: three times as long as the slowest text that is known takes on a busy machine. */
export const timeFor = (byteLength: number): number => 60_000 + byteLength / 10;

/** A file that was interrupted so often is text, whatever used the time: among others, and twice by itself. */
const MAX_INTERRUPTIONS = 3;

/**
 * As {@link fileParser}, for the index, and within a time. A file that takes longer, for which no bound of the parser holds, is text to
 * the index, with the outcome `fallback:time`. Files share a time, because to watch it takes 0.2 ms; one that was interrupted although
 * others or a pause of the process may have used the time is parsed again by itself.
 *
 * @param limit milliseconds for files of so many bytes
 */
export function storeParser(grammars: string | undefined, core?: WebAssembly.Module, limit = timeFor): ParseForStore {
  let prepare = preparer(grammars, core);
  const asText = async (request: ParseRequest): Promise<ParseAnswer> => {
    const parse = await prepare(request, "text");
    const answer = answerOf(() => withinTime(limit(request.bytes.byteLength), parse));
    return "packed" in answer ? { ...answer, outcome: outcomeOf("fallback", "time") } : answer;
  };
  return async (requests) => {
    const answers: ParseAnswer[] = [];
    /** How often the next file was interrupted. */
    let interruptions = 0;
    while (answers.length < requests.length) {
      const first = answers.length;
      const left = requests.slice(first, interruptions > 0 ? first + 1 : undefined);
      const parses = await Promise.all(left.map((request) => prepare(request).catch(failing)));
      const byteLength = left.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
      try {
        withinTime(limit(byteLength), () => {
          for (const parse of parses) answers.push(answerOf(parse));
        });
        interruptions = 0;
      } catch (error) {
        if (!(error instanceof TimeLimitError)) throw error;
        // The parser was interrupted within a file, so that it cannot be used any more.
        prepare = preparer(grammars, core);
        const isNext = answers.length === first;
        interruptions = isNext ? interruptions + 1 : 1;
        // The time can also end after the last file.
        const next = requests[answers.length];
        if (!next || ((!isNext || error.wasPaused) && interruptions < MAX_INTERRUPTIONS)) continue;
        answers.push(await asText(next));
        interruptions = 0;
      }
    }
    return answers;
  };
}

const failing = (error: unknown) => (): never => {
  throw error;
};

function answerOf(parse: () => ParseOutcome): ParseAnswer {
  try {
    const outcome = parse();
    if ("skip" in outcome) return outcome;
    const { file, analysis } = outcome;
    return {
      lineCount: file.lineCount,
      outcome: outcomeOf(file.outcome, file.fallbackReason),
      packed: packFile(file.symbols, file.chunks),
      analysis,
    };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** As in `SnapshotFile`. */
const outcomeOf = (outcome: ParsedFile["outcome"], reason: FallbackReason | undefined): string =>
  outcome === "fallback" ? `fallback:${reason ?? ""}` : outcome;
