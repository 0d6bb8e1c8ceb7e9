/** The daily clean-up: removes unreachable revisions, contents and vectors without a revision, old records, and orphaned staged objects. */
import { type SQL, sql } from "drizzle-orm";
import { backoffMs } from "../../lib/backoff.ts";
import { arrayOf } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { rowsOf } from "../db/rows.ts";
import { pause } from "../../lib/pause.ts";
import { NIL_UUID } from "../../lib/uuid.ts";
import { DEFAULT_RETENTION } from "../tenancy/retention.ts";
import { type StagingBucket, TREES_PREFIX } from "./staging.ts";

/** Newest revisions kept per workspace, besides the current one and those of its refs, so that snapshots of recent commits need no indexing. */
export const REVISIONS_KEPT = 5;
/** Rows younger than this may belong to a run that has not switched yet. */
const GRACE_HOURS = 24;
const GRACE_DAYS = GRACE_HOURS / 24;
const HOUR_MS = 3_600_000;
/** How long facts about git blobs are kept; a blob without facts is pulled again when needed. */
const BLOBS_KEPT_DAYS = 90;
/** How long finished runs are kept; a run that made a revision is kept as long as the revision. Teams may shorten both. */
const RUNS_KEPT_DAYS = DEFAULT_RETENTION.runDays;
const AUDIT_KEPT_DAYS = DEFAULT_RETENTION.auditDays;
/** Teams that are looked at together. */
const TENANT_PAGE = 500;
/** Rows per delete statement, so that each takes well under a second. */
const SWEEP_PAGE = 2_000;
/** Symbols and chunks that are deleted with the contents of a page; one content may exceed it. */
const SWEEP_WEIGHT = 10_000;
/** Vectors per page. */
const VECTOR_PAGE = 5_000;

interface SweepReport {
  revisions: number;
  files: number;
  contents: number;
  vectors: number;
  blobs: number;
  runs: number;
  auditEvents: number;
  objects: number;
}

/** Removes unreferenced data. Every statement is safe during index runs; the next sweep continues an interrupted one. */
export async function sweepIndex(db: Db, staging: StagingBucket, now: number): Promise<SweepReport> {
  const { revisions, files } = await sweepRevisions(db);
  return {
    revisions,
    files,
    contents: await sweepContents(db),
    vectors: await sweepVectors(db),
    blobs: await sweepPages(db, () => statements.blobs()),
    ...(await sweepRecords(db)),
    objects: await sweepObjects(db, staging, now),
  };
}

