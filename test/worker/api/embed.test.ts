import { afterEach, describe, expect, it } from "vitest";
import {
  type EmbedResponse,
  MAX_BODY_BYTES,
  MAX_INPUT_CHARACTERS,
  type UsageResponse,
} from "../../../src/contract/index.ts";
import { createCredential } from "../../../src/service/tenancy/credentials.ts";
import { expectedVector } from "../../support/model-wire.ts";
import { type ApiTenant, createApiTenant } from "../support/api.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { startModels } from "../support/models.ts";
import { credentialKey } from "../support/tenants.ts";
import { embedVars } from "./providers.ts";

const usedBy = async (tenant: ApiTenant) => (await tenant.call<UsageResponse>("GET /usage")).body;

const RATE_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

afterEach(startClock);

describe("POST /embed", () => {
  it("answers with one vector per input in input order, and charges what the upstream reported", async () => {
    const models = await startModels({ tokens: 2_001, dimension: 6 });
    const tenant = await createApiTenant(embedVars(models.baseUrl));
    const { status, headers, body } = await tenant.call<EmbedResponse>("POST /embed", { json: { input: ["b", "a"] } });
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(body).toEqual({
      ok: true,
      fingerprint: expect.stringMatching(/^emb_[0-9a-f]{32}$/),
      dimension: 6,
      embeddings: [0, 1].map((index) => ({ index, vector: expect.any(Array) })),
      usage: { credits: 3 },
    });
    const vectors = body.embeddings.map(({ vector }) => Float32Array.from(vector));
    expect(vectors).toEqual([expectedVector("b", 6), expectedVector("a", 6)]);
    expect(await usedBy(tenant)).toMatchObject({
      credits: { limit: 10_000, used: 3, remaining: 9_997 },
      tokens: { embed: 2_001, rerank: 0 },
      calls: { embed: 1, rerank: 0 },
    });
  });

  it.each([
    [undefined, "document"],
    ["document", "document"],
    ["query", "query"],
  ])("embeds inputType %s as a %s", async (inputType, sent) => {
    const models = await startModels({ api: "voyage" });
    const tenant = await createApiTenant(embedVars(models.baseUrl, "voyage"));
    expect((await tenant.call("POST /embed", { json: { input: ["a"], inputType } })).status).toBe(200);
    expect((await models.requests())[0]?.body["input_type"]).toBe(sent);
  });

  it("answers every spelling of its path just the same", async () => {
    const tenant = await createApiTenant();
    const headers = { "X-Request-Id": "one-and-the-same" };
    const calls = ["/embed", "/embed?a=b", "/embed/", "/api/v1/embed", "/api/v1/embed/"].map(async (path) => {
      const answers = [{ input: ["a"] }, { input: [] }].map((json) => tenant.call(`POST ${path}`, { json, headers }));
      return (await Promise.all(answers)).map(({ status, headers: sent, body }) => {
        const names = [...sent.keys()].toSorted();
        return { status, names, id: sent.get("X-Request-Id"), type: sent.get("Content-Type"), body };
      });
    });
    const [first, ...others] = await Promise.all(calls);
    expect(first?.map(({ status }) => status)).toEqual([200, 400]);
    for (const other of others) expect(other).toEqual(first);
  });

  it("answers below /api/v1 just the same", async () => {
    const tenant = await createApiTenant();
    const here = await tenant.call("POST /embed", { json: { input: ["a"] } });
    const there = await tenant.call("POST /api/v1/embed", { json: { input: ["a"] } });
    expect(there.body).toEqual(here.body);
  });

  it.each([
    ["no input", {}, "input"],
    ["input that is no array", { input: "text" }, "input"],
    ["no strings", { input: [] }, "input"],
    ["129 strings", { input: Array.from({ length: 129 }, () => "a") }, "input"],
    ["an empty string", { input: ["a", ""] }, "input.1"],
    ["a number among the strings", { input: [1] }, "input.0"],
    ["an unknown inputType", { input: ["a"], inputType: "image" }, "inputType"],
    ["an array as a body", [1], ""],
  ])("rejects %s: 400 that names the field, one request of the budget, no credits", async (_, json, path) => {
    stopClock(Date.now());
    const tenant = await createApiTenant();
    const before = await tenant.call("GET /embed");
    const { status, headers, body } = await tenant.call("POST /embed", { json });
    expect(status).toBe(400);
    expect(body).toMatchObject({ ok: false, code: "INVALID_BODY", error: expect.stringContaining(path) });
    expect(body["details"]).toMatchObject({ issues: [{ path }] });
    expect(Number(headers.get("X-RateLimit-Remaining"))).toBe(Number(before.headers.get("X-RateLimit-Remaining")) - 1);
    expect((await usedBy(tenant)).credits.used).toBe(0);
  });

  it("names only some of very many rejected fields", async () => {
    const tenant = await createApiTenant();
    const { status, body } = await tenant.call("POST /embed", {
      json: { input: Array.from({ length: 128 }, () => 1) },
    });
    expect([status, (body["details"] as { issues: unknown[] }).issues.length]).toEqual([400, 50]);
  });

  it.each([
    ["broken JSON", { body: '{"input":[', headers: { "Content-Type": "application/json" } }],
    ["another content type", { body: '{"input":["a"]}', headers: { "Content-Type": "text/plain" } }],
    ["no body", { headers: { "Content-Type": "application/json" } }],
  ])("rejects %s with INVALID_BODY", async (_, init) => {
    const tenant = await createApiTenant();
    const { status, body } = await tenant.call("POST /embed", init);
    expect([status, body["code"]]).toEqual([400, "INVALID_BODY"]);
  });

  it("takes 128 strings and 480,000 characters, and not one character more", async () => {
    const tenant = await createApiTenant();
    const input = Array.from({ length: 128 }, () => "a".repeat(MAX_INPUT_CHARACTERS / 128));
    const full = await tenant.call<EmbedResponse>("POST /embed", { json: { input } });
    expect([full.status, full.body.usage.credits]).toEqual([200, 120]);
    const { status, headers, body } = await tenant.call("POST /embed", {
      json: { input: [...input.slice(1), `${input[0]}b`] },
    });
    expect([status, body["code"]]).toEqual([413, "INPUT_TOO_LARGE"]);
    expect(body["error"]).toMatch(/480000/);
    for (const name of RATE_HEADERS) expect(headers.has(name), name).toBe(true);
    expect((await usedBy(tenant)).credits.used).toBe(120);
  });

  it("counts characters as UTF-16 code units", async () => {
    const tenant = await createApiTenant();
    const { status } = await tenant.call("POST /embed", {
      json: { input: ["😀".repeat(MAX_INPUT_CHARACTERS / 2), "a"] },
    });
    expect(status).toBe(413);
  });

  it("rejects a body of more than 4 MiB before it is parsed", async () => {
    const tenant = await createApiTenant();
    const init = { body: "{".padEnd(MAX_BODY_BYTES + 1), headers: { "Content-Type": "application/json" } };
    const { status, body } = await tenant.call("POST /embed", init);
    expect([status, body["code"]]).toEqual([413, "INPUT_TOO_LARGE"]);
  });

  it("ignores fields it does not know", async () => {
    const tenant = await createApiTenant();
    expect((await tenant.call("POST /embed", { json: { input: ["a"], model: "x" } })).status).toBe(200);
  });

  it("is not there where no provider is configured, and charges nothing", async () => {
    const tenant = await createApiTenant({ EMBED_PROVIDER: "none" });
    for (const call of ["POST /embed", "GET /embed"] as const) {
      const { status, body } = await tenant.call(call, call === "POST /embed" ? { json: { input: ["a"] } } : {});
      expect([status, body["code"]]).toEqual([503, "EMBED_UNAVAILABLE"]);
    }
    expect((await tenant.call("POST /embed", { json: {} })).status).toBe(400);
    expect((await usedBy(tenant)).credits.used).toBe(0);
  });
});

