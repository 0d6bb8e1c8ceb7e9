/** Accepting an invitation. */
import { Hono } from "hono";
import { acceptInvitation, findInvitation } from "../../../service/users/index.ts";
import { done, readFields } from "../app/answers.tsx";
import { type DashboardHono, sessionOf } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { gatePage } from "../views/layout.tsx";
import { Form } from "../views/parts.tsx";

export const joinPages = new Hono<DashboardHono>();
export const joinApi = new Hono<DashboardHono>();

joinPages.get("/join/:token", async (c) => {
  const token = c.req.param("token");
  const invitation = await findInvitation(c.get("accounts"), token);
  if (!invitation) throw new DashboardError("NOT_FOUND", "this invitation is no longer valid: ask for a new one");
  const { tenantName, email, role } = invitation;
  const user = c.get("session")?.user;
  const signIn = `/app/sign-in?email=${encodeURIComponent(email)}&next=${encodeURIComponent(`/app/join/${token}`)}`;
  return gatePage(
    c,
    { title: `Join ${tenantName}` },
    <div class="panel">
      <h1>Join {tenantName}</h1>
      <p>
        <strong>{email}</strong> is invited as {role === "member" ? "a" : "an"} {role}.
      </p>
      {user === undefined && (
        <a class="button primary" href={signIn}>
          Sign in to accept
        </a>
      )}
      {user?.email === email && (
        <Form action="/app/api/invitations/accept">
          <input type="hidden" name="token" value={token} />
          <button class="primary">Join {tenantName}</button>
        </Form>
      )}
      {user !== undefined && user.email !== email && (
        <>
          <p class="notice error">You are signed in as {user.email}. The invitation is for another address.</p>
          <Form action="/app/api/sign-out">
            <button>Sign out</button>
          </Form>
        </>
      )}
    </div>,
  );
});

joinApi.post("/invitations/accept", async (c) => {
  const fields = await readFields(c);
  const slug = await acceptInvitation(c.get("accounts"), fields.text("token"), sessionOf(c).user);
  return done(c, { to: `/app/${slug}`, notice: "You are in the team now.", data: { slug } });
});
