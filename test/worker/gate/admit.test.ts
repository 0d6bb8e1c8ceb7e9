import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AdmitResult } from "../../../src/service/gate/types.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { admitTo, gateOf } from "../support/gates.ts";
import { addCredential, createTenant, HOLD_MS, type TestTenant, unknownCredential } from "../support/tenants.ts";

const NOON = Date.UTC(2026, 10, 20, 12);

beforeEach(() => {
  stopClock(NOON);
});
afterEach(() => {
  startClock();
});

function admit(tenant: TestTenant, estimateCredits?: number): Promise<AdmitResult> {
  return admitTo(tenant.tenantId, tenant.request(estimateCredits));
}

/** Admits and settles a request; returns whether it got in. */
async function call(tenant: TestTenant, tokens = 1): Promise<boolean> {
  const result = await admit(tenant, 1);
  if (result.outcome !== "admitted" || result.reservationId === null) return false;
  await gateOf(tenant.tenantId).settle(result.reservationId, { outcome: "charged", kind: "embed", tokens });
  return true;
}

describe("admission", () => {
  it("lets exactly 20 of 60 concurrent requests through on 20 credits", async () => {
    const tenant = await createTenant(20);
    const passed = await Promise.all(Array.from({ length: 60 }, () => call(tenant)));
    expect(passed.filter(Boolean)).toHaveLength(20);
    expect(await gateOf(tenant.tenantId).usage(tenant.credential.id)).toMatchObject({
      used: 20,
      limit: 20,
      embedTokens: 20,
      calls: { embed: 20 },
      periodStart: "2026-11-01T00:00:00.000Z",
      periodEnd: "2026-12-01T00:00:00.000Z",
    });
  });

  it("grants nothing while the tenant is deleted, tells what was granted before, and opens again if that failed", async () => {
    const tenant = await createTenant(20);
    await call(tenant, 2_001);
    await admit(tenant, 5);
    const gate = gateOf(tenant.tenantId);
    expect(await gate.close()).toEqual({ period: "2026-11", credits: 8 });
    expect((await admit(tenant, 1)).outcome).toBe("quota_exceeded");
    await evictDurableObject(gate);
    expect((await admit(tenant, 1)).outcome).toBe("quota_exceeded");
    stopClock(NOON + 61_000);
    expect((await admit(tenant, 1)).outcome).toBe("admitted");
  });

  it.each([
    ["evicted", (tenant: TestTenant) => evictDurableObject(gateOf(tenant.tenantId))],
    ["killed", () => abortAllDurableObjects()],
  ])("keeps every credit and every reservation when the gate is %s", async (_, end) => {
    const tenant = await createTenant(20);
    await Promise.all(Array.from({ length: 7 }, () => call(tenant)));
    const underWay = await admit(tenant, 5);
    await end(tenant);
    const passed = await Promise.all(Array.from({ length: 60 }, () => call(tenant)));
    expect(passed.filter(Boolean)).toHaveLength(8);
    if (underWay.outcome !== "admitted" || underWay.reservationId === null) throw new Error("was not admitted");
    await end(tenant);
    const gate = gateOf(tenant.tenantId);
    expect(await gate.settle(underWay.reservationId, { outcome: "charged", kind: "rerank", tokens: 4_001 })).toEqual({
      credits: 5,
    });
    await end(tenant);
    expect(await gateOf(tenant.tenantId).settle(underWay.reservationId, { outcome: "failed" })).toEqual({ credits: 5 });
    expect(await gateOf(tenant.tenantId).usage(tenant.credential.id)).toMatchObject({
      used: 20,
      rerankTokens: 4_001,
      calls: { embed: 15, rerank: 1 },
    });
  });

  it("turns wrong credentials away and spends nothing on them", async () => {
    const tenant = await createTenant();
    const ask = (credential: TestTenant["credential"]) =>
      admitTo(tenant.tenantId, { ...tenant.request(1), credential });
    const refused = { outcome: "unauthorized" };
    expect(await ask(unknownCredential(tenant.tenantId))).toEqual(refused);
    expect(await ask({ ...tenant.credential, secretHash: "00".repeat(32) })).toEqual(refused);
    expect(await ask({ ...tenant.credential, secretHash: "" })).toEqual(refused);
    expect(await ask({ ...tenant.credential, kind: "worker_token" })).toEqual(refused);
    expect(await admit(tenant)).toMatchObject({ outcome: "admitted", rate: { limit: 600, remaining: 599 } });
  });

  it("gives all credentials of a tenant one bucket a surface", async () => {
    const tenant = await createTenant();
    const other = await addCredential(tenant.tenantId);
    const worker = await addCredential(tenant.tenantId, "worker_token");
    await admit(tenant);
    const second = await admitTo(tenant.tenantId, { credential: other, surface: "metered" });
    expect(second).toMatchObject({ outcome: "admitted", rate: { remaining: 598 } });
    const elsewhere = await admitTo(tenant.tenantId, { credential: worker, surface: "index" });
    expect(elsewhere).toMatchObject({
      outcome: "admitted",
      principal: { tenantId: tenant.tenantId, credentialId: worker.id, kind: "worker_token", sharedIndex: false },
      rate: { limit: 30, remaining: 29, resetSec: NOON / 1_000 + 3_600 },
      reservationId: null,
    });
  });

  it("counts a window across a restart, turns away what is over it and begins anew in the next", async () => {
    const tenant = await createTenant();
    const gate = () => gateOf(tenant.tenantId);
    const request = { credential: tenant.credential, surface: "index" } as const;
    for (let i = 0; i < 29; i++) await admitTo(tenant.tenantId, request);
    await evictDurableObject(gate());
    expect(await admitTo(tenant.tenantId, request)).toMatchObject({ outcome: "admitted", rate: { remaining: 0 } });
    stopClock(NOON + 3_599_001);
    expect(await admitTo(tenant.tenantId, request)).toEqual({
      outcome: "rate_limited",
      rate: { limit: 30, remaining: 0, resetSec: NOON / 1_000 + 3_600 },
      retryAfterSec: 1,
    });
    stopClock(NOON + 3_600_000);
    expect(await admitTo(tenant.tenantId, request)).toMatchObject({
      outcome: "admitted",
      rate: { remaining: 29 },
    });
  });
});

