import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { eq } from "drizzle-orm";
import { auditEvents } from "../../../src/service/db/records-schema.ts";
import { takeFromBucket } from "../../../src/service/gate/client.ts";
import { sourceOf } from "../../../src/service/gate/source.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { rateBucket } from "../support/gates.ts";
import { createTenant, db } from "../support/tenants.ts";

/** A minute ahead of the real clock, so that alarms run only when the test says so. */
const MINUTE = Math.floor(Date.now() / 60_000) * 60_000 + 10 * 60_000;

afterEach(() => {
  startClock();
});

describe("rate bucket of a subject", () => {
  it("lets exactly its budget through in a window, across an eviction", async () => {
    stopClock(MINUTE);
    const gate = () => rateBucket("exact");
    const take = async (times: number) =>
      (await Promise.all(Array.from({ length: times }, () => gate().take("healthz")))).filter(({ allowed }) => allowed)
        .length;
    expect(await take(400)).toBe(400);
    await evictDurableObject(gate());
    expect(await take(400)).toBe(200);
    await evictDurableObject(gate());
    stopClock(MINUTE + 59_500);
    expect(await gate().take("healthz")).toEqual({
      allowed: false,
      rate: { limit: 600, remaining: 0, resetSec: MINUTE / 1_000 + 60 },
      rejected: 201,
      retryAfterSec: 1,
    });
    stopClock(MINUTE + 60_000);
    expect(await gate().take("healthz")).toMatchObject({ allowed: true, rate: { remaining: 599 } });
  });

  it("removes its rows once its window is over", async () => {
    stopClock(MINUTE);
    const gate = rateBucket("tidy");
    await gate.take("healthz");
    await runInDurableObject(gate, async (_, state) => {
      expect(state.storage.sql.exec("select * from windows").toArray()).toHaveLength(1);
    });
    // A client that goes on keeps what is counted.
    stopClock(MINUTE + 60_000);
    await gate.take("healthz");
    stopClock(MINUTE + 121_000);
    expect(await runDurableObjectAlarm(gate)).toBe(true);
    expect(await gate.take("healthz")).toMatchObject({ rate: { remaining: 599 } });
    stopClock(MINUTE + 300_000);
    expect(await runDurableObjectAlarm(gate)).toBe(true);
    await runInDurableObject(gate, async (_, state) => {
      expect(state.storage.sql.exec("select name from sqlite_master where name = 'windows'").toArray()).toEqual([]);
      expect(await state.storage.getAlarm()).toBeNull();
    });
  });

  it("is shared by the addresses of one IPv6 /64 only", async () => {
    const take = async (address: string) => {
      const result = await takeFromBucket(env.RATE_BUCKETS, "salt", { surface: "healthz", subject: sourceOf(address) });
      return "rate" in result ? result.rate.remaining : undefined;
    };
    stopClock(MINUTE);
    expect(await take("2001:db8:77:1::1")).toBe(599);
    expect(await take("2001:db8:77:1:abcd::2")).toBe(598);
    expect(await take("2001:db8:77:2::1")).toBe(599);
    expect(await take("198.51.100.7")).toBe(599);
  });

  it("audits the rejections of two users of a tenant apart, each once per window", async () => {
    stopClock(MINUTE);
    const { tenantId } = await createTenant();
    for (const user of ["user:a", "user:b"]) {
      const bucket = rateBucket(`${tenantId} ${user}`);
      for (let i = 0; i < 122; i++) await bucket.take("dashboard_mutation", { tenantId, actor: user });
      await runDurableObjectAlarm(bucket);
      await runDurableObjectAlarm(bucket);
    }
    const events = await db
      .select()
      .from(auditEvents)
      .where(eq(auditEvents.tenantId, tenantId))
      .orderBy(auditEvents.actor);
    expect(events).toMatchObject(
      ["user:a", "user:b"].map((actor) => ({
        event: "RATE_LIMITED",
        actor,
        at: new Date(MINUTE),
        details: { surface: "dashboard_mutation", rejected: 2, subject: actor },
      })),
    );
  });
});
