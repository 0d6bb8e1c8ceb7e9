/** Account of the signed-in user: teams, name, sessions. */
import { Hono } from "hono";
import {
  createOwnTenant,
  listSessions,
  revokeOtherSessions,
  revokeSession,
  setUserName,
} from "../../../service/users/index.ts";
import { done, readFields } from "../app/answers.tsx";
import { type DashboardHono, sessionOf } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { clearSessionCookie } from "../app/guards.ts";
import { ACCOUNT, newOnce, ONCE_FIELD, randomOf } from "../app/once.ts";
import { describeBrowser } from "../views/browser.ts";
import { accountPage, gatePage } from "../views/layout.tsx";
import { Field, Form, Head, Panel } from "../views/parts.tsx";
import { ACTIONS, Table, TimeCell } from "../views/table.tsx";

export const accountPages = new Hono<DashboardHono>();
export const accountApi = new Hono<DashboardHono>();

accountPages.get("/", (c) => {
  const [first] = sessionOf(c).memberships;
  return c.redirect(first ? `/app/${first.slug}` : "/app/new", 303);
});

accountPages.get("/new", async (c) => {
  const { user, memberships } = sessionOf(c);
  return gatePage(
    c,
    { title: "New team" },
    <>
      <div class="panel">
        <h1>{memberships.length === 0 ? "Name your team" : "New team"}</h1>
        <p class="soft">
          A team has its own repositories, keys, quota and members. You are signed in as {user.email}; if somebody meant
          to invite you, ask for the invitation's link instead.
        </p>
        <Form action="/app/api/tenants">
          <input type="hidden" name={ONCE_FIELD} value={await newOnce(c, ACCOUNT)} />
          <Field label="Team name" name="name" required maxlength={100} autocomplete="organization" />
          <button type="submit" class="primary">
            Create the team
          </button>
        </Form>
      </div>
      <form method="post" action="/app/api/sign-out">
        <button type="submit" class="quiet">
          Sign out
        </button>
      </form>
    </>,
  );
});

accountPages.get("/account", async (c) => {
  const { user, id: currentId } = sessionOf(c);
  const sessions = await listSessions(c.get("accounts"), user.id);
  return accountPage(
    c,
    { title: "Account" },
    <>
      <Head title="Account" text={user.email} />
      <Panel title="Name" text="Shown to your teams.">
        <div class="body">
          <Form action="/app/api/account">
            <div class="row">
              <Field label="Name" name="name" value={user.name ?? ""} maxlength={100} autocomplete="name" />
              <button type="submit">Save</button>
            </div>
          </Form>
        </div>
      </Panel>
      <Panel
        title="Sessions"
        text="Browsers in which you are signed in."
        aside={
          sessions.length > 1 && (
            <Form action="/app/api/sessions/revoke-others" inline>
              <button type="submit">Sign out everywhere else</button>
            </Form>
          )
        }
      >
        <Table label="Sessions" headings={["Browser", "Last used", "Signed in", "Expires", ACTIONS]}>
          {sessions.map((session) => (
            <tr>
              <th scope="row">
                {describeBrowser(session.userAgent)} {session.id === currentId && <span class="tag ok">this one</span>}
              </th>
              <TimeCell at={session.lastSeenAt} label="Last used" />
              <TimeCell at={session.createdAt} label="Signed in" />
              <TimeCell at={session.expiresAt} label="Expires" />
              <td class="actions">
                <Form action={`/app/api/sessions/${session.id}/revoke`} inline>
                  <button type="submit" class="quiet">
                    Sign out
                    <span class="sr">
                      {" "}
                      {describeBrowser(session.userAgent)}, signed in{" "}
                      {session.createdAt.toISOString().slice(0, 16).replace("T", " ")} UTC
                    </span>
                  </button>
                </Form>
              </td>
            </tr>
          ))}
        </Table>
      </Panel>
    </>,
  );
});

accountApi.get("/session", (c) => {
  const { user, memberships } = sessionOf(c);
  return c.json({ ok: true, user, tenants: memberships });
});

accountApi.post("/account", async (c) => {
  const fields = await readFields(c);
  await setUserName(c.get("accounts"), sessionOf(c).user.id, fields.text("name"));
  return done(c, { to: "/app/account", notice: "Saved." });
});

accountApi.post("/tenants", async (c) => {
  const fields = await readFields(c);
  const name = fields.text("name");
  const random = await randomOf(c, fields.text(ONCE_FIELD), [name], ACCOUNT);
  const made = await createOwnTenant(c.get("accounts"), sessionOf(c).user.id, { name, random });
  return done(c, { to: `/app/${made.slug}`, data: { ...made }, status: 201 });
});

accountApi.get("/sessions", async (c) => {
  const { user, id } = sessionOf(c);
  const sessions = await listSessions(c.get("accounts"), user.id);
  return c.json({ ok: true, current: id, sessions });
});

accountApi.post("/sessions/revoke-others", async (c) => {
  const { user, id } = sessionOf(c);
  const count = await revokeOtherSessions(c.get("accounts"), user.id, id);
  return done(c, {
    to: "/app/account",
    notice: `${count} other ${count === 1 ? "session" : "sessions"} ended.`,
    data: { count },
  });
});

accountApi.post("/sessions/:id/revoke", async (c) => {
  const { user, id: currentId } = sessionOf(c);
  const id = c.req.param("id");
  const isKnown = /^[\da-f-]{36}$/.test(id) && (await revokeSession(c.get("accounts"), user.id, id));
  if (!isKnown) throw new DashboardError("NOT_FOUND", "there is no such session");
  if (id !== currentId) return done(c, { to: "/app/account", notice: "The session is ended." });
  clearSessionCookie(c);
  return done(c, { to: "/app/sign-in" });
});
