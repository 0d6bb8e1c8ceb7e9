/**
 * Erasure of a tenant. `eraseTenant` records the order, takes all access away and deletes the rows in pages; `finishErasures`, in the
 * indexer's cron, deletes what is left of them and what is outside of Postgres: objects in R2 and the state of Durable Objects. Each
 * step may be repeated, so that an interrupted erasure can continue.
 */
import { eq, isNull, type SQL, sql } from "drizzle-orm";
import { backoffMs } from "../../lib/backoff.ts";
import type { Db } from "../db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { credentials } from "../db/credentials-schema.ts";
import { githubApps } from "../db/github-schema.ts";
import { runs, tenants } from "../db/schema.ts";
import { hooks, invitations, mails, memberships } from "../db/people-schema.ts";
import { erasures } from "../db/records-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { pause } from "../../lib/pause.ts";

/** Rows per delete statement, so that each takes well under a second. */
const PAGE = 5_000;
/** Symbols and chunks that are deleted with the contents of a page; one content may exceed it. */
const PAGE_WEIGHT = 10_000;
const TRIES = 5;
const BACKOFF = { baseMs: 100, capMs: 2_000 };

/**
 * Erases a tenant's rows. Its keys stop working within a second, its runs are cancelled and its people are out at once; then the rows
 * are deleted, in at most `pages` statements. `finishErasures` deletes what is left. Returns false if there is no such tenant.
 */
export async function eraseTenant(db: Db, tenantId: string, pages = Infinity): Promise<boolean> {
  const [, found] = await db.batch([
    db.execute(order(tenantId)),
    db.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenantId)),
    db.delete(credentials).where(eq(credentials.tenantId, tenantId)),
    db.delete(hooks).where(eq(hooks.tenantId, tenantId)),
    db.delete(githubApps).where(eq(githubApps.tenantId, tenantId)),
    db.delete(invitations).where(eq(invitations.tenantId, tenantId)),
    db.delete(mails).where(eq(mails.tenantId, tenantId)),
    db.delete(memberships).where(eq(memberships.tenantId, tenantId)),
    db
      .update(runs)
      .set({ state: "cancelled", finishedAt: sql`now()` })
      .where(sql`tenant_id = ${tenantId} and state in ('queued', 'running')`),
  ]);
  if (found.length === 0) return false;
  await eraseRows(db, tenantId, pages);
  return true;
}

/** Records the order, or completes it by what was made since. */
const order = (tenantId: string): SQL => sql`insert into erasures (tenant_id, workspace_ids, prefixes)
    select t.id,
      coalesce((select jsonb_agg(w.id) from workspaces w where w.tenant_id = t.id), '[]'),
      jsonb_build_array('search/' || t.id || '/', 'texts/' || t.id || '/', 'overlays/' || t.id || '/')
        || coalesce((select jsonb_agg(p) from snapshots s, unnest(array['snapshots/' || s.id || '/', 'uploads/' || s.id || '/']) p where s.tenant_id = t.id), '[]')
        || coalesce((select jsonb_agg('trees/' || w.id || '/') from workspaces w where w.tenant_id = t.id), '[]')
        || coalesce((select jsonb_agg('runs/' || r.id || '/') from runs r where r.tenant_id = t.id
             and (r.finished_at is null or r.finished_at > now() - interval '2 days')), '[]')
    from tenants t where t.id = ${tenantId}
    on conflict (tenant_id) do update set workspace_ids = excluded.workspace_ids, prefixes = excluded.prefixes`;

/** Deletes up to a page of a table's rows by the order of an index. `more`: the page was full. */
const page = (table: SQL, rows: SQL): SQL =>
  sql`with gone as (delete from ${table} where ctid = any(array(select ctid from ${rows} limit ${PAGE})) returning 1)
      select count(*) = ${PAGE} as more from gone`;

/** The large tables, in the order of their references; exported so that a test can check the query plans. */
const erasePages = (tenantId: string): SQL[] => {
  const workspaces = sql`array(select id from workspaces where tenant_id = ${tenantId})`;
  const ofWorkspaces = (table: SQL, key: SQL) =>
    page(
      table,
      sql`(select ctid from ${table} where workspace_id = any(${workspaces}) order by workspace_id, ${key} limit ${PAGE}) f`,
    );
  const ofTenant = (table: SQL, key: SQL) =>
    page(table, sql`(select ctid from ${table} where tenant_id = ${tenantId} order by ${key} limit ${PAGE}) f`);
  return [
    ofWorkspaces(sql`revision_files`, sql`path, from_seq`),
    ofWorkspaces(sql`revision_overlays`, sql`seq, path`),
    sql`with page as materialized (
        select id, symbol_count + chunk_count as weight from contents where tenant_id = ${tenantId} order by sha256, language, parser_version limit ${PAGE}
      ), part as materialized (
        select id, sum(weight) over (order by id) - weight as before from page
      ), locked as materialized (
        select id from contents where id = any(array(select id from part where before < ${PAGE_WEIGHT})) order by id for update
      ), gone as (
        delete from contents where id = any(array(select id from locked))
      ) select (select count(*) from page) = ${PAGE} or exists (select 1 from part where before >= ${PAGE_WEIGHT}) as more`,
    ofTenant(sql`texts`, sql`sha256`),
    ofTenant(sql`vectors`, sql`fingerprint, chunk_hash`),
    ofTenant(sql`git_blobs`, sql`oid`),
    ofTenant(sql`audit_events`, sql`at, id`),
  ];
};

