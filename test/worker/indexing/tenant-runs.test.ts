import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { coordinatorOf, type RunsClient } from "../../../src/service/runs/coordinator.ts";
import type { RunSpec } from "../../../src/service/db/run-spec.ts";
import { MAX_WORKING_RUNS } from "../../../src/service/runs/fair-share.ts";
import { steps } from "../support/worker.ts";

const newSpec = (tenantId: string): RunSpec => ({
  runId: crypto.randomUUID(),
  tenantId,
  workspaceId: crypto.randomUUID(),
  kind: "index",
  source: { url: "https://example.com/r.git" },
  options: { maxFileSizeBytes: 1_000 },
  actor: "someone",
});
const coordinator = (spec: RunSpec) => coordinatorOf(env.WORKSPACE_RUNS, spec.workspaceId);
const worker = (spec: RunSpec) =>
  env.WORKSPACE_RUNS.get(env.WORKSPACE_RUNS.idFromName(spec.workspaceId)) as unknown as RunsClient;
const line = (tenantId: string) => env.TENANT_RUNS.get(env.TENANT_RUNS.idFromName(tenantId));

async function submit(count: number): Promise<RunSpec[]> {
  const tenantId = crypto.randomUUID();
  const specs = Array.from({ length: count }, () => newSpec(tenantId));
  for (const spec of specs) await coordinator(spec).submit(spec);
  return specs;
}

const states = (specs: RunSpec[]) =>
  Promise.all(specs.map(async (spec) => (await coordinator(spec).status(spec.runId))?.state));
const working = async (specs: RunSpec[]) => (await states(specs)).filter((state) => state === "running").length;

it("lets few runs of a tenant work at once, in the order they came, whatever becomes of them", async () => {
  const specs = await submit(MAX_WORKING_RUNS + 3);
  expect(await states(specs)).toEqual([
    ...Array.from({ length: MAX_WORKING_RUNS }, () => "running"),
    "queued",
    "queued",
    "queued",
  ]);
  const [first, second, third] = specs;
  await worker(first!).succeed(first!.runId, 1, {});
  await expect.poll(() => states(specs)).toContain("succeeded");
  await expect.poll(() => working(specs)).toBe(MAX_WORKING_RUNS);
  expect((await states(specs)).indexOf("queued")).toBe(MAX_WORKING_RUNS + 1);
  await coordinator(second!).cancel(second!.runId);
  await worker(third!).failOrphaned(third!.runId, 1);
  await expect.poll(() => states(specs)).not.toContain("queued");
});

it("queues no more messages for a tenant with many runs than for one with few", async () => {
  const many = await submit(200);
  const other = await submit(1);
  const ids = new Set([...many, ...other].map((spec) => spec.runId));
  await expect.poll(() => steps.filter((step) => step.runId === other[0]!.runId)).toHaveLength(1);
  const before = steps.filter((step) => ids.has(step.runId)).findIndex((step) => step.runId === other[0]!.runId);
  expect(before).toBeLessThanOrEqual(MAX_WORKING_RUNS);
});

it("takes back a slot whose release was lost, and keeps the line over an eviction", async () => {
  const specs = await submit(MAX_WORKING_RUNS + 1);
  const { tenantId } = specs[0]!;
  // A run that no coordinator knows holds a slot, as if its release had never arrived.
  await line(tenantId).release(specs[0]!.runId);
  await expect.poll(() => states(specs)).not.toContain("queued");
  await line(tenantId).request(crypto.randomUUID(), crypto.randomUUID());
  await evictDurableObject(line(tenantId));
  await worker(specs[1]!).succeed(specs[1]!.runId, 1, {});
  await runDurableObjectAlarm(line(tenantId));
  const late = newSpec(tenantId);
  await coordinator(late).submit(late);
  expect(await working([late])).toBe(1);
});
