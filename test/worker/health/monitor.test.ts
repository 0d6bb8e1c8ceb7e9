import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HealthResponse } from "../../../src/contract/health.ts";
import { TenantGate } from "../../../src/service/gate/tenant-gate.ts";
import { createHealthCache, healthHttpStatus, MONITOR_NAME, readHealth } from "../../../src/service/health/index.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { cutDatabase } from "../support/database-away.ts";
import { delivery } from "../support/worker.ts";

const monitorOf = (name: string) => env.HEALTH_MONITOR.get(env.HEALTH_MONITOR.idFromName(name));

/** A monitor of its own for each test; the queue's consumer reports to whichever is being tested. */
let name: string;
const monitor = () => monitorOf(name);
const status = () => monitor().status();

/** Waits for the round that the constructor's alarm began. */
async function firstRound(): Promise<void> {
  await status();
  await expect.poll(async () => (await status()).status).not.toBe("starting");
}

beforeEach(() => {
  name = crypto.randomUUID();
  delivery.monitor = name;
});
afterEach(() => {
  startClock();
  vi.restoreAllMocks();
});

describe("health monitor", () => {
  it("is starting until its first round, then ok, without a request that triggers it", async () => {
    expect(await status()).toEqual({ ok: false, status: "starting", checks: {} });
    await firstRound();
    const found = await status();
    expect(found).toMatchObject({ ok: true, status: "ok" });
    expect(Object.keys(found.checks).sort()).toEqual(["database", "embedding", "gate", "queue", "storage"]);
    expect(() => HealthResponse.parse({ ...found, version: "0" })).not.toThrow();
    await runInDurableObject(monitor(), async (_, state) => {
      expect(await state.storage.getAlarm()).toBeGreaterThan(Date.now());
    });
    // Reading changes nothing.
    expect(await status()).toEqual(found);
  });

  it("is degraded while a dependency is away, names it, leaks nothing, and recovers", async () => {
    await firstRound();
    const away = cutDatabase();
    await runDurableObjectAlarm(monitor()).finally(away.restore);
    const found = await status();
    expect(found).toMatchObject({ ok: false, status: "degraded" });
    expect(found.checks.database).toMatchObject({ ok: false, error: "not reachable" });
    expect(found.checks.storage).toMatchObject({ ok: true });
    expect(healthHttpStatus(found.status)).toBe(200);
    await runDurableObjectAlarm(monitor());
    expect(await status()).toMatchObject({ status: "ok" });
  });

  it("is degraded while a gate does not work", async () => {
    vi.spyOn(TenantGate.prototype, "usage").mockRejectedValueOnce(new Error("no such table: months"));
    await firstRound();
    const found = await status();
    expect(found).toMatchObject({ status: "degraded", checks: { gate: { ok: false, error: "not reachable" } } });
    await runDurableObjectAlarm(monitor());
    expect(await status()).toMatchObject({ status: "ok" });
  });

  it("keeps its last round across an eviction, but not one that is too old", async () => {
    await firstRound();
    const before = await status();
    await evictDurableObject(monitor());
    expect(await status()).toEqual(before);
    await evictDurableObject(monitor());
    stopClock(Date.now() + 100_000);
    expect(await status()).toMatchObject({ status: "starting" });
  });

  it("is stopping from a planned shutdown until the next start", async () => {
    await firstRound();
    await monitor().stop();
    expect(await status()).toMatchObject({ ok: false, status: "stopping" });
    expect(healthHttpStatus("stopping")).toBe(503);
    expect(await runDurableObjectAlarm(monitor())).toBe(false);
    await evictDurableObject(monitor());
    expect(await status()).toMatchObject({ status: "starting" });
    expect(healthHttpStatus("starting")).toBe(503);
    await expect.poll(async () => (await status()).status).toBe("ok");
  });

  it("accepts a late heartbeat", async () => {
    delivery.monitor = undefined;
    vi.spyOn(env.INDEX_QUEUE, "send").mockRejectedValue(new Error("queue is down"));
    await firstRound();
    expect((await status()).checks.queue).toMatchObject({ ok: false, error: "does not accept messages" });
    await monitor().queueSeen(Date.now() + 60_000);
    await monitor().queueSeen(Date.now() - 600_000);
    expect(await status()).toMatchObject({ status: "degraded" });
    await monitor().queueSeen(Date.now() - 1_000);
    expect(await status()).toMatchObject({ status: "ok" });
  });
});

describe("health reader", () => {
  it("asks the monitor about once a second, however many ask it", async () => {
    stopClock(Date.now());
    const cache = createHealthCache();
    const asked = vi.spyOn(env.HEALTH_MONITOR, "get");
    delivery.monitor = MONITOR_NAME;
    const first = await readHealth(env.HEALTH_MONITOR, cache);
    expect(await readHealth(env.HEALTH_MONITOR, cache)).toBe(first);
    expect(asked).toHaveBeenCalledTimes(1);
    stopClock(Date.now() + 1_000);
    await Promise.all(Array.from({ length: 20 }, () => readHealth(env.HEALTH_MONITOR, cache)));
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("reports a degraded service if the monitor is unreachable", async () => {
    const monitors = {
      idFromName: (id: string) => id,
      get: () => ({ status: () => Promise.reject(new Error("gone")) }),
    };
    const found = await readHealth(monitors, createHealthCache());
    expect(found).toEqual({ ok: false, status: "degraded", checks: {} });
  });
});
