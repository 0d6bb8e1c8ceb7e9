/** Statements that write a new revision. Its rows are invisible until the statement that switches to it. */
import { type SQL, sql } from "drizzle-orm";
import { arrayOf, unnest } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import type { WrittenTable } from "../hosted-index/write.ts";
import type { WrittenList } from "../hosted-index/whole-texts/writer.ts";
import type { Totals } from "./result.ts";
import type { FileChanges } from "./staging.ts";

/** A revision that is being written. */
export interface PendingRevision {
  workspaceId: string;
  seq: number;
  /** Current revision of the workspace when the run was planned; null if there was none. */
  baseSeq: number | null;
  /** True: the revision becomes the current one. False: its differences from `baseSeq` are stored. */
  current: boolean;
}

const textArray = (values: readonly string[] | null): SQL =>
  values === null ? sql`null::text[]` : arrayOf(values, "text");

/** The number of the next revision. */
export async function nextSeq(db: Db, workspaceId: string): Promise<number> {
  const rows = await rowsOf<{ seq: number }>(
    db,
    sql`select greatest(max(seq), 0) + 1 as seq from revisions where workspace_id = ${workspaceId}`,
  );
  return rows[0]?.seq ?? 1;
}

/**
 * Guards every write: true while no other run has switched the workspace since the plan, and its tenant is not being erased. Overlays
 * (below zero) are not bound to the current revision.
 */
const stillBase = ({ workspaceId, seq, baseSeq }: PendingRevision): SQL =>
  sql`exists (select 1 from workspaces w where w.id = ${workspaceId}
    and (w.current_seq is not distinct from ${baseSeq}::int or ${seq}::int < 0)
    and not exists (select 1 from erasures e where e.tenant_id = w.tenant_id))`;

/** Removes the rows of runs that ended without a switch. */
export async function discardLeftovers(db: Db, target: PendingRevision): Promise<void> {
  const { workspaceId, seq, baseSeq } = target;
  const guard = stillBase(target);
  await db.batch([
    db.execute(
      sql`delete from revision_files where workspace_id = ${workspaceId} and from_seq > ${baseSeq ?? 0} and ${guard}`,
    ),
    db.execute(
      sql`update revision_files set to_seq = null where workspace_id = ${workspaceId} and to_seq > ${baseSeq ?? 0} and ${guard}`,
    ),
    db.execute(sql`delete from revision_overlays where workspace_id = ${workspaceId} and seq >= ${seq} and ${guard}`),
  ]);
}

/** Writes the rows that differ from the base. Repeating it changes nothing. */
export async function writeChanges(
  db: Db,
  target: PendingRevision,
  { puts, deletes }: Omit<FileChanges, "list">,
): Promise<void> {
  const { workspaceId, seq } = target;
  const guard = stillBase(target);
  const rows = unnest(puts, [
    ["text", (put) => put.path],
    ["uuid", (put) => put.contentId],
    ["text", (put) => put.oid],
    ["int", (put) => put.mode],
  ]);
  if (target.current) {
    const closed = [...deletes, ...puts.map((put) => put.path)];
    await db.batch([
      // Each path by its key: where the planner does not know the workspace, it takes any index of it for as good.
      db.execute(sql`update revision_files set to_seq = ${seq} where ctid = any(array(
          select r.ctid from unnest(${arrayOf(closed, "text")}) as p(path) cross join lateral (
            select ctid from revision_files where workspace_id = ${workspaceId} and path = p.path collate "C" and to_seq is null
            order by path, from_seq limit 1) r
        )) and to_seq is null and from_seq < ${seq} and ${guard}`),
      db.execute(sql`insert into revision_files (workspace_id, path, from_seq, content_id, git_oid, mode)
        select ${workspaceId}::uuid, path, ${seq}::int, content, decode(oid, 'hex'), mode from ${rows} as t(path, content, oid, mode)
        where ${guard} on conflict do nothing`),
    ]);
    return;
  }
  await db.batch([
    db.execute(sql`insert into revision_overlays (workspace_id, seq, path, content_id, git_oid, mode)
      select ${workspaceId}::uuid, ${seq}::int, path, content, decode(oid, 'hex'), mode from ${rows} as t(path, content, oid, mode)
      where ${guard} on conflict do nothing`),
    db.execute(sql`insert into revision_overlays (workspace_id, seq, path)
      select ${workspaceId}::uuid, ${seq}::int, path from unnest(${arrayOf(deletes, "text")}) as path
      where ${guard} on conflict do nothing`),
  ]);
}