/** The statements of the sweep; exported so that a test can check their query plans. */
export const statements = {
  /**
   * Deletes revisions and their differences, except the newest ones, the current one, those of refs, those that a kept one is
   * based on, and those of overlays, which `sweepOverlays` deletes. An overlay's revision may have lost its overlay in a back-up.
   */
  revisions: (workspaceId: string): SQL => sql`with gone as (
      delete from revisions r where r.workspace_id = ${workspaceId}
        and (r.seq > 0 or not exists (select 1 from overlays o where o.workspace_id = r.workspace_id and o.seq = r.seq))
        and r.seq not in (select k.seq from revisions k where k.workspace_id = ${workspaceId} and k.seq > 0 order by k.seq desc limit ${REVISIONS_KEPT})
        and not exists (select 1 from workspaces w where w.id = r.workspace_id and w.current_seq = r.seq)
        and not exists (select 1 from revision_refs f where f.workspace_id = r.workspace_id and f.seq = r.seq)
        and not exists (select 1 from revisions s where s.workspace_id = r.workspace_id and s.base_seq = r.seq)
        returning r.seq
    ), overlays as (
      delete from revision_overlays where workspace_id = ${workspaceId} and seq in (select seq from gone)
    ) select seq from gone`,
  /** Deletes rows that are valid in no revision of the main line. */
  files: (workspaceId: string): SQL => sql`delete from revision_files where ctid in (
      select f.ctid from revision_files f where f.workspace_id = ${workspaceId} and f.to_seq is not null
        and f.to_seq <= (select w.current_seq from workspaces w where w.id = ${workspaceId})
        and not exists (select 1 from revisions r where r.workspace_id = f.workspace_id and r.base_seq is null and r.seq >= f.from_seq and r.seq < f.to_seq)
      limit ${SWEEP_PAGE}) returning 1`,
  /**
   * Deletes unreferenced contents of one page by id, with at most about `SWEEP_WEIGHT` symbols and chunks. Contents that a run is
   * referring to in this moment are locked by it and left to the next sweep. Returns the last id, null after the last page, and the
   * number of deleted contents.
   */
  contents: (after: string): SQL => sql`with page as materialized (
        select id, created_at, symbol_count + chunk_count as weight from contents where id > ${after}::uuid order by id limit ${SWEEP_PAGE}
      ), unused as materialized (
        select id, sum(weight) over (order by id) - weight as before from page p where created_at < now() - make_interval(hours => ${GRACE_HOURS})
          and (select count(*) from revision_files f where f.content_id = p.id) = 0
          and (select count(*) from revision_overlays o where o.content_id = p.id) = 0
      ), locked as materialized (
        select id from contents where id = any(array(select id from unused where before < ${SWEEP_WEIGHT})) order by id for update skip locked
      ), gone as (
        delete from contents where id = any(array(select id from locked)) returning 1
      ) select (select count(*) from gone)::int as gone, coalesce(
          (select id from unused where before < ${SWEEP_WEIGHT} and exists (select 1 from unused where before >= ${SWEEP_WEIGHT}) order by id desc limit 1),
          (select id from page order by id offset ${SWEEP_PAGE - 1} limit 1)) as last`,
  /**
   * Bounds of the next page of vectors by hash, over all tenants; no row after the last page. Bounded by the number of vectors and of
   * chunks, as either may have many rows where the other has few.
   */
  vectorPage: (after: string): SQL => sql`with first as materialized (
        select chunk_hash as hash from vectors where chunk_hash > decode(${after}, 'hex') order by chunk_hash limit 1
      ) select encode(hash, 'hex') as first, encode(coalesce(least(
          (select v.chunk_hash from vectors v where v.chunk_hash >= (select hash from first) order by v.chunk_hash offset ${VECTOR_PAGE - 1} limit 1),
          (select k.hash from chunks k where k.hash >= (select hash from first) order by k.hash offset ${VECTOR_PAGE * 4 - 1} limit 1)
        ), decode(repeat('ff', 32), 'hex')), 'hex') as last from first`,
  /**
   * Deletes the orphaned vectors of one page. A vector is written or claimed before its chunk is written, so it is an orphan only if it
   * has had no chunk for a whole day. The page is one range of hashes for all tenants, read once from the index of each table: tenants
   * that index the same code have the same hashes.
   */
  vectors: ({ first, last }: { first: string; last: string }): SQL => {
    const within = sql`between decode(${first}, 'hex') and decode(${last}, 'hex')`;
    const isOld = sql`v.used_on < current_date - ${GRACE_DAYS}::int`;
    return sql`with live as materialized (
        select (select c.tenant_id from contents c where c.id = k.content_id) as tenant_id, k.hash from chunks k where k.hash ${within}
      ), orphans as materialized (
        select v.tenant_id, v.chunk_hash from vectors v where v.chunk_hash ${within} and ${isOld}
          and (v.tenant_id, v.chunk_hash) not in (select l.tenant_id, l.hash from live l)
      ), rows as materialized (
        select v.ctid from orphans o cross join lateral (
          select ctid from vectors v where v.chunk_hash = o.chunk_hash and v.tenant_id = o.tenant_id offset 0) v
      ) delete from vectors v where v.ctid = any(array(select ctid from rows)) and ${isOld} returning 1`;
  },
  blobs: (): SQL => sql`delete from git_blobs where ctid in (
      select b.ctid from git_blobs b where b.seen_on < current_date - ${BLOBS_KEPT_DAYS}::int limit ${SWEEP_PAGE}) returning 1`,
  runs: (): SQL => sql`delete from runs where id in (
      select r.id from runs r where r.finished_at < now() - make_interval(days => ${RUNS_KEPT_DAYS})
        and not exists (select 1 from revisions v where v.run_id = r.id) limit ${SWEEP_PAGE}) returning 1`,
  auditEvents: (): SQL => sql`delete from audit_events where id in (
      select a.id from audit_events a where a.at < now() - make_interval(days => ${AUDIT_KEPT_DAYS}) limit ${SWEEP_PAGE}) returning 1`,
  /** Teams that keep their records for a shorter time, from one on. */
  shortRetention: (after: string): SQL => sql`select id, run_days as "runDays", audit_days as "auditDays" from tenants
      where (run_days < 90 or audit_days < 365) and id > ${after}::uuid order by id limit ${TENANT_PAGE}`,
  runsOf: ({ id, runDays }: ShortRetention): SQL => sql`delete from runs where id in (
      select r.id from runs r where r.tenant_id = ${id} and r.created_at < now() - make_interval(days => ${runDays}::int)
        and r.finished_at < now() - make_interval(days => ${runDays}::int)
        and not exists (select 1 from revisions v where v.run_id = r.id) limit ${SWEEP_PAGE}) returning 1`,
  auditEventsOf: ({ id, auditDays }: ShortRetention): SQL => sql`delete from audit_events where id in (
      select a.id from audit_events a where a.tenant_id = ${id} and a.at < now() - make_interval(days => ${auditDays}::int)
      limit ${SWEEP_PAGE}) returning 1`,
};

interface ShortRetention {
  id: string;
  runDays: number;
  auditDays: number;
}

