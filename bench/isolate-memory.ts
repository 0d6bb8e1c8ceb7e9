/**
 * JavaScript memory of a Worker's isolate as counted by V8, sampled over the inspector while the Worker runs. WebAssembly
 * memories are not included.
 */

const INTERVAL_MS = 25;

/** Answer to `Runtime.getHeapUsage` of the Chrome DevTools Protocol, in bytes. */
interface HeapUsage {
  /** The JavaScript heap, including free space in its pages. */
  totalSize: number;
  embedderHeapUsedSize: number;
  /** Array buffers. Measured: at most 18 MB while the parser's WebAssembly memory is 34–72 MiB, so it does not contain that memory. */
  backingStorageSize: number;
}

export interface IsolateMemory {
  startBytes: number;
  /** Highest sum of the three counters so far. */
  peakBytes(): number;
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
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let lastId = 0;
  const call = (method: string): Promise<unknown> => {
    const id = ++lastId;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method }));
    return answer;
  };
  const read = async () => {
    const usage = (await call("Runtime.getHeapUsage")) as HeapUsage;
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
