/**
 * The last step of a run: the rows of the new revision are written beside the current ones, invisible, and then one
 * statement makes them what readers see. Killed anywhere, it starts over; delivered twice, the second changes nothing.
 */
import { sql, type SQL } from "drizzle-orm";
import type { IndexResult } from "../contract/index.ts";
import { arrayOf, unnest } from "../db/arrays.ts";
import { TABLE_ID_PREFIX } from "../search/store.ts";
import { recordTable, writeTable, type WrittenTable } from "../search/write.ts";
import { type Revision, searchWriter, StalePlanError, type StepContext } from "./context.ts";
import type { WorkCounters } from "./run-state.ts";
import {
  changesKey,
  type FileChanges,
  getJson,
  type PlanSummary,
  removePrefix,
  runPrefix,
  skipsKey,
  summaryKey,
  treesKey,
} from "./staging.ts";
import { rowsOf } from "../db/rows.ts";

interface Totals {
  files: number;
  symbols: number;
  chunks: number;
  redacted: number;
  fallbacks: number;
  partials: number;
}

/** Switches the workspace to what the run's plan and shards prepared. Returns the run's result. */
export async function finish(step: StepContext, work: WorkCounters): Promise<IndexResult> {
  const { run, staging } = step;
  const done = await earlierResult(step);
  if (done) return done;
  const summary = await getJson<PlanSummary>(staging, summaryKey(run.runId, step.attempt));
  if (summary.fingerprint !== step.embedder.fingerprint) throw new StalePlanError("the model changed since the plan");
  const seq = (summary.baseSeq ?? 0) + 1;
  await discardLeftovers(step, summary.baseSeq);
  for (let part = 0; part < summary.changeObjects; part++) {
    const changes = await getJson<FileChanges>(staging, changesKey(run.runId, step.attempt, part));
    await applyChanges(step, seq, summary.baseSeq, changes);
    await step.beat({});
  }
  const before = await totalsOf(step, summary.baseSeq);
  const totals = await newTotals(step, seq, before, summary.puts);
  const fields = {
    gitSha: summary.commit,
    symbolCount: totals.symbols,
    chunkCount: totals.chunks,
    redactedCount: totals.redacted,
    fallbackCount: totals.fallbacks,
    partialCount: totals.partials,
    skipped: summary.skipped,
  };
  const result: IndexResult = {
    ok: true,
    runId: run.runId,
    fileCount: totals.files,
    ...fields,
    embeddedCount: work.embedded,
    skippedUnchanged: Math.max(0, totals.files - summary.freshFiles),
    embedMs: Math.round(work.embedMs),
    region: step.region,
  };
  const { tenantId, workspaceId } = run;
  const table = await writeTable(searchWriter(step), { tenantId, workspaceId, seq }, work.embedded);
  await switchRevision(step, seq, summary, totals, result, table);
  return result;
}

/** The result of this run if it has switched already, and only the news of it was lost. */
async function earlierResult(step: StepContext): Promise<IndexResult | undefined> {
  const rows = await rowsOf<{ result: IndexResult | null }>(
    step.db,
    sql`select runs.result from revisions join runs on runs.id = revisions.run_id
        where revisions.workspace_id = ${step.run.workspaceId} and revisions.run_id = ${step.run.runId}`,
  );
  return rows[0]?.result ?? undefined;
}

/** The result of a run that found everything as it was. */
export async function finishUnchanged(step: StepContext, revision: Revision): Promise<IndexResult> {
  if (revision.searchTable?.startsWith(TABLE_ID_PREFIX) !== true) {
    const { tenantId, workspaceId } = step.run;
    await recordTable(searchWriter(step), { tenantId, workspaceId, seq: revision.seq });
  }
  const { skipped, redacted, fallbacks, partials } = readStats(revision.stats);
  const result: IndexResult = {
    ok: true,
    runId: step.run.runId,
    fileCount: revision.fileCount,
    symbolCount: revision.symbolCount,
    chunkCount: revision.chunkCount,
    embeddedCount: 0,
    skippedUnchanged: revision.fileCount,
    embedMs: 0,
    region: step.region,
    gitSha: revision.gitSha,
    redactedCount: redacted,
    fallbackCount: fallbacks,
    partialCount: partials,
    skipped,
  };
  if (step.run.kind === "index") await step.db.execute(recordSuccess(step.run.runId, result));
  return result;
}

