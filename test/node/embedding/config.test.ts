import { describe, expect, it } from "vitest";
import {
  createEmbedder,
  createReranker,
  readAiBinding,
  readEmbedConfig,
  readRerankConfig,
} from "../../../src/engines/embedding/index.ts";

const deps = { fetch: (url: string, init: RequestInit) => fetch(url, init) };

describe("readEmbedConfig", () => {
  it("falls back to the builtin provider", () => {
    expect(readEmbedConfig({})).toEqual({
      provider: "builtin",
      timeoutMs: 60_000,
      dimension: expect.any(Number) as number,
    });
  });

  it("reads every variable, as text or number, and drops the last slash", () => {
    const vars = {
      EMBED_PROVIDER: "openai",
      EMBED_BASE_URL: "http://127.0.0.1:9000/v1/",
      EMBED_MODEL: " bge ",
      EMBED_API_KEY: "k-1",
      EMBED_DIMENSION: 512,
      UPSTREAM_TIMEOUT_MS: "1500",
    };
    expect(readEmbedConfig(vars)).toEqual({
      provider: "openai",
      baseUrl: "http://127.0.0.1:9000/v1",
      model: "bge",
      apiKey: "k-1",
      dimension: 512,
      timeoutMs: 1500,
    });
  });

  it("takes an empty variable for an absent one", () => {
    const empty = {
      EMBED_PROVIDER: "",
      EMBED_BASE_URL: "",
      EMBED_API_KEY: "",
      EMBED_DIMENSION: "",
      UPSTREAM_TIMEOUT_MS: "",
    };
    expect(readEmbedConfig(empty)).toEqual(readEmbedConfig({}));
  });

  it.each([
    [{ EMBED_PROVIDER: "gpt" }, /EMBED_PROVIDER.*builtin, openai/],
    [{ EMBED_PROVIDER: "voyage" }, /EMBED_API_KEY.*EMBED_BASE_URL/],
    [{ EMBED_PROVIDER: "openai", EMBED_BASE_URL: "localhost:9000" }, /EMBED_BASE_URL.*http/],
    [
      { EMBED_PROVIDER: "openai", EMBED_BASE_URL: "https://me:s3cret@models.example/v1" },
      /EMBED_BASE_URL.*EMBED_API_KEY/,
    ],
    [{ EMBED_PROVIDER: "openai", EMBED_BASE_URL: "https://models.example/v1?key=s3cret" }, /EMBED_BASE_URL.*query/],
    [{ EMBED_PROVIDER: "openai", EMBED_API_KEY: "s3cret\nkey" }, /EMBED_API_KEY/],
    [{ EMBED_DIMENSION: "12.5" }, /EMBED_DIMENSION.*whole number/],
    [{ EMBED_DIMENSION: "159" }, /EMBED_DIMENSION.*from 160/],
    [{ EMBED_MODEL: "lexical", EMBED_DIMENSION: "0" }, /EMBED_DIMENSION.*from 32/],
    [{ EMBED_MODEL: "bge" }, /EMBED_MODEL.*terms or lexical/],
    [{ UPSTREAM_TIMEOUT_MS: "60s" }, /UPSTREAM_TIMEOUT_MS.*whole number/],
    [{ EMBED_MODEL: {} }, /EMBED_MODEL.*text/],
  ])("names variable and remedy for %j", (vars, message) => {
    expect(() => readEmbedConfig(vars)).toThrow(message);
    expect(() => readEmbedConfig(vars)).not.toThrow(/s3cret/);
  });
});

describe("readRerankConfig", () => {
  it("reads its own variables", () => {
    const vars = { EMBED_PROVIDER: "openai", RERANK_PROVIDER: "cohere", RERANK_API_KEY: "k", RERANK_MODEL: "m" };
    expect(readRerankConfig(vars)).toEqual({ provider: "cohere", apiKey: "k", model: "m", timeoutMs: 60_000 });
  });

  it("knows no openai", () => {
    expect(() => readRerankConfig({ RERANK_PROVIDER: "openai" })).toThrow(/RERANK_PROVIDER.*voyage, cohere/);
  });
});

describe("what is not configured", () => {
  it("is absent, not broken", () => {
    expect(createEmbedder(readEmbedConfig({ EMBED_PROVIDER: "none" }), deps)).toBeUndefined();
    expect(createReranker(readRerankConfig({ RERANK_PROVIDER: "none" }), deps)).toBeUndefined();
  });

  it("says which binding is missing", () => {
    expect(() => createEmbedder(readEmbedConfig({ EMBED_PROVIDER: "workers-ai" }), deps)).toThrow(
      /EMBED_PROVIDER.*AI binding/,
    );
    expect(() => createReranker(readRerankConfig({ RERANK_PROVIDER: "workers-ai" }), deps)).toThrow(/RERANK_PROVIDER/);
  });
});

describe("readAiBinding", () => {
  it("hands on the binding of a Worker that has one, so that workers-ai can be configured", async () => {
    const ai = { run: async () => ({ data: [[1, 0]], shape: [1, 2] }) };
    const vars = { AI: ai, EMBED_PROVIDER: "workers-ai", EMBED_MODEL: "@cf/some/model" };
    const embedder = createEmbedder(readEmbedConfig(vars), { ...deps, ...readAiBinding(vars) });
    expect((await embedder?.embed(["text"], { inputType: "document" }))?.vectors).toEqual([new Float32Array([1, 0])]);
    expect(readAiBinding({})).toEqual({});
    expect(readAiBinding({ AI: "no binding" })).toEqual({});
  });
});
