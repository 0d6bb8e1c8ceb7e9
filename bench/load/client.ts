/** Worker thread: keeps `connections` requests in flight over plain sockets for a while, and reports every latency. */
import { connect } from "node:net";
import { parentPort } from "node:worker_threads";

export interface Load {
  port: number;
  /** The whole request, byte for byte. */
  request: Buffer;
  connections: number;
  durationMs: number;
}

export interface LoadResult {
  latenciesMs: number[];
  elapsedMs: number;
  /** First unsuccessful answer, if any. */
  failure: string | undefined;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

function drive({ port, request, connections, durationMs }: Load): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let failure: string | undefined;
  const startedAt = performance.now();
  const endAt = startedAt + durationMs;
  const one = () =>
    new Promise<void>((resolve) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      let received: Buffer = Buffer.alloc(0);
      let sentAt = 0;
      const send = () => {
        received = Buffer.alloc(0);
        sentAt = performance.now();
        socket.write(request);
      };
      socket.on("connect", send);
      socket.on("data", (chunk) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        if (!isComplete(received)) return;
        const now = performance.now();
        latenciesMs.push(now - sentAt);
        if (!received.subarray(0, 12).toString("latin1").endsWith(" 200"))
          failure ??= received.toString("utf8").slice(0, 600);
        if (now < endAt && failure === undefined) send();
        else socket.destroy();
      });
      socket.on("error", (error) => (failure ??= error.message));
      socket.on("close", () => resolve());
    });
  return Promise.all(Array.from({ length: connections }, one)).then(() => ({
    latenciesMs,
    elapsedMs: performance.now() - startedAt,
    failure,
  }));
}

function isComplete(bytes: Buffer): boolean {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return false;
  const head = bytes.toString("latin1", 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return bytes.length >= headEnd + HEAD_END.length + Number(length);
  return bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
}

parentPort?.on("message", (load: Load) => {
  drive({ ...load, request: Buffer.from(load.request) }).then(
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    (result) => parentPort?.postMessage(result),
    (error: unknown) => {
      throw error;
    },
  );
});
