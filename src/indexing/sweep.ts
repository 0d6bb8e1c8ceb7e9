/** The daily clean-up: removes unreachable revisions, contents and vectors without a revision, old records, and orphaned staged objects. */
import { type SQL, sql } from "drizzle-orm";
import { arrayOf } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { type StagingBucket, TREES_PREFIX } from "./staging.ts";

/** Newest revisions kept per workspace, besides the current one and those of its refs, so that snapshots of recent commits need no indexing. */
export const REVISIONS_KEPT = 5;
/** Rows younger than this may belong to a run that has not switched yet. */
const GRACE_HOURS = 24;
const GRACE_DAYS = GRACE_HOURS / 24;
const HOUR_MS = 3_600_000;
/** How long facts about git blobs are kept; a blob without facts is pulled again when needed. */
const BLOBS_KEPT_DAYS = 90;
/** How long finished runs are kept; a run that made a revision is kept as long as the revision. */
const RUNS_KEPT_DAYS = 90;
const AUDIT_KEPT_DAYS = 365;
/** Rows per delete statement, so that each stays well under the query timeout. */
const SWEEP_PAGE = 2_000;

export interface SweepReport {
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
    runs: await sweepPages(db, () => statements.runs()),
    auditEvents: await sweepPages(db, () => statements.auditEvents()),
    objects: await sweepObjects(db, staging, now),
  };
}

/** The statements of the sweep; exported so that a test can check their query plans. */
export const statements = {
  /**
   * Deletes revisions and their overlays, except the newest ones, the current one, those of refs, and those that a kept one is
   * based on.
   */
  revisions: (workspaceId: string): SQL => sql`with gone as (
      delete from revisions r where r.workspace_id = ${workspaceId}
        and r.seq not in (select k.seq from revisions k where k.workspace_id = ${workspaceId} order by k.seq desc limit ${REVISIONS_KEPT})
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
  /** Deletes unreferenced contents of one page by id. Returns the page's last id and the number of deleted contents. */
  contents: (after: string): SQL => sql`with page as (
        select c.id, c.created_at from contents c where c.id > ${after}::uuid order by c.id limit ${SWEEP_PAGE}
      ), gone as (
        delete from contents where id in (select p.id from page p where p.created_at < now() - make_interval(hours => ${GRACE_HOURS})
          and not exists (select 1 from revision_files f where f.content_id = p.id)
          and not exists (select 1 from revision_overlays o where o.content_id = p.id)) returning 1
      ) select (select id from page order by id desc limit 1) as last, (select count(*) from page)::int as seen, (select count(*) from gone)::int as gone`,
  /**
   * Deletes orphaned vectors of one page of a tenant. A vector is written or claimed before its chunk is written, so it is an
   * orphan only if it has had no chunk for a whole day.
   */
  vectors: (tenantId: string, after: { fingerprint: string; hash: string }): SQL => sql`with page as (
        select v.fingerprint, v.chunk_hash, v.used_on from vectors v where v.tenant_id = ${tenantId}
          and (v.fingerprint, v.chunk_hash) > (${after.fingerprint}, decode(${after.hash}, 'hex')) order by v.fingerprint, v.chunk_hash limit ${SWEEP_PAGE}
      ), gone as (
        delete from vectors v using page p where v.tenant_id = ${tenantId} and v.fingerprint = p.fingerprint and v.chunk_hash = p.chunk_hash
          and v.used_on < current_date - ${GRACE_DAYS}::int and not exists (
            select 1 from chunks k join contents c on c.id = k.content_id where k.hash = p.chunk_hash and c.tenant_id = ${tenantId}) returning 1
      ) select last.fingerprint, encode(last.chunk_hash, 'hex') as hash, (select count(*) from page)::int as seen, (select count(*) from gone)::int as gone
        from (select fingerprint, chunk_hash from page order by fingerprint desc, chunk_hash desc limit 1) last`,
  blobs: (): SQL => sql`delete from git_blobs where ctid in (
      select b.ctid from git_blobs b where b.seen_on < current_date - ${BLOBS_KEPT_DAYS}::int limit ${SWEEP_PAGE}) returning 1`,
  runs: (): SQL => sql`delete from runs where id in (
      select r.id from runs r where r.finished_at < now() - make_interval(days => ${RUNS_KEPT_DAYS})
        and not exists (select 1 from revisions v where v.run_id = r.id) limit ${SWEEP_PAGE}) returning 1`,
  auditEvents: (): SQL => sql`delete from audit_events where id in (
      select a.id from audit_events a where a.at < now() - make_interval(days => ${AUDIT_KEPT_DAYS}) limit ${SWEEP_PAGE}) returning 1`,
};

async function sweepRevisions(db: Db): Promise<{ revisions: number; files: number }> {
  const swept = { revisions: 0, files: 0 };
  for (const { id } of await rowsOf<{ id: string }>(
    db,
    sql`select id from workspaces where current_seq is not null or exists (select 1 from revisions r where r.workspace_id = workspaces.id)`,
  )) {
    // Deleting an overlay revision may free its base for the next round.
    for (let gone = 1; gone > 0; swept.revisions += gone) gone = (await rowsOf(db, statements.revisions(id))).length;
    swept.files += await sweepPages(db, () => statements.files(id));
  }
  return swept;
}

async function sweepContents(db: Db): Promise<number> {
  let total = 0;
  for (let after = FIRST_UUID; ;) {
    const [page] = await rowsOf<{ last: string | null; seen: number; gone: number }>(db, statements.contents(after));
    total += page?.gone ?? 0;
    if (!page?.last || page.seen < SWEEP_PAGE) return total;
    after = page.last;
  }
}

const FIRST_UUID = "00000000-0000-0000-0000-000000000000";

async function sweepVectors(db: Db): Promise<number> {
  let total = 0;
  for (const { id } of await rowsOf<{ id: string }>(db, sql`select id from tenants`)) {
    for (let after = { fingerprint: "", hash: "" }; ;) {
      const [page] = await rowsOf<{ fingerprint: string; hash: string; seen: number; gone: number }>(
        db,
        statements.vectors(id, after),
      );
      total += page?.gone ?? 0;
      if (!page || page.seen < SWEEP_PAGE) break;
      after = { fingerprint: page.fingerprint, hash: page.hash };
    }
  }
  return total;
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
