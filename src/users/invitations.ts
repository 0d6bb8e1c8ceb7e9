/** Invitations to a tenant: e-mailed links, valid for a week and for the invited address only. */
import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { recordAudit } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { invitations, type Role, users } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { tenants } from "../db/schema.ts";
import { bytesLiteral } from "./bytes.ts";
import { UserError } from "./errors.ts";
import { actorOf, canManage } from "./members.ts";
import { hashToken, isToken, newToken } from "./tokens.ts";

export const INVITATION_DAYS = 7;

export interface Invite {
  tenantId: string;
  email: string;
  role: Role;
  by: { userId: string; role: Role };
}

export interface SentInvitation {
  id: string;
  email: string;
  role: Role;
  /** For the e-mailed link; never stored. */
  token: string;
}

/**
 * Creates an invitation, or renews the address's open one, whose previous link stops working. Throws `UserError` if the user is
 * already a member, or if the role is above the inviter's own.
 */
export async function invite(db: Db, { tenantId, email, role, by }: Invite): Promise<SentInvitation> {
  if (!canManage(by.role)) throw new UserError("FORBIDDEN", "only owners and admins can invite");
  if (role === "owner" && by.role !== "owner") throw new UserError("FORBIDDEN", "only an owner can invite owners");
  const token = newToken();
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`
      insert into invitations (tenant_id, email, role, token_hash, invited_by, expires_at)
      select ${tenantId}, ${email}, ${role}, ${bytesLiteral(token.hash)}, ${by.userId},
        now() + make_interval(days => ${INVITATION_DAYS})
      where not exists (
        select 1 from memberships m join users u on u.id = m.user_id where m.tenant_id = ${tenantId} and u.email = ${email})
      on conflict (tenant_id, email) where accepted_at is null and revoked_at is null
      do update set role = excluded.role, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
        expires_at = excluded.expires_at
      returning id`,
  );
  const row = rows[0];
  if (!row) throw new UserError("CONFLICT", `${email} is a member already`, "email");
  await recordAudit(db, {
    event: "INVITATION_SENT",
    tenantId,
    actor: actorOf(by.userId),
    details: { sendId: crypto.randomUUID(), invitationId: row.id, email, role },
  });
  return { id: row.id, email, role, token: token.value };
}

/** Renews an open invitation with a new link for another week. Throws `UserError` if it was accepted or revoked. */
export async function renewInvitation(
  db: Db,
  { tenantId, id, by }: { tenantId: string; id: string; by: Invite["by"] },
): Promise<SentInvitation> {
  const [open] = await db
    .select({ email: invitations.email, role: invitations.role })
    .from(invitations)
    .where(and(eq(invitations.tenantId, tenantId), eq(invitations.id, id), isOpen()));
  if (!open) throw noInvitation();
  return invite(db, { tenantId, email: open.email, role: open.role, by });
}

/** Revokes an open invitation: its link stops working. Throws `UserError`. */
export async function revokeInvitation(
  db: Db,
  { tenantId, id, by }: { tenantId: string; id: string; by: Invite["by"] },
): Promise<void> {
  if (!canManage(by.role)) throw new UserError("FORBIDDEN", "only owners and admins can revoke invitations");
  const rows = await db
    .update(invitations)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(invitations.tenantId, tenantId), eq(invitations.id, id), isOpen()))
    .returning({ id: invitations.id });
  if (rows.length === 0) throw noInvitation();
  const details = { invitationId: id };
  await recordAudit(db, { event: "INVITATION_REVOKED", tenantId, actor: actorOf(by.userId), details });
}

/** Lists the open invitations of a tenant, including expired ones, newest first. */
export function listInvitations(db: Db, tenantId: string) {
  return db
    .select({
      id: invitations.id,
      email: invitations.email,
      role: invitations.role,
      createdAt: invitations.createdAt,
      expiresAt: invitations.expiresAt,
      invitedBy: users.email,
    })
    .from(invitations)
    .leftJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(eq(invitations.tenantId, tenantId), isOpen()))
    .orderBy(desc(invitations.createdAt))
    .limit(200);
}

export interface InvitationView {
  tenantName: string;
  email: string;
  role: Role;
}

/** The invitation of a link, to be shown before it is accepted; undefined if the link is not valid. */
export async function findInvitation(db: Db, token: string): Promise<InvitationView | undefined> {
  if (!isToken(token)) return undefined;
  const [row] = await db
    .select({ tenantName: tenants.name, email: invitations.email, role: invitations.role })
    .from(invitations)
    .innerJoin(tenants, eq(tenants.id, invitations.tenantId))
    .where(and(eq(invitations.tokenHash, hashToken(token)), isOpen(), gt(invitations.expiresAt, sql`now()`)));
  return row;
}

/**
 * Accepts an invitation as the signed-in user, whose address must be the invited one. Returns the tenant's slug. Throws `UserError`
 * if the link is not valid or is for another address. One statement, so only one of two concurrent calls succeeds.
 */
export async function acceptInvitation(db: Db, token: string, user: { id: string; email: string }): Promise<string> {
  if (!isToken(token)) throw noInvitation();
  const rows = await rowsOf<{ tenant_id: string; slug: string; role: Role; id: string }>(
    db,
    sql`
      with taken as (
        update invitations set accepted_at = now()
        where token_hash = ${bytesLiteral(hashToken(token))} and email = ${user.email}
          and accepted_at is null and revoked_at is null and expires_at > now()
        returning id, tenant_id, role
      ), joined as (
        insert into memberships (tenant_id, user_id, role) select tenant_id, ${user.id}, role from taken
        on conflict do nothing
      )
      select taken.id, taken.tenant_id, taken.role, t.slug from taken join tenants t on t.id = taken.tenant_id`,
  );
  const row = rows[0];
  if (!row) {
    const view = await findInvitation(db, token);
    if (!view) throw noInvitation();
    throw new UserError("FORBIDDEN", `this invitation is for ${view.email}: sign in with that address`);
  }
  await recordAudit(db, {
    event: "MEMBER_JOINED",
    tenantId: row.tenant_id,
    actor: actorOf(user.id),
    details: { invitationId: row.id, userId: user.id, role: row.role },
  });
  return row.slug;
}

const isOpen = () => and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt));

function noInvitation(): UserError {
  return new UserError("NOT_FOUND", "this invitation is no longer valid: ask for a new one");
}
