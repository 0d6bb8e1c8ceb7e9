/** Members of tenants and their roles. A tenant always has an owner. */
import { and, asc, eq, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { memberships, type Role, ROLES, users } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { TenancyError } from "../tenancy/errors.ts";

/** A user as the actor of an audit event. */
export function actorOf(userId: string): string {
  return `user:${userId}`;
}

/** Parses a role. Throws `TenancyError` for anything else. */
export function checkRole(input: unknown): Role {
  const role = ROLES.find((candidate) => candidate === input);
  if (role) return role;
  throw new TenancyError("INVALID", `role: expected one of ${ROLES.join(", ")}`, "role");
}

/** Whether a role may change the tenant's settings and resources. Plain members may only read. */
export function canManage(role: Role): boolean {
  return role !== "member";
}

/** Lists the members of a tenant in the order in which they joined. */
export function listMembers(db: Db, tenantId: string) {
  return db
    .select({
      userId: users.id,
      email: users.email,
      name: users.name,
      role: memberships.role,
      joinedAt: memberships.createdAt,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.tenantId, tenantId))
    .orderBy(asc(memberships.createdAt), asc(users.id))
    .limit(1_000);
}

interface MemberChange {
  tenantId: string;
  /** The acting user and their role. */
  by: { userId: string; role: Role };
  /** The member to change. */
  userId: string;
}

/** Changes a member's role. Only an owner may promote or demote owners. Throws `TenancyError`. */
export async function changeRole(db: Db, change: MemberChange & { role: Role }): Promise<void> {
  const { tenantId, by, userId, role } = change;
  requireManager(by.role);
  const touchesOwners = role === "owner" ? sql`true` : sql`role = 'owner'`;
  const rows = await rowsOf(
    db,
    sql`
      with locked as (select user_id, role from memberships where tenant_id = ${tenantId} for update)
      update memberships set role = ${role}
      where tenant_id = ${tenantId} and user_id = ${userId}
        and (${by.role} = 'owner' or not ${touchesOwners})
        and (${role} = 'owner' or exists (select 1 from locked where role = 'owner' and user_id <> ${userId}))
      returning user_id`,
  );
  if (rows.length === 0) throw await whyRefused(db, tenantId, userId, by.role);
  await recordAudit(db, {
    event: "MEMBER_ROLE_CHANGED",
    tenantId,
    actor: actorOf(by.userId),
    details: { changeId: crypto.randomUUID(), userId, role },
  });
}

/** Removes a member; members may remove themselves. Throws `TenancyError`, for the last owner too. */
export async function removeMember(db: Db, change: MemberChange): Promise<void> {
  const { tenantId, by, userId } = change;
  const isSelf = by.userId === userId;
  if (!isSelf) requireManager(by.role);
  const rows = await rowsOf(
    db,
    sql`
      with locked as (select user_id, role from memberships where tenant_id = ${tenantId} for update)
      delete from memberships
      where tenant_id = ${tenantId} and user_id = ${userId}
        and (${isSelf} or ${by.role} = 'owner' or role <> 'owner')
        and (role <> 'owner' or exists (select 1 from locked where role = 'owner' and user_id <> ${userId}))
      returning user_id`,
  );
  if (rows.length === 0) throw await whyRefused(db, tenantId, userId, isSelf ? "owner" : by.role);
  await recordAudit(db, {
    event: "MEMBER_REMOVED",
    tenantId,
    actor: actorOf(by.userId),
    details: { changeId: crypto.randomUUID(), userId },
  });
}

function requireManager(role: Role): void {
  if (!canManage(role)) throw new TenancyError("FORBIDDEN", "only owners and admins can do this");
}

async function whyRefused(db: Db, tenantId: string, userId: string, byRole: Role): Promise<TenancyError> {
  const [member] = await db
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.tenantId, tenantId), eq(memberships.userId, userId)));
  if (!member) return new TenancyError("NOT_FOUND", "there is no such member");
  if (byRole !== "owner") return new TenancyError("FORBIDDEN", "only an owner can promote or demote owners");
  return new TenancyError("CONFLICT", "a team needs at least one owner: make someone else an owner first");
}
