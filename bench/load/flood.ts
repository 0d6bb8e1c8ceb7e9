/** Worker thread: keeps `connections` copies of a request in flight until it is told to stop, whatever the answers are. */
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

export interface Flood {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  connections: number;
}

const { url, method, headers, body, connections } = workerData as Flood;
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const bytes = body === undefined ? undefined : Buffer.from(body);
const answers = new Map<number, number>();

function send(): void {
  const sent = request(url, {
    method,
    agent,
    headers: { ...headers, ...(bytes && { "Content-Length": bytes.length }) },
  });
  sent.on("response", (answer) => {
    const status = answer.statusCode ?? 0;
    answers.set(status, (answers.get(status) ?? 0) + 1);
    answer
      .on("end", send)
      .on("error", () => {})
      .resume();
  });
  sent.on("error", () => setTimeout(send, 10));
  sent.end(bytes);
}
for (let i = 0; i < connections; i++) send();
parentPort?.on("message", () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
  parentPort?.postMessage([...answers]);
  answers.clear();
});
