import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, it } from "vitest";
import { credentials } from "../../../src/service/db/credentials-schema.ts";
import { tenants } from "../../../src/service/db/schema.ts";
import type { AdmitResult } from "../../../src/service/gate/types.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { countQueries, cutDatabase } from "../support/database-away.ts";
import { admitTo, gateOf } from "../support/gates.ts";
import { addCredential, createTenant, db, type TestTenant, unknownCredential } from "../support/tenants.ts";

function admit({ tenantId, credential }: Pick<TestTenant, "tenantId" | "credential">): Promise<AdmitResult> {
  return admitTo(tenantId, { credential, surface: "search" });
}

async function revoke(tenant: TestTenant): Promise<void> {
  await db.update(credentials).set({ revokedAt: new Date() }).where(eq(credentials.id, tenant.credential.id));
}

afterEach(() => {
  startClock();
});

describe("credentials at the gate", () => {
  it("stop working within a second of their revocation", async () => {
    const tenant = await createTenant();
    const nowMs = Date.now();
    stopClock(nowMs);
    expect((await admit(tenant)).outcome).toBe("admitted");
    await revoke(tenant);
    stopClock(nowMs + 999);
    expect((await admit(tenant)).outcome).toBe("unauthorized");
  });

  it("work from the moment they are made", async () => {
    const tenant = await createTenant();
    await admit(tenant);
    const credential = await addCredential(tenant.tenantId);
    expect((await admit({ ...tenant, credential })).outcome).toBe("admitted");
  });

  it("carry the tenant's current settings", async () => {
    const tenant = await createTenant();
    const nowMs = Date.now();
    stopClock(nowMs);
    expect(await admit(tenant)).toMatchObject({ principal: { sharedIndex: false } });
    await db.update(tenants).set({ sharedIndex: true, monthlyCredits: 5 }).where(eq(tenants.id, tenant.tenantId));
    stopClock(nowMs + 999);
    expect(await admit(tenant)).toMatchObject({ principal: { sharedIndex: true } });
    expect(await gateOf(tenant.tenantId).usage(tenant.credential.id)).toMatchObject({ limit: 5 });
  });

  it("keep working for ten minutes while Postgres is unreachable, across an eviction, and are checked again afterwards", async () => {
    const tenant = await createTenant();
    const nowMs = Date.now();
    stopClock(nowMs);
    expect((await admit(tenant)).outcome).toBe("admitted");
    const unknown = { ...tenant, credential: await addCredential(tenant.tenantId) };
    const away = cutDatabase();
    try {
      stopClock(nowMs + 60_000);
      expect((await admit(tenant)).outcome).toBe("admitted");
      expect((await admit(unknown)).outcome).toBe("unavailable");
      await evictDurableObject(gateOf(tenant.tenantId));
      stopClock(nowMs + 9 * 60_000);
      expect((await admit(tenant)).outcome).toBe("admitted");
      expect((await admit(unknown)).outcome).toBe("unavailable");
      expect(await gateOf(tenant.tenantId).usage(tenant.credential.id)).toMatchObject({ limit: 10_000 });
      stopClock(nowMs + 10 * 60_000 + 1);
      expect((await admit(tenant)).outcome).toBe("unavailable");
      expect(away.tries()).toBeGreaterThan(0);
    } finally {
      away.restore();
    }
    expect((await admit(unknown)).outcome).toBe("admitted");
    await revoke(tenant);
    stopClock(nowMs + 11 * 60_000);
    expect((await admit(tenant)).outcome).toBe("unauthorized");
  });

  it("cannot be guessed with a query per guess", async () => {
    const tenant = await createTenant();
    stopClock(Date.now());
    await admit(tenant);
    const queries = countQueries();
    try {
      const guessed = { ...unknownCredential(tenant.tenantId), id: tenant.credential.id };
      const revoked = unknownCredential(tenant.tenantId);
      const guesses = Array.from({ length: 300 }, (_, i) =>
        admit({ ...tenant, credential: i % 2 === 0 ? guessed : revoked }),
      );
      const outcomes = new Set((await Promise.all(guesses)).map(({ outcome }) => outcome));
      expect(outcomes).toEqual(new Set(["unauthorized"]));
      expect(queries.tries()).toBeLessThan(20);
    } finally {
      queries.restore();
    }
  });

  it("of an unknown tenant create no rows and no alarm", async () => {
    const tenantId = crypto.randomUUID();
    expect((await admit({ tenantId, credential: unknownCredential(tenantId) })).outcome).toBe("unauthorized");
    await runInDurableObject(gateOf(tenantId), async (_, state) => {
      expect(state.storage.sql.exec("select name from sqlite_master").toArray()).toEqual([]);
      expect(await state.storage.getAlarm()).toBeNull();
    });
  });

  it("stop working at their expiry", async () => {
    const tenant = await createTenant();
    const nowMs = Date.now();
    stopClock(nowMs);
    const expiresAt = new Date(nowMs + 5_000);
    await db.update(credentials).set({ expiresAt }).where(eq(credentials.id, tenant.credential.id));
    expect((await admit(tenant)).outcome).toBe("admitted");
    stopClock(nowMs + 5_000);
    expect((await admit(tenant)).outcome).toBe("unauthorized");
  });

  it("end with their tenant", async () => {
    const tenant = await createTenant();
    const nowMs = Date.now();
    stopClock(nowMs);
    await admit(tenant);
    await db.delete(tenants).where(eq(tenants.id, tenant.tenantId));
    stopClock(nowMs + 1_000);
    expect((await admit(tenant)).outcome).toBe("unauthorized");
  });
});
