/**
 * The service for the CLI and an OpenAI-compatible embedder for its peers: the same vectors, the same latency a request, in a
 * process of their own. Arguments: dimension, latency in milliseconds. Prints its URL.
 */
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { FakeService } from "../../test/node/cli/support/service.ts";

const [dimension = "256", latencyMs = "0"] = process.argv.slice(2);
const service = await new FakeService().start();
service.dimension = Number(dimension);
if (Number(latencyMs) > 0) service.faults.embedDelayMs = Number(latencyMs);

const openai = createServer((request, response) => {
  void (async () => {
    const { input } = (await json(request)) as { input: string | string[] };
    const upstream = await fetch(`${service.url}/embed`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.key}` },
      body: JSON.stringify({ input: [input].flat() }),
    });
    const { embeddings } = (await upstream.json()) as { embeddings: { index: number; vector: number[] }[] };
    const data = embeddings.map(({ index, vector }) => ({ object: "embedding", index, embedding: vector }));
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ object: "list", model: "mock", data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
  })();
});
openai.listen(0, "127.0.0.1", () => {
  const address = openai.address();
  const port = typeof address === "object" && address ? address.port : 0;
  console.log(JSON.stringify({ url: service.url, key: service.key, openai: `http://127.0.0.1:${port}/v1` }));
});
