/**
 * The last step of a run: writes the rows of the new revision, which are invisible until one statement switches to them.
 * The step can be killed and restarted at any point; a second delivery changes nothing.
 */
import { eq, sql } from "drizzle-orm";
import type { IndexResult } from "../../contract/index.ts";
import { runs } from "../db/schema.ts";
import { rowsOf } from "../db/rows.ts";
import { SearchFormatError } from "../../engines/search/types.ts";
import { isSearchable } from "../hosted-index/store.ts";
import { type IndexedRevision, recordTable, writeTable } from "../hosted-index/write.ts";
import { RunCancelledError, searchWriter, StalePlanError, type StepContext } from "./context.ts";
import { type Revision, revisionAt } from "../revisions/files.ts";
import { MAX_REFS, trimRefs } from "../revisions/refs.ts";
import {
  changeOfTotals,
  discardLeftovers,
  nextSeq,
  recordUnchanged,
  switchTo,
  type PendingRevision,
  writeChanges,
} from "./revision-writes.ts";
import { addTotals, NO_TOTALS, type Totals, toResult, toStats, totalsOf, unchangedResult } from "./result.ts";
import {
  type ListChanges,
  MissingTextError,
  writeFileList,
  type WrittenList,
} from "../hosted-index/whole-texts/writer.ts";
import type { WorkCounters } from "../runs/state.ts";
import {
  changesKey,
  type FileChanges,
  getJson,
  type PlanSummary,
  removePrefix,
  skipsKey,
  summaryKey,
  treesKey,
} from "./staging.ts";
import { attemptsPrefix } from "../runs/messages.ts";

/** Switches the workspace, or one of its refs, to the revision that the plan and the shards prepared. Returns the run's result. */
export async function finish(step: StepContext, work: WorkCounters): Promise<IndexResult> {
  const { run, staging, db } = step;
  const done = await earlierResult(step);
  if (done) return done;
  const summary = await getJson<PlanSummary>(staging, summaryKey(run.runId, step.attempt));
  if (summary.fingerprint !== step.embedder.fingerprint) throw new StalePlanError("the model changed since the plan");
  if (summary.baseList === undefined) throw new StalePlanError("the plan is of an earlier version");
  const { baseSeq, current } = summary;
  const target: PendingRevision = {
    workspaceId: run.workspaceId,
    seq: await nextSeq(db, run.workspaceId),
    baseSeq,
    current,
  };
  await discardLeftovers(db, target);
  for (let part = 0; part < summary.changeObjects; part++) {
    await writeChanges(db, target, await getJson<FileChanges>(staging, changesKey(run.runId, step.attempt, part)));
    await step.beat({});
  }
  const totals = await newTotals(step, target, summary.puts);
  const texts = await writeTexts(step, summary);
  const { commit: gitSha, skipped, freshFiles, rootTree, planKey, fingerprint, defaultBranch, ref } = summary;
  const result = toResult(step, { gitSha, totals, skipped, freshFiles, searchedOnly: texts.searchedOnly }, work);
  const table = await writeTable(searchWriter(step), revisionOf(step, target), work.embedded);
  const switched = await switchTo(db, target, {
    runId: run.runId,
    gitSha,
    rootTree,
    planKey,
    fingerprint,
    dimension: await step.embedder.probeDimension(),
    totals,
    stats: toStats(totals, skipped, texts.searchedOnly),
    defaultBranch,
    ref,
    result,
    table,
    texts,
  });
  if (!switched) return resultAfterRefusal(step);
  await trimRefs(db, run.workspaceId, MAX_REFS);
  return result;
}

/** Writes the revision's file list from that of its base. */
async function writeTexts(step: StepContext, { baseList = null, changeObjects }: PlanSummary): Promise<WrittenList> {
  const { run, staging, db } = step;
  async function* changes(): AsyncGenerator<ListChanges> {
    for (let part = 0; part < changeObjects; part++)
      yield (await getJson<FileChanges>(staging, changesKey(run.runId, step.attempt, part))).list;
  }
  try {
    return await writeFileList(searchWriter(step), run.tenantId, baseList, changes());
  } catch (error) {
    if (error instanceof MissingTextError) throw new StalePlanError("a text was removed since the plan");
    if (!(error instanceof SearchFormatError) || baseList === null) throw error;
    await db.execute(
      sql`update revisions set text_list = null where workspace_id = ${run.workspaceId} and text_list = ${baseList}`,
    );
    throw new StalePlanError("the file list of the base cannot be read");
  }
}

