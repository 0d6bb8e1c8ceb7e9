import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import OpenAI, { BadRequestError, RateLimitError } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageResponse } from "../../src/contract/index.ts";
import { openDb } from "../../src/service/db/client.ts";
import { createTenant, createWorkspace, revokeKey } from "../../src/service/tenancy/index.ts";
import { startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { expectedVector, type ModelServer, startModelServer } from "../support/model-server.ts";
import { freePorts, type ServiceProcess, spawnService } from "./support/process.ts";

/** A service of its own over a model server that can be told to misbehave, to be killed and started again. */
let models: ModelServer;
let running: ServiceProcess;
let env: Record<string, string> & { DATA_DIR: string };

const BUDGET = 20_000;

beforeAll(async () => {
  models = await startModelServer({ tokens: 1, dimension: 4 });
  env = {
    DATA_DIR: mkdtempSync(path.join(os.tmpdir(), "code-context-metering-")),
    ...(await freePorts()),
    EMBED_PROVIDER: "openai",
    EMBED_BASE_URL: models.baseUrl,
    EMBED_MODEL: "secret-model",
    RERANK_PROVIDER: "none",
    // Longer than any test: what ends earlier was ended by something else.
    UPSTREAM_TIMEOUT_MS: "200000",
    // Room for a busy tenant.
    RATE_LIMITS: JSON.stringify({ metered: { limit: BUDGET } }),
  };
  running = await spawnService(env);
});

afterAll(async () => {
  await running.stop();
  await models.close();
  rmSync(env.DATA_DIR, { recursive: true, force: true });
});

const newKey = async (monthlyCredits: number) => {
  const { databaseUrl } = running.service;
  return (await createTenant(openDb(databaseUrl), { name: "test", sharedIndex: false, monthlyCredits })).apiKey;
};

const embed = (apiKey: string, signal?: AbortSignal) =>
  fetch(`${running.service.apiUrl}/embed`, {
    method: "POST",
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ input: ["a"] }),
    ...(signal && { signal }),
  });

async function usage(apiKey: string): Promise<UsageResponse> {
  const response = await fetch(`${running.service.apiUrl}/usage`, { headers: { Authorization: `Bearer ${apiKey}` } });
  return (await response.json()) as UsageResponse;
}

/** How many of these requests were answered with vectors. */
async function answered(requests: Promise<Response>[]): Promise<number> {
  const results = await Promise.allSettled(requests);
  const statuses = results.map((result) => (result.status === "fulfilled" ? result.value.status : 0));
  return statuses.filter((status) => status === 200).length;
}

/**
 * Kills the service while eight clients ask it, as soon as `before` has ended. Returns the number of their requests, and of the answers
 * that they got.
 */
async function killWhileBusy(apiKey: string, before: () => Promise<void>): Promise<{ sent: number; got: number }> {
  let sent = 0;
  let got = 0;
  const stop = new AbortController();
  const client = async () => {
    while (!stop.signal.aborted) {
      sent++;
      try {
        const response = await embed(apiKey);
        if (response.status === 200) got++;
        await response.arrayBuffer();
      } catch {
        return;
      }
    }
  };
  const kill = async () => {
    await expect.poll(() => got, { interval: 10 }).toBeGreaterThanOrEqual(60);
    await before().finally(() => stop.abort());
    await running.kill();
  };
  await Promise.all([kill(), ...Array.from({ length: 8 }, client)]);
  return { sent, got };
}

const many = (count: number, apiKey: string) => Array.from({ length: count }, () => embed(apiKey));

