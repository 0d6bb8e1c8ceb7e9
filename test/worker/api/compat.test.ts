import { describe, expect, it } from "vitest";
import type {
  CohereEmbedFloatsResponse,
  CohereEmbedResponse,
  CompatErrorBody,
  CompatRerankResponse,
  EmbeddingsResponse,
  EmbedResponse,
  UsageResponse,
} from "../../../src/contract/index.ts";
import { expectedScore, expectedVector } from "../../support/model-wire.ts";
import { createApiTenant } from "../support/api.ts";
import { startModels } from "../support/models.ts";
import { embedVars, rerankVars } from "./providers.ts";

describe("POST /v1/embeddings", () => {
  it.each(["/v1/embeddings", "/api/v1/embeddings", "/api/v1/v1/embeddings"])(
    "speaks OpenAI's format at %s",
    async (path) => {
      const models = await startModels({ tokens: 1_001, dimension: 3 });
      const tenant = await createApiTenant(embedVars(models.baseUrl));
      const { status, body } = await tenant.call<EmbeddingsResponse>(`POST ${path}`, {
        json: { model: "any", input: ["a", "b"] },
      });
      expect(status).toBe(200);
      expect(body).toEqual({
        object: "list",
        data: [0, 1].map((index) => ({ object: "embedding", index, embedding: expect.any(Array) })),
        model: expect.stringMatching(/^emb_/),
        usage: { prompt_tokens: 1_001, total_tokens: 1_001 },
      });
      const vectors = body.data.map(({ embedding }) => Float32Array.from(embedding as number[]));
      expect(vectors).toEqual([expectedVector("a", 3), expectedVector("b", 3)]);
      const { body: usage } = await tenant.call<UsageResponse>("GET /usage");
      expect(usage).toMatchObject({ credits: { used: 2 }, tokens: { embed: 1_001 }, calls: { embed: 1 } });
    },
  );

  it("takes one string, and gives base64 of little-endian float32", async () => {
    const tenant = await createApiTenant();
    const { body } = await tenant.call<EmbeddingsResponse>("POST /v1/embeddings", {
      json: { model: "any", input: "some text", encoding_format: "base64" },
    });
    const bytes = Buffer.from(String(body.data[0]?.embedding), "base64");
    const vector = Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
    const native = await tenant.call<EmbedResponse>("POST /embed", { json: { input: ["some text"] } });
    expect(vector).toEqual(Float32Array.from(native.body.embeddings[0]?.vector ?? []));
  });

  it.each([
    ["token ids", { model: "m", input: [1, 2, 3] }, "input", /check_embedding_ctx_length=False/],
    ["arrays of token ids", { model: "m", input: [[1, 2]] }, "input", /token/],
    ["no input", { model: "m" }, "input", /required/],
    ["an empty string", { model: "m", input: "" }, "input", /empty/],
    ["an empty string among others", { model: "m", input: ["a", ""] }, "input", /empty/],
    ["129 strings", { model: "m", input: Array.from({ length: 129 }, () => "a") }, "input", /128/],
    ["no model", { input: "a" }, "model", /required/],
    ["another space", { model: `emb_${"0".repeat(32)}`, input: "a" }, "model", /emb_/],
    [
      "other dimensions",
      { model: "m", input: "a", dimensions: 7 },
      "dimensions",
      /dimension in the client's settings to 256/,
    ],
    ["an unknown encoding", { model: "m", input: "a", encoding_format: "hex" }, "encoding_format", /base64/],
  ])("rejects %s in OpenAI's envelope, and charges nothing", async (_, json, param, message) => {
    const tenant = await createApiTenant({}, 1);
    const { status, body } = await tenant.call<CompatErrorBody>("POST /v1/embeddings", { json });
    expect(status).toBe(400);
    expect(body.error).toEqual({
      message: expect.stringMatching(message),
      type: "invalid_request_error",
      code: "invalid_body",
      param,
    });
    const { body: usage } = await tenant.call<UsageResponse>("GET /usage");
    expect(usage.credits.used).toBe(0);
    expect((await tenant.call("POST /v1/embeddings", { json: { model: "m", input: "a" } })).status).toBe(200);
  });

  it("takes its own fingerprint and dimension", async () => {
    const tenant = await createApiTenant();
    const models = await tenant.call<{ data: { id: string }[] }>("GET /v1/models");
    const model = models.body.data[0]?.id;
    const { status, body } = await tenant.call("POST /v1/embeddings", { json: { model, input: "a", dimensions: 256 } });
    expect([status, body["model"]]).toEqual([200, model]);
  });

  it("embeds as a query when asked to", async () => {
    const models = await startModels({ api: "voyage" });
    const tenant = await createApiTenant(embedVars(models.baseUrl, "voyage"));
    await tenant.call("POST /v1/embeddings", { json: { model: "m", input: "a", input_type: "query" } });
    expect((await models.requests())[0]?.body["input_type"]).toBe("query");
  });

  it("names its errors as OpenAI does", async () => {
    const tenant = await createApiTenant({}, 0);
    const json = { model: "m", input: "a" };
    const quota = await tenant.call("POST /v1/embeddings", { json });
    expect(quota).toMatchObject({
      status: 429,
      body: { error: { type: "insufficient_quota", code: "insufficient_quota" } },
    });
    expect(quota.headers.get("X-Should-Retry")).toBe("false");
    const key = await tenant.call("POST /v1/embeddings", { json, credential: "sk-x" });
    expect(key).toMatchObject({ status: 401, body: { error: { code: "invalid_api_key" } } });
    const none = await createApiTenant({ EMBED_PROVIDER: "none" });
    const unavailable = await none.call("POST /v1/embeddings", { json });
    expect(unavailable).toMatchObject({
      status: 503,
      body: { error: { type: "server_error", code: "embed_unavailable" } },
    });
    const large = await none.call("POST /v1/embeddings", { json: { model: "m", input: "a".repeat(480_001) } });
    expect(large).toMatchObject({ status: 413, body: { error: { code: "input_too_large" } } });
  });
});

