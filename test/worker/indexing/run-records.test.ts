/** What the coordinator of runs writes to Postgres at their end. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { LEASE_MS, MAX_LOST_ATTEMPTS } from "../../../src/service/runs/state.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { cutDatabase } from "../support/database-away.ts";
import {
  coordinator,
  givenWorkspaces,
  NOTHING,
  row,
  stage,
  stateOf,
  stub,
  submitted,
  verdict,
  worker,
} from "../support/runs.ts";

givenWorkspaces();
afterEach(startClock);

describe("the run coordinator", () => {
  it("keeps when it was in which phase, and what was tried again, and records both at its end", async () => {
    const spec = await submitted();
    await worker().claim(spec.runId, 1, "pulling");
    await worker().failed(spec.runId, 1, { kind: "plan" }, verdict("restart", 3, "STORAGE_UNAVAILABLE"));
    await worker().claim(spec.runId, 2, "pulling");
    await stage(spec.runId, 2, 2);
    await worker().claim(spec.runId, 2, "indexing");
    await worker().planned(spec.runId, 2, { shards: 2, filesTotal: 2 }, NOTHING);
    await worker().failed(spec.runId, 2, { kind: "shard", shard: 1 }, verdict("retry", 2, "EMBED_FAILED"));
    for (const shard of [0, 1]) await worker().shardDone(spec.runId, 2, shard, 1, NOTHING);
    await worker().claim(spec.runId, 2, "finishing");
    const live = await coordinator().history(spec.runId);
    expect(live?.spans.map(({ phase, attempt, to }) => [phase, attempt, to === null])).toEqual([
      ["pulling", 1, false],
      ["pulling", 2, false],
      ["indexing", 2, false],
      ["finishing", 2, true],
    ]);
    expect(live?.retries).toMatchObject([
      { step: "plan", action: "restart", attempt: 1, code: "STORAGE_UNAVAILABLE", error: "no" },
      { step: "shard", action: "repeat", attempt: 2, code: "EMBED_FAILED" },
    ]);
    const away = cutDatabase();
    await worker().succeed(spec.runId, 2, {});
    away.restore();
    expect((await row(spec.runId))?.history).toBeNull();
    await runDurableObjectAlarm(stub());
    const { history, state } = (await row(spec.runId)) ?? {};
    expect(history).toMatchObject({ retryCount: 2, spans: [{}, {}, {}, { phase: "finishing" }] });
    expect(JSON.stringify(history)).not.toContain('"to":null');
    // Success is written by the indexer.
    expect(state).toBe("queued");
    expect(await coordinator().history(crypto.randomUUID())).toBeNull();
  });

  it("fails after its last attempt with the last known error, and records it", async () => {
    const spec = await submitted();
    let now = Date.now();
    await worker().failed(spec.runId, 1, { kind: "plan" }, verdict("restart", 99, "STORAGE_UNAVAILABLE"));
    for (let attempt = 2; attempt <= MAX_LOST_ATTEMPTS + 1; attempt++) {
      stopClock(now);
      await worker().claim(spec.runId, attempt, "pulling");
      now += 2 * LEASE_MS;
      stopClock(now);
      await runDurableObjectAlarm(stub());
    }
    expect(await coordinator().status(spec.runId)).toMatchObject({
      state: "failed",
      error: { code: "STORAGE_UNAVAILABLE" },
    });
    startClock();
    await expect
      .poll(() => row(spec.runId))
      .toMatchObject({ state: "failed", error: { code: "STORAGE_UNAVAILABLE", error: "no" } });
  });

  it("records a failure later when the database is away", async () => {
    const spec = await submitted();
    const away = cutDatabase();
    await worker().failed(spec.runId, 1, { kind: "plan" }, verdict("fail"));
    expect(await stateOf(spec)).toBe("failed");
    away.restore();
    expect((await row(spec.runId))?.state).toBe("queued");
    await runDurableObjectAlarm(stub());
    expect((await row(spec.runId))?.state).toBe("failed");
  });
});
