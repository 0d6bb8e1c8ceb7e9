import { parentPort, workerData } from "node:worker_threads";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { storeParser, type StoreOutcome } from "./parse-file.ts";

export interface ParseRequest {
  id: number;
  bytes: Uint8Array;
  language: LanguageId;
}

export type ParseAnswer = { id: number } & (StoreOutcome | { error: string });

/** The parameters of `nodeGrammars`. */
export interface ParseWorkerData {
  grammars: string | undefined;
  core: WebAssembly.Module;
}

const { grammars, core } = workerData as ParseWorkerData;
const port = parentPort;
const parse = storeParser(grammars, core);

async function answer({ id, bytes, language }: ParseRequest): Promise<ParseAnswer> {
  try {
    return { id, ...(await parse(bytes, language)) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

port?.on("message", (request: ParseRequest) => {
  void answer(request).then((message) => port.postMessage(message));
});