/** The result of a run whose commit was already indexed. */
export async function finishUnchanged(step: StepContext, revision: Revision, ref: string | null): Promise<IndexResult> {
  const { runId, kind, workspaceId, tenantId } = step.run;
  if (!isSearchable(revision, step.embedder.isModel))
    await recordTable(searchWriter(step), { tenantId, workspaceId, seq: revision.seq, baseSeq: revision.baseSeq });
  const result = unchangedResult(step, revision);
  const recorded = await recordUnchanged(step.db, revision, { runId, kind, ref, result });
  if (!recorded) return resultAfterRefusal(step);
  await trimRefs(step.db, workspaceId, MAX_REFS);
  return result;
}

const revisionOf = (step: StepContext, { workspaceId, seq, baseSeq, current }: PendingRevision): IndexedRevision => ({
  tenantId: step.run.tenantId,
  workspaceId,
  seq,
  baseSeq: current ? null : (baseSeq ?? 0),
});

/** The result of this run if an earlier delivery of the step has already switched. */
async function earlierResult(step: StepContext): Promise<IndexResult | undefined> {
  const rows = await rowsOf<{ result: IndexResult | null }>(
    step.db,
    sql`select runs.result from revisions join runs on runs.id = revisions.run_id
        where revisions.workspace_id = ${step.run.workspaceId} and revisions.run_id = ${step.run.runId}`,
  );
  return rows[0]?.result ?? undefined;
}

/** Handles a refused switch: another delivery of this step came first, the run was cancelled, or the plan is out of date. */
async function resultAfterRefusal(step: StepContext): Promise<IndexResult> {
  const { db, run } = step;
  const [row] = await db.select({ state: runs.state, result: runs.result }).from(runs).where(eq(runs.id, run.runId));
  if (row?.state === "succeeded" && row.result) return row.result as IndexResult;
  if (!row || row.state === "cancelled") throw new RunCancelledError("the run was cancelled");
  throw new StalePlanError("another run has switched the workspace since the plan");
}

async function newTotals(step: StepContext, target: PendingRevision, puts: number): Promise<Totals> {
  const base = target.baseSeq === null ? NO_TOTALS : await baseTotals(step, target.baseSeq);
  const change = await changeOfTotals(step.db, target);
  // Another worker is writing the same rows: plan again rather than switch to an incomplete set.
  if (change.added !== puts) throw new StalePlanError("the rows of the revision are not complete");
  return addTotals(base, change);
}

async function baseTotals({ db, run }: StepContext, seq: number): Promise<Totals> {
  const row = await revisionAt(db, run.workspaceId, seq);
  if (!row) throw new StalePlanError("the base revision is gone");
  return totalsOf(row);
}

/**
 * Removes what all attempts of a finished run have staged, notes of what they were parsing included, and the trees of the previous revision.
 * The daily sweep removes the rest: what a run that failed or was cancelled has staged, and what an isolate of an earlier attempt still stages.
 */
export async function cleanUp(step: StepContext): Promise<void> {
  const { run, db, staging } = step;
  try {
    await removePrefix(staging, attemptsPrefix(run.runId));
    const rows = await rowsOf<{ run_id: string }>(
      db,
      sql`select old.run_id from revisions own join revisions old on old.workspace_id = own.workspace_id and old.seq < own.seq and old.base_seq is null
          where own.workspace_id = ${run.workspaceId} and own.run_id = ${run.runId} and own.base_seq is null order by old.seq desc limit 1`,
    );
    const old = rows[0]?.run_id;
    if (old !== undefined && old !== run.runId) {
      await staging.delete([treesKey(run.workspaceId, old), skipsKey(run.workspaceId, old)]);
    }
  } catch (error) {
    step.log.error("staging_not_removed", error, { runId: run.runId });
  }
}
