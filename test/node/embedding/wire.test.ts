import { afterEach, describe, expect, it } from "vitest";
import {
  createEmbedder,
  createReranker,
  estimateTokens,
  readEmbedConfig,
  readRerankConfig,
  type Embedder,
  type ProviderDeps,
  type Reranker,
} from "../../../src/engines/embedding/index.ts";
import {
  expectedScore,
  expectedVector,
  startModelServer,
  type ModelApi,
  type ModelServer,
  type ModelServerOptions,
} from "../../support/model-server.ts";
import { cohereEmbedding, cohereRerank } from "../../../src/engines/embedding/providers/cohere.ts";

const KEY = "sk-test-0123456789abcdef";
let server: ModelServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

const deps: ProviderDeps = { fetch: (url, init) => fetch(url, init) };

async function embedderOn(
  options: ModelServerOptions,
  vars: Record<string, unknown> = {},
  more: Partial<ProviderDeps> = {},
): Promise<Embedder> {
  server = await startModelServer({ apiKey: KEY, ...options });
  const config = readEmbedConfig({
    EMBED_PROVIDER: options.api,
    EMBED_BASE_URL: server.baseUrl,
    EMBED_API_KEY: KEY,
    ...vars,
  });
  return createEmbedder(config, { ...deps, ...more }) as Embedder;
}

async function rerankerOn(options: ModelServerOptions, more: Partial<ProviderDeps> = {}): Promise<Reranker> {
  server = await startModelServer({ apiKey: KEY, ...options });
  const config = readRerankConfig({
    RERANK_PROVIDER: options.api,
    RERANK_BASE_URL: server.baseUrl,
    RERANK_API_KEY: KEY,
  });
  return createReranker(config, { ...deps, ...more }) as Reranker;
}

const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `function number${i}() {}`);
const characters = (all: readonly string[]): number => all.join("").length;

const EMBED_APIS: ModelApi[] = ["openai", "voyage", "cohere", "jina"];
const RERANK_APIS: ModelApi[] = ["voyage", "cohere", "jina"];

describe.each(EMBED_APIS)("embeddings of %s", (api) => {
  const kind = (inputType: "document" | "query"): "document" | "query" | "none" =>
    api === "openai" ? "none" : inputType;

  it.each(["document", "query"] as const)(
    "come back in order, with the kind %s sent in its own field",
    async (inputType) => {
      const embedder = await embedderOn({ api });
      const inputs = texts(5);
      const { vectors, tokens } = await embedder.embed(inputs, { inputType });
      expect(vectors).toEqual(inputs.map((text) => expectedVector(text, 8, kind(inputType))));
      expect(tokens).toBe(characters(inputs));
      expect(server?.requests).toHaveLength(1);
    },
  );

  it("are asked for, and read, as base64", async () => {
    const embedder = await embedderOn({ api });
    await embedder.embed(["a"], { inputType: "document" });
    const body = server?.requests[0]?.body;
    expect([body?.["encoding_format"], body?.["embedding_type"], body?.["embedding_types"]].flat()).toContain("base64");
  });

  it("are read as numbers where the server knows no base64", async () => {
    const embedder = await embedderOn({ api, floatsOnly: true });
    const { vectors } = await embedder.embed(["a", "b"], { inputType: "query" });
    expect(vectors).toEqual([expectedVector("a", 8, kind("query")), expectedVector("b", 8, kind("query"))]);
  });

  it("have the dimension asked for", async () => {
    const embedder = await embedderOn({ api }, { EMBED_DIMENSION: 5 });
    expect(embedder.dimension).toBe(5);
    const { vectors } = await embedder.embed(["a"], { inputType: "document" });
    expect(vectors[0]).toHaveLength(5);
  });

  it("have their tokens estimated where the server reports none", async () => {
    const embedder = await embedderOn({ api, tokens: "none" });
    const inputs = texts(3);
    expect((await embedder.embed(inputs, { inputType: "document" })).tokens).toBe(Math.ceil(characters(inputs) / 4));
    expect(estimateTokens(inputs)).toBe(Math.ceil(characters(inputs) / 4));
  });

  it("are split at the provider's limit of items, in bounded concurrency, and put together in order", async () => {
    const embedder = await embedderOn({ api }, {}, { concurrency: 2 });
    const inputs = texts(2_500);
    const { vectors, tokens } = await embedder.embed(inputs, { inputType: "document" });
    expect(vectors).toEqual(inputs.map((text) => expectedVector(text, 8, kind("document"))));
    expect(tokens).toBe(characters(inputs));
    expect(server?.requests.length).toBeGreaterThan(2);
    expect(server?.maxInFlight).toBeLessThanOrEqual(2);
  });

  it("are halved when the server rejects a call as too large, and stay halved", async () => {
    const embedder = await embedderOn({ api, maxItems: 8 });
    const inputs = texts(32);
    const { vectors, tokens } = await embedder.embed(inputs, { inputType: "document" });
    expect(vectors).toEqual(inputs.map((text) => expectedVector(text, 8, kind("document"))));
    expect(tokens).toBe(characters(inputs));
    server?.reset();
    await embedder.embed(inputs, { inputType: "document" });
    expect(server?.requests).toHaveLength(4);
  });

  it("determine their dimension with one short call, and cache it", async () => {
    const embedder = await embedderOn({ api });
    expect(embedder.dimension).toBeUndefined();
    expect(await embedder.probeDimension()).toBe(8);
    expect(await embedder.probeDimension()).toBe(8);
    expect(embedder.dimension).toBe(8);
    expect(server?.requests).toHaveLength(1);
  });
});

