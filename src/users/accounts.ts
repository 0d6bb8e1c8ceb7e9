/** Users created by the administrator, and tenants created by their first owner. */
import { eq, sql } from "drizzle-orm";
import { recordAuditStatement } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { memberships, type Role, users } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { tenants } from "../db/schema.ts";
import { checkName } from "../tenancy/fields.ts";
import { newSlug } from "../tenancy/slug.ts";
import { UserError } from "./errors.ts";
import { actorOf } from "./members.ts";

/** Limit of tenants that one user may own, since each comes with a monthly quota. */
export const MAX_OWNED_TENANTS = 5;

/** Adds a user to a tenant, creating the user if necessary. Throws `UserError` for an unknown tenant. */
export async function addUser(
  db: Db,
  { email, tenantId, role }: { email: string; tenantId: string; role: Role },
): Promise<{ userId: string }> {
  try {
    const rows = await rowsOf<{ id: string }>(
      db,
      sql`
        with person as (
          insert into users (email) values (${email}) on conflict (email) do update set email = excluded.email returning id
        ), joined as (
          insert into memberships (tenant_id, user_id, role) select ${tenantId}, id, ${role} from person
          on conflict (tenant_id, user_id) do update set role = excluded.role
        )
        select id from person`,
    );
    return { userId: rows[0]?.id ?? "" };
  } catch (error) {
    if (pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION) {
      throw new UserError("NOT_FOUND", `there is no tenant ${tenantId}`, "tenant");
    }
    throw error;
  }
}

/** Creates a tenant with the user as its owner. Returns its slug. Throws `UserError` or `TenancyError`. */
export async function createOwnTenant(
  db: Db,
  userId: string,
  input: { name: string },
): Promise<{ tenantId: string; slug: string }> {
  const name = checkName(input.name);
  const owned = await db.$count(memberships, sql`${memberships.userId} = ${userId} and ${memberships.role} = 'owner'`);
  if (owned >= MAX_OWNED_TENANTS) {
    throw new UserError("CONFLICT", `you own ${MAX_OWNED_TENANTS} teams, which is as many as one person can`);
  }
  const tenantId = crypto.randomUUID();
  for (let attempt = 0; ; attempt++) {
    const slug = newSlug(name, attempt > 0);
    try {
      await db.batch([
        db.insert(tenants).values({ id: tenantId, name, slug }),
        db.insert(memberships).values({ tenantId, userId, role: "owner" }),
        recordAuditStatement(db, { event: "TENANT_CREATED", tenantId, actor: actorOf(userId), details: { name } }),
      ]);
      return { tenantId, slug };
    } catch (error) {
      if (pgErrorCode(error) !== PG_UNIQUE_VIOLATION || attempt === 3) throw error;
    }
  }
}

/** Changes a user's display name. Throws `TenancyError` if it is too long. */
export async function setUserName(db: Db, userId: string, name: string): Promise<void> {
  const text = name.trim() === "" ? null : checkName(name);
  await db.update(users).set({ name: text }).where(eq(users.id, userId));
}
