/** The team: members, roles and invitations. */
import { Hono } from "hono";
import type { Role } from "../../../service/db/people-schema.ts";
import { invitationMail, sealMail } from "../../../service/mail/index.ts";
import {
  canManage,
  changeRole,
  checkEmail,
  checkRole,
  INVITATION_DAYS,
  invite,
  type Invite,
  listInvitations,
  listMembers,
  removeMember,
  renewInvitation,
  revokeInvitation,
  type SentInvitation,
} from "../../../service/users/index.ts";
import { done, readFields } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, sessionOf, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { takeOrRefuse } from "../app/guards.ts";
import { requireMailer, sendQueued } from "../app/outbox.ts";
import { siteUrlOf } from "../app/settings.ts";
import { tenantPage } from "../views/layout.tsx";
import { Confirm, Field, Form, Head, Panel, Select, Time } from "../views/parts.tsx";
import { ACTIONS, Table, TimeCell } from "../views/table.tsx";

export const teamPages = new Hono<DashboardHono>();
export const teamApi = new Hono<DashboardHono>();

const ROLE_TEXTS: Record<Role, string> = {
  owner: "Owner: everything, and deleting the team",
  admin: "Admin: keys, repositories, members, settings",
  member: "Member: sees everything, changes nothing",
};

/**
 * Changes a member's role when it is saved. A change to or from owner is confirmed first: an owner can delete the team, and an arrow
 * key changes a list silently.
 */
function RoleForm({ action, id, label, name, value, mayGrantOwner }: RoleFormProps) {
  if (value === "owner") {
    return (
      <>
        owner{" "}
        <Confirm
          label="Change …"
          subject={label}
          title={`Change the role of ${name}?`}
          question={`${name} will no longer be an owner. As an admin they keep all rights but those over owners and the team itself.`}
          action={action}
          button="Make them an admin"
        >
          <input type="hidden" name="role" value="admin" />
        </Confirm>
      </>
    );
  }
  return (
    <>
      <Form action={action} inline>
        <label for={id} class="sr">
          {label}
        </label>
        <select id={id} name="role">
          {(["member", "admin"] as const).map((role) => (
            <option value={role} selected={role === value}>
              {role}
            </option>
          ))}
        </select>{" "}
        <button>
          Save<span class="sr"> {label}</span>
        </button>
      </Form>{" "}
      {mayGrantOwner && (
        <Confirm
          label="Make owner …"
          subject={name}
          title={`Make ${name} an owner?`}
          question={`${name} will be able to do everything: change and remove other owners, you among them, and delete the team.`}
          action={action}
          button={`Make ${name} an owner`}
        >
          <input type="hidden" name="role" value="owner" />
        </Confirm>
      )}
    </>
  );
}

interface RoleFormProps {
  action: string;
  id: string;
  label: string;
  /** Name of the member. */
  name: string;
  value: Role;
  /** Whether the user may make others owners. */
  mayGrantOwner: boolean;
}

