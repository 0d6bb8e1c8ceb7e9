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

interface FirstSteps {
  /** Whether the tenant has a valid API key. */
  hasKey: boolean;
  keyUsed: boolean;
  hasRepository: boolean;
  hasIndex: boolean;
  hasSearched: boolean;
}

/** Derives which first steps a tenant has completed from its data. */
export async function readFirstSteps(db: Db, tenantId: string): Promise<FirstSteps> {
  const rows = await rowsOf<FirstSteps>(
    db,
    sql`
      select
        exists (select 1 from credentials where tenant_id = ${tenantId} and kind in ('api_key', 'narrow_api_key') and revoked_at is null
          and (expires_at is null or expires_at > now())) as "hasKey",
        exists (select 1 from credentials where tenant_id = ${tenantId} and kind in ('api_key', 'narrow_api_key')
          and last_used_at is not null) as "keyUsed",
        exists (select 1 from workspaces where tenant_id = ${tenantId} and repo is not null) as "hasRepository",
        exists (select 1 from workspaces where tenant_id = ${tenantId} and current_seq is not null) as "hasIndex",
        exists (select 1 from usage_months where tenant_id = ${tenantId}
          and coalesce((calls ->> 'search')::bigint, 0) > 0) as "hasSearched"`,
  );
  return rows[0] ?? { hasKey: false, keyUsed: false, hasRepository: false, hasIndex: false, hasSearched: false };
}
