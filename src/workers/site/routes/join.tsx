/** Accepting an invitation. */
import { Hono } from "hono";
import { databaseOf } from "../../../service/db/databases.ts";
import { deriveCredentialKey } from "../../../service/tenancy/credentials.ts";
import { createKey } from "../../../service/tenancy/keys.ts";
import { acceptInvitation, findInvitation } from "../../../service/users/index.ts";
import { done, readFields } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, sessionOf } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { actorOfSession } from "../app/fields.ts";
import { leaveSecret } from "../app/reveal.ts";
import { gatePage } from "../views/layout.tsx";
import { Form } from "../views/parts.tsx";

export const joinPages = new Hono<DashboardHono>();
export const joinApi = new Hono<DashboardHono>();

/** Name of the key that a new member has. */
const FIRST_KEY = "first key";

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
          <button type="submit" class="primary">
            Join {tenantName}
          </button>
        </Form>
      )}
      {user !== undefined && user.email !== email && (
        <>
          <p class="notice error">You are signed in as {user.email}. The invitation is for another address.</p>
          <Form action="/app/api/sign-out">
            <button type="submit">Sign out</button>
          </Form>
        </>
      )}
    </div>,
  );
});

joinApi.post("/invitations/accept", async (c) => {
  const fields = await readFields(c);
  const { user } = sessionOf(c);
  const joined = await acceptInvitation(c.get("accounts"), fields.text("token"), user);
  const { slug } = joined;
  const notice = "You are in the team now.";
  try {
    const to = await leaveFirstKey(c, joined);
    return done(c, { to, notice, data: { slug } });
  } catch (error) {
    // The person has joined, and can make a key later.
    c.get("log").error("first_key_not_made", error);
    return done(c, { to: `/app/${slug}`, notice, data: { slug } });
  }
});

/** Makes a new member's own key and leaves it for the page that fills it into the settings of agents. Returns the page's path. */
async function leaveFirstKey(
  c: DashboardContext,
  { tenantId, slug }: { tenantId: string; slug: string },
): Promise<string> {
  const { id: userId } = sessionOf(c).user;
  const made = { tenantId, userId, kind: "api_key", name: FIRST_KEY, actor: actorOfSession(c) } as const;
  const { value } = await createKey(databaseOf(c.env, tenantId), made, deriveCredentialKey(c.env.ENCRYPTION_KEY));
  const page = `/app/${slug}/connect`;
  await leaveSecret(c, page, { name: FIRST_KEY, value }, tenantId);
  return page;
}
