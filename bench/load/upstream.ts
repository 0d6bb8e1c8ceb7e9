/** Worker thread: an embedding server that answers every request with the same vector in base64. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const { dimension } = workerData as { dimension: number };
const vector = Float32Array.from({ length: dimension }, (_, i) => Math.sin(i * 12.9898) / Math.sqrt(dimension / 2));
const answer = Buffer.from(
  JSON.stringify({
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: Buffer.from(vector.buffer).toString("base64") }],
    model: "bench",
    usage: { prompt_tokens: 12, total_tokens: 12 },
  }),
);
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": answer.length });
    response.end(answer);
  });
});
server.listen(0, "127.0.0.1", () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
  parentPort?.postMessage((server.address() as AddressInfo).port);
});