const SKIP_PREFIX = "skipped.";

function writeStats(totals: Totals, skipped: Record<string, number>): Record<string, number> {
  const entries = Object.entries(skipped).map(([reason, count]) => [SKIP_PREFIX + reason, count]);
  return {
    ...Object.fromEntries(entries),
    redacted: totals.redacted,
    fallbacks: totals.fallbacks,
    partials: totals.partials,
  };
}

function readStats(stats: Record<string, number>): {
  skipped: Record<string, number>;
  redacted: number;
  fallbacks: number;
  partials: number;
} {
  const skips = Object.entries(stats).filter(([name]) => name.startsWith(SKIP_PREFIX));
  return {
    skipped: Object.fromEntries(skips.map(([name, count]) => [name.slice(SKIP_PREFIX.length), count])),
    redacted: stats["redacted"] ?? 0,
    fallbacks: stats["fallbacks"] ?? 0,
    partials: stats["partials"] ?? 0,
  };
}

/** True while nobody has switched the workspace since the plan: every write of the finish depends on it. */
const stillBase = (workspaceId: string, baseSeq: number | null): SQL =>
  sql`exists (select 1 from workspaces w where w.id = ${workspaceId} and w.current_seq is not distinct from ${baseSeq}::int)`;

/** Undoes what a run wrote that never came to its switch. */
async function discardLeftovers(step: StepContext, baseSeq: number | null): Promise<void> {
  const workspaceId = step.run.workspaceId;
  const guard = stillBase(workspaceId, baseSeq);
  await step.db.batch([
    step.db.execute(
      sql`delete from revision_files where workspace_id = ${workspaceId} and from_seq > ${baseSeq ?? 0} and ${guard}`,
    ),
    step.db.execute(
      sql`update revision_files set to_seq = null where workspace_id = ${workspaceId} and to_seq > ${baseSeq ?? 0} and ${guard}`,
    ),
  ]);
}

async function applyChanges(
  step: StepContext,
  seq: number,
  baseSeq: number | null,
  { puts, deletes }: FileChanges,
): Promise<void> {
  const workspaceId = step.run.workspaceId;
  const guard = stillBase(workspaceId, baseSeq);
  const closed = [...deletes, ...puts.map((put) => put.path)];
  await step.db.batch([
    step.db
      .execute(sql`update revision_files set to_seq = ${seq} where workspace_id = ${workspaceId} and to_seq is null and from_seq < ${seq}
      and path = any(${arrayOf(closed, "text")}) and ${guard}`),
    step.db.execute(sql`insert into revision_files (workspace_id, path, from_seq, content_id, git_oid, mode)
      select ${workspaceId}::uuid, path, ${seq}::int, content, decode(oid, 'hex'), mode
      from ${unnest(puts, [
        ["text", (put) => put.path],
        ["uuid", (put) => put.contentId],
        ["text", (put) => put.oid],
        ["int", (put) => put.mode],
      ])} as t(path, content, oid, mode)
      where ${guard} on conflict do nothing`),
  ]);
}

async function totalsOf(step: StepContext, seq: number | null): Promise<Totals> {
  if (seq === null) return { files: 0, symbols: 0, chunks: 0, redacted: 0, fallbacks: 0, partials: 0 };
  const rows = await rowsOf<{
    file_count: number;
    symbol_count: number;
    chunk_count: number;
    stats: Record<string, number> | string;
  }>(
    step.db,
    sql`select file_count, symbol_count, chunk_count, stats from revisions where workspace_id = ${step.run.workspaceId} and seq = ${seq}`,
  );
  const row = rows[0];
  if (!row) throw new Error("the base revision is gone");
  const stats = readStats(
    typeof row.stats === "string" ? (JSON.parse(row.stats) as Record<string, number>) : row.stats,
  );
  return {
    files: row.file_count,
    symbols: row.symbol_count,
    chunks: row.chunk_count,
    redacted: stats.redacted,
    fallbacks: stats.fallbacks,
    partials: stats.partials,
  };
}

