/** Runs as used by the routes, the hooks and the daily job: recorded in Postgres, driven by their workspace's coordinator. */
import { and, desc, eq, inArray, lt, type SQL } from "drizzle-orm";
import type { RunStatus, Source } from "../contract/index.ts";
import type { Db } from "../db/client.ts";
import { runs } from "../db/schema.ts";
import { type CoordinatorNamespace, coordinatorOf } from "./coordinator.ts";
import type { RunSpec, SealedSource } from "./run-state.ts";
import { seal } from "./seal.ts";

export type RunRow = typeof runs.$inferSelect;

export interface RunDeps {
  db: Db;
  coordinators: CoordinatorNamespace;
}

export interface RunRequest {
  tenantId: string;
  workspaceId: string;
  kind: RunSpec["kind"];
  source: Source;
  options: RunSpec["options"];
  /** Public id of the credential that requested the run. */
  actor: string;
}

const UNFINISHED: RunRow["state"][] = ["queued", "running"];
/** A run this young may not have reached its coordinator yet. */
const ORPHANED_AFTER_MS = 60_000;
const SUBMIT_TRIES = 3;

/**
 * Records a run and submits it to its workspace's coordinator. The source's token is sealed first. A run that cannot be
 * submitted is marked failed; if that cannot be recorded either, {@link failOrphanedRuns} does it later.
 * Throws errors of the database and the coordinator.
 */
export async function startRun(deps: RunDeps & { encryptionKey: string }, request: RunRequest): Promise<RunSpec> {
  const { db } = deps;
  const { tenantId, workspaceId, kind, options, actor } = request;
  const runId = crypto.randomUUID();
  const source = await sealSource(request.source, deps.encryptionKey, runId);
  const spec: RunSpec = { runId, tenantId, workspaceId, kind, source, options, actor };
  const stated = { url: source.url, ref: source.ref ?? null, options };
  await db.insert(runs).values({ id: runId, tenantId, workspaceId, kind, state: "queued", request: stated });
  try {
    await submit(deps, spec);
  } catch (error) {
    await failRuns(db, eq(runs.id, runId)).catch(() => undefined);
    throw error;
  }
  return spec;
}

/** A failed call may have arrived; submitting the same run twice is harmless. */
async function submit({ coordinators }: RunDeps, spec: RunSpec): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await coordinatorOf(coordinators, spec.workspaceId).submit(spec);
    } catch (error) {
      if (attempt === SUBMIT_TRIES) throw error;
    }
  }
}

async function sealSource({ auth, url, ref }: Source, encryptionKey: string, runId: string): Promise<SealedSource> {
  const open = { url, ...(ref === undefined ? {} : { ref }) };
  if (auth?.token === undefined) return open;
  const sealed = await seal(encryptionKey, runId, auth.token);
  return { ...open, auth: { sealed, ...(auth.username === undefined ? {} : { username: auth.username }) } };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A tenant's run; undefined if the id is unknown. */
export async function findRun(db: Db, tenantId: string, runId: string): Promise<RunRow | undefined> {
  if (!UUID.test(runId)) return undefined;
  const rows = await db
    .select()
    .from(runs)
    .where(and(eq(runs.id, runId.toLowerCase()), eq(runs.tenantId, tenantId)));
  return rows[0];
}

/** A run as lists show it. */
export interface RunListItem extends RunStatus {
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
    .set({ state: "cancelled", finishedAt: new Date() })
    .where(and(eq(runs.id, run.id), inArray(runs.state, UNFINISHED)))
    .returning();
  const row = cancelled[0];
  if (row) return (await coordinatorOf(deps.coordinators, run.workspaceId).cancel(run.id)) ?? storedStatus(row);
  return runStatus(deps, run);
}

/** The status of a run that its coordinator no longer stores. */
export function storedStatus(run: RunRow): RunStatus {
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

/**
 * Fails orphaned runs: recorded, but never received by their coordinator, for example because the isolate died in between.
 * Nothing else would end them. `which` narrows the runs to check. Returns the number of failed runs.
 */
export async function failOrphanedRuns({ db, coordinators }: RunDeps, now: number, which?: SQL): Promise<number> {
  const old = lt(runs.createdAt, new Date(now - ORPHANED_AFTER_MS));
  const open = await db
    .select()
    .from(runs)
    .where(and(inArray(runs.state, UNFINISHED), old, which));
  let failed = 0;
  for (const run of open) {
    if (await coordinatorOf(coordinators, run.workspaceId).status(run.id)) continue;
    await failRuns(db, eq(runs.id, run.id));
    failed++;
  }
  return failed;
}

const NOT_STARTED = { code: "INTERNAL", error: "the run could not be started; start it again" };

async function failRuns(db: Db, which: SQL): Promise<void> {
  await db
    .update(runs)
    .set({ state: "failed", error: NOT_STARTED, finishedAt: new Date() })
    .where(and(which, inArray(runs.state, UNFINISHED)));
}