describe("POST /v1/embed and /v2/embed", () => {
  const texts = ["function add(a, b)", "class Stack"];
  const meta = (version: string) => ({ api_version: { version }, billed_units: { input_tokens: 1_001 } });
  const floats = texts.map((text) => [...expectedVector(text, 3, "document")]);

  async function start() {
    const models = await startModels({ api: "voyage", tokens: 1_001, dimension: 3 });
    return { models, tenant: await createApiTenant(embedVars(models.baseUrl, "voyage")) };
  }

  it.each(["/v2/embed", "/api/v1/v2/embed"])(
    "speaks version 2 of Cohere's format at %s, metered as an embed call",
    async (path) => {
      const { tenant } = await start();
      // What the Cohere SDK and the Vercel AI SDK send.
      const json = { model: "embed-v4.0", texts, input_type: "search_document", embedding_types: ["float"] };
      const { status, body } = await tenant.call<CohereEmbedResponse>(`POST ${path}`, { json });
      expect(status).toBe(200);
      expect(body).toEqual({
        id: expect.any(String),
        response_type: "embeddings_by_type",
        embeddings: { float: expect.any(Array) },
        texts,
        meta: meta("2"),
      });
      expect(body.embeddings.float?.map((vector) => Float32Array.from(vector))).toEqual(
        floats.map((v) => Float32Array.from(v)),
      );
      const { body: usage } = await tenant.call<UsageResponse>("GET /usage");
      expect(usage).toMatchObject({ credits: { used: 2 }, tokens: { embed: 1_001 }, calls: { embed: 1 } });
    },
  );

  it("speaks version 1: plain vectors, or by type where types are asked for", async () => {
    const { tenant } = await start();
    const json = { model: "embed-english-v3.0", texts, input_type: "search_document" };
    const plain = await tenant.call<CohereEmbedFloatsResponse>("POST /v1/embed", { json });
    expect(plain.body).toMatchObject({ response_type: "embeddings_floats", texts, meta: meta("1") });
    expect(plain.body.embeddings.map((vector) => Float32Array.from(vector))).toEqual(
      floats.map((v) => Float32Array.from(v)),
    );
    // LangChain.js asks for types.
    const typed = await tenant.call<CohereEmbedResponse>("POST /v1/embed", {
      json: { ...json, embedding_types: ["float", "base64"] },
    });
    expect(typed.body).toMatchObject({
      response_type: "embeddings_by_type",
      embeddings: { float: plain.body.embeddings },
    });
    const bytes = Buffer.from(typed.body.embeddings.base64?.[0] ?? "", "base64");
    expect([0, 4, 8].map((at) => bytes.readFloatLE(at))).toEqual(floats[0]);
  });

  it("joins the parts of inputs, and embeds queries as queries", async () => {
    const { models, tenant } = await start();
    const parts = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    const json = { model: "m", inputs: [{ content: parts }], input_type: "search_query" };
    expect((await tenant.call<CohereEmbedResponse>("POST /v2/embed", { json })).body.texts).toEqual(["one\ntwo"]);
    expect((await models.requests())[0]?.body).toMatchObject({ input: ["one\ntwo"], input_type: "query" });
  });

  it.each([
    ["no texts", { model: "m" }, "texts", /required/],
    ["texts and inputs", { texts, inputs: [{ content: [{ type: "text", text: "a" }] }] }, "texts", /together/],
    ["an image", { inputs: [{ content: [{ type: "image_url", image_url: { url: "x" } }] }] }, "inputs", /texts/],
    ["images", { images: ["data:image/png;base64,"] }, "images", /texts/],
    ["quantized vectors", { texts, embedding_types: ["int8"] }, "embedding_types", /not quantized/],
    [
      "another dimension",
      { texts, output_dimension: 1_536 },
      "output_dimension",
      /dimension in the client's settings to 256/,
    ],
    ["129 texts", { texts: Array.from({ length: 129 }, () => "a") }, "texts", /batchSize/],
    ["an unknown input type", { texts, input_type: "query" }, "input_type", /search_query/],
  ])("rejects %s, says what mends it, and charges nothing", async (_, json, param, message) => {
    const tenant = await createApiTenant({}, 1);
    const { status, body } = await tenant.call<CompatErrorBody>("POST /v2/embed", { json });
    expect([status, body.error.param]).toEqual([400, param]);
    // Cohere's clients show `message`.
    expect(body.message).toMatch(message);
    expect((await tenant.call<UsageResponse>("GET /usage")).body.credits.used).toBe(0);
  });
});

