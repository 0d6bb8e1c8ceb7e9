/**
 * `npm run bench -- isolate-memory <bare repository>… [--old-space MB] [--semi-space MB]`
 * Memory of the indexer's isolate while the local stack indexes each repository: JavaScript heap, array buffers, and
 * WebAssembly memory. The options bound V8's heap, which Cloudflare bounds to 128 MB with the rest; a run that needs more fails.
 */
import { parseArgs } from "node:util";
import path from "node:path";
import { openDb } from "../src/service/db/client.ts";
import { startGitServer } from "../src/tooling/local/git/git-server.ts";
import { freePort } from "../src/tooling/local/stack/ports.ts";
import { startService } from "../src/tooling/local/stack/service.ts";
import { INDEXER_NAME } from "../src/tooling/local/stack/workers.ts";
import { createWorkspace } from "../src/service/tenancy/index.ts";
import { indexToEnd } from "./index-to-end.ts";
import { mib, temporaryFolder } from "./support.ts";

const INTERVAL_MS = 25;

/** Answer to `Runtime.getHeapUsage` of the Chrome DevTools Protocol, in bytes. */
interface HeapUsage {
  /** The JavaScript heap, including free space in its pages. */
  totalSize: number;
  embedderHeapUsedSize: number;
  /** Array buffers. Measured: at most 18 MB while the parser's WebAssembly memory is 34–72 MiB, so it does not contain that memory. */
  backingStorageSize: number;
}

/** An answer to a call, or an event. */
interface Message {
  id?: number;
  result?: unknown;
  method?: string;
  params?: { context?: { id: number } };
}

/** What the inspector answers about objects. */
interface Remote {
  result?: { objectId?: string; value?: unknown };
  objects?: { objectId?: string };
}

export interface IsolateMemory {
  startBytes: number;
  /** Highest sum of the three counters so far, or since `restart`. */
  peakBytes(): number;
  /** Highest JavaScript heap and highest array buffers, likewise. */
  peaks(): { heapBytes: number; bufferBytes: number };
  restart(): void;
  /** Size of all WebAssembly memories, which only grow. */
  wasmBytes(): Promise<number>;
  /** Sum of the three counters after a garbage collection. */
  liveBytes(): Promise<number>;
  stop(): void;
}

/** Samples the isolate whose name ends with `worker`. Throws if there is none. */
export async function watchIsolate(inspectorPort: number, worker: string): Promise<IsolateMemory> {
  const response = await fetch(`http://127.0.0.1:${inspectorPort}/json`);
  const targets = (await response.json()) as { id: string; webSocketDebuggerUrl: string }[];
  const target = targets.find(({ id }) => id.endsWith(worker));
  if (!target) throw new Error(`the inspector lists no target ${worker}`);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  let contextId: number | undefined;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result, method, params } = JSON.parse(String(data)) as Message;
    if (method === "Runtime.executionContextCreated") contextId = params?.context?.id;
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let lastId = 0;
  const call = (method: string, params: object = {}): Promise<unknown> => {
    const id = ++lastId;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    return answer;
  };
  const peaks = { heapBytes: 0, bufferBytes: 0 };
  const read = async () => {
    const usage = (await call("Runtime.getHeapUsage")) as HeapUsage;
    peaks.heapBytes = Math.max(peaks.heapBytes, usage.totalSize);
    peaks.bufferBytes = Math.max(peaks.bufferBytes, usage.backingStorageSize);
    return usage.totalSize + usage.embedderHeapUsedSize + usage.backingStorageSize;
  };
  const startBytes = await read();
  let peak = startBytes;
  const stopping = new AbortController();
  const sample = async () => {
    while (!stopping.signal.aborted) {
      peak = Math.max(peak, await read());
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  };
  // If the stack stops first, the pending request is never answered; nothing waits for it.
  void sample();
  return {
    startBytes,
    peakBytes: () => peak,
    restart: () => {
      peak = 0;
      peaks.heapBytes = 0;
      peaks.bufferBytes = 0;
    },
    peaks: () => peaks,
    wasmBytes: async () => {
      await call("Runtime.enable");
      const expression = "WebAssembly.Memory.prototype";
      const prototype = (await call("Runtime.evaluate", { expression, contextId })) as Remote;
      const all = (await call("Runtime.queryObjects", { prototypeObjectId: prototype.result?.objectId })) as Remote;
      const sum = (await call("Runtime.callFunctionOn", {
        objectId: all.objects?.objectId,
        functionDeclaration: "function () { return this.reduce((sum, { buffer }) => sum + buffer.byteLength, 0); }",
      })) as Remote;
      return Number(sum.result?.value);
    },
    liveBytes: async () => {
      await call("HeapProfiler.collectGarbage");
      return read();
    },
    stop: () => {
      stopping.abort();
      socket.close();
    },
  };
}

export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { "old-space": { type: "string" }, "semi-space": { type: "string" } },
  });
  const flags = [
    values["old-space"] && `--max-old-space-size=${values["old-space"]}`,
    values["semi-space"] && `--max-semi-space-size=${values["semi-space"]}`,
  ].filter((flag) => flag !== undefined);
  if (flags.length > 0) process.env["MINIFLARE_WORKERD_V8_FLAGS"] = flags.join(" ");
  console.log(`V8 flags: ${flags.join(" ") || "none"}`);
  for (const given of positionals) await measure(path.resolve(given));
}

async function measure(repository: string): Promise<void> {
  const server = await startGitServer(path.dirname(repository));
  const inspectorPort = await freePort();
  const running = await startService({
    dataDir: temporaryFolder("data"),
    port: 0,
    sitePort: 0,
    inspectorPort,
    vars: { GIT_ALLOW_LOCAL: "true", RATE_LIMITS: '{"index":{"limit":1000}}' },
  });
  const { service } = running;
  try {
    const isolate = await watchIsolate(inspectorPort, INDEXER_NAME);
    const { workspaceId } = await createWorkspace(openDb(service.databaseUrl), { tenantId: service.tenantId });
    const url = `${server.origin}/${path.basename(repository)}`;
    const run = await indexToEnd(service, workspaceId, url);
    const { heapBytes, bufferBytes } = isolate.peaks();
    const name = path.basename(repository).padEnd(20);
    const peaks = `heap ${mib(heapBytes)}, buffers ${mib(bufferBytes)}`;
    if (run.result === undefined) {
      // An isolate that ran out of memory takes the process with it; the run is tried again until its attempts are used up.
      console.log(`${name} ${run.state}: ${run.error?.code}; peaks: ${peaks}`);
      return;
    }
    const { fileCount, symbolCount } = run.result;
    const wasmBytes = await isolate.wasmBytes();
    const sum = isolate.peakBytes() + wasmBytes;
    console.log(
      `${name} ${fileCount} files, ${symbolCount} symbols; peaks: ${peaks}, WebAssembly ${mib(wasmBytes)}, at once ${mib(sum)}`,
    );
    isolate.stop();
  } finally {
    await running.stop();
    await server.close();
  }
}