describe("GET /embed", () => {
  it("tells fingerprint and dimension for free", async () => {
    const models = await startModels({ dimension: 5 });
    const tenant = await createApiTenant(embedVars(models.baseUrl), 0);
    const { status, headers, body } = await tenant.call("GET /embed");
    expect(status).toBe(200);
    expect(body).toEqual({ ok: true, fingerprint: expect.stringMatching(/^emb_/), dimension: 5 });
    for (const name of RATE_HEADERS) expect(headers.has(name), name).toBe(true);
    expect(await tenant.call("GET /embed")).toMatchObject({ status: 200, body });
    expect(await models.requests()).toHaveLength(1);
    expect(await usedBy(tenant)).toMatchObject({ credits: { used: 0 }, calls: { embed: 0 } });
  });

  it.each([
    ["hangs", { kind: "hang" }, "300", 504, "UPSTREAM_TIMEOUT"],
    ["refuses", { kind: "status", status: 401 }, "60000", 502, "UPSTREAM_ERROR"],
  ] as const)("says so when the provider %s", async (_, fault, timeoutMs, status, code) => {
    const models = await startModels();
    const tenant = await createApiTenant({ ...embedVars(models.baseUrl), UPSTREAM_TIMEOUT_MS: timeoutMs });
    await models.fault(fault);
    expect(await tenant.call("GET /embed")).toMatchObject({ status, body: { code } });
  });
});

describe("credentials", () => {
  it.each([
    "POST /embed",
    "GET /embed",
    "POST /rerank",
    "GET /rerank",
    "GET /usage",
    "POST /v1/embeddings",
    "POST /v1/rerank",
  ] as const)("%s wants an API key before anything else", async (request) => {
    const tenant = await createApiTenant();
    const stranger = createCredential("api_key", crypto.randomUUID(), credentialKey).value;
    const worker = (await tenant.addCredential("worker_token")).value;
    const wrongSecret = tenant.apiKey.slice(0, -1) + (tenant.apiKey.endsWith("a") ? "b" : "a");
    for (const credential of [null, "", "nonsense", stranger, worker, wrongSecret]) {
      const { status, headers, body } = await tenant.call(request, {
        credential,
        ...(request.startsWith("POST") ? { json: { not: "valid" } } : {}),
      });
      expect(status).toBe(401);
      if (!request.includes("/v1/")) expect(body).toMatchObject({ ok: false, code: "INVALID_API_KEY" });
      expect(headers.has("X-RateLimit-Limit")).toBe(false);
      expect(headers.get("X-Request-Id")).toMatch(/.{8}/);
    }
    const { headers } = await tenant.call("GET /rerank");
    expect(headers.get("X-RateLimit-Remaining")).toBe("599");
  });

  it("takes the scheme in any case, and only one credential", async () => {
    const tenant = await createApiTenant();
    const withHeader = (value: string) => tenant.call("GET /rerank", { headers: { Authorization: value } });
    expect((await withHeader(`bEARER ${tenant.apiKey}`)).status).toBe(200);
    expect((await withHeader(`Basic ${tenant.apiKey}`)).status).toBe(401);
    expect((await withHeader(`Bearer ${tenant.apiKey}, Bearer ${tenant.apiKey}`)).status).toBe(401);
  });
});
