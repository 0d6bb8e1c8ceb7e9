import { parentPort, workerData } from "node:worker_threads";
import type { LanguageId } from "../../parsing/languages.ts";
import { createParser, type CodeParser } from "../../parsing/parser.ts";
import { nodeGrammars } from "../../parsing/grammars-node.ts";
import { contentSkipReason } from "../../parsing/skip.ts";
import type { ParsedFile } from "../../parsing/types.ts";

export interface ParseRequest {
  id: number;
  bytes: Uint8Array;
  language: LanguageId;
}

export type ParseAnswer =
  | { id: number; skip: string }
  | { id: number; file: Omit<ParsedFile, "text"> }
  | { id: number; error: string };

const { grammars } = workerData as { grammars: string | undefined };
const port = parentPort;
let parser: Promise<CodeParser> | undefined;

async function answer({ id, bytes, language }: ParseRequest): Promise<ParseAnswer> {
  try {
    const skip = contentSkipReason(bytes, language);
    if (skip !== undefined) return { id, skip };
    parser ??= createParser(nodeGrammars(grammars));
    const { text: _, ...file } = await (await parser).parse({ bytes, language });
    return { id, file };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

port?.on("message", (request: ParseRequest) => {
  void answer(request).then((message) => port.postMessage(message));
});