/** Deletes old runs and audit events: by the service's time limits, then by the shorter ones of teams. */
async function sweepRecords(db: Db): Promise<Pick<SweepReport, "runs" | "auditEvents">> {
  const swept = {
    runs: await sweepPages(db, () => statements.runs()),
    auditEvents: await sweepPages(db, () => statements.auditEvents()),
  };
  for (let after: string | undefined = NIL_UUID; after !== undefined;) {
    const teams: ShortRetention[] = await rowsOf<ShortRetention>(db, statements.shortRetention(after));
    for (const team of teams) {
      swept.runs += await sweepPages(db, () => statements.runsOf(team));
      swept.auditEvents += await sweepPages(db, () => statements.auditEventsOf(team));
    }
    after = teams.length < TENANT_PAGE ? undefined : teams.at(-1)?.id;
  }
  return swept;
}

async function sweepRevisions(db: Db): Promise<{ revisions: number; files: number }> {
  const swept = { revisions: 0, files: 0 };
  for (const { id } of await rowsOf<{ id: string }>(
    db,
    sql`select id from workspaces where current_seq is not null or exists (select 1 from revisions r where r.workspace_id = workspaces.id)`,
  )) {
    // Deleting an overlay revision may free its base for the next round.
    for (let gone = 1; gone > 0; swept.revisions += gone)
      gone = (await besideRuns(() => rowsOf(db, statements.revisions(id)))).length;
    swept.files += await sweepPages(db, () => statements.files(id));
  }
  return swept;
}

async function sweepContents(db: Db): Promise<number> {
  let total = 0;
  for (let after: string | null = NIL_UUID; after !== null;) {
    const statement = statements.contents(after);
    const [page] = await besideRuns(() => rowsOf<{ last: string | null; gone: number }>(db, statement));
    total += page?.gone ?? 0;
    after = page?.last ?? null;
  }
  return total;
}

async function sweepVectors(db: Db): Promise<number> {
  let total = 0;
  for (let after = ""; ;) {
    const [page] = await rowsOf<{ first: string; last: string }>(db, statements.vectorPage(after));
    if (!page) return total;
    total += (await rowsOf(db, statements.vectors(page))).length;
    after = page.last;
  }
}

const BESIDE_TRIES = 5;
const BESIDE_BACKOFF = { baseMs: 50, capMs: 1_000 };

/** Repeats a statement that failed because a run referred to a row, between the statement's check and its delete. */
async function besideRuns<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === BESIDE_TRIES || pgErrorCode(error) !== PG_FOREIGN_KEY_VIOLATION) throw error;
      await pause(backoffMs(attempt, BESIDE_BACKOFF));
    }
  }
}

async function sweepPages(db: Db, statement: () => SQL): Promise<number> {
  let total = 0;
  for (;;) {
    const { length } = await rowsOf(db, statement());
    total += length;
    if (length < SWEEP_PAGE) return total;
  }
}

type StoredObject = Awaited<ReturnType<StagingBucket["list"]>>["objects"][number];

/** Removes staged objects of runs that ended long ago, and the trees of revisions that are not current. */
async function sweepObjects(db: Db, staging: StagingBucket, now: number): Promise<number> {
  const isOld = (object: StoredObject) => now - object.uploaded.getTime() > GRACE_HOURS * HOUR_MS;
  let removed = 0;
  const remove = async (objects: StoredObject[]) => {
    if (objects.length > 0) await staging.delete(objects.map((object) => object.key));
    removed += objects.length;
  };
  for await (const objects of listPages(staging, "runs/")) await remove(objects.filter(isOld));
  for await (const objects of listPages(staging, TREES_PREFIX)) {
    const old = objects.filter(isOld);
    const current = await currentRuns(db, old.map(runOfTrees));
    await remove(old.filter((object) => !current.has(runOfTrees(object))));
  }
  return removed;
}

async function* listPages(staging: StagingBucket, prefix: string): AsyncGenerator<StoredObject[]> {
  let cursor: string | undefined;
  do {
    const page = await staging.list(cursor === undefined ? { prefix } : { prefix, cursor });
    yield page.objects;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}

/** Keys are `trees/<workspace>/<run>` and `trees/<workspace>/<run>.skips`. */
const runOfTrees = ({ key }: StoredObject) => key.split("/").at(-1)?.split(".")[0] ?? "";

/** Returns the given runs that made the current revision of their workspace. */
async function currentRuns(db: Db, runIds: string[]): Promise<Set<string>> {
  if (runIds.length === 0) return new Set();
  const rows = await rowsOf<{ run_id: string }>(
    db,
    sql`select r.run_id from revisions r join workspaces w on w.id = r.workspace_id and w.current_seq = r.seq
        where r.run_id::text = any(${arrayOf(runIds, "text")})`,
  );
  return new Set(rows.map((row) => row.run_id));
}
