import { parentPort, workerData } from "node:worker_threads";
import { type ParseRequest, storeParser } from "./parse-file.ts";

/** The parameters of `nodeGrammars`. */
export interface ParseWorkerData {
  grammars: string | undefined;
  core: WebAssembly.Module;
}

const { grammars, core } = workerData as ParseWorkerData;
const port = parentPort;
const parse = storeParser(grammars, core);

port?.on("message", (requests: ParseRequest[]) => {
  void parse(requests).then((answers) => port.postMessage(answers));
});
