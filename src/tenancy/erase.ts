/**
 * Erasure of a tenant. `eraseTenant` deletes its rows and records the order; `finishErasures`, in the indexer's cron, deletes what is outside
 * of Postgres: objects in R2 and the state of Durable Objects. Each step may be repeated, so that an interrupted erasure can continue.
 */
import { eq, isNull, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { erasures } from "../db/records-schema.ts";
import { tenants } from "../db/schema.ts";

/** Deletes every row of a tenant in one transaction; its keys stop working within a second. Returns false if there is no such tenant. */
export async function eraseTenant(db: Db, tenantId: string): Promise<boolean> {
  const workspaces = sql`(select id from workspaces where tenant_id = ${tenantId})`;
  const order = sql`insert into erasures (tenant_id, workspace_ids, prefixes)
    select t.id,
      coalesce((select jsonb_agg(w.id) from workspaces w where w.tenant_id = t.id), '[]'),
      jsonb_build_array('search/' || t.id || '/')
        || coalesce((select jsonb_agg(p) from snapshots s, unnest(array['snapshots/' || s.id || '/', 'uploads/' || s.id || '/']) p where s.tenant_id = t.id), '[]')
        || coalesce((select jsonb_agg('trees/' || w.id || '/') from workspaces w where w.tenant_id = t.id), '[]')
        || coalesce((select jsonb_agg('runs/' || r.id || '/') from runs r where r.tenant_id = t.id
             and (r.finished_at is null or r.finished_at > now() - interval '2 days')), '[]')
    from tenants t where t.id = ${tenantId} on conflict do nothing`;
  const [, , , deleted] = await db.batch([
    db.execute(order),
    // revision_files and revision_overlays refer to contents without a cascade of their own, so they go first.
    db.execute(sql`delete from revision_files where workspace_id in ${workspaces}`),
    db.execute(sql`delete from revision_overlays where workspace_id in ${workspaces}`),
    db.delete(tenants).where(eq(tenants.id, tenantId)).returning({ id: tenants.id }),
  ]);
  return deleted.length > 0;
}

/** A bucket, as far as erasing needs it. */
export interface ErasableBucket {
  list(options: { prefix: string; limit?: number }): Promise<{ objects: { key: string }[] }>;
  delete(keys: string[]): Promise<void>;
}

export interface ErasureDeps {
  db: Db;
  snapshots: ErasableBucket;
  staging: ErasableBucket;
  /** Deletes the state of the tenant's gate. */
  eraseGate(tenantId: string): Promise<void>;
  /** Deletes the state of a workspace's run coordinator. */
  eraseRuns(workspaceId: string): Promise<void>;
}

export interface ErasureReport extends Record<string, number> {
  objects: number;
  durableObjects: number;
}

/** Most objects that R2 deletes in one call. */
const DELETE_PAGE = 1_000;
/** Where staged data of runs is; everything else is in the snapshot bucket. */
const STAGED = /^(?:trees|runs)\//;

/** Finishes all erasures that were ordered. Returns their reports by tenant. */
export async function finishErasures(deps: ErasureDeps): Promise<Record<string, ErasureReport>> {
  const { db } = deps;
  const open = await db.select().from(erasures).where(isNull(erasures.finishedAt));
  const reports: Record<string, ErasureReport> = {};
  for (const { tenantId, workspaceIds, prefixes } of open) {
    const report: ErasureReport = { objects: 0, durableObjects: 0 };
    // Coordinators first, so that no run continues and writes again.
    for (const workspaceId of workspaceIds) {
      await deps.eraseRuns(workspaceId);
      report.durableObjects++;
    }
    await deps.eraseGate(tenantId);
    report.durableObjects++;
    for (const prefix of prefixes) {
      report.objects += await deletePrefix(STAGED.test(prefix) ? deps.staging : deps.snapshots, prefix);
    }
    reports[tenantId] = report;
    await db.update(erasures).set({ finishedAt: new Date(), report }).where(eq(erasures.tenantId, tenantId));
  }
  return reports;
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