describe("credits", () => {
  it("let exactly 20 of 60 concurrent requests through on 20 credits", async () => {
    const apiKey = await newKey(20);
    expect(await answered(many(60, apiKey))).toBe(20);
    expect(await usage(apiKey)).toMatchObject({ credits: { limit: 20, used: 20, remaining: 0 }, calls: { embed: 20 } });
  });

  it("are neither lost nor counted twice after a kill and a restart, nor are those of answers on their way", async () => {
    const [apiKey, richKey, busyKey] = [await newKey(20), await newKey(10_000), await newKey(BUDGET)];
    const { sent, got } = await killWhileBusy(busyKey, async () => {
      expect(await answered(many(8, apiKey))).toBe(8);
      // Where much is left settlements follow their answers; what somebody was told of is on disk.
      expect(await answered(many(40, richKey))).toBe(40);
      expect((await usage(richKey)).credits.used).toBe(40);
    });
    running = await spawnService(env);
    expect(await usage(richKey)).toMatchObject({ credits: { used: 40 }, calls: { embed: 40 }, tokens: { embed: 40 } });
    expect(await usage(apiKey)).toMatchObject({ credits: { used: 8 }, calls: { embed: 8 }, tokens: { embed: 8 } });
    expect(await answered(many(60, apiKey))).toBe(12);
    expect((await usage(apiKey)).credits.used).toBe(20);
    const { credits } = await usage(busyKey);
    expect(credits.used).toBeGreaterThanOrEqual(got);
    expect(credits.used).toBeLessThanOrEqual(sent);
  }, 240_000);
});

describe("the vector of a search query", () => {
  it("costs one credit, nothing when asked again, and nothing where the provider or the quota gives none", async () => {
    const repo = new GitRepo();
    const git = await startGitBackend(repo.root);
    try {
      repo.files({ "src/lease.ts": "export function renewLease(): void {}\n" }).commit("first");
      const db = openDb(running.service.databaseUrl);
      const tenant = await createTenant(db, { name: "search", sharedIndex: false, monthlyCredits: 2 });
      const { workspaceId } = await createWorkspace(db, { tenantId: tenant.tenantId });
      const post = (route: string, key: string, body: unknown) =>
        fetch(`${running.service.apiUrl}${route}`, {
          method: "POST",
          headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
          body: JSON.stringify(body),
        });
      const source = { type: "git", url: git.url("repo") };
      expect((await post("/index", tenant.workerToken, { workspaceId, source })).status).toBe(200);
      const search = async (query: string) => {
        const response = await post("/search", tenant.apiKey, { query, workspaceId });
        expect(response.status).toBe(200);
        return response.text();
      };
      const charged = async () => {
        const { credits, calls, tokens } = await usage(tenant.apiKey);
        return { used: credits.used, embed: calls.embed, search: calls.search, tokens: tokens.embed };
      };
      expect(await charged()).toEqual({ used: 0, embed: 0, search: 0, tokens: 0 });
      const first = await search("renew a lease");
      expect(JSON.parse(first)).not.toHaveProperty("degraded");
      expect(await charged()).toEqual({ used: 1, embed: 1, search: 1, tokens: 1 });
      expect(await search("renew a lease")).toBe(first);
      expect(await charged()).toEqual({ used: 1, embed: 1, search: 2, tokens: 1 });

      models.fault({ kind: "status", status: 400 });
      const failed = JSON.parse(await search("lease renewal")) as { degraded: string; results: { path: string }[] };
      expect(failed).toMatchObject({ degraded: "embedding", results: [{ path: "src/lease.ts" }] });
      models.reset();
      expect(await charged()).toEqual({ used: 1, embed: 1, search: 3, tokens: 1 });
      await search("lease renewal");
      // Both credits are used: the answer is ranked by the words.
      expect(JSON.parse(await search("who renews leases"))).toMatchObject({ degraded: "embedding" });
      expect(await charged()).toEqual({ used: 2, embed: 2, search: 5, tokens: 2 });
    } finally {
      await git.close();
      repo.remove();
    }
  });
});

describe("a busy tenant", () => {
  it("has every request counted, in credits and in the window", async () => {
    const apiKey = await newKey(1_000_000);
    const resets: (string | null)[] = [];
    const client = async () => {
      for (let i = 0; i < 60; i++) {
        const response = await embed(apiKey);
        expect(response.status).toBe(200);
        resets.push(response.headers.get("X-RateLimit-Reset"));
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: 10 }, client));
    const asked = await fetch(`${running.service.apiUrl}/usage`, { headers: { Authorization: `Bearer ${apiKey}` } });
    expect(await asked.json()).toMatchObject({ credits: { used: 600 }, calls: { embed: 600 }, tokens: { embed: 600 } });
    const reset = asked.headers.get("X-RateLimit-Reset");
    const inWindow = resets.filter((other) => other === reset).length + 1;
    expect(asked.headers.get("X-RateLimit-Remaining")).toBe(String(BUDGET - inWindow));
  });

  it("has a revoked key rejected within a second", async () => {
    const apiKey = await newKey(1_000_000);
    const [, , id = ""] = apiKey.split("_");
    let revokedAtMs = Infinity;
    let served = 0;
    const client = async () => {
      for (;;) {
        const beganAtMs = Date.now();
        const response = await embed(apiKey);
        await response.arrayBuffer();
        if (response.status === 401) return;
        expect(response.status).toBe(200);
        served++;
        expect(beganAtMs).toBeLessThan(revokedAtMs + 1_000);
      }
    };
    const clients = Promise.all(Array.from({ length: 4 }, client));
    await expect.poll(() => served).toBeGreaterThan(300);
    await revokeKey(openDb(running.service.databaseUrl), { id, kind: "api_key" });
    revokedAtMs = Date.now();
    await clients;
  });
});

