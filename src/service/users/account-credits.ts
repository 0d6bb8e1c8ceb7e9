/**
 * Credits that outlive their team. A team's quota is on the account of the user who created it; when the team is deleted, what it used
 * this month is carried to that account and counts against the account's next teams (see `createOwnTenant`). For teams that the
 * administrator created, the accounts are those of the owners.
 */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";

interface UsedCredits {
  tenantId: string;
  /** UTC month, `YYYY-MM`. */
  period: string;
  /** Credits charged or reserved this month, as the tenant's gate knows them; the mirror in Postgres is some seconds late. */
  credits: number;
}

/** Carries the credits of a tenant that is about to be deleted to its account. Idempotent. */
export async function carryCredits(db: Db, { tenantId, period, credits }: UsedCredits): Promise<void> {
  await db.execute(sql`
    insert into account_credits (user_id, tenant_id, period, credits)
    select account.user_id, t.id, ${period}, used.credits
    from tenants t
    cross join lateral (
      select t.created_by as user_id where t.created_by is not null
      union all
      select m.user_id from memberships m where m.tenant_id = t.id and m.role = 'owner' and t.created_by is null
    ) account
    cross join lateral (
      select greatest(${credits}::bigint, coalesce(
        (select u.credits from usage_months u where u.tenant_id = t.id and u.period = ${period}), 0)) as credits
    ) used
    where t.id = ${tenantId} and used.credits > 0
    on conflict (user_id, period, tenant_id)
    do update set credits = greatest(account_credits.credits, excluded.credits)`);
}
