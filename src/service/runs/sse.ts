import type { RunStatus } from "../../contract/index.ts";

/** Intermediaries drop idle connections; a comment line keeps them open. */
const KEEP_ALIVE_MS = 15_000;
/** Minimum interval between events: short enough to look live, long enough to be cheap. */
const MIN_INTERVAL_MS = 100;

/** One server-sent event: `event: status`, its data a run status as JSON. */
function encodeEvent(id: number, data: string): string {
  return `id: ${id}\nevent: status\ndata: ${data}\n\n`;
}

const ended = (status: RunStatus) => status.state !== "queued" && status.state !== "running";

/**
 * A stream of `status` events: the first immediately, later ones when `subscribe` pushes them (at most ten a second; the
 * last one is never dropped). A status is left out if the event before it was the same: workers report that they are alive, too. The stream
 * closes after the event that ends the run.
 */
export function sseStream(
  first: RunStatus,
  subscribe: (push: (status: RunStatus) => void) => () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stop = () => {};
  return new ReadableStream({
    type: "bytes",
    start(controller: ReadableByteStreamController) {
      let id = 0;
      let pending: RunStatus | undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let sent = "";
      const write = (status: RunStatus) => {
        const data = JSON.stringify(status);
        if (data === sent) return;
        sent = data;
        controller.enqueue(encoder.encode(encodeEvent(++id, data)));
      };
      const keepAlive = setInterval(() => controller.enqueue(encoder.encode(": keep-alive\n\n")), KEEP_ALIVE_MS);
      let unsubscribe = () => {};
      stop = () => {
        clearInterval(keepAlive);
        clearTimeout(timer);
        unsubscribe();
      };
      const finish = (status: RunStatus) => {
        stop();
        write(status);
        controller.close();
      };
      if (ended(first)) return finish(first);
      write(first);
      unsubscribe = subscribe((status) => {
        if (ended(status)) return finish(status);
        pending = status;
        timer ??= setTimeout(() => {
          timer = undefined;
          if (pending) write(pending);
        }, MIN_INTERVAL_MS);
      });
    },
    cancel: () => stop(),
  });
}
