/** A workspace of its own for each test of a file that calls `givenWorkspaces`, its coordinator, and what the indexer would tell it. */
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeEach } from "vitest";
import { runs, workspaces } from "../../../src/service/db/schema.ts";
import { coordinatorOf, type RunsClient, type Verdict } from "../../../src/service/runs/coordinator.ts";
import type { RunSpec } from "../../../src/service/db/run-spec.ts";
import { createTenant, db } from "./tenants.ts";
import { steps } from "./worker.ts";

export let workspaceId: string;
export let tenantId: string;

/** Makes them before each test of the file that calls it. */
export function givenWorkspaces(): void {
  beforeEach(async () => {
    workspaceId = crypto.randomUUID();
    ({ tenantId } = await createTenant());
    await db.insert(workspaces).values({ id: workspaceId, tenantId });
  });
}

export const stub = () => env.WORKSPACE_RUNS.get(env.WORKSPACE_RUNS.idFromName(workspaceId));
export const coordinator = () => coordinatorOf(env.WORKSPACE_RUNS, workspaceId);
export const worker = () => stub() as unknown as RunsClient;

export async function newSpec(): Promise<RunSpec> {
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

export async function submitted(): Promise<RunSpec> {
  const spec = await newSpec();
  await coordinator().submit(spec);
  return spec;
}

export const sent = (runId: string, kind: string) => steps.filter((step) => step.runId === runId && step.kind === kind);
let tokens = 0;
export const usage = (embedded = 2) => ({ token: `t${tokens++}`, embedded, embedMs: 1, tokens: 3 });
export const NOTHING = { token: "", embedded: 0, embedMs: 0, tokens: 0 };
export const verdict = (action: Verdict["action"], limit = 3, code = "CLONE_FAILED"): Verdict => ({
  action,
  limit,
  error: { code, error: "no" },
});
export const stage = async (runId: string, attempt: number, count: number) => {
  for (let shard = 0; shard < count; shard++) await worker().shardStaged(runId, attempt, shard);
};
export const row = async (runId: string) => (await db.select().from(runs).where(eq(runs.id, runId)))[0];
const usageOfTenant = () => env.TENANT_GATE.get(env.TENANT_GATE.idFromName(tenantId)).usage("someone");
export const indexTokens = async () => (await usageOfTenant()).indexTokens;
export const indexCalls = async () => (await usageOfTenant()).calls.index;
export const stateOf = async (spec: RunSpec) => (await coordinator().status(spec.runId))?.state;
