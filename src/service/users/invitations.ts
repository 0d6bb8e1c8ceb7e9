/** Invitations to a tenant: e-mailed links, valid for a week and for the invited address only. */
import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { auditInsert, recordAudit } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { invitations, type Role, users } from "../db/people-schema.ts";
import { rowsOf } from "../db/rows.ts";
import { tenants } from "../db/schema.ts";
import { mailInsert, type QueuedMail } from "../mail/outbox.ts";
import { bytesLiteral } from "./bytes.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { actorOf, canManage } from "./members.ts";
import { hashToken, isToken, newToken } from "./tokens.ts";

export const INVITATION_DAYS = 7;

export interface Invite {
  tenantId: string;
  email: string;
  role: Role;
  by: { userId: string; role: Role };
  /** Makes the message with the link; it is queued in the statement that creates the invitation. */
  compose?: Compose | undefined;
  /** Random bytes of a form: the same bytes make the same link, and no second message. */
  random?: Uint8Array | undefined;
}

/** Makes an invitation's message. `token` is for its link. */
type Compose = (invitation: { email: string; role: Role; token: string }) => Promise<QueuedMail>;

export interface SentInvitation {
  id: string;
  email: string;
  role: Role;
  /** For the e-mailed link; never stored. */
  token: string;
  /** The queued message; none if the same form was sent before. */
  mailId: string | undefined;
}

/**
 * Creates an invitation, or renews the address's open one, whose previous link stops working. Throws `TenancyError` if the user is
 * already a member, or if the role, or that of the open invitation, is above the inviter's own.
 */
export async function invite(db: Db, { tenantId, email, role, by, compose, random }: Invite): Promise<SentInvitation> {
  if (!canManage(by.role)) throw new TenancyError("FORBIDDEN", "only owners and admins can invite");
  if (role === "owner" && by.role !== "owner") throw new TenancyError("FORBIDDEN", "only an owner can invite owners");
  const token = newToken(random);
  const mail = await compose?.({ email, role, token: token.value });
  const about = sql`'invitation:' || sent.id`;
  const event = {
    event: "INVITATION_SENT",
    tenantId,
    actor: actorOf(by.userId),
    details: { sendId: crypto.randomUUID(), invitationId: "", email, role },
  } as const;
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`with sent as (
      insert into invitations (tenant_id, email, role, token_hash, invited_by, expires_at)
      select ${tenantId}, ${email}, ${role}, ${bytesLiteral(token.hash)}, ${by.userId},
        now() + make_interval(days => ${INVITATION_DAYS})
      where not exists (
        select 1 from memberships m join users u on u.id = m.user_id where m.tenant_id = ${tenantId} and u.email = ${email})
      on conflict (tenant_id, email) where accepted_at is null and revoked_at is null
      do update set role = excluded.role, token_hash = excluded.token_hash, invited_by = excluded.invited_by,
        expires_at = excluded.expires_at
      where (invitations.role <> 'owner' or ${by.role} = 'owner') and invitations.token_hash <> excluded.token_hash
      returning id
    ), logged as (${auditInsert(event, sql`sent`, sql`jsonb_build_object('invitationId', sent.id)`)}
    ), replaced as (
      delete from mails using sent where mails.about = ${about} and mails.sealed is not null
    )${mail ? sql`, mailed as (${mailInsert(mail, { tenantId, about, source: sql`sent` })})` : sql``}
    select id from sent`,
  ).catch((error: unknown): never => {
    // The invitation of this form was accepted or revoked.
    if (pgErrorCode(error) === PG_UNIQUE_VIOLATION) throw outdatedForm();
    throw error;
  });
  const row = rows[0];
  if (!row) {
    const [known] = await db
      .select({ id: invitations.id })
      .from(invitations)
      .where(and(eq(invitations.tokenHash, token.hash), isOpen()));
    if (known) return { id: known.id, email, role, token: token.value, mailId: undefined };
    throw await whyNotInvited(db, tenantId, email);
  }
  return { id: row.id, email, role, token: token.value, mailId: mail?.id };
}

async function whyNotInvited(db: Db, tenantId: string, email: string): Promise<TenancyError> {
  const [open] = await db
    .select({ role: invitations.role })
    .from(invitations)
    .where(and(eq(invitations.tenantId, tenantId), eq(invitations.email, email), isOpen()));
  return open?.role === "owner" ? ownersOnly() : new TenancyError("CONFLICT", `${email} is a member already`, "email");
}

/** Renews an open invitation with a new link for another week. Throws `TenancyError` if it was accepted or revoked. */
export async function renewInvitation(
  db: Db,
  { tenantId, id, by, compose }: { tenantId: string; id: string } & Pick<Invite, "by" | "compose">,
): Promise<SentInvitation> {
  const [open] = await db
    .select({ email: invitations.email, role: invitations.role })
    .from(invitations)
    .where(and(eq(invitations.tenantId, tenantId), eq(invitations.id, id), isOpen()));
  if (!open) throw noInvitation();
  return invite(db, { tenantId, email: open.email, role: open.role, by, compose });
}

/** Revokes an open invitation: its link stops working. Only an owner may revoke that of an owner. Throws `TenancyError`. */
export async function revokeInvitation(
  db: Db,
  { tenantId, id, by }: { tenantId: string; id: string; by: Invite["by"] },
): Promise<void> {
  if (!canManage(by.role)) throw new TenancyError("FORBIDDEN", "only owners and admins can revoke invitations");
  const own = and(eq(invitations.tenantId, tenantId), eq(invitations.id, id), isOpen());
  const event = {
    event: "INVITATION_REVOKED",
    tenantId,
    actor: actorOf(by.userId),
    details: { invitationId: id },
  } as const;
  const rows = await rowsOf(
    db,
    sql`with revoked as (
      update invitations set revoked_at = now() where ${own} and (role <> 'owner' or ${by.role} = 'owner') returning id
    ), logged as (${auditInsert(event, sql`revoked`)}
    ), unsent as (
      delete from mails using revoked where mails.about = 'invitation:' || revoked.id and mails.sealed is not null
    )
    select id from revoked`,
  );
  if (rows.length > 0) return;
  const [open] = await db.select({ id: invitations.id }).from(invitations).where(own);
  throw open ? ownersOnly() : noInvitation();
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

interface InvitationView {
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
 * Accepts an invitation as the signed-in user, whose address must be the invited one. Returns the tenant's slug. Throws `TenancyError`
 * if the link is not valid or is for another address. One statement, so only one of two concurrent calls succeeds.
 */
export async function acceptInvitation(
  db: Db,
  token: string,
  user: { id: string; email: string },
): Promise<{ tenantId: string; slug: string }> {
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
    throw new TenancyError("FORBIDDEN", `this invitation is for ${view.email}: sign in with that address`);
  }
  await recordAudit(db, {
    event: "MEMBER_JOINED",
    tenantId: row.tenant_id,
    actor: actorOf(user.id),
    details: { invitationId: row.id, userId: user.id, role: row.role },
  });
  return { tenantId: row.tenant_id, slug: row.slug };
}

const isOpen = () => and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt));

function ownersOnly(): TenancyError {
  return new TenancyError("FORBIDDEN", "only an owner can change the invitation of an owner");
}

function outdatedForm(): TenancyError {
  return new TenancyError("CONFLICT", "the invitation of this form was accepted or revoked: load the page again");
}

function noInvitation(): TenancyError {
  return new TenancyError("NOT_FOUND", "this invitation is no longer valid: ask for a new one");
}