/** The base's totals plus the rows that came, minus the rows that went: the cost follows the change. */
async function newTotals(step: StepContext, seq: number, base: Totals, puts: number): Promise<Totals> {
  const rows = await rowsOf<Record<keyof Totals | "added", string>>(
    step.db,
    sql`select count(*) filter (where sign > 0) as added, coalesce(sum(sign), 0) as files, coalesce(sum(sign * c.symbol_count), 0) as symbols, coalesce(sum(sign * c.chunk_count), 0) as chunks,
          coalesce(sum(sign * c.redacted_count), 0) as redacted,
          coalesce(sum(case when c.outcome like 'fallback:%' then sign else 0 end), 0) as fallbacks,
          coalesce(sum(case when c.outcome = 'partial' then sign else 0 end), 0) as partials
        from (
          select content_id, 1 as sign from revision_files where workspace_id = ${step.run.workspaceId} and from_seq = ${seq}
          union all
          select content_id, -1 from revision_files where workspace_id = ${step.run.workspaceId} and to_seq = ${seq}
        ) f join contents c on c.id = f.content_id`,
  );
  const delta = rows[0];
  // Somebody else is at work on the same rows; better to start again than to switch to a part of them.
  if (Number(delta?.added ?? 0) !== puts) throw new StalePlanError("the rows of the revision are not complete");
  return {
    files: base.files + Number(delta?.files ?? 0),
    symbols: base.symbols + Number(delta?.symbols ?? 0),
    chunks: base.chunks + Number(delta?.chunks ?? 0),
    redacted: base.redacted + Number(delta?.redacted ?? 0),
    fallbacks: base.fallbacks + Number(delta?.fallbacks ?? 0),
    partials: base.partials + Number(delta?.partials ?? 0),
  };
}

const recordSuccess = (runId: string, result: IndexResult): SQL =>
  sql`update runs set state = 'succeeded', result = ${JSON.stringify(result)}::jsonb, error = null, finished_at = now() where id = ${runId}`;

/**
 * The switch: pointer, revision and outcome in one statement, and only from the revision the plan was made against. A
 * snapshot run has its outcome later, when its artifact is published.
 */
async function switchRevision(
  step: StepContext,
  seq: number,
  summary: PlanSummary,
  totals: Totals,
  result: IndexResult,
  { table, segments }: WrittenTable,
): Promise<void> {
  const { run, embedder } = step;
  const dimension = await embedder.probeDimension();
  const rows = await rowsOf<{ id: string }>(
    step.db,
    sql`with switched as (
          update workspaces set current_seq = ${seq}, default_branch = ${summary.defaultBranch}
          where id = ${run.workspaceId} and current_seq is not distinct from ${summary.baseSeq}::int returning id
        ), revision as (
          insert into revisions (workspace_id, seq, run_id, git_sha, root_tree, plan_key, fingerprint, dimension, file_count, symbol_count, chunk_count, stats, search_table, search_segments)
          select id, ${seq}::int, ${run.runId}::uuid, ${summary.commit}, ${summary.rootTree}, ${summary.planKey}, ${embedder.fingerprint}, ${dimension}::int,
            ${totals.files}::int, ${totals.symbols}::int, ${totals.chunks}::int, ${JSON.stringify(writeStats(totals, summary.skipped))}::jsonb, ${table}, ${arrayOf(segments, "text")} from switched
        ), outcome as (
          update runs set state = 'succeeded', result = ${JSON.stringify(result)}::jsonb, error = null, finished_at = now()
          where id = ${run.runId} and kind = 'index' and exists (select 1 from switched)
        ) select id from switched`,
  );
  if (rows.length > 0) return;
  const done = await rowsOf<{ run_id: string }>(
    step.db,
    sql`select run_id from revisions where workspace_id = ${run.workspaceId} and run_id = ${run.runId}`,
  );
  if (done.length === 0) throw new Error("the workspace was switched by another run");
}

/** Removes what a run that is over has staged, and the trees of the revision before it. The daily sweep does what this cannot. */
export async function cleanUp(step: StepContext): Promise<void> {
  const { run, db, staging } = step;
  try {
    await removePrefix(staging, runPrefix(run.runId, step.attempt));
    const rows = await rowsOf<{ run_id: string }>(
      db,
      sql`select old.run_id from revisions own join revisions old on old.workspace_id = own.workspace_id and old.seq = own.seq - 1
          where own.workspace_id = ${run.workspaceId} and own.run_id = ${run.runId}`,
    );
    const old = rows[0]?.run_id;
    if (old !== undefined && old !== run.runId) {
      await staging.delete([treesKey(run.workspaceId, old), skipsKey(run.workspaceId, old)]);
    }
  } catch (error) {
    step.log.error("staging_not_removed", error, { runId: run.runId });
  }
}
