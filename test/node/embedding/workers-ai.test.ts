import { describe, expect, it } from "vitest";
import {
  createEmbedder,
  createReranker,
  readEmbedConfig,
  readRerankConfig,
  type AiBinding,
  type Embedder,
  type ProviderDeps,
  type Reranker,
} from "../../../src/engines/embedding/index.ts";
import { expectedScore, expectedVector } from "../../support/model-server.ts";

/** No binding exists outside Cloudflare, so this one answers in the shape of its published types. */
class LocalAi implements AiBinding {
  readonly calls: { model: string; inputs: Record<string, unknown> }[] = [];
  answer: ((inputs: Record<string, unknown>) => Promise<unknown>) | undefined;

  async run(model: string, inputs: Record<string, unknown>): Promise<unknown> {
    this.calls.push({ model, inputs });
    if (this.answer !== undefined) return await this.answer(inputs);
    if (Array.isArray(inputs["text"])) {
      const data = (inputs["text"] as string[]).map((text) => Array.from(expectedVector(text, 4)));
      return { shape: [data.length, 4], data, pooling: "cls" };
    }
    const contexts = inputs["contexts"] as { text: string }[];
    const response = contexts.map(({ text }, id) => ({ id, score: expectedScore(inputs["query"] as string, text) }));
    return { response: response.sort((a, b) => b.score - a.score).slice(0, inputs["top_k"] as number) };
  }
}

function depsWith(ai: AiBinding): ProviderDeps {
  return { fetch: () => Promise.reject(new Error("a binding needs no fetch")), sleep: async () => undefined, ai };
}

function embedderOn(ai: AiBinding, vars: Record<string, unknown> = {}): Embedder {
  return createEmbedder(readEmbedConfig({ EMBED_PROVIDER: "workers-ai", ...vars }), depsWith(ai)) as Embedder;
}

const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `text ${i}`);

describe("workers-ai", () => {
  it("embeds through the binding, 100 texts a call", async () => {
    const ai = new LocalAi();
    const inputs = texts(250);
    const { vectors, tokens } = await embedderOn(ai, { EMBED_MODEL: "@cf/baai/bge-small-en-v1.5" }).embed(inputs, {
      inputType: "document",
    });
    expect(vectors).toEqual(inputs.map((text) => expectedVector(text, 4)));
    expect(tokens).toBe(Math.ceil(inputs.join("").length / 4));
    expect(ai.calls.map(({ model, inputs: sent }) => [model, (sent["text"] as string[]).length])).toEqual([
      ["@cf/baai/bge-small-en-v1.5", 100],
      ["@cf/baai/bge-small-en-v1.5", 100],
      ["@cf/baai/bge-small-en-v1.5", 50],
    ]);
  });

  it("reranks all documents, whatever the model's default number of rows", async () => {
    const ai = new LocalAi();
    const reranker = createReranker(readRerankConfig({ RERANK_PROVIDER: "workers-ai" }), depsWith(ai)) as Reranker;
    const documents = texts(20);
    const { results } = await reranker.rerank("text", documents);
    const expected = documents.map((text, index) => ({ index, relevanceScore: expectedScore("text", text) }));
    expect(results).toEqual(expected.sort((a, b) => b.relevanceScore - a.relevanceScore));
  });

  it.each([
    ["too few vectors", { data: [[1, 2]] }],
    ["no vectors", { response: [] }],
    [
      "null components",
      {
        data: [
          [1, null],
          [1, 2],
        ],
      },
    ],
    ["a queued batch", { status: "queued", request_id: "0" }],
  ])("takes %s for UPSTREAM_ERROR", async (_name, answer) => {
    const ai = new LocalAi();
    ai.answer = async () => answer;
    await expect(embedderOn(ai).embed(["a", "b"], { inputType: "query" })).rejects.toMatchObject({
      code: "UPSTREAM_ERROR",
    });
    // An answer that cannot be used is asked for once more.
    expect(ai.calls).toHaveLength(2);
  });

  it("hides what the binding throws, and tries again", async () => {
    const ai = new LocalAi();
    ai.answer = () => Promise.reject(new Error("AiError: 3040: Capacity temporarily exceeded for @cf/baai/bge-m3"));
    const error: unknown = await embedderOn(ai)
      .embed(["a"], { inputType: "query" })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "UPSTREAM_ERROR", retryable: true });
    expect(JSON.stringify(error) + String(error)).not.toContain("bge");
    expect(ai.calls).toHaveLength(3);
  });

  it("does not wait for a binding that ignores its signal", async () => {
    const ai = new LocalAi();
    ai.answer = () => new Promise(() => undefined);
    const controller = new AbortController();
    const failed = embedderOn(ai).embed(["a"], { inputType: "query", signal: controller.signal });
    controller.abort();
    await expect(failed).rejects.toMatchObject({ code: "ABORTED" });
    await expect(
      embedderOn(ai, { UPSTREAM_TIMEOUT_MS: 50 }).embed(["a"], { inputType: "query" }),
    ).rejects.toMatchObject({
      code: "UPSTREAM_TIMEOUT",
    });
  });
});