/** Deletes the rows of a tenant, as far as `pages` statements go. */
async function eraseRows(db: Db, tenantId: string, pages: number): Promise<void> {
  let left = pages;
  for (let attempt = 1; ; attempt++) {
    try {
      for (const statement of erasePages(tenantId)) {
        for (let more = true; more;) {
          if (left-- <= 0) return;
          const [row] = await rowsOf<{ more: boolean }>(db, statement);
          more = row?.more === true;
        }
      }
      return await removeTenant(db, tenantId);
    } catch (error) {
      // A step of a run that had begun before the order has referred to a content since its file rows were deleted.
      if (attempt === TRIES || pgErrorCode(error) !== PG_FOREIGN_KEY_VIOLATION) throw error;
      await pause(backoffMs(attempt, BACKOFF));
    }
  }
}

/**
 * Deletes the tenant with what its running steps have written since the pages: the locks keep them from writing more. They are taken in
 * the order in which a finishing run takes them.
 */
async function removeTenant(db: Db, tenantId: string): Promise<void> {
  const workspaces = sql`array(select id from workspaces where tenant_id = ${tenantId})`;
  await db.batch([
    db.execute(sql`select 1 from tenants where id = ${tenantId} for update`),
    db.execute(
      sql`select 1 from runs where tenant_id = ${tenantId} and state in ('queued', 'running') order by id for update`,
    ),
    db.execute(sql`select 1 from workspaces where tenant_id = ${tenantId} order by id for update`),
    db.execute(order(tenantId)),
    db.execute(sql`delete from revision_files where workspace_id = any(${workspaces})`),
    db.execute(sql`delete from revision_overlays where workspace_id = any(${workspaces})`),
    db.delete(tenants).where(eq(tenants.id, tenantId)),
  ]);
}

/** A bucket, as far as erasing needs it. */
interface ErasableBucket {
  list(options: { prefix: string; limit?: number }): Promise<{ objects: { key: string }[] }>;
  delete(keys: string[]): Promise<void>;
}

interface ErasureDeps {
  db: Db;
  snapshots: ErasableBucket;
  staging: ErasableBucket;
  /** Deletes the state of the tenant's gate. */
  eraseGate(tenantId: string): Promise<void>;
  /** Deletes the state of a workspace's run coordinator. */
  eraseRuns(workspaceId: string): Promise<void>;
}

interface ErasureReport extends Record<string, number> {
  objects: number;
  durableObjects: number;
}

/** Most objects that R2 deletes in one call. */
const DELETE_PAGE = 1_000;
/** Where staged data of runs is; everything else is in the snapshot bucket. */
const STAGED = /^(?:trees|runs)\//;

/**
 * Finishes all erasures that were ordered. Returns their reports by tenant. One that fails keeps none of the others waiting; throws an
 * `AggregateError` at the end if any has failed, and the next call continues it.
 */
export async function finishErasures(deps: ErasureDeps): Promise<Record<string, ErasureReport>> {
  const open = await deps.db.select().from(erasures).where(isNull(erasures.finishedAt));
  const reports: Record<string, ErasureReport> = {};
  const failed: unknown[] = [];
  for (const order of open) {
    try {
      reports[order.tenantId] = await finishErasure(deps, order);
    } catch (error) {
      failed.push(error);
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} of ${open.length} erasures failed`);
  return reports;
}

async function finishErasure(
  deps: ErasureDeps,
  { tenantId, workspaceIds, prefixes }: typeof erasures.$inferSelect,
): Promise<ErasureReport> {
  const { db } = deps;
  const report: ErasureReport = { objects: 0, durableObjects: 0 };
  // Coordinators first, so that no run continues and writes again.
  for (const workspaceId of workspaceIds) {
    await deps.eraseRuns(workspaceId);
    report.durableObjects++;
  }
  await eraseRows(db, tenantId, Infinity);
  await deps.eraseGate(tenantId);
  report.durableObjects++;
  for (const prefix of prefixes) {
    report.objects += await deletePrefix(STAGED.test(prefix) ? deps.staging : deps.snapshots, prefix);
  }
  await db.update(erasures).set({ finishedAt: new Date(), report }).where(eq(erasures.tenantId, tenantId));
  return report;
}

async function deletePrefix(bucket: ErasableBucket, prefix: string): Promise<number> {
  let deleted = 0;
  for (;;) {
    // Always the first page: what was listed is gone then.
    const { objects } = await bucket.list({ prefix, limit: DELETE_PAGE });
    if (objects.length === 0) return deleted;
    await bucket.delete(objects.map(({ key }) => key));
    deleted += objects.length;
  }
}
