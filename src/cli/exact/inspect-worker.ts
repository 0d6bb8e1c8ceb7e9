import { parentPort } from "node:worker_threads";
import { inspectText } from "../../engines/exact/inspect.ts";

const port = parentPort;

port?.on("message", (texts: Uint8Array[]) => port.postMessage(texts.map(inspectText)));
