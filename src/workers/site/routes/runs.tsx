/** Index runs: start, progress, cancel. */
import { Hono } from "hono";
import { indexFromSource } from "../../../service/sources/index-source.ts";
import { findRepository, type RepositoryRow, type RunRow } from "../../../service/dashboard/repositories.ts";
import { count } from "../../../service/gate/client.ts";
import { coordinatorOf } from "../../../service/runs/coordinator.ts";
import { cancelRun, findRun, runStatus } from "../../../service/runs/runs.ts";
import type { RunSpec } from "../../../service/db/run-spec.ts";
import { done } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { actorOfSession } from "../app/fields.ts";
import type { ShownRun } from "../views/runs.tsx";
import { isActive } from "../views/state.tsx";

export const runApi = new Hono<DashboardHono>();

/** Dependencies of the run functions in `src/service/runs`. */
function runDeps(c: DashboardContext) {
  return { db: c.get("db"), coordinators: c.env.WORKSPACE_RUNS, encryptionKey: c.env.ENCRYPTION_KEY };
}

/** Starts a run of the default branch, and counts it like a run started over the API. */
export async function startIndexing(c: DashboardContext, workspaceId: string): Promise<RunSpec> {
  const { tenantId } = c.get("membership");
  const run = await indexFromSource(runDeps(c), { tenantId, workspaceId, current: true, actor: actorOfSession(c) });
  await count(c.env.TENANT_GATE, tenantId, `run:${run.runId}`, "index");
  return run;
}

/** Adds the live progress of active runs. */
export async function withProgress(c: DashboardContext, runs: RunRow[]): Promise<ShownRun[]> {
  if (!runs.some(({ state }) => isActive(state))) return runs;
  const workspaceId = runs[0]?.workspaceId ?? "";
  const live = await coordinatorOf(c.env.WORKSPACE_RUNS, workspaceId).unfinished();
  const byId = new Map(live.map((status) => [status.runId, status]));
  return runs.map((run) => {
    const status = byId.get(run.runId);
    return status === undefined ? run : Object.assign(run, { state: status.state, progress: status.progress });
  });
}

/** Loads the path's repository. Throws 404 unless the tenant owns it. */
export async function requireRepository(c: DashboardContext): Promise<RepositoryRow> {
  const id = c.req.param("id") ?? "";
  const repository = isUuid(id) ? await findRepository(c.get("db"), c.get("membership").tenantId, id) : undefined;
  if (!repository) throw new DashboardError("NOT_FOUND", "there is no such repository");
  return repository;
}

runApi.post("/repositories/:id/index", async (c) => {
  const { workspaceId } = await requireRepository(c);
  const { runId } = await startIndexing(c, workspaceId);
  const to = tenantPath(c, `repositories/${workspaceId}`);
  return done(c, { to, data: { runId }, status: 202, notice: "The run is started." });
});

runApi.get("/runs/:id", async (c) => {
  const run = await findRun(c.get("db"), c.get("membership").tenantId, c.req.param("id"));
  if (!run) throw new DashboardError("NOT_FOUND", "there is no such run");
  return c.json(await runStatus(runDeps(c), run));
});

runApi.post("/runs/:id/cancel", async (c) => {
  const run = await findRun(c.get("db"), c.get("membership").tenantId, c.req.param("id"));
  if (!run) throw new DashboardError("NOT_FOUND", "there is no such run");
  const { state } = await cancelRun(runDeps(c), run);
  const notice = state === "cancelled" ? "The run is cancelled." : "The run had already ended.";
  return done(c, { to: tenantPath(c, `repositories/${run.workspaceId}`), data: { state }, notice });
});