describe("quota", () => {
  it("says what is used, when it ends and how long to wait", async () => {
    const tenant = await createTenant(3);
    await call(tenant, 2_500);
    expect(await admit(tenant, 1)).toEqual({
      outcome: "quota_exceeded",
      rate: { limit: 600, remaining: 598, resetSec: NOON / 1_000 + 60 },
      limit: 3,
      used: 3,
      resetsAt: "2026-12-01T00:00:00.000Z",
      retryAfterSec: (Date.UTC(2026, 11, 1) - NOON) / 1_000,
    });
    // What is not metered goes on.
    expect(await admit(tenant)).toMatchObject({ outcome: "admitted" });
  });

  it("gives failed requests their credits back and settles to the true figure", async () => {
    const tenant = await createTenant(10);
    const gate = gateOf(tenant.tenantId);
    const first = await admit(tenant, 10);
    expect(await admit(tenant, 1)).toMatchObject({ outcome: "quota_exceeded", used: 10 });
    if (first.outcome !== "admitted" || first.reservationId === null) throw new Error("was not admitted");
    expect(await gate.settle(first.reservationId, { outcome: "failed" })).toEqual({ credits: 0 });
    const second = await admit(tenant, 10);
    if (second.outcome !== "admitted" || second.reservationId === null) throw new Error("was not admitted");
    expect(await gate.settle(second.reservationId, { outcome: "charged", kind: "embed", tokens: 1 })).toEqual({
      credits: 1,
    });
    expect(await gate.usage(tenant.credential.id)).toMatchObject({ used: 1, calls: { embed: 1 } });
    expect(await admit(tenant, 9)).toMatchObject({ outcome: "admitted" });
  });

  it("releases an unsettled reservation, and still counts a late settlement", async () => {
    const tenant = await createTenant(10);
    const dead = await admit(tenant, 10);
    if (dead.outcome !== "admitted" || dead.reservationId === null) throw new Error("was not admitted");
    stopClock(NOON + HOLD_MS);
    expect(await admit(tenant, 4)).toMatchObject({ outcome: "admitted" });
    await gateOf(tenant.tenantId).settle(dead.reservationId, { outcome: "charged", kind: "embed", tokens: 6_000 });
    expect(await gateOf(tenant.tenantId).usage(tenant.credential.id)).toMatchObject({ used: 6 });
    expect(await admit(tenant, 1)).toMatchObject({ outcome: "quota_exceeded", used: 10 });
  });

  it("holds a reservation as long as the request asks", async () => {
    const tenant = await createTenant(1);
    const request = { ...tenant.request(), reserve: { credits: 1, holdMs: 5_000 } };
    await admitTo(tenant.tenantId, request);
    stopClock(NOON + 4_999);
    expect(await admit(tenant, 1)).toMatchObject({ outcome: "quota_exceeded" });
    stopClock(NOON + 5_000);
    expect(await admit(tenant, 1)).toMatchObject({ outcome: "admitted" });
  });

  it("begins anew with the month, and counts in the old one what began there", async () => {
    const tenant = await createTenant(2);
    stopClock(Date.UTC(2026, 11, 1) - 1);
    const last = await admit(tenant, 2);
    if (last.outcome !== "admitted" || last.reservationId === null) throw new Error("was not admitted");
    stopClock(Date.UTC(2026, 11, 1));
    expect(await call(tenant)).toBe(true);
    await gateOf(tenant.tenantId).settle(last.reservationId, { outcome: "charged", kind: "embed", tokens: 2_000 });
    const december = await gateOf(tenant.tenantId).usage(tenant.credential.id);
    expect(december).toMatchObject({ used: 1, embedTokens: 1, periodStart: "2026-12-01T00:00:00.000Z" });
  });

  it("counts a call of another kind once for each key", async () => {
    const tenant = await createTenant();
    await admit(tenant);
    const gate = () => gateOf(tenant.tenantId);
    await gate().count("run-1", "index", 1_234);
    await gate().count("run-1", "index", 1_234);
    await evictDurableObject(gate());
    await gate().count("run-1", "index", 1_234);
    await gate().count("run-2", null, 1);
    stopClock(NOON + 24 * 60 * 60_000);
    await gate().count("run-1", "index", 1_234);
    expect(await gate().usage(tenant.credential.id)).toMatchObject({
      used: 0,
      indexTokens: 1_235,
      calls: { index: 1 },
    });
  });

  it("reserves for a request that was admitted without, within the same quota", async () => {
    const tenant = await createTenant(3);
    const gate = gateOf(tenant.tenantId);
    await admit(tenant);
    const reserve = (credits: number) => gate.reserve(tenant.credential.id, { credits, holdMs: HOLD_MS });
    const reserved = await reserve(2);
    expect(await reserve(2)).toMatchObject({ outcome: "quota_exceeded", used: 2, limit: 3 });
    if (reserved.outcome !== "reserved") throw new Error("was not reserved");
    await gate.settle(reserved.reservationId, { outcome: "charged", kind: "embed", tokens: 10 });
    expect(await reserve(2)).toMatchObject({ outcome: "reserved" });
  });

  it("refuses figures that make no sense, and keeps none of them", async () => {
    const tenant = await createTenant();
    await runInDurableObject(gateOf(tenant.tenantId), async (gate) => {
      await expect(gate.admit({ tenantId: tenant.tenantId, ...tenant.request(0.5) })).rejects.toThrow(RangeError);
      await expect(gate.settle("nonsense", { outcome: "failed" })).rejects.toThrow(RangeError);
    });
    expect(await admit(tenant)).toMatchObject({ rate: { remaining: 599 } });
  });

  it("does not hold requests up for those that are refused together with them", async () => {
    const tenant = await createTenant();
    const [good, bad] = await Promise.allSettled([admit(tenant, 1), admit(tenant, -1)]);
    expect(good).toMatchObject({ status: "fulfilled", value: { outcome: "admitted", rate: { remaining: 599 } } });
    expect(bad.status).toBe("rejected");
    expect(await admit(tenant)).toMatchObject({ rate: { remaining: 598 } });
  });
});