teamPages.get("/team", async (c) => {
  const { tenantId, slug, role } = c.get("membership");
  const me = sessionOf(c).user.id;
  const [members, invitations] = await Promise.all([
    listMembers(c.get("accounts"), tenantId),
    listInvitations(c.get("accounts"), tenantId),
  ]);
  const manages = canManage(role);
  const grantable: Role[] = role === "owner" ? ["member", "admin", "owner"] : ["member", "admin"];
  const base = `/app/api/tenants/${slug}`;
  const nowMs = Date.now();
  return tenantPage(
    c,
    "team",
    { title: "Team" },
    <>
      <Head title="Team" text="Owners and admins manage the team; members have read access." />
      {manages && (
        <Panel title="Invite someone" text="The link in the e-mail is valid for a week, for this address only.">
          <div class="body">
            <Form action={`${base}/invitations`}>
              <div class="row">
                <Field label="E-mail address" name="email" type="email" required maxlength={254} autocomplete="off" />
                <Select
                  label="Role"
                  name="role"
                  value="member"
                  options={grantable.map((one) => [one, ROLE_TEXTS[one]])}
                />
                <button class="primary">Invite</button>
              </div>
            </Form>
          </div>
        </Panel>
      )}
      <Panel title={`Members (${members.length})`}>
        <Table label="Members" headings={["Person", "Role", "Joined", ACTIONS]}>
          {members.map((member) => {
            const mayChange = manages && (role === "owner" || member.role !== "owner");
            const name = member.name ?? member.email;
            return (
              <tr>
                <th scope="row">
                  {name} {member.userId === me && <span class="tag">you</span>}
                  {member.name !== null && <div class="soft small">{member.email}</div>}
                </th>
                <td>
                  {mayChange && member.userId !== me ? (
                    <RoleForm
                      action={`${base}/members/${member.userId}/role`}
                      id={`role-${member.userId}`}
                      label={`Role of ${name}`}
                      name={name}
                      value={member.role}
                      mayGrantOwner={role === "owner"}
                    />
                  ) : (
                    member.role
                  )}
                </td>
                <TimeCell at={member.joinedAt} />
                <td class="actions">
                  {mayChange && member.userId !== me && (
                    <Confirm
                      label="Remove …"
                      subject={name}
                      title={`Remove ${name}?`}
                      question={`${name} will lose access to this team. Keys that they created keep working.`}
                      action={`${base}/members/${member.userId}/remove`}
                      button={`Remove ${name}`}
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </Table>
      </Panel>
      {invitations.length > 0 && (
        <Panel title="Invitations">
          <Table label="Invitations" headings={["Address", "Role", "Invited by", "Expires", ACTIONS]}>
            {invitations.map((invitation) => (
              <tr>
                <th scope="row">{invitation.email}</th>
                <td>{invitation.role}</td>
                <td>{invitation.invitedBy ?? "–"}</td>
                <td>
                  {invitation.expiresAt.getTime() <= nowMs ? (
                    <span class="tag warn">expired</span>
                  ) : (
                    <Time at={invitation.expiresAt} nowMs={nowMs} />
                  )}
                </td>
                <td class="actions">
                  {manages && (role === "owner" || invitation.role !== "owner") && (
                    <>
                      <Form action={`${base}/invitations/${invitation.id}/resend`} inline>
                        <button class="quiet">
                          Send again<span class="sr"> to {invitation.email}</span>
                        </button>
                      </Form>
                      <Form action={`${base}/invitations/${invitation.id}/revoke`} inline>
                        <button class="quiet">
                          Revoke<span class="sr"> the invitation of {invitation.email}</span>
                        </button>
                      </Form>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        </Panel>
      )}
    </>,
  );
});

teamApi.get("/members", async (c) =>
  c.json({ ok: true, members: await listMembers(c.get("accounts"), c.get("membership").tenantId) }),
);

teamApi.get("/invitations", async (c) =>
  c.json({ ok: true, invitations: await listInvitations(c.get("accounts"), c.get("membership").tenantId) }),
);

teamApi.post("/invitations", async (c) => {
  const fields = await readFields(c);
  const email = checkEmail(fields.text("email"));
  const role = checkRole(fields.text("role") || "member");
  return sendInvitation(c, (more) => invite(c.get("accounts"), { email, role, ...more }));
});

teamApi.post("/invitations/:id/resend", async (c) => {
  const id = requireUuid(c.req.param("id"), "invitation");
  return sendInvitation(c, (more) => renewInvitation(c.get("accounts"), { id, ...more }));
});

teamApi.post("/invitations/:id/revoke", async (c) => {
  const id = requireUuid(c.req.param("id"), "invitation");
  await revokeInvitation(c.get("accounts"), { tenantId: c.get("membership").tenantId, id, by: byOf(c) });
  return done(c, { to: tenantPath(c, "team"), notice: "The invitation is revoked." });
});

teamApi.post("/members/:id/role", async (c) => {
  const userId = requireUuid(c.req.param("id"), "member");
  const fields = await readFields(c);
  const role = checkRole(fields.text("role"));
  await changeRole(c.get("accounts"), { tenantId: c.get("membership").tenantId, by: byOf(c), userId, role });
  return done(c, { to: tenantPath(c, "team"), notice: "The role is changed." });
});

teamApi.post("/members/:id/remove", async (c) => {
  const userId = requireUuid(c.req.param("id"), "member");
  await removeMember(c.get("accounts"), { tenantId: c.get("membership").tenantId, by: byOf(c), userId });
  return done(c, { to: tenantPath(c, "team"), notice: "The member is removed." });
});

teamApi.post("/leave", async (c) => {
  const by = byOf(c);
  await removeMember(c.get("accounts"), { tenantId: c.get("membership").tenantId, by, userId: by.userId });
  return done(c, { to: "/app", notice: `You have left ${c.get("membership").name}.` });
});

/** The acting user and their role. */
function byOf(c: DashboardContext) {
  return { userId: sessionOf(c).user.id, role: c.get("membership").role };
}

/** Takes from the team's budget of invitations, creates or renews one together with its message, and sends that. */
async function sendInvitation(
  c: DashboardContext,
  create: (more: Pick<Invite, "tenantId" | "by" | "compose">) => Promise<SentInvitation>,
): Promise<Response> {
  const { tenantId, name: team } = c.get("membership");
  const { user } = sessionOf(c);
  const mailer = requireMailer(c);
  await takeOrRefuse(c, { kind: "tenant", id: tenantId }, "invitation", tenantId);
  const site = siteUrlOf(c.env, c.req.raw);
  const sent = await create({
    tenantId,
    by: byOf(c),
    compose: ({ email, role, token }) => {
      const url = `${site}/app/join/${token}`;
      const inviter = user.name ?? user.email;
      const mail = invitationMail(email, { team, inviter, role, url, days: INVITATION_DAYS });
      return sealMail(c.env.ENCRYPTION_KEY, mail, { kind: "invitation", usefulSec: INVITATION_DAYS * 86_400 });
    },
  });
  await sendQueued(c, mailer, sent.mailId);
  return done(c, {
    to: tenantPath(c, "team"),
    notice: `${sent.email} is invited.`,
    data: { id: sent.id },
    status: 201,
  });
}

function requireUuid(id: string, what: string): string {
  if (isUuid(id)) return id;
  throw new DashboardError("NOT_FOUND", `there is no such ${what}`);
}
