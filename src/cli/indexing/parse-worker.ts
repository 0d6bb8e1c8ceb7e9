import { parentPort, workerData } from "node:worker_threads";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { storeParser, type StoreOutcome } from "./parse-file.ts";

export interface ParseRequest {
  bytes: Uint8Array;
  language: LanguageId;
}

export type ParseAnswer = StoreOutcome | { error: string };

/** The parameters of `nodeGrammars`. */
export interface ParseWorkerData {
  grammars: string | undefined;
  core: WebAssembly.Module;
}

const { grammars, core } = workerData as ParseWorkerData;
const port = parentPort;
const parse = storeParser(grammars, core);

async function answer({ bytes, language }: ParseRequest): Promise<ParseAnswer> {
  try {
    return await parse(bytes, language);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** The answers to several files, in their order. */
async function answers(requests: readonly ParseRequest[]): Promise<ParseAnswer[]> {
  const made: ParseAnswer[] = [];
  for (const request of requests) made.push(await answer(request));
  return made;
}

port?.on("message", (requests: ParseRequest[]) => {
  void answers(requests).then((message) => port.postMessage(message));
});