/** What the written rows add to the base's totals, and how many files they put. Costs are proportional to the change. */
export async function changeOfTotals(db: Db, target: PendingRevision): Promise<Totals & { added: number }> {
  const { workspaceId, seq, baseSeq } = target;
  const changes = target.current
    ? sql`select content_id, 1 as sign from revision_files where workspace_id = ${workspaceId} and from_seq = ${seq}
        union all select content_id, -1 from revision_files where workspace_id = ${workspaceId} and to_seq = ${seq}`
    : sql`select content_id, 1 as sign from revision_overlays where workspace_id = ${workspaceId} and seq = ${seq} and content_id is not null
        union all select b.content_id, -1 from revision_overlays o cross join lateral (
          select content_id from revision_files where workspace_id = o.workspace_id and path = o.path
            and from_seq <= ${baseSeq ?? 0} and (to_seq is null or to_seq > ${baseSeq ?? 0}) order by path, from_seq limit 1) b
        where o.workspace_id = ${workspaceId} and o.seq = ${seq}`;
  const rows = await rowsOf<Record<keyof Totals | "added", string | null>>(
    db,
    sql`select count(*) filter (where sign > 0) as added, sum(sign) as files, sum(sign * c.symbol_count) as symbols,
          sum(sign * c.chunk_count) as chunks, sum(sign * c.redacted_count) as redacted,
          sum(case when c.outcome like 'fallback:%' then sign else 0 end) as fallbacks,
          sum(case when c.outcome = 'partial' then sign else 0 end) as partials
        from (${changes}) f ${lookUp(sql`select * from contents where id = f.content_id`, "c")}`,
  );
  const figure = (name: keyof Totals | "added") => Number(rows[0]?.[name] ?? 0);
  return {
    added: figure("added"),
    files: figure("files"),
    symbols: figure("symbols"),
    chunks: figure("chunks"),
    redacted: figure("redacted"),
    fallbacks: figure("fallbacks"),
    partials: figure("partials"),
  };
}

/** A revision as it is stored. */
interface RevisionRow {
  runId: string;
  gitSha: string;
  rootTree: string;
  planKey: string;
  fingerprint: string;
  dimension: number;
  totals: Totals;
  stats: Record<string, number>;
  /** The revision's entry in the search index. */
  table: WrittenTable;
  /** Its file list. */
  texts: WrittenList;
}

/** Inserts a revision if `source` has a row. */
export function insertRevision(target: PendingRevision, revision: RevisionRow, source: SQL): SQL {
  const { workspaceId, seq, baseSeq, current } = target;
  const { runId, totals, table, texts } = revision;
  return sql`insert into revisions (workspace_id, seq, base_seq, run_id, git_sha, root_tree, plan_key, fingerprint, dimension, file_count, symbol_count, chunk_count, stats, search_table, search_segments, search_vectors, text_list, text_packs)
    select ${workspaceId}::uuid, ${seq}::int, ${current ? null : (baseSeq ?? 0)}::int, ${runId}::uuid, ${revision.gitSha}, ${revision.rootTree}, ${revision.planKey},
      ${revision.fingerprint}, ${revision.dimension}::int, ${totals.files}::int, ${totals.symbols}::int, ${totals.chunks}::int,
      ${JSON.stringify(revision.stats)}::jsonb, ${table.table}, ${arrayOf(table.segments, "text")},
      ${textArray(table.vectors)}, ${texts.list}, ${arrayOf(texts.packs, "text")} from ${source}`;
}

interface NewRevision extends RevisionRow {
  defaultBranch: string | null;
  /** Full name of the branch or tag that was indexed. */
  ref: string | null;
  result: Record<string, unknown>;
}

/**
 * Makes the revision visible: revision, pointer, ref and outcome of the run in one statement, which does nothing unless the
 * workspace still has the base revision of the plan and the run has neither ended nor been cancelled. True if it took effect. The
 * outcome of a snapshot run is recorded later, when its artifact is published.
 */
export async function switchTo(db: Db, target: PendingRevision, revision: NewRevision): Promise<boolean> {
  const { workspaceId, seq, baseSeq, current } = target;
  const { runId } = revision;
  const pointer = current
    ? sql`current_seq = ${seq}, default_branch = ${revision.defaultBranch}`
    : sql`current_seq = current_seq`;
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`with live as (
          select id from runs where id = ${runId} and state in ('queued', 'running') for update
        ), switched as (
          update workspaces set ${pointer}
          where id = ${workspaceId} and current_seq is not distinct from ${baseSeq}::int and exists (select 1 from live) returning id
        ), revision as (
          ${insertRevision(target, revision, sql`switched`)}
        ), ref as (
          insert into revision_refs (workspace_id, ref, seq) select id, ${revision.ref}::text, ${seq}::int from switched where ${revision.ref}::text is not null
          on conflict (workspace_id, ref) do update set seq = excluded.seq, updated_at = now()
        ), outcome as (
          update runs set state = 'succeeded', result = ${JSON.stringify(revision.result)}::jsonb, error = null, finished_at = now()
          where id = ${runId} and kind = 'index' and exists (select 1 from switched)
        ) select id from switched`,
  );
  return rows.length > 0;
}

/** Points a ref to an existing revision and records the outcome of the run that found it. False if the run was cancelled. */
export async function recordUnchanged(
  db: Db,
  { workspaceId, seq }: { workspaceId: string; seq: number },
  run: { runId: string; kind: "index" | "snapshot"; ref: string | null; result: Record<string, unknown> },
): Promise<boolean> {
  const { runId, kind, ref, result } = run;
  const outcome =
    kind === "index"
      ? sql`state = 'succeeded', result = ${JSON.stringify(result)}::jsonb, error = null, finished_at = now()`
      : sql`state = state`;
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`with live as (
          update runs set ${outcome} where id = ${runId} and state in ('queued', 'running') returning id
        ), ref as (
          insert into revision_refs (workspace_id, ref, seq)
          select ${workspaceId}::uuid, ${ref}::text, ${seq}::int from live where ${ref}::text is not null
          on conflict (workspace_id, ref) do update set seq = excluded.seq, updated_at = now()
        ) select id from live`,
  );
  return rows.length > 0;
}
