/** Runs that were started: found, listed, cancelled. Postgres has their rows; their workspace's coordinator knows the progress. */
import { and, desc, eq, inArray } from "drizzle-orm";
import type { RunStatus } from "../../contract/index.ts";
import type { Db } from "../db/client.ts";
import { runs } from "../db/schema.ts";
import { type CoordinatorNamespace, coordinatorOf } from "./coordinator.ts";
import { isUuid } from "../../lib/uuid.ts";

export type RunRow = typeof runs.$inferSelect;

export interface RunDeps {
  db: Db;
  coordinators: CoordinatorNamespace;
}

/** States of a run that has not ended. */
export const UNFINISHED: RunRow["state"][] = ["queued", "running"];
/** A tenant's run; undefined if the id is unknown. */
export async function findRun(db: Db, tenantId: string, runId: string): Promise<RunRow | undefined> {
  if (!isUuid(runId)) return undefined;
  const rows = await db
    .select()
    .from(runs)
    .where(and(eq(runs.id, runId.toLowerCase()), eq(runs.tenantId, tenantId)));
  return rows[0];
}

/** A run as lists show it. */
interface RunListItem extends RunStatus {
  kind: RunRow["kind"];
  ref: string | null;
  createdAt: string;
  finishedAt: string | null;
}

/** The runs of a workspace, newest first. The caller must check that the tenant owns the workspace. */
export async function listRuns(
  { db, coordinators }: RunDeps,
  workspaceId: string,
  limit: number,
): Promise<RunListItem[]> {
  const [rows, unfinished] = await Promise.all([
    db.select().from(runs).where(eq(runs.workspaceId, workspaceId)).orderBy(desc(runs.createdAt)).limit(limit),
    coordinatorOf(coordinators, workspaceId).unfinished(),
  ]);
  const live = new Map(unfinished.map((status) => [status.runId, status]));
  return rows.map((row) =>
    Object.assign({}, live.get(row.id) ?? storedStatus(row), {
      kind: row.kind,
      ref: (row.request as { ref?: string | null } | null)?.ref ?? null,
      createdAt: row.createdAt.toISOString(),
      finishedAt: row.finishedAt?.toISOString() ?? null,
    }),
  );
}

/** The status of a run, from its coordinator while that still stores it, else from Postgres. */
export async function runStatus({ coordinators }: RunDeps, run: RunRow): Promise<RunStatus> {
  return (await coordinatorOf(coordinators, run.workspaceId).status(run.id)) ?? storedStatus(run);
}

/**
 * Cancels a run that has not ended. Postgres is authoritative: once the run is cancelled there, the statement that switches the
 * revision has no effect, even if a worker is still running. Returns the new status.
 */
export async function cancelRun(deps: RunDeps, run: RunRow): Promise<RunStatus> {
  const cancelled = await deps.db
    .update(runs)
    .set({ state: "cancelled", submission: null, finishedAt: new Date() })
    .where(and(eq(runs.id, run.id), inArray(runs.state, UNFINISHED)))
    .returning();
  const row = cancelled[0];
  if (row) return (await coordinatorOf(deps.coordinators, run.workspaceId).cancel(run.id)) ?? storedStatus(row);
  return runStatus(deps, run);
}

/** The status of a run that its coordinator no longer stores. */
function storedStatus(run: RunRow): RunStatus {
  const result = run.result as RunStatus["result"] | null;
  const error = run.error as RunStatus["error"] | null;
  const files = typeof result?.["fileCount"] === "number" ? result["fileCount"] : 0;
  return {
    ok: true,
    runId: run.id,
    state: run.state,
    progress: { filesDone: files, filesTotal: files, phase: run.finishedAt ? "done" : "queued" },
    ...(result ? { result } : {}),
    ...(error ? { error } : {}),
  };
}
