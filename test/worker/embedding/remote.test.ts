import { expect, it } from "vitest";
import {
  createEmbedder,
  readEmbedConfig,
  type Embedder,
  type UpstreamError,
} from "../../../src/engines/embedding/index.ts";

const vars = { EMBED_PROVIDER: "openai", EMBED_BASE_URL: "http://127.0.0.1:1/v1", EMBED_MODEL: "hidden" };

it("reaches out with the runtime's own fetch, handed over as it is", async () => {
  const embedder = createEmbedder(readEmbedConfig(vars), { fetch, sleep: async () => undefined }) as Embedder;
  const error: unknown = await embedder.embed(["a"], { inputType: "query" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "UPSTREAM_UNREACHABLE", retryable: true });
  expect((error as UpstreamError).detail).not.toMatch(/illegal/i);
  expect(JSON.stringify(error)).not.toMatch(/127|hidden|openai/);
});

it("reads an answer, base64 included", async () => {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(Float32Array.of(0.5, -2).buffer)));
  const answer = { data: [{ index: 0, embedding: base64 }], usage: { total_tokens: 3 } };
  const embedder = createEmbedder(readEmbedConfig(vars), { fetch: async () => Response.json(answer) }) as Embedder;
  expect(await embedder.embed(["a"], { inputType: "query" })).toEqual({
    vectors: [Float32Array.of(0.5, -2)],
    tokens: 3,
  });
});