describe("code models of jina", () => {
  it.each(["document", "query"] as const)("have tasks of their own for a %s", async (inputType) => {
    const embedder = await embedderOn({ api: "jina" }, { EMBED_MODEL: "jina-code-embeddings-1.5b" });
    const { vectors } = await embedder.embed(["a"], { inputType });
    expect(vectors).toEqual([expectedVector("a", 8, inputType)]);
  });
});

describe("token limits", () => {
  it("split a call before the provider's limit is near", async () => {
    const embedder = await embedderOn({ api: "voyage" }, { EMBED_MODEL: "voyage-code-3" });
    const inputs = texts(4).map((text) => text.padEnd(100_000, "x "));
    const { vectors } = await embedder.embed(inputs, { inputType: "document" });
    expect(vectors).toEqual(inputs.map((text) => expectedVector(text, 8, "document")));
    // 120,000 tokens a call: two texts of 100,000 characters are 50,000 to 100,000 tokens, three may be too many.
    expect(server?.requests.map(({ body }) => (body["input"] as string[]).length)).toEqual([2, 2]);
  });
});

describe.each(RERANK_APIS)("reranking of %s", (api) => {
  it("keeps the order of the provider and the positions of the documents", async () => {
    const reranker = await rerankerOn({ api });
    const documents = texts(10);
    const { results, tokens } = await reranker.rerank("number 3", documents);
    const scores = documents.map((document, index) => ({ index, relevanceScore: expectedScore("number 3", document) }));
    expect(results).toEqual(scores.sort((a, b) => b.relevanceScore - a.relevanceScore));
    expect(tokens).toBe(characters(["number 3", ...documents]));
  });

  it("estimates tokens where the server reports none", async () => {
    const reranker = await rerankerOn({ api, tokens: "none" });
    expect((await reranker.rerank("query", ["document"])).tokens).toBe(Math.ceil("querydocument".length / 4));
  });

  it("merges split calls in call order, with every document once", async () => {
    const reranker = await rerankerOn({ api });
    const documents = texts(2_300);
    const { results } = await reranker.rerank("q", documents);
    expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(documents.map((_, index) => index));
    for (const { index, relevanceScore } of results)
      expect(relevanceScore).toBe(expectedScore("q", documents[index] as string));
    expect(results.slice(0, 1_000).every(({ index }) => index < 1_000)).toBe(true);
    expect(server?.requests).toHaveLength(3);
  });
});

describe("Cohere's tokens", () => {
  it.each([
    ["meta.tokens", { tokens: { input_tokens: 6_000 } }, 6_000],
    ["meta.billed_units", { billed_units: { input_tokens: 700 } }, 700],
    [
      "meta.tokens before meta.billed_units",
      { tokens: { input_tokens: 6_000 }, billed_units: { input_tokens: 7 } },
      6_000,
    ],
    ["neither", { billed_units: { search_units: 1 } }, undefined],
  ])("are those of %s", (_, meta, tokens) => {
    const config = { model: undefined, dimension: undefined };
    const embedded = cohereEmbedding(config).read({ embeddings: { float: [[1]] }, meta }, 1);
    const ranked = cohereRerank(config).read({ results: [{ index: 0, relevance_score: 1 }], meta }, 1);
    expect([embedded.tokens, ranked.tokens]).toEqual([tokens, tokens]);
  });
});

describe("fingerprint", () => {
  const of = (vars: Record<string, unknown>): string =>
    (createEmbedder(readEmbedConfig({ EMBED_PROVIDER: "openai", EMBED_API_KEY: "k", ...vars }), deps) as Embedder)
      .fingerprint;

  it("is opaque and follows address, model and dimension, not the key", () => {
    const base = of({ EMBED_MODEL: "m" });
    expect(base).toMatch(/^emb_[0-9a-f]{32}$/);
    expect(of({ EMBED_MODEL: "m", EMBED_API_KEY: "other" })).toBe(base);
    const elsewhere = of({ EMBED_MODEL: "m", EMBED_BASE_URL: "http://127.0.0.1:1/v1" });
    expect(elsewhere).not.toBe(base);
    expect(of({ EMBED_MODEL: "m", EMBED_BASE_URL: "http://127.0.0.1:1/v1/" })).toBe(elsewhere);
    expect(of({ EMBED_MODEL: "m", EMBED_BASE_URL: "http://127.0.0.1:2/v1" })).not.toBe(elsewhere);
    expect(of({ EMBED_MODEL: "n" })).not.toBe(base);
    expect(of({ EMBED_MODEL: "m", EMBED_DIMENSION: 8 })).not.toBe(base);
    expect(of({ EMBED_PROVIDER: "voyage", EMBED_MODEL: "m" })).not.toBe(base);
  });

  it("follows EMBED_SPACE in place of the address where that is set", () => {
    const at = (port: number, space: string) =>
      of({ EMBED_MODEL: "m", EMBED_BASE_URL: `http://127.0.0.1:${port}/v1`, EMBED_SPACE: space });
    expect(at(1, "mine")).toBe(at(2, "mine"));
    expect(at(1, "mine")).not.toBe(at(1, "other"));
    expect(at(1, "")).not.toBe(at(2, ""));
  });
});
