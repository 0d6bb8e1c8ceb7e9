import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { UsageResponse } from "../../../src/contract/index.ts";
import { TenantGate } from "../../../src/service/gate/tenant-gate.ts";
import { parseCredential } from "../../../src/service/tenancy/credentials.ts";
import { type ApiTenant, createApiTenant } from "../support/api.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { admitTo, gateOf } from "../support/gates.ts";
import { startModels } from "../support/models.ts";
import { credentialKey } from "../support/tenants.ts";
import { embedVars } from "./providers.ts";

const EMBED = { json: { input: ["a"] } };
const usageOf = async (tenant: ApiTenant) => (await tenant.call<UsageResponse>("GET /usage")).body;

describe("quota", () => {
  it("lets exactly 20 of 60 concurrent requests through on 20 credits, and says so", async () => {
    const models = await startModels({ tokens: 1 });
    const tenant = await createApiTenant(embedVars(models.baseUrl), 20);
    const answers = await Promise.all(Array.from({ length: 60 }, () => tenant.call("POST /embed", EMBED)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const rejected = answers.filter(({ status }) => status !== 200);
    for (const { status, headers, body } of rejected) {
      expect([status, body["code"]]).toEqual([429, "QUOTA_EXCEEDED"]);
      expect(body["error"]).toMatch(/^0 of 20 credits are left this month and the request needs up to 1;/);
      expect(body["details"]).toEqual({ limit: 20, used: 20, resetsAt: expect.stringMatching(/-01T00:00:00\.000Z$/) });
      expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
      expect(headers.get("X-RateLimit-Limit")).toBe("600");
    }
    expect(await usageOf(tenant)).toMatchObject({
      credits: { limit: 20, used: 20, remaining: 0 },
      calls: { embed: 20 },
    });
    expect(await models.requests()).toHaveLength(20);
  });

  it("holds an estimate back until the true figure is known", async () => {
    const models = await startModels({ tokens: 1 });
    const tenant = await createApiTenant(embedVars(models.baseUrl), 3);
    await models.fault({ kind: "held" }, 1);
    // 2,001 tokens by estimate: 3 credits.
    const large = tenant.call("POST /embed", { json: { input: ["a".repeat(8_004)] } });
    await models.received(1);
    expect((await tenant.call("POST /embed", EMBED)).status).toBe(429);
    expect((await usageOf(tenant)).credits.used).toBe(0);
    await models.release();
    expect((await large).body["usage"]).toEqual({ credits: 1 });
    expect((await tenant.call("POST /embed", EMBED)).status).toBe(200);
    expect((await usageOf(tenant)).credits).toEqual({ limit: 3, used: 2, remaining: 1 });
  });

  it("resets with the month", async () => {
    const tenant = await createApiTenant({}, 1);
    expect((await tenant.call("POST /embed", EMBED)).status).toBe(200);
    const { body } = await tenant.call("POST /embed", EMBED);
    const { period } = await usageOf(tenant);
    expect((body["details"] as { resetsAt: string }).resetsAt).toBe(period.end);
    stopClock(Date.parse(period.end));
    try {
      expect(await usageOf(tenant)).toMatchObject({ period: { start: period.end }, credits: { used: 0 } });
      expect((await tenant.call("POST /embed", EMBED)).status).toBe(200);
    } finally {
      startClock();
    }
  });
});

describe("rate limit", () => {
  afterEach(startClock);

  it("answers the 601st request of a minute with 429, its headers and its body", async () => {
    const tenant = await createApiTenant();
    const minuteMs = Math.ceil(Date.now() / 60_000) * 60_000;
    stopClock(minuteMs + 1_000);
    const credential = parseCredential(tenant.apiKey, "api_key", credentialKey);
    if (!credential) throw new Error("not a credential");
    const { kind, id, secretHash } = credential;
    for (let i = 0; i < 598; i++)
      await admitTo(tenant.tenantId, { credential: { kind, id, secretHash }, surface: "metered" });
    const resetSec = String(minuteMs / 1_000 + 60);
    // An invalid body takes from the budget, and the surfaces share one bucket.
    const invalid = await tenant.call("POST /embed", { json: {} });
    expect([invalid.status, invalid.headers.get("X-RateLimit-Remaining")]).toEqual([400, "1"]);
    const last = await tenant.call("POST /rerank", { json: { query: "q", documents: ["d"] } });
    expect([last.status, last.headers.get("X-RateLimit-Remaining")]).toEqual([200, "0"]);
    for (const request of ["GET /usage", "POST /embed"] as const) {
      const { status, headers, body } = await tenant.call(request, request === "POST /embed" ? EMBED : {});
      expect(status).toBe(429);
      expect(body).toEqual({ ok: false, code: "RATE_LIMITED", error: expect.any(String), retryAfterSec: 59 });
      expect(Object.fromEntries(headers)).toMatchObject({
        "retry-after": "59",
        "x-ratelimit-limit": "600",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": resetSec,
      });
    }
    stopClock(minuteMs + 60_000);
    expect((await tenant.call("GET /usage")).headers.get("X-RateLimit-Remaining")).toBe("599");
  });

  it("gives all keys of a tenant one bucket", async () => {
    const tenant = await createApiTenant();
    const second = await tenant.addCredential("api_key");
    stopClock(Math.ceil(Date.now() / 60_000) * 60_000 + 1_000);
    await tenant.call("GET /rerank");
    const { headers } = await tenant.call("GET /rerank", { credential: second.value });
    expect(headers.get("X-RateLimit-Remaining")).toBe("598");
  });
});

describe("a client that leaves", () => {
  it("ends the upstream call, and costs nothing", async () => {
    const models = await startModels();
    const tenant = await createApiTenant(embedVars(models.baseUrl), 1);
    await models.fault({ kind: "hang" }, 1);
    const client = new AbortController();
    const request = tenant.send("POST /embed", { ...EMBED, signal: client.signal });
    await models.received(1);
    client.abort();
    expect((await request).status).toBe(499);
    expect(await models.aborted(0)).toBe(true);
    // Its credit is free again.
    expect((await tenant.call("POST /embed", EMBED)).status).toBe(200);
    expect((await usageOf(tenant)).credits.used).toBe(1);
  });
});

describe("a settlement that cannot be made durable", () => {
  let restore = () => {};
  afterEach(() => restore());

  it("is retried before the answer is sent", async () => {
    const tenant = await createApiTenant();
    restore = await breakSettlements(tenant, 1);
    expect((await tenant.call("POST /embed", EMBED)).status).toBe(200);
    expect((await usageOf(tenant)).credits.used).toBe(1);
  });

  it("fails the request after its retries: no answer is sent uncounted", async () => {
    const tenant = await createApiTenant();
    restore = await breakSettlements(tenant, Infinity);
    const { status, headers, body } = await tenant.call("POST /embed", EMBED);
    expect([status, body["code"]]).toEqual([503, "UNAVAILABLE"]);
    expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(body).not.toHaveProperty("embeddings");
  });
});

describe("a failed call", () => {
  it("releases its credits", async () => {
    const models = await startModels({ tokens: 1 });
    const tenant = await createApiTenant(embedVars(models.baseUrl));
    await models.fault({ kind: "status", status: 401 }, 1);
    expect((await tenant.call("POST /embed", EMBED)).status).toBe(502);
    expect(await usageOf(tenant)).toMatchObject({ credits: { used: 0 }, calls: { embed: 0 } });
    await runInDurableObject(gateOf(tenant.tenantId), (_, { storage }) => {
      const open = "select count(*) as count from reservations where charged is null";
      expect(storage.sql.exec(open).one()).toEqual({ count: 0 });
    });
  });
});

/** Lets the next settlements of a tenant fail as they do when its object is lost. Returns the way back. */
async function breakSettlements(tenant: ApiTenant, times: number): Promise<() => void> {
  await tenant.call("GET /usage");
  return runInDurableObject(gateOf(tenant.tenantId), (gate: TenantGate) => {
    const settle = gate.settle.bind(gate);
    let left = times;
    const spy = vi.spyOn(TenantGate.prototype, "settle").mockImplementation(function (
      this: TenantGate,
      id,
      settlement,
    ) {
      if (this === gate && left-- > 0) throw new Error("the object was reset");
      return settle(id, settlement);
    });
    return () => spy.mockRestore();
  });
}
