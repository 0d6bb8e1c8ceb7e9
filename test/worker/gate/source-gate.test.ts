import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { takeFromSource } from "../../../src/gate/client.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { sourceGate } from "../support/gates.ts";

/** A minute ahead of the real clock, so that alarms run only when the test says so. */
const MINUTE = Math.floor(Date.now() / 60_000) * 60_000 + 10 * 60_000;

afterEach(() => {
  startClock();
});

describe("bucket of a source", () => {
  it("lets exactly its budget through in a window, across an eviction", async () => {
    stopClock(MINUTE);
    const gate = () => sourceGate("exact");
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
      retryAfterSec: 1,
    });
    stopClock(MINUTE + 60_000);
    expect(await gate().take("healthz")).toMatchObject({ allowed: true, rate: { remaining: 599 } });
  });

  it("removes its rows once its window is over", async () => {
    stopClock(MINUTE);
    const gate = sourceGate("tidy");
    await gate.take("healthz");
    await runInDurableObject(gate, async (_, state) => {
      expect((await state.storage.list()).size).toBe(1);
    });
    // A client that goes on keeps what is counted.
    stopClock(MINUTE + 60_000);
    await gate.take("healthz");
    stopClock(MINUTE + 66_000);
    expect(await runDurableObjectAlarm(gate)).toBe(true);
    expect(await gate.take("healthz")).toMatchObject({ rate: { remaining: 598 } });
    stopClock(MINUTE + 126_000);
    expect(await runDurableObjectAlarm(gate)).toBe(true);
    await runInDurableObject(gate, async (_, state) => {
      expect((await state.storage.list()).size).toBe(0);
      expect(await state.storage.getAlarm()).toBeNull();
    });
  });

  it("is shared by the addresses of one IPv6 network and by nobody else", async () => {
    const take = async (address: string) => {
      const result = await takeFromSource(env.SOURCE_GATE, "salt", address, "healthz");
      return "rate" in result ? result.rate.remaining : undefined;
    };
    stopClock(MINUTE);
    expect(await take("2001:db8:77:1::1")).toBe(599);
    expect(await take("2001:db8:77:1:abcd::2")).toBe(598);
    expect(await take("2001:db8:77:2::1")).toBe(599);
    expect(await take("198.51.100.7")).toBe(599);
  });
});
