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
import { done, invalid, readFields } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, sessionOf, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { forEach } from "../app/for-each.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { takeOrRefuse } from "../app/guards.ts";
import { newOnce, ONCE_FIELD, randomOf } from "../app/once.ts";
import { requireMailer, sendQueued } from "../app/outbox.ts";
import { siteUrlOf } from "../app/settings.ts";
import { tenantPage } from "../views/layout.tsx";
import { NumberPager } from "../views/pager.tsx";
import { Confirm, Empty, Field, Form, Head, Panel, Select, Time } from "../views/parts.tsx";
import { RoleForm } from "../views/role-form.tsx";
import { ACTIONS, Table, TimeCell } from "../views/table.tsx";

export const teamPages = new Hono<DashboardHono>();
export const teamApi = new Hono<DashboardHono>();

const ROLE_TEXTS: Record<Role, string> = {
  owner: "Owner: everything, and deleting the team",
  admin: "Admin: keys, repositories, members, settings",
  member: "Member: sees everything, changes nothing",
};

/** Longest text to find members by. */
const MAX_SEARCH_CHARACTERS = 200;
/** Members of a page. */
const MEMBER_ROWS = 50;
/** Members that are found without a search. */
const FEW_MEMBERS = 10;

/** Whether a text is a part of a member's name or address. */
function isNamed({ name, email }: { name: string | null; email: string }, text: string): boolean {
  const wanted = text.toLowerCase();
  return email.includes(wanted) || (name?.toLowerCase().includes(wanted) ?? false);
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
  const wanted = (c.req.query("member") ?? "").trim().slice(0, MAX_SEARCH_CHARACTERS);
  const found = members.filter((member) => isNamed(member, wanted));
  const pages = Math.max(1, Math.ceil(found.length / MEMBER_ROWS));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(c.req.query("page") ?? 1)) || 1));
  const shown = found.slice((page - 1) * MEMBER_ROWS, page * MEMBER_ROWS);
  return tenantPage(
    c,
    "team",
    { title: "Team" },
    <>
      <Head title="Team" text="Owners and admins manage the team; members have read access." />
      {manages && (
        <Panel title="Invite people" text="The link in each e-mail is valid for a week, for its address only.">
          <div class="body">
            <Form action={`${base}/invitations`}>
              <input type="hidden" name={ONCE_FIELD} value={await newOnce(c)} />
              <div class="row">
                <Field
                  label="E-mail addresses"
                  name="email"
                  hint={`Up to ${MAX_INVITED}, with commas or spaces between, or one a line.`}
                >
                  <textarea
                    id="field-email"
                    name="email"
                    rows={2}
                    required
                    maxlength={MAX_INVITED * 255}
                    autocomplete="off"
                    aria-describedby="field-email-hint"
                  />
                </Field>
                <Select
                  label="Role"
                  name="role"
                  value="member"
                  options={grantable.map((one) => [one, ROLE_TEXTS[one]])}
                />
                <button type="submit" class="primary">
                  Invite
                </button>
              </div>
            </Form>
          </div>
        </Panel>
      )}
      <Panel title={`Members (${members.length})`}>
        {(members.length > FEW_MEMBERS || wanted !== "") && (
          <form method="get" class="filters" aria-label="Find members" role="search">
            <div class="row">
              <Field label="Name or address" name="member" value={wanted} maxlength={MAX_SEARCH_CHARACTERS} fit />
              <button type="submit">Find</button>
              {wanted !== "" && (
                <a class="button quiet" href={tenantPath(c, "team")}>
                  Show all
                </a>
              )}
            </div>
          </form>
        )}
        {shown.length === 0 ? (
          <Empty title="No member has this name or address" />
        ) : (
          <Table label="Members" headings={["Person", "Role", "Joined", ACTIONS]}>
            {shown.map((member) => {
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
                  <TimeCell at={member.joinedAt} label="Joined" />
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
        )}
        <NumberPager
          page={page}
          rows={MEMBER_ROWS}
          total={found.length}
          linkTo={(to) =>
            `${tenantPath(c, "team")}?${new URLSearchParams({ ...(wanted !== "" && { member: wanted }), page: String(to) }).toString()}`
          }
        />
      </Panel>
      {invitations.length > 0 && (
        <Panel title="Invitations">
          <Table label="Invitations" headings={["Address", "Role", "Invited by", "Expires", ACTIONS]}>
            {invitations.map((invitation) => (
              <tr>
                <th scope="row">{invitation.email}</th>
                <td>{invitation.role}</td>
                <td data-label="Invited by">{invitation.invitedBy ?? "–"}</td>
                <td data-label="Expires">
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
                        <button type="submit" class="quiet">
                          Send again<span class="sr"> to {invitation.email}</span>
                        </button>
                      </Form>
                      <Form action={`${base}/invitations/${invitation.id}/revoke`} inline>
                        <button type="submit" class="quiet">
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
  const emails = readAddresses(fields.text("email"));
  const role = checkRole(fields.text("role") || "member");
  const once = fields.text(ONCE_FIELD);
  const send = async (email: string): Promise<SentInvitation> => {
    const random = await randomOf(c, once, ["invitation", email, role]);
    return sendInvitation(c, (more) => invite(c.get("accounts"), { email, role, random, ...more }));
  };
  const [only, ...others] = emails;
  const { made: sent, failed } =
    only !== undefined && others.length === 0
      ? { made: [await send(only)], failed: [] }
      : await forEach(emails, (email) => email, send);
  const refused = failed.map(({ name: email, error }) => ({ email, error }));
  // What was sent is reported; with nothing sent, the first refusal is the answer.
  const [first] = refused;
  if (sent.length === 0 && first) throw new DashboardError("CONFLICT", first.error, { field: "email" });
  return done(c, {
    to: tenantPath(c, "team"),
    notice: invitedNotice(sent, refused),
    data: { id: sent[0]?.id, invited: sent.map(({ id, email }) => ({ id, email })), refused },
    status: 201,
  });
});

/** Most people that one form invites; the budget of an hour is as large. */
const MAX_INVITED = 30;

/** The addresses of a text, each once. Throws `DashboardError` if there are none, too many, or one is not an address. */
function readAddresses(text: string): string[] {
  const words = text.split(/[\s,;]+/).filter((word) => word !== "");
  if (words.length <= 1) return [checkEmail(text)];
  if (words.length > MAX_INVITED) throw invalid("email", `expected at most ${MAX_INVITED} addresses`);
  const emails = words.map((word) => {
    try {
      return checkEmail(word);
    } catch {
      throw invalid("email", `${word.slice(0, 100)} is not an address such as name@example.com; nobody was invited`);
    }
  });
  return [...new Set(emails)];
}

function invitedNotice(sent: readonly SentInvitation[], refused: readonly { email: string; error: string }[]): string {
  const [only] = sent;
  const done = only && sent.length === 1 ? `${only.email} is invited.` : `${sent.length} people are invited.`;
  if (refused.length === 0) return done;
  return `${done} Not invited: ${refused.map(({ email, error }) => (error.includes(email) ? error : `${email} (${error})`)).join("; ")}.`;
}

teamApi.post("/invitations/:id/resend", async (c) => {
  const id = requireUuid(c.req.param("id"), "invitation");
  const sent = await sendInvitation(c, (more) => renewInvitation(c.get("accounts"), { id, ...more }));
  return done(c, {
    to: tenantPath(c, "team"),
    notice: `${sent.email} is invited.`,
    data: { id: sent.id },
    status: 201,
  });
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
): Promise<SentInvitation> {
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
  return sent;
}

function requireUuid(id: string, what: string): string {
  if (isUuid(id)) return id;
  throw new DashboardError("NOT_FOUND", `there is no such ${what}`);
}
