/** Users created by the administrator, and tenants created by their first owner. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { auditInsert } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { type Role, users } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { tenants } from "../db/schema.ts";
import { checkName } from "../tenancy/fields.ts";
import { newSlug } from "../tenancy/slug.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { actorOf } from "./members.ts";

/** Limit of tenants that one user may own or have created, since each comes with a monthly quota. */
const MAX_OWNED_TENANTS = 5;

/**
 * Adds a user to a tenant, creating the user if necessary. Without a role, a member keeps the one it has, and a new one is an owner. Throws
 * `TenancyError` for an unknown tenant.
 */
export async function addUser(
  db: Db,
  { email, tenantId, role = null }: { email: string; tenantId: string; role?: Role | null },
): Promise<{ userId: string; role: Role }> {
  try {
    const [added] = await rowsOf<{ id: string; role: Role }>(
      db,
      sql`
        with person as (
          insert into users (email) values (${email}) on conflict (email) do update set email = excluded.email returning id
        ), joined as (
          insert into memberships (tenant_id, user_id, role) select ${tenantId}, id, coalesce(${role}, 'owner') from person
          on conflict (tenant_id, user_id) do update set role = coalesce(${role}, memberships.role)
          returning role
        )
        select person.id, joined.role from person, joined`,
    );
    if (!added) throw new Error("adding a user to a tenant gave no row");
    return { userId: added.id, role: added.role };
  } catch (error) {
    if (pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION) {
      throw new TenancyError("NOT_FOUND", `there is no tenant ${tenantId}`, "tenant");
    }
    throw error;
  }
}

/**
 * Creates a tenant with the user as its owner, and returns its slug. Credits that the account used this month in deleted teams count
 * against its quota. `random`: bytes from which its id is made, so that a repeated call finds the tenant of the first. Throws `TenancyError`.
 */
export async function createOwnTenant(
  db: Db,
  userId: string,
  input: { name: string; random?: Uint8Array | undefined },
): Promise<{ tenantId: string; slug: string }> {
  const name = checkName(input.name);
  const tenantId = input.random ? uuidOf(input.random) : crypto.randomUUID();
  const known = async (): Promise<{ tenantId: string; slug: string } | undefined> => {
    const [own] = await db
      .select({ tenantId: tenants.id, slug: tenants.slug })
      .from(tenants)
      .where(and(eq(tenants.id, tenantId), eq(tenants.createdBy, userId)));
    return own?.slug == null ? undefined : { tenantId, slug: own.slug };
  };
  for (let attempt = 0; ; attempt++) {
    const slug = newSlug(name, attempt > 0);
    try {
      // A statement of its own takes the lock: the next one then sees the teams of requests that it waited for.
      const [, made] = await db.batch([
        db.execute(sql`select 1 from users where id = ${userId} for no key update`),
        db.execute(insertOwnTenant({ tenantId, name, slug, userId })),
      ]);
      if (made.rows.length > 0) return { tenantId, slug };
      const earlier = await known();
      if (earlier) return earlier;
      if (await isErased(db, tenantId))
        throw new TenancyError("CONFLICT", "the team that this form has made is deleted; load the page again");
      throw new TenancyError(
        "CONFLICT",
        `you own or have created ${MAX_OWNED_TENANTS} teams, which is as many as one person can`,
      );
    } catch (error) {
      if (pgErrorCode(error) !== PG_UNIQUE_VIOLATION || attempt === 3) throw error;
      const earlier = await known();
      if (earlier) return earlier;
    }
  }
}

/** Whether a tenant was deleted. */
async function isErased(db: Db, tenantId: string): Promise<boolean> {
  return (await rowsOf(db, sql`select 1 from erasures where tenant_id = ${tenantId}`)).length > 0;
}

/** A random UUID (version 4) of the first 16 bytes. */
function uuidOf(random: Uint8Array): string {
  const bytes = random.slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * Inserts the tenant unless the user has too many. Teams that the user has created count until they are deleted, even without a
 * membership: otherwise everyone could create, hand over and leave any number of teams.
 */
function insertOwnTenant({
  tenantId,
  name,
  slug,
  userId,
}: {
  tenantId: string;
  name: string;
  slug: string;
  userId: string;
}): SQL {
  const period = sql`to_char(now() at time zone 'utc', 'YYYY-MM')`;
  const created = { event: "TENANT_CREATED", tenantId, actor: actorOf(userId), details: { name } } as const;
  return sql`
    with made as (
      insert into tenants (id, name, slug, created_by)
      select ${tenantId}, ${name}, ${slug}, ${userId}
      where (select count(*) from (
        select tenant_id from memberships where user_id = ${userId} and role = 'owner'
        union select id from tenants where created_by = ${userId}
          and not exists (select 1 from erasures where erasures.tenant_id = tenants.id)) taken) < ${MAX_OWNED_TENANTS}
        and not exists (select 1 from erasures where erasures.tenant_id = ${tenantId})
      returning id, monthly_credits
    ), joined as (
      insert into memberships (tenant_id, user_id, role) select id, ${userId}, 'owner' from made
    ), logged as (${auditInsert(created, sql`made`)}
    ), carried as (
      delete from account_credits where user_id = ${userId} and period = ${period} and exists (select 1 from made)
      returning credits
    ), used as (
      select made.id, made.monthly_credits as "limit", (select sum(credits) from carried) as credits from made
    ), counted as (
      insert into usage_months (tenant_id, period, flush_seq, credits, embed_tokens, rerank_tokens, index_tokens, calls)
      select id, ${period}, 1, least(credits, "limit"), 0, 0, 0, '{}' from used where credits > 0
    ), kept as (
      insert into account_credits (user_id, tenant_id, period, credits)
      select ${userId}, gen_random_uuid(), ${period}, credits - "limit" from used where credits > "limit"
    )
    select id from made`;
}

/** Changes a user's display name. Throws `TenancyError` if it is too long. */
export async function setUserName(db: Db, userId: string, name: string): Promise<void> {
  const text = name.trim() === "" ? null : checkName(name);
  await db.update(users).set({ name: text }).where(eq(users.id, userId));
}
