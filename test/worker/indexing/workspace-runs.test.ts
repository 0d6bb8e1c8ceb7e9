import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { TenantGate } from "../../../src/service/gate/tenant-gate.ts";
import { LEASE_MS, MAX_LOST_ATTEMPTS, QUEUE_LEASE_MS, SHARDS_IN_FLIGHT } from "../../../src/service/runs/state.ts";
import type { RunsClient } from "../../../src/service/runs/coordinator.ts";
import { startClock, stopClock } from "../support/clock.ts";
import {
  coordinator,
  givenWorkspaces,
  indexCalls,
  indexTokens,
  NOTHING,
  sent,
  stage,
  stateOf,
  stub,
  submitted,
  usage,
  verdict,
  worker,
} from "../support/runs.ts";

givenWorkspaces();
afterEach(startClock);

describe("the run coordinator", () => {
  it("drives a run from its plan to its end", async () => {
    const spec = await submitted();
    await expect.poll(() => sent(spec.runId, "plan")).toHaveLength(1);
    expect((await worker().claim(spec.runId, 1, "pulling"))?.spec).toEqual(spec);
    await stage(spec.runId, 1, 2);
    await expect.poll(() => sent(spec.runId, "shard")).toHaveLength(2);
    expect(await worker().planned(spec.runId, 1, { shards: 2, filesTotal: 8 }, NOTHING)).toBe(false);
    const first = usage();
    await worker().shardDone(spec.runId, 1, 0, 4, first);
    await worker().shardDone(spec.runId, 1, 0, 4, first);
    expect((await coordinator().status(spec.runId))?.progress).toEqual({
      filesDone: 4,
      filesTotal: 8,
      phase: "indexing",
    });
    await worker().shardDone(spec.runId, 1, 1, 4, usage());
    await expect.poll(() => sent(spec.runId, "finish")).toHaveLength(1);
    expect(await worker().work(spec.runId, 1)).toEqual({ embedded: 4, embedMs: 2, tokens: 6 });
    const waiting = coordinator().wait(spec.runId);
    await worker().succeed(spec.runId, 1, { ok: true, fileCount: 8 });
    expect(await waiting).toMatchObject({
      state: "succeeded",
      result: { fileCount: 8 },
      progress: { phase: "done", filesDone: 8 },
    });
    expect(await indexTokens()).toBe(6);
  });

  it("runs one at a time, in the order they came, however often one is submitted", async () => {
    const first = await submitted();
    const second = await submitted();
    const third = await submitted();
    await coordinator().submit(second);
    expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual([
      "running",
      "queued",
      "queued",
    ]);
    expect(await worker().claim(second.runId, 1, "pulling")).toBeNull();
    await worker().succeed(first.runId, 1, {});
    expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual([
      "succeeded",
      "running",
      "queued",
    ]);
    await worker().failed(second.runId, 1, { kind: "plan" }, verdict("fail"));
    expect(await stateOf(third)).toBe("running");
    await expect.poll(() => sent(second.runId, "plan")).toHaveLength(1);
  });

  it("keeps few of a run's shards in the queue, and sends the next as one is done", async () => {
    const spec = await submitted();
    await worker().claim(spec.runId, 1, "pulling");
    await stage(spec.runId, 1, SHARDS_IN_FLIGHT + 3);
    await worker().planned(spec.runId, 1, { shards: SHARDS_IN_FLIGHT + 3, filesTotal: 9 }, NOTHING);
    await expect.poll(() => sent(spec.runId, "shard")).toHaveLength(SHARDS_IN_FLIGHT);
    await worker().shardDone(spec.runId, 1, 0, 1, NOTHING);
    await expect.poll(() => sent(spec.runId, "shard")).toHaveLength(SHARDS_IN_FLIGHT + 1);
    expect(sent(spec.runId, "finish")).toHaveLength(0);
  });

  it("reports that a plan without shards is complete", async () => {
    const spec = await submitted();
    expect(await worker().planned(spec.runId, 1, { shards: 0, filesTotal: 0 }, NOTHING)).toBe(true);
    expect(sent(spec.runId, "finish")).toHaveLength(0);
  });

  it("restarts a silent run, refuses what comes from the old attempt, and counts its work all the same", async () => {
    const spec = await submitted();
    await worker().claim(spec.runId, 1, "pulling");
    await stage(spec.runId, 1, 2);
    await worker().shardDone(spec.runId, 1, 0, 1, usage());
    await worker().claim(spec.runId, 1, "indexing");
    stopClock(Date.now() + LEASE_MS + 1_000);
    await runDurableObjectAlarm(stub());
    await expect.poll(() => sent(spec.runId, "plan").map((step) => step.attempt)).toEqual([1, 2]);
    expect(await worker().beat(spec.runId, 1, "indexing", {})).toBe(false);
    expect(await worker().claim(spec.runId, 1, "indexing")).toBeNull();
    await worker().shardDone(spec.runId, 1, 1, 1, usage());
    await worker().succeed(spec.runId, 1, { wrong: true });
    expect(await stateOf(spec)).toBe("running");
    expect(await worker().work(spec.runId, 2)).toEqual({ embedded: 4, embedMs: 2, tokens: 6 });
    startClock();
    await worker().failed(spec.runId, 2, { kind: "plan" }, verdict("fail"), usage());
    expect(await indexTokens()).toBe(9);
  });

  it("counts a run as one call, even if the gate was away when it was submitted", async () => {
    const away = vi.spyOn(TenantGate.prototype, "count").mockRejectedValue(new Error("the gate is away"));
    const spec = await submitted();
    expect(await stateOf(spec)).toBe("running");
    expect(away).toHaveBeenCalled();
    away.mockRestore();
    expect(await indexCalls()).toBe(0);
    await runDurableObjectAlarm(stub());
    expect(await indexCalls()).toBe(1);
    await runDurableObjectAlarm(stub());
    await coordinator().submit(spec);
    expect(await indexCalls()).toBe(1);
  });

  it("does not restart or fail a run that waits in the queue", async () => {
    const spec = await submitted();
    let now = Date.now();
    stopClock((now += 20 * LEASE_MS));
    await runDurableObjectAlarm(stub());
    expect(await worker().beat(spec.runId, 1, "pulling", {})).toBe(true);
    for (let attempt = 2; attempt <= 2 * MAX_LOST_ATTEMPTS; attempt++) {
      stopClock((now += 2 * QUEUE_LEASE_MS));
      await runDurableObjectAlarm(stub());
      expect(await worker().beat(spec.runId, attempt - 1, "pulling", {})).toBe(false);
    }
    expect(await stateOf(spec)).toBe("running");
  });

  it("restarts when a step asks for it, and rejects a second worker for the plan", async () => {
    const spec = await submitted();
    expect(await worker().claim(spec.runId, 1, "pulling")).not.toBeNull();
    expect(await worker().claim(spec.runId, 1, "pulling")).toBeNull();
    await worker().failed(spec.runId, 1, { kind: "plan" }, verdict("restart"));
    await expect.poll(() => sent(spec.runId, "plan").map((step) => step.attempt)).toEqual([1, 2]);
    expect(await worker().claim(spec.runId, 1, "indexing")).toBeNull();
    for (let attempt = 2; attempt <= 3; attempt++) {
      expect(await worker().claim(spec.runId, attempt, "pulling")).not.toBeNull();
      await worker().failed(spec.runId, attempt, { kind: "plan" }, verdict("restart"));
    }
    expect(await coordinator().status(spec.runId)).toMatchObject({ state: "failed", error: { code: "CLONE_FAILED" } });
  });

  it("restarts when a shard asks for it, up to its limit, however often a new plan is made", async () => {
    const spec = await submitted();
    for (let attempt = 1; attempt <= 3; attempt++) {
      await worker().claim(spec.runId, attempt, "pulling");
      await stage(spec.runId, attempt, 2);
      await worker().planned(spec.runId, attempt, { shards: 2, filesTotal: 2 }, NOTHING);
      const step = attempt === 2 ? { kind: "plan" as const } : { kind: "shard" as const, shard: 1 };
      await worker().failed(spec.runId, attempt, step, verdict("restart"));
    }
    await expect.poll(() => sent(spec.runId, "plan").map((step) => step.attempt)).toEqual([1, 2, 3]);
    expect(await coordinator().status(spec.runId)).toMatchObject({ state: "failed", error: { code: "CLONE_FAILED" } });
  });

  it("sends a failed shard again, up to its limit", async () => {
    const spec = await submitted();
    await worker().claim(spec.runId, 1, "pulling");
    await stage(spec.runId, 1, 2);
    await worker().planned(spec.runId, 1, { shards: 2, filesTotal: 2 }, NOTHING);
    await worker().failed(spec.runId, 1, { kind: "shard", shard: 1 }, verdict("retry", 2, "EMBED_FAILED"));
    await expect.poll(() => sent(spec.runId, "shard"), { timeout: 10_000 }).toHaveLength(3);
    expect(await stateOf(spec)).toBe("running");
    await worker().failed(spec.runId, 1, { kind: "shard", shard: 0 }, verdict("retry", 2, "EMBED_FAILED"));
    expect(await stateOf(spec)).toBe("running");
    await worker().failed(spec.runId, 1, { kind: "shard", shard: 1 }, verdict("retry", 2, "EMBED_FAILED"));
    expect(await coordinator().status(spec.runId)).toMatchObject({ state: "failed", error: { code: "EMBED_FAILED" } });
  });

  it("keeps its state across an eviction", async () => {
    const spec = await submitted();
    const waiting = await submitted();
    await stage(spec.runId, 1, 2);
    await worker().planned(spec.runId, 1, { shards: 2, filesTotal: 2 }, NOTHING);
    await worker().shardDone(spec.runId, 1, 1, 1, NOTHING);
    await evictDurableObject(stub());
    await worker().shardDone(spec.runId, 1, 1, 1, NOTHING);
    await worker().shardDone(spec.runId, 1, 0, 1, NOTHING);
    await expect.poll(() => sent(spec.runId, "finish")).toHaveLength(1);
    await worker().succeed(spec.runId, 1, {});
    expect([await stateOf(spec), await stateOf(waiting)]).toEqual(["succeeded", "running"]);
  });

  /** Everything is killed; `Date.now` moves on; the alarm that is due wakes the object. Nobody asks about the run. */
  const restartOfEverything = async () => {
    const alarm = await runInDurableObject(stub(), (_object, state) => state.storage.getAlarm());
    expect(alarm).not.toBeNull();
    await evictDurableObject(stub());
    let now = Math.max(Date.now(), alarm ?? 0);
    const deadline = now + 30_000;
    for (; now < deadline; now += 5_000) {
      stopClock(now);
      await runDurableObjectAlarm(stub());
    }
    startClock();
  };

  it.each<[string, (runId: string) => Promise<unknown>]>([
    ["queued", async () => {}],
    ["pulling", (runId) => worker().claim(runId, 1, "pulling")],
    [
      "waiting for shards",
      async (runId) => {
        await worker().claim(runId, 1, "pulling");
        await stage(runId, 1, 2);
        await worker().planned(runId, 1, { shards: 2, filesTotal: 2 }, NOTHING);
        await worker().claim(runId, 1, "indexing");
      },
    ],
    [
      "waiting for its finish",
      async (runId) => {
        await stage(runId, 1, 1);
        await worker().planned(runId, 1, { shards: 1, filesTotal: 2 }, NOTHING);
        await worker().shardDone(runId, 1, 0, 2, NOTHING);
        await worker().beat(runId, 1, "indexing", {});
      },
    ],
    [
      "finishing",
      async (runId) => {
        await worker().planned(runId, 1, { shards: 0, filesTotal: 2 }, NOTHING);
        await worker().claim(runId, 1, "finishing");
        await worker().beat(runId, 1, "finishing", {});
      },
    ],
    ["building", (runId) => worker().handOver(runId, 1, "build")],
  ])("goes on within 30 s of a restart, without being asked: %s", async (_name, bring) => {
    const spec = await submitted();
    await bring(spec.runId);
    await restartOfEverything();
    await expect.poll(() => sent(spec.runId, "plan").map((step) => step.attempt)).toContain(2);
  });

  it("resends messages that the queue did not accept", async () => {
    const spec = await submitted();
    await worker().planned(spec.runId, 1, { shards: 1, filesTotal: 2 }, NOTHING);
    await worker().shardStaged(spec.runId, 1, 0);
    await runInDurableObject(stub(), async (object) => {
      const own = object as unknown as { env: object };
      const { env: before } = own;
      const away = { send: () => Promise.reject(new Error("queue away")) };
      own.env = { ...before, INDEX_QUEUE: away, INDEX_QUEUE_2: away };
      await (object as unknown as RunsClient).shardDone(spec.runId, 1, 0, 2, NOTHING);
      own.env = before;
    });
    expect(sent(spec.runId, "finish")).toHaveLength(0);
    stopClock(Date.now() + 6_000);
    await runDurableObjectAlarm(stub());
    await expect.poll(() => sent(spec.runId, "finish")).toHaveLength(1);
  });

  it("streams a run as events until it has ended", async () => {
    const spec = await submitted();
    const events = await coordinator().events(spec.runId);
    const text = new Response(events).text();
    await worker().beat(spec.runId, 1, "pulling", { filesDone: 1, filesTotal: 2 });
    await worker().succeed(spec.runId, 1, { fileCount: 2 });
    const states = [...(await text).matchAll(/^data: (.*)$/gm)].map(
      ([, json]) => (JSON.parse(json ?? "") as { state: string }).state,
    );
    expect(states[0]).toBe("running");
    expect(states.at(-1)).toBe("succeeded");
    expect(await coordinator().events(crypto.randomUUID())).toBeNull();
    expect(await coordinator().wait(crypto.randomUUID())).toBeNull();
  });

  it("deletes the sealed credential when the run ends", async () => {
    const spec = await submitted();
    await worker().succeed(spec.runId, 1, {});
    await runInDurableObject(stub(), (_object, state) => {
      const rows = state.storage.sql.exec<{ record: string }>("select record from runs").toArray();
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain("sealed-token");
    });
  });
});
