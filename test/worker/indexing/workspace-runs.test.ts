import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runs, workspaces } from "../../../src/db/schema.ts";
import { coordinatorOf } from "../../../src/indexing/coordinator.ts";
import { LEASE_MS, MAX_ATTEMPTS, QUEUE_LEASE_MS, type RunSpec } from "../../../src/indexing/run-state.ts";
import type { RunsClient } from "../../../src/indexing/steps.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { cutDatabase } from "../support/database-away.ts";
import { createTenant, db } from "../support/tenants.ts";
import { steps } from "../support/worker.ts";

let workspaceId: string;
let tenantId: string;

beforeEach(async () => {
  workspaceId = crypto.randomUUID();
  ({ tenantId } = await createTenant());
  await db.insert(workspaces).values({ id: workspaceId, tenantId });
});
afterEach(startClock);

const stub = () => env.WORKSPACE_RUNS.get(env.WORKSPACE_RUNS.idFromName(workspaceId));
const coordinator = () => coordinatorOf(env.WORKSPACE_RUNS, workspaceId);
const worker = () => stub() as unknown as RunsClient;

async function newSpec(): Promise<RunSpec> {
  const runId = crypto.randomUUID();
  await db.insert(runs).values({ id: runId, tenantId, workspaceId, kind: "index", state: "queued", request: {} });
  return {
    runId,
    tenantId,
    workspaceId,
    kind: "index",
    source: { url: "https://example.com/r.git", auth: { sealed: "sealed-token" } },
    options: { maxFileSizeBytes: 1_000 },
    actor: "someone",
  };
}

async function submitted(): Promise<RunSpec> {
  const spec = await newSpec();
  await coordinator().submit(spec);
  return spec;
}

const sent = (runId: string, kind: string) => steps.filter((step) => step.runId === runId && step.kind === kind);
const work = { embedded: 2, embedMs: 1, tokens: 3, files: 4 };
const stateOf = async (spec: RunSpec) => (await coordinator().status(spec.runId))?.state;

