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
  monthlyCredits: number;
  createdAt: Date;
}

/** Reads a tenant's settings. The tenant must exist. */
export async function readTenant(db: Db, tenantId: string): Promise<TenantSettings> {
  const [row] = await db
    .select({
      name: tenants.name,
      slug: tenants.slug,
      sharedIndex: tenants.sharedIndex,
      monthlyCredits: tenants.monthlyCredits,
      createdAt: tenants.createdAt,
    })
    .from(tenants)
    .where(eq(tenants.id, tenantId));
  if (!row) throw new Error("the tenant is gone");
  return row;
}

/** Changes a tenant's name and opt-in. Throws `TenancyError` for an invalid name. */
export async function changeTenant(
  db: Db,
  { tenantId, actor, ...change }: { tenantId: string; actor: string; name: string; sharedIndex: boolean },
): Promise<void> {
  const values = { name: checkName(change.name), sharedIndex: change.sharedIndex };
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
      with mine as materialized (
        select name, last_used_at, agent is null and revoked_at is null and (expires_at is null or expires_at > now()) as valid
        from credentials where tenant_id = ${tenantId} and kind in ('api_key', 'narrow_api_key')
          and (user_id = ${userId} or (${manages} and user_id is null))
      ), last as (select name, last_used_at from mine where last_used_at is not null order by last_used_at desc limit 1)
      select
        exists (select 1 from mine where valid) as "hasKey",
        (select last_used_at from last) as "lastCallAt",
        (select name from last) as "lastCallBy",
        exists (select 1 from workspaces where tenant_id = ${tenantId} and repo is not null) as "hasRepository",
        exists (select 1 from workspaces where tenant_id = ${tenantId} and current_seq is not null) as "hasIndex",
        exists (select 1 from usage_months where tenant_id = ${tenantId}
          and coalesce((calls ->> 'search')::bigint, 0) > 0) as "hasSearched"`,
  );
  const [steps] = rows;
  if (!steps) throw new Error("the statement always has one row");
  return steps;
}
