/** What every request of the dashboard passes before its route: where it comes from, who sends it, and how often. */
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import type { Surface } from "../../contract/surfaces.ts";
import { takeFromBucket } from "../../gate/client.ts";
import { rateHeaders } from "../../gate/headers.ts";
import { actorOf, canManage, isTouchDue, readSession, SESSION_DAYS, touchSession } from "../../users/index.ts";
import { type DashboardContext, type DashboardHono, sessionOf } from "./context.ts";
import { DashboardError } from "./errors.ts";

export const SESSION_COOKIE = "cc_session";
const DAY_SECONDS = 86_400;

/** Keeps the session in the browser. */
export function setSessionCookie(c: DashboardContext, value: string): void {
  setCookie(c, SESSION_COOKIE, value, {
    path: "/",
    httpOnly: true,
    secure: true,
    sameSite: "Lax",
    maxAge: SESSION_DAYS * DAY_SECONDS,
  });
}

export function clearSessionCookie(c: DashboardContext): void {
  deleteCookie(c, SESSION_COOKIE, { path: "/", secure: true, httpOnly: true, sameSite: "Lax" });
}

const isRead = (method: string) => method === "GET" || method === "HEAD";

/**
 * Refuses mutations that do not come from a page of this origin. Browsers send `Origin` with every POST; a request without it
 * passes only where the browser itself vouches for it with `Sec-Fetch-Site`.
 */
export const requireSameOrigin = createMiddleware<DashboardHono>(async (c, next) => {
  if (!isRead(c.req.method)) {
    const origin = c.req.header("Origin");
    const isSame =
      origin === undefined ? c.req.header("Sec-Fetch-Site") === "same-origin" : origin === new URL(c.req.url).origin;
    if (!isSame) throw new DashboardError("FORBIDDEN", "this request did not come from the dashboard");
  }
  await next();
});

/** Looks the session up, if the request has one. */
export const loadSession = createMiddleware<DashboardHono>(async (c, next) => {
  const session = await readSession(c.get("db"), getCookie(c, SESSION_COOKIE));
  c.set("session", session);
  if (session && isTouchDue(session, Date.now())) c.executionCtx.waitUntil(touchSession(c.get("db"), session.id));
  await next();
});

/** Turns away who is not signed in: pages lead to the sign-in, everything else is 401. Counts the request for the user. */
export const requireSession = createMiddleware<DashboardHono>(async (c, next) => {
  const session = c.get("session");
  if (!session) {
    const { pathname, search } = new URL(c.req.url);
    if (isRead(c.req.method) && !pathname.startsWith("/app/api/")) {
      return c.redirect(`/app/sign-in?next=${encodeURIComponent(pathname + search)}`, 303);
    }
    throw new DashboardError("UNAUTHORIZED", "sign in first");
  }
  const surface = isRead(c.req.method) ? "dashboard_read" : "dashboard_mutation";
  const slug = /^\/app\/(?:api\/tenants\/)?([^/]+)/.exec(c.req.path)?.[1];
  const membership = session.memberships.find((one) => one.slug === slug);
  await takeOrRefuse(c, { kind: "user", id: session.user.id }, surface, membership?.tenantId);
  await next();
});

/** Finds the tenant in the path among the user's own. For others there is no such page, whether or not there is such a tenant. */
export const requireTenant = createMiddleware<DashboardHono>(async (c, next) => {
  const slug = c.req.param("slug");
  const membership = sessionOf(c).memberships.find((one) => one.slug === slug);
  if (!membership) throw new DashboardError("NOT_FOUND", "there is no such team, or you are not in it");
  if (!isRead(c.req.method) && !canManage(membership.role) && !isOwnMatter(c.req.path)) {
    throw new DashboardError("FORBIDDEN", "only owners and admins of the team can do this");
  }
  c.set("membership", membership);
  await next();
});

/** Leaving a team is everybody's own matter; all other mutations are for owners and admins. */
function isOwnMatter(path: string): boolean {
  return path.endsWith("/leave");
}

/** Whose bucket it is. */
export interface Subject {
  kind: "user" | "email" | "tenant" | "ip";
  id: string;
}

/** Takes from a bucket, shows its state in the headers, and throws 429 when it is empty; rejected mutations are audited. */
export async function takeOrRefuse(
  c: DashboardContext,
  { kind, id }: Subject,
  surface: Surface,
  tenantId?: string,
): Promise<void> {
  const userId = c.get("session")?.user.id;
  const isAudited = surface !== "dashboard_read" && tenantId !== undefined && userId !== undefined;
  const taken = await takeFromBucket(c.env.RATE_BUCKETS, c.env.ENCRYPTION_KEY, {
    surface,
    subject: `${kind}:${id}`,
    ...(isAudited && { audit: { tenantId, actor: actorOf(userId) } }),
  });
  if ("outcome" in taken)
    throw new DashboardError("UNAVAILABLE", "the service is busy; try again", { retryAfterSec: 5 });
  const { allowed, rate, retryAfterSec } = taken;
  for (const [name, value] of Object.entries(rateHeaders(rate))) c.header(name, value);
  if (!allowed)
    throw new DashboardError("RATE_LIMITED", `too many requests; try again in ${retryAfterSec} s`, { retryAfterSec });
}