describe("the run coordinator", () => {
  it("drives a run from its plan to its end", async () => {
    const spec = await submitted();
    await expect.poll(() => sent(spec.runId, "plan")).toHaveLength(1);
    expect(await worker().claim(spec.runId, 1, "pulling")).toEqual(spec);
    expect(await worker().planned(spec.runId, 1, { shards: 2, filesTotal: 8 })).toBe(false);
    await worker().shardDone(spec.runId, 1, 0, work);
    await worker().shardDone(spec.runId, 1, 0, work);
    expect((await coordinator().status(spec.runId))?.progress).toEqual({
      filesDone: 4,
      filesTotal: 8,
      phase: "indexing",
    });
    await worker().shardDone(spec.runId, 1, 1, work);
    await expect.poll(() => sent(spec.runId, "finish")).toHaveLength(1);
    expect(await worker().work(spec.runId, 1)).toEqual({ embedded: 4, embedMs: 2, tokens: 6 });
    const waiting = coordinator().wait(spec.runId);
    await worker().succeed(spec.runId, 1, { ok: true, fileCount: 8 });
    expect(await waiting).toMatchObject({
      state: "succeeded",
      result: { fileCount: 8 },
      progress: { phase: "done", filesDone: 8 },
    });
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
    await worker().fail(second.runId, 1, { code: "CLONE_FAILED", error: "no" });
    expect(await stateOf(third)).toBe("running");
    await expect.poll(() => sent(second.runId, "plan")).toHaveLength(1);
  });

  it("says that nothing is left to wait for when a plan has no shards", async () => {
    const spec = await submitted();
    expect(await worker().planned(spec.runId, 1, { shards: 0, filesTotal: 0 })).toBe(true);
    expect(sent(spec.runId, "finish")).toHaveLength(0);
  });

  it("drives a silent run again and refuses what still comes from the old attempt", async () => {
    const spec = await submitted();
    await worker().claim(spec.runId, 1, "pulling");
    await worker().planned(spec.runId, 1, { shards: 2, filesTotal: 2 });
    await worker().shardDone(spec.runId, 1, 0, work);
    await worker().claim(spec.runId, 1, "indexing");
    stopClock(Date.now() + LEASE_MS + 1_000);
    await runDurableObjectAlarm(stub());
    await expect.poll(() => sent(spec.runId, "plan").map((step) => step.attempt)).toEqual([1, 2]);
    expect(await worker().beat(spec.runId, 1, {})).toBe(false);
    expect(await worker().claim(spec.runId, 1, "indexing")).toBeNull();
    await worker().shardDone(spec.runId, 1, 1, work);
    await worker().succeed(spec.runId, 1, { wrong: true });
    expect(await stateOf(spec)).toBe("running");
    expect(await worker().work(spec.runId, 2)).toEqual({ embedded: 2, embedMs: 1, tokens: 3 });
  });

  it("leaves a run alone that waits behind others in the queue, and never fails it for that", async () => {
    const spec = await submitted();
    let now = Date.now();
    stopClock((now += 20 * LEASE_MS));
    await runDurableObjectAlarm(stub());
    expect(await worker().beat(spec.runId, 1, {})).toBe(true);
    for (let attempt = 2; attempt <= 2 * MAX_ATTEMPTS; attempt++) {
      stopClock((now += 2 * QUEUE_LEASE_MS));
      await runDurableObjectAlarm(stub());
      expect(await worker().beat(spec.runId, attempt - 1, {})).toBe(false);
      await worker().retrying(spec.runId, attempt, { code: "INTERNAL", error: "not yet" }, 0);
    }
    expect(await stateOf(spec)).toBe("running");
  });

  it("begins anew when a step asks for it, and refuses a second worker at the plan", async () => {
    const spec = await submitted();
    expect(await worker().claim(spec.runId, 1, "pulling")).not.toBeNull();
    expect(await worker().claim(spec.runId, 1, "pulling")).toBeNull();
    await worker().restart(spec.runId, 1, { code: "CLONE_FAILED", error: "cut" }, 0);
    await expect.poll(() => sent(spec.runId, "plan").map((step) => step.attempt)).toEqual([1, 2]);
    expect(await worker().claim(spec.runId, 1, "indexing")).toBeNull();
    for (let attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
      expect(await worker().claim(spec.runId, attempt, "pulling")).not.toBeNull();
      await worker().restart(spec.runId, attempt, { code: "CLONE_FAILED", error: "cut" }, 0);
    }
    expect(await coordinator().status(spec.runId)).toMatchObject({ state: "failed", error: { code: "CLONE_FAILED" } });
  });

  it("survives eviction with everything it knew", async () => {
    const spec = await submitted();
    const waiting = await submitted();
    await worker().planned(spec.runId, 1, { shards: 2, filesTotal: 2 });
    await worker().shardDone(spec.runId, 1, 1, work);
    await evictDurableObject(stub());
    await worker().shardDone(spec.runId, 1, 1, work);
    await worker().shardDone(spec.runId, 1, 0, work);
    await expect.poll(() => sent(spec.runId, "finish")).toHaveLength(1);
    await worker().succeed(spec.runId, 1, {});
    expect([await stateOf(spec), await stateOf(waiting)]).toEqual(["succeeded", "running"]);
  });

  it("gives up after its last attempt with the last failure known, and records it", async () => {
    const spec = await submitted();
    let now = Date.now();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      stopClock(now);
      await worker().retrying(spec.runId, attempt, { code: "STORAGE_UNAVAILABLE", error: "away" }, 0);
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
      .poll(async () => (await db.select().from(runs).where(eq(runs.id, spec.runId)))[0])
      .toMatchObject({ state: "failed", error: { code: "STORAGE_UNAVAILABLE", error: "away" } });
  });

  it("records a failure later when the database is away", async () => {
    const spec = await submitted();
    const away = cutDatabase();
    await worker().fail(spec.runId, 1, { code: "CLONE_FAILED", error: "gone" });
    expect(await stateOf(spec)).toBe("failed");
    away.restore();
    expect((await db.select().from(runs).where(eq(runs.id, spec.runId)))[0]?.state).toBe("queued");
    await runDurableObjectAlarm(stub());
    expect((await db.select().from(runs).where(eq(runs.id, spec.runId)))[0]?.state).toBe("failed");
  });

  it("streams a run as events until it has ended", async () => {
    const spec = await submitted();
    const events = await coordinator().events(spec.runId);
    const text = new Response(events).text();
    await worker().beat(spec.runId, 1, { filesDone: 1, filesTotal: 2 });
    await worker().succeed(spec.runId, 1, { fileCount: 2 });
    const states = [...(await text).matchAll(/^data: (.*)$/gm)].map(
      ([, json]) => (JSON.parse(json ?? "") as { state: string }).state,
    );
    expect(states[0]).toBe("running");
    expect(states.at(-1)).toBe("succeeded");
    expect(await coordinator().events(crypto.randomUUID())).toBeNull();
    expect(await coordinator().wait(crypto.randomUUID())).toBeNull();
  });

  it("forgets the sealed credential when the run ends", async () => {
    const spec = await submitted();
    await worker().succeed(spec.runId, 1, {});
    await runInDurableObject(stub(), (_object, state) => {
      const rows = state.storage.sql.exec<{ record: string }>("select record from runs").toArray();
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain("sealed-token");
    });
  });
});
