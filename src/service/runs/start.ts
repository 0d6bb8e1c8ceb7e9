/** Starting of runs: recorded in Postgres, then submitted to their workspace's coordinator, once more if that fails. */
import { and, eq, inArray, isNotNull, isNull, lt, sql, type SQL } from "drizzle-orm";
import type { Source } from "../../contract/index.ts";
import { pages } from "../../lib/pages.ts";
import { seal } from "../../lib/seal.ts";
import type { Db } from "../db/client.ts";
import type { RunSpec, SealedSource } from "../db/run-spec.ts";
import { runs } from "../db/schema.ts";
import { coordinatorOf } from "./coordinator.ts";
import { type RunDeps, type RunRow, UNFINISHED } from "./runs.ts";

export interface RunRequest {
  tenantId: string;
  workspaceId: string;
  kind: RunSpec["kind"];
  source: Source;
  /** GitHub App that reads the source, instead of a token. */
  appId?: string;
  options: RunSpec["options"];
  /** Who requested the run: `user:<id>`, `hook:<id>`, or the public id of a credential. */
  actor: string;
}

/** A run this young may not have reached its coordinator yet. */
const ORPHANED_AFTER_MS = 60_000;
const SUBMIT_TRIES = 3;
/** Age at which a run that still cannot be submitted is failed. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** Orphaned runs that one call submits again, and how many at a time. */
const RESUBMIT_LIMIT = 500;
/** Unfinished runs whose coordinators are asked in one call. */
const CHECK_LIMIT = 500;
const RESUBMIT_AT_ONCE = 10;

/**
 * Records a run and submits it to its workspace's coordinator. A run that cannot be submitted is marked failed, because the caller
 * reports it. If the process dies in between, {@link settleOrphanedRuns} submits the run. Throws errors of the database and the
 * coordinator.
 */
export async function startRun(deps: RunDeps & { encryptionKey: string }, request: RunRequest): Promise<RunSpec> {
  const spec = await prepareRun(deps.encryptionKey, request);
  await deps.db.insert(runs).values(newRow(spec));
  try {
    await submitRun(deps, spec);
  } catch (error) {
    await failRuns(deps.db, eq(runs.id, spec.runId)).catch(() => undefined);
    throw error;
  }
  return spec;
}

/** Creates a run that is not recorded yet. The source's token is sealed. */
export async function prepareRun(encryptionKey: string, { appId, source, ...request }: RunRequest): Promise<RunSpec> {
  const runId = crypto.randomUUID();
  const sealed = await sealSource(source, encryptionKey, runId);
  return { ...request, runId, source: appId === undefined ? sealed : { ...sealed, auth: { appId } } };
}

/** The row of a run that its coordinator does not have yet. */
export function newRow(spec: RunSpec) {
  const { runId: id, tenantId, workspaceId, kind, source, options, actor } = spec;
  const request = { url: source.url, ref: source.ref ?? null, options, actor };
  return { id, tenantId, workspaceId, kind, state: "queued" as const, request, submission: spec };
}

/** Submits a recorded run. A failed call may have arrived; submitting the same run twice is harmless. */
export async function submitRun({ db, coordinators }: RunDeps, spec: RunSpec): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await coordinatorOf(coordinators, spec.workspaceId).submit(spec);
      break;
    } catch (error) {
      if (attempt === SUBMIT_TRIES) throw error;
    }
  }
  // If this fails, the run is submitted once more later.
  await db
    .update(runs)
    .set({ submission: null })
    .where(eq(runs.id, spec.runId))
    .catch(() => undefined);
}

async function sealSource({ auth, url, ref }: Source, encryptionKey: string, runId: string): Promise<SealedSource> {
  const open = { url, ...(ref === undefined ? {} : { ref }) };
  if (auth?.token === undefined) return open;
  const sealed = await seal(encryptionKey, runId, auth.token);
  return { ...open, auth: { sealed, ...(auth.username === undefined ? {} : { username: auth.username }) } };
}

/**
 * Settles runs that were recorded but never received by their coordinator, for example because the process died in between: submits
 * them again. Those that an earlier version recorded without what a submission needs are failed. `which` narrows the runs to check.
 * A run that cannot be submitted now is left for the next call, for a day at most.
 */
export async function settleOrphanedRuns(
  deps: RunDeps,
  now: number,
  which?: SQL,
): Promise<{ submitted: number; failed: number }> {
  const { db, coordinators } = deps;
  const waiting = await db
    .select()
    .from(runs)
    .where(and(isNotNull(runs.submission), which))
    .orderBy(runs.createdAt)
    .limit(RESUBMIT_LIMIT);
  let submitted = 0;
  for (const page of pages(waiting, RESUBMIT_AT_ONCE)) {
    const done = await Promise.allSettled(page.map((run) => resubmit(deps, run)));
    submitted += done.filter(({ status }) => status === "fulfilled").length;
  }
  const hopeless = and(isNotNull(runs.submission), lt(runs.createdAt, new Date(now - GIVE_UP_AFTER_MS)), which);
  let failed = await failRuns(db, hopeless);
  const old = lt(runs.createdAt, new Date(now - ORPHANED_AFTER_MS));
  const open = await db
    .select()
    .from(runs)
    .where(and(inArray(runs.state, UNFINISHED), isNull(runs.submission), old, which))
    // A different part each minute: every run costs a call to its coordinator, and one invocation has a limited number of calls.
    .orderBy(sql`random()`)
    .limit(CHECK_LIMIT);
  for (const run of open) {
    if (await coordinatorOf(coordinators, run.workspaceId).status(run.id)) continue;
    failed += await failRuns(db, eq(runs.id, run.id));
  }
  return { submitted, failed };
}

/** Submits a recorded run, unless it has ended. Throws errors of the database and the coordinator. */
async function resubmit(deps: RunDeps, run: RunRow): Promise<void> {
  if (run.submission === null) return;
  if (UNFINISHED.includes(run.state)) return submitRun(deps, run.submission);
  await deps.db.update(runs).set({ submission: null }).where(eq(runs.id, run.id));
}

const NOT_STARTED = { code: "INTERNAL", error: "the run could not be started; start it again" };

async function failRuns(db: Db, which: SQL | undefined): Promise<number> {
  const failed = await db
    .update(runs)
    .set({ state: "failed", error: NOT_STARTED, submission: null, finishedAt: new Date() })
    .where(and(inArray(runs.state, UNFINISHED), which))
    .returning({ id: runs.id });
  return failed.length;
}
