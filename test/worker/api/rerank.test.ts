import { describe, expect, it } from "vitest";
import { MAX_INPUT_CHARACTERS, type RerankResponse, type UsageResponse } from "../../../src/contract/index.ts";
import { expectedScore } from "../../support/model-wire.ts";
import { createApiTenant } from "../support/api.ts";
import { startModels } from "../support/models.ts";
import { rerankVars } from "./providers.ts";

describe("POST /rerank", () => {
  it("gives the provider's rows in the provider's order, and charges its tokens", async () => {
    const models = await startModels({ api: "jina", tokens: 1_500 });
    const tenant = await createApiTenant(rerankVars(models.baseUrl));
    const documents = ["one", "two", "three", "four"];
    const { status, body } = await tenant.call<RerankResponse>("POST /rerank", { json: { query: "q", documents } });
    expect(status).toBe(200);
    const scores = documents.map((document, index) => ({ index, relevanceScore: expectedScore("q", document) }));
    expect(body).toEqual({
      ok: true,
      results: scores.toSorted((a, b) => b.relevanceScore - a.relevanceScore),
      usage: { credits: 2 },
    });
    expect((await tenant.call<UsageResponse>("GET /usage")).body).toMatchObject({
      credits: { used: 2 },
      tokens: { embed: 0, rerank: 1_500 },
      calls: { embed: 0, rerank: 1 },
    });
  });

  it("meters into the same counter as /embed", async () => {
    const tenant = await createApiTenant();
    await tenant.call("POST /embed", { json: { input: ["a"] } });
    await tenant.call("POST /rerank", { json: { query: "q", documents: ["a"] } });
    const { body } = await tenant.call<UsageResponse>("GET /usage");
    expect(body).toMatchObject({ credits: { used: 2 }, calls: { embed: 1, rerank: 1 } });
  });

  it.each([
    ["no query", { documents: ["a"] }, "query"],
    ["an empty query", { query: "", documents: ["a"] }, "query"],
    ["no documents", { query: "q" }, "documents"],
    ["an empty list", { query: "q", documents: [] }, "documents"],
    ["1,001 documents", { query: "q", documents: Array.from({ length: 1_001 }, () => "a") }, "documents"],
    ["an empty document", { query: "q", documents: ["a", ""] }, "documents.1"],
    ["a document that is no string", { query: "q", documents: [{ text: "a" }] }, "documents.0"],
  ])("rejects %s and charges nothing", async (_, json, path) => {
    const tenant = await createApiTenant();
    const { status, body } = await tenant.call("POST /rerank", { json });
    expect([status, body["code"]]).toEqual([400, "INVALID_BODY"]);
    expect(body["details"]).toMatchObject({ issues: [{ path }] });
    expect((await tenant.call<UsageResponse>("GET /usage")).body.credits.used).toBe(0);
  });

  it("takes 1,000 documents of 480,000 characters together, and not one character more", async () => {
    const tenant = await createApiTenant();
    const documents = Array.from({ length: 1_000 }, () => "a".repeat(MAX_INPUT_CHARACTERS / 1_000));
    expect((await tenant.call("POST /rerank", { json: { query: "q", documents } })).status).toBe(200);
    for (const json of [
      { query: "q", documents: [...documents.slice(1), `${documents[0]}b`] },
      { query: "q".repeat(MAX_INPUT_CHARACTERS + 1), documents: ["a"] },
    ]) {
      const { status, body } = await tenant.call("POST /rerank", { json });
      expect([status, body["code"]]).toEqual([413, "INPUT_TOO_LARGE"]);
    }
  });

  it("is unavailable if no provider is configured", async () => {
    const tenant = await createApiTenant({ RERANK_PROVIDER: "none" });
    for (const [call, options] of [
      ["POST /rerank", { json: { query: "q", documents: ["a"] } }],
      ["GET /rerank", {}],
    ] as const) {
      const { status, body } = await tenant.call(call, options);
      expect([status, body["code"]]).toEqual([503, "RERANK_UNAVAILABLE"]);
    }
    expect((await tenant.call<UsageResponse>("GET /usage")).body.credits.used).toBe(0);
  });
});

it("GET /rerank checks the key, free", async () => {
  const tenant = await createApiTenant({}, 0);
  const { status, headers, body } = await tenant.call("GET /rerank");
  expect([status, body]).toEqual([200, { ok: true }]);
  expect(headers.get("X-RateLimit-Limit")).toBe("600");
});
