/** A tenant's settings and the progress of its first steps. */
import { eq, sql } from "drizzle-orm";
import { recordAuditStatement } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { tenants } from "../db/schema.ts";
import { checkName } from "../tenancy/fields.ts";

interface TenantSettings {
  name: string;
  slug: string;
  sharedIndex: boolean;
  /** Whether owners get mail about the quota, and about runs of push hooks. */
  mailQuota: boolean;
  mailRuns: boolean;
  monthlyCredits: number;
  /** Days for which finished runs and audit events are kept. */
  runDays: number;
  auditDays: number;
  createdAt: Date;
}

/** Reads a tenant's settings. The tenant must exist. */
export async function readTenant(db: Db, tenantId: string): Promise<TenantSettings> {
  const [row] = await db
    .select({
      name: tenants.name,
      slug: tenants.slug,
      sharedIndex: tenants.sharedIndex,
      mailQuota: tenants.mailQuota,
      mailRuns: tenants.mailRuns,
      monthlyCredits: tenants.monthlyCredits,
      runDays: tenants.runDays,
      auditDays: tenants.auditDays,
      createdAt: tenants.createdAt,
    })
    .from(tenants)
    .where(eq(tenants.id, tenantId));
  if (!row) throw new Error("the tenant is gone");
  return row;
}

type Change =
  | Pick<TenantSettings, "name" | "sharedIndex">
  | Pick<TenantSettings, "mailQuota" | "mailRuns">
  | Pick<TenantSettings, "runDays" | "auditDays">;

/** Changes a tenant's name and opt-in, which mails its owners get, or how long records are kept. Throws `TenancyError` for an invalid name. */
export async function changeTenant(
  db: Db,
  { tenantId, actor, change }: { tenantId: string; actor: string; change: Change },
): Promise<void> {
  const values = "name" in change ? { ...change, name: checkName(change.name) } : change;
  await db.batch([
    db.update(tenants).set(values).where(eq(tenants.id, tenantId)),
    recordAuditStatement(db, {
      event: "TENANT_CHANGED",
      tenantId,
      actor,
      details: { changeId: crypto.randomUUID(), ...values },
    }),
  ]);
}

export interface FirstSteps {
  /** Whether the person has a valid API key: their own, or the team's for those who manage it. */
  hasKey: boolean;
  /** When one of these keys, or an agent that the person signed in, called last; null before the first call. */
  lastCallAt: string | null;
  /** Name of the key or agent that called last. */
  lastCallBy: string | null;
  hasRepository: boolean;
  hasIndex: boolean;
  hasSearched: boolean;
}

/** Derives from a tenant's data which first steps a person has completed. `manages`: whether the team's keys count as theirs. */
export async function readFirstSteps(
  db: Db,
  { tenantId, userId, manages }: { tenantId: string; userId: string; manages: boolean },
): Promise<FirstSteps> {
  const rows = await rowsOf<FirstSteps>(
    db,
    sql`
      select mine.*,
        exists (select 1 from workspaces where tenant_id = ${tenantId} and repo is not null) as "hasRepository",
        exists (select 1 from workspaces where tenant_id = ${tenantId} and current_seq is not null) as "hasIndex",
        exists (select 1 from usage_months where tenant_id = ${tenantId}
          and coalesce((calls ->> 'search')::bigint, 0) > 0) as "hasSearched"
      from (
        select coalesce(bool_or(agent is null and revoked_at is null and (expires_at is null or expires_at > now())), false) as "hasKey",
          max(last_used_at) as "lastCallAt",
          (array_agg(name order by last_used_at desc) filter (where last_used_at is not null))[1] as "lastCallBy"
        from credentials where tenant_id = ${tenantId} and kind in ('api_key', 'narrow_api_key')
          and (user_id = ${userId} or (${manages} and user_id is null))) mine`,
  );
  const [steps] = rows;
  if (!steps) throw new Error("the statement always has one row");
  return steps;
}