describe("POST /v1/rerank", () => {
  const documents = ["one", "two", "three"];
  const ranked = documents
    .map((document, index) => ({ index, relevance_score: expectedScore("q", document) }))
    .toSorted((a, b) => b.relevance_score - a.relevance_score);

  it.each(["/v1/rerank", "/v2/rerank", "/api/v1/v1/rerank"])(
    "speaks Cohere's and Jina's format at %s, best first",
    async (path) => {
      const models = await startModels({ api: "jina", tokens: 1_200 });
      const tenant = await createApiTenant(rerankVars(models.baseUrl));
      const { status, body } = await tenant.call<CompatRerankResponse>(`POST ${path}`, {
        json: { model: "any", query: "q", documents },
      });
      expect(status).toBe(200);
      expect(body).toEqual({
        id: expect.any(String),
        model: expect.stringMatching(/^rrk_/),
        results: ranked,
        meta: { billed_units: { input_tokens: 1_200 } },
        usage: { total_tokens: 1_200 },
      });
      expect((await tenant.call<UsageResponse>("GET /usage")).body).toMatchObject({
        credits: { used: 2 },
        calls: { rerank: 1 },
      });
    },
  );

  it("takes the fields that LangChain.js sends empty", async () => {
    const tenant = await createApiTenant();
    const json = { model: "any", query: "q", documents, top_n: 3, max_chunks_per_doc: null };
    const { status, body } = await tenant.call<CompatRerankResponse>("POST /v1/rerank", { json });
    expect([status, body.results?.length]).toEqual([200, 3]);
  });

  it("takes documents as objects, keeps the best, and sends their text back", async () => {
    const models = await startModels({ api: "jina" });
    const tenant = await createApiTenant(rerankVars(models.baseUrl));
    const json = {
      query: "q",
      documents: documents.map((text) => ({ text, title: "x" })),
      top_n: 2,
      return_documents: true,
    };
    const { body } = await tenant.call<CompatRerankResponse>("POST /v1/rerank", { json });
    expect(body.results).toEqual(
      ranked
        .slice(0, 2)
        .map(({ index, relevance_score }) => ({ index, relevance_score, document: { text: documents[index] } })),
    );
  });

  it.each([
    ["no query", { documents }, "query"],
    ["a document without text", { query: "q", documents: [{ title: "x" }] }, "documents"],
    ["top_n of nothing", { query: "q", documents, top_n: 0 }, "top_n"],
    ["another model's fingerprint", { model: `rrk_${"0".repeat(32)}`, query: "q", documents }, "model"],
  ])("rejects %s", async (_, json, param) => {
    const tenant = await createApiTenant();
    const { status, body } = await tenant.call<CompatErrorBody>("POST /v1/rerank", { json });
    expect([status, body.error.param]).toEqual([400, param]);
    expect(body.message).toBe(body.error.message);
  });
});