describe("a client that leaves", () => {
  it("ends the upstream calls of many requests at once", async () => {
    const apiKey = await newKey(1_000_000);
    for (let i = 0; i < 10; i++) expect(await answered(many(16, apiKey))).toBe(16);
    models.reset();
    models.fault({ kind: "hang" }, 8);
    const client = new AbortController();
    const requests = Promise.allSettled(Array.from({ length: 8 }, () => embed(apiKey, client.signal)));
    await models.received(8);
    client.abort();
    await requests;
    for (const { aborted } of models.requests) expect(await aborted).toBe(true);
    expect(await answered(many(8, apiKey))).toBe(8);
  });

  it.each(["apiUrl", "siteUrl"] as const)("ends the upstream call, and costs nothing (%s)", async (address) => {
    const apiKey = await newKey(1);
    models.reset();
    models.fault({ kind: "hang" }, 1);
    const base = address === "siteUrl" ? `${running.service.siteUrl}/api/v1` : running.service.apiUrl;
    const client = new AbortController();
    const request = fetch(`${base}/embed`, {
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ input: ["a"] }),
      signal: client.signal,
    });
    await models.received(1);
    client.abort();
    await expect(request).rejects.toThrow("abort");
    expect(await models.requests[0]?.aborted).toBe(true);
    // Its one credit is free again as soon as the gate has heard of it.
    await expect.poll(async () => (await embed(apiKey)).status).toBe(200);
    expect((await usage(apiKey)).credits.used).toBe(1);
  });
});

describe("the openai client", () => {
  it.each([
    ["apiUrl", "/v1"],
    ["siteUrl", "/api/v1"],
  ] as const)("embeds through %s%s", async (address, prefix) => {
    const apiKey = await newKey(100);
    const client = new OpenAI({ apiKey, baseURL: running.service[address] + prefix, maxRetries: 0 });
    const texts = ["first", "second"];
    for (const encoding_format of [undefined, "float", "base64"] as const) {
      const format = encoding_format === undefined ? {} : { encoding_format };
      const { data, model, usage } = await client.embeddings.create({
        model: "text-embedding-3-small",
        input: texts,
        ...format,
      });
      expect(model).toMatch(/^emb_/);
      expect(usage).toEqual({ prompt_tokens: 1, total_tokens: 1 });
      for (const [index, row] of data.entries()) {
        const expected = expectedVector(texts[index] ?? "", 4);
        if (encoding_format === "base64") expect(row.embedding).toBe(Buffer.from(expected.buffer).toString("base64"));
        else expect(Float32Array.from(row.embedding)).toEqual(expected);
      }
    }
    const [only] = (await client.models.list()).data;
    expect(only?.id).toMatch(/^emb_/);
  });

  it("maps our errors to its own", async () => {
    const client = new OpenAI({ apiKey: await newKey(0), baseURL: `${running.service.apiUrl}/v1` });
    const quota = await client.embeddings.create({ model: "any", input: "a" }).catch((error: unknown) => error);
    expect(quota).toBeInstanceOf(RateLimitError);
    expect(quota).toMatchObject({ code: "insufficient_quota", type: "insufficient_quota" });
    const tokens = await client.embeddings.create({ model: "any", input: [1, 2] }).catch((error: unknown) => error);
    expect(tokens).toBeInstanceOf(BadRequestError);
    expect(tokens).toMatchObject({ code: "invalid_body", param: "input" });
  });
});
