import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { and, eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { usageDays } from "../../../src/service/db/people-schema.ts";
import { auditEvents, usageMonths } from "../../../src/service/db/records-schema.ts";
import { credentials } from "../../../src/service/db/credentials-schema.ts";
import { tenants } from "../../../src/service/db/schema.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { cutDatabase } from "../support/database-away.ts";
import { admitTo, gateOf } from "../support/gates.ts";
import { createTenant, db, type TestTenant } from "../support/tenants.ts";

const DAY_MS = 24 * 60 * 60_000;

async function charge(tenant: TestTenant, tokens: number): Promise<void> {
  const gate = gateOf(tenant.tenantId);
  const result = await admitTo(tenant.tenantId, tenant.request(1));
  if (result.outcome !== "admitted" || result.reservationId === null) throw new Error(result.outcome);
  await gate.settle(result.reservationId, { outcome: "charged", kind: "embed", tokens });
}

function mirrored(tenant: TestTenant) {
  return db.select().from(usageMonths).where(eq(usageMonths.tenantId, tenant.tenantId)).orderBy(usageMonths.period);
}

function rejections(tenant: TestTenant) {
  return db
    .select()
    .from(auditEvents)
    .where(and(eq(auditEvents.tenantId, tenant.tenantId), eq(auditEvents.event, "RATE_LIMITED")))
    .orderBy(auditEvents.at);
}

const runAlarm = (tenant: TestTenant) => runDurableObjectAlarm(gateOf(tenant.tenantId));

describe("usage in Postgres", () => {
  // Ahead of the real clock, so that alarms run only when a test says so.
  beforeEach(() => stopClock(Date.now() + 3_600_000));
  afterEach(startClock);

  it("follows the gate's counters on its alarm, as absolute figures", async () => {
    const tenant = await createTenant();
    await charge(tenant, 1_500);
    expect(await runAlarm(tenant)).toBe(true);
    const [first] = await mirrored(tenant);
    expect(first).toMatchObject({ credits: 2, embedTokens: 1_500, calls: { embed: 1, rerank: 0 } });
    await charge(tenant, 10);
    await gateOf(tenant.tenantId).count("run", "index", 77);
    await runAlarm(tenant);
    const [second] = await mirrored(tenant);
    expect(second).toMatchObject({ credits: 3, embedTokens: 1_510, indexTokens: 77, calls: { embed: 2, index: 1 } });
    expect(second?.flushSeq).toBeGreaterThan(first?.flushSeq ?? Infinity);
    await runAlarm(tenant);
    expect(await mirrored(tenant)).toEqual([second]);
  });

  it("catches up after Postgres was away, however often that failed", async () => {
    const tenant = await createTenant();
    await charge(tenant, 1);
    const away = cutDatabase();
    try {
      for (let i = 0; i < 3; i++) {
        expect(await runAlarm(tenant)).toBe(true);
        await charge(tenant, 1);
      }
      await evictDurableObject(gateOf(tenant.tenantId));
      await charge(tenant, 1);
    } finally {
      away.restore();
    }
    expect(await mirrored(tenant)).toEqual([]);
    expect(await runAlarm(tenant)).toBe(true);
    expect(await mirrored(tenant)).toMatchObject([{ credits: 5, calls: { embed: 5 } }]);
  });

  it("is not overwritten by a flush whose acknowledgement was lost and that comes again", async () => {
    const tenant = await createTenant();
    await charge(tenant, 1);
    await runAlarm(tenant);
    const [row] = await mirrored(tenant);
    if (!row) throw new Error("was not flushed");
    // As if a later flush had been written and its answer lost.
    await db
      .update(usageMonths)
      .set({ flushSeq: row.flushSeq + 1, credits: 9 })
      .where(eq(usageMonths.tenantId, tenant.tenantId));
    await charge(tenant, 1);
    await runAlarm(tenant);
    expect(await mirrored(tenant)).toMatchObject([{ flushSeq: row.flushSeq + 1, credits: 9 }]);
  });

  it("initialises a gate that has lost its rows", async () => {
    const tenant = await createTenant(10);
    for (let i = 0; i < 4; i++) await charge(tenant, 1_001);
    await runAlarm(tenant);
    await runInDurableObject(gateOf(tenant.tenantId), (_, state) => state.storage.deleteAll());
    await evictDurableObject(gateOf(tenant.tenantId));

    const result = await admitTo(tenant.tenantId, tenant.request(3));
    expect(result).toMatchObject({ outcome: "quota_exceeded", used: 8 });
    await charge(tenant, 1);
    expect(await gateOf(tenant.tenantId).usage(tenant.credential.id)).toMatchObject({
      used: 9,
      embedTokens: 4_005,
      calls: { embed: 5 },
    });
    await runAlarm(tenant);
    expect(await mirrored(tenant)).toMatchObject([{ credits: 9, embedTokens: 4_005, calls: { embed: 5 } }]);
  });

  it("has no row written for calls that cost no credits, but one flush a quarter of an hour, or when a reader asks", async () => {
    const tenant = await createTenant();
    const gate = () => gateOf(tenant.tenantId);
    const start = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
    const searchAt = async (ms: number) => {
      stopClock(start + ms);
      const admitted = await admitTo(tenant.tenantId, { credential: tenant.credential, surface: "search" });
      expect(admitted.outcome).toBe("admitted");
      await gate().count(null, "search");
    };
    /** Searches in Postgres, and the transactions that wrote the rows there. */
    const written = async () => {
      const { rows } = await db.execute(sql`
        select m.calls ->> 'search' as searches, d.calls as calls, array[m.xmin, d.xmin, c.xmin]::text as writers
        from usage_months m join usage_days d using (tenant_id) join credentials c using (tenant_id)
        where m.tenant_id = ${tenant.tenantId}`);
      return rows[0];
    };
    // The first of a day and of its kind is flushed at once: the dashboard's first steps wait for it.
    await searchAt(0);
    await runAlarm(tenant);
    const first = await written();
    expect(first).toMatchObject({ searches: "1", calls: 1 });
    for (let i = 1; i <= 20; i++) {
      await searchAt(i * 30_000);
      if (i % 4 === 0) await evictDurableObject(gate());
      await runAlarm(tenant);
    }
    expect(await written()).toEqual(first);
    stopClock(start + 30_000 + 15 * 60_000);
    await runAlarm(tenant);
    const second = await written();
    expect(second).toMatchObject({ searches: "21", calls: 21 });
    await searchAt(20 * 60_000);
    await runAlarm(tenant);
    expect(await written()).toEqual(second);
    await gate().flush();
    expect(await written()).toMatchObject({ searches: "22", calls: 22 });
  });

  it("keeps months apart", async () => {
    const tenant = await createTenant();
    try {
      stopClock(Date.UTC(2026, 8, 30, 23, 59, 59));
      await charge(tenant, 1);
      stopClock(Date.UTC(2026, 9, 1));
      await charge(tenant, 2_000);
      await runAlarm(tenant);
    } finally {
      startClock();
    }
    // Alarms of a clock that is behind go off by themselves; either way both months are there.
    await expect
      .poll(() => mirrored(tenant))
      .toMatchObject([
        { period: "2026-09", credits: 1 },
        { period: "2026-10", credits: 2 },
      ]);
  });

  it("stops when the tenant is deleted, and the gate deletes its rows later", async () => {
    const tenant = await createTenant();
    const nowMs = Date.now();
    await charge(tenant, 1);
    await db.delete(tenants).where(eq(tenants.id, tenant.tenantId));
    expect(await runAlarm(tenant)).toBe(true);
    try {
      stopClock(nowMs + 8 * DAY_MS);
      await runAlarm(tenant);
    } finally {
      startClock();
    }
    await runInDurableObject(gateOf(tenant.tenantId), (_, state) => {
      expect(state.storage.sql.exec("select name from sqlite_master where name = 'months'").toArray()).toEqual([]);
    });
  });
});

describe("use of a credential", () => {
  it("is written behind, by day, without a query per request", async () => {
    const tenant = await createTenant();
    const keyOf = async () => (await db.select().from(credentials).where(eq(credentials.tenantId, tenant.tenantId)))[0];
    expect(await keyOf()).toMatchObject({ id: tenant.credential.id, lastUsedAt: null });
    const start = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
    try {
      stopClock(start);
      await charge(tenant, 1_500);
      await charge(tenant, 10);
      stopClock(start + 5_000);
      await admitTo(tenant.tenantId, tenant.request());
      await runAlarm(tenant);
      await runAlarm(tenant);
      stopClock(start + DAY_MS);
      await charge(tenant, 1);
      await runAlarm(tenant);
    } finally {
      startClock();
    }
    const days = await db
      .select()
      .from(usageDays)
      .where(eq(usageDays.tenantId, tenant.tenantId))
      .orderBy(usageDays.day);
    expect(days).toMatchObject([
      { credentialId: tenant.credential.id, calls: 3, credits: 3, tokens: 1_510 },
      { credentialId: tenant.credential.id, calls: 1, credits: 1, tokens: 1 },
    ]);
    expect((await keyOf())?.lastUsedAt?.getTime()).toBe(start + DAY_MS);
  });
});

describe("the audit log", () => {
  it("has one event for each rejected bucket and window, whose count grows", async () => {
    const tenant = await createTenant();
    const gate = () => gateOf(tenant.tenantId);
    const start = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const ask = (times: number) =>
      Promise.all(
        Array.from({ length: times }, () =>
          admitTo(tenant.tenantId, { credential: tenant.credential, surface: "index" }),
        ),
      );
    try {
      // Ahead of the real clock, so that alarms run only when the test says so.
      stopClock(start + 2 * 3_600_000);
      await ask(30);
      const firstRejection = new Date(start + 2 * 3_600_000 + 1_234);
      stopClock(firstRejection.getTime());
      await ask(1);
      stopClock(firstRejection.getTime() + 500);
      await ask(2);
      await runAlarm(tenant);
      const [first] = await rejections(tenant);
      expect(first).toMatchObject({
        at: firstRejection,
        actor: tenant.credential.id,
        details: { surface: "index", rejected: 3 },
      });
      await ask(4);
      await evictDurableObject(gate());
      await ask(1);
      await runAlarm(tenant);
      await runAlarm(tenant);
      expect(await rejections(tenant)).toMatchObject([{ id: first?.id, details: { rejected: 8 } }]);

      stopClock(start + 3 * 3_600_000);
      await ask(31);
      await runAlarm(tenant);
      expect((await rejections(tenant)).map(({ details }) => details)).toMatchObject([
        { rejected: 8, windowStart: new Date(start + 2 * 3_600_000).toISOString() },
        { rejected: 1, windowStart: new Date(start + 3 * 3_600_000).toISOString() },
      ]);
    } finally {
      startClock();
    }
  });
});
