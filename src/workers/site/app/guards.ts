/** Middleware of the dashboard: origin, session, membership and rate limits. */
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import type { Surface } from "../../../contract/surfaces.ts";
import { databaseOf } from "../../../service/db/databases.ts";
import { readQuota } from "../../../service/dashboard/usage.ts";
import { takeFromBucket } from "../../../service/gate/client.ts";
import { rateHeaders } from "../../../service/gate/headers.ts";
import {
  actorOf,
  canManage,
  isTouchDue,
  newBrowserMark,
  readBrowserMark,
  readSession,
  SESSION_DAYS,
  touchSession,
} from "../../../service/users/index.ts";
import { type DashboardContext, type DashboardHono, sessionOf } from "./context.ts";
import { DashboardError } from "./errors.ts";
import { isOwnOrigin, settingsOf, siteUrlOf } from "./settings.ts";

const SESSION_COOKIE = "cc_session";
/** Marks a browser in which a user has signed in; see `newBrowserMark`. */
export const BROWSER_COOKIE = "cc_browser";
const BROWSER_PATH = "/app/api/sign-in";
const DAY_SECONDS = 86_400;
/** Longest life of a cookie in browsers. */
const BROWSER_SECONDS = 400 * DAY_SECONDS;

function setSessionCookie(c: DashboardContext, value: string): void {
  setCookie(c, SESSION_COOKIE, value, {
    path: "/",
    httpOnly: true,
    secure: settingsOf(c.env).hasSecureCookies,
    sameSite: "Lax",
    maxAge: SESSION_DAYS * DAY_SECONDS,
  });
}

/** Signs a browser in, and marks it as one that the person has used. */
export function openBrowserSession(
  c: DashboardContext,
  { userId, session }: { userId: string; session: string },
): void {
  const key = c.env.ENCRYPTION_KEY;
  if (readBrowserMark(key, getCookie(c, BROWSER_COOKIE))?.userId !== userId) {
    setCookie(c, BROWSER_COOKIE, newBrowserMark(key, userId), {
      path: BROWSER_PATH,
      httpOnly: true,
      secure: settingsOf(c.env).hasSecureCookies,
      sameSite: "Lax",
      maxAge: BROWSER_SECONDS,
    });
  }
  setSessionCookie(c, session);
}

export function clearSessionCookie(c: DashboardContext): void {
  const secure = settingsOf(c.env).hasSecureCookies;
  deleteCookie(c, SESSION_COOKIE, { path: "/", secure, httpOnly: true, sameSite: "Lax" });
}

const isRead = (method: string) => method === "GET" || method === "HEAD";

/**
 * Rejects mutations from other origins (CSRF). Browsers send `Origin` with every POST; a request without it passes only with
 * `Sec-Fetch-Site: same-origin`.
 */
export const requireSameOrigin = createMiddleware<DashboardHono>(async (c, next) => {
  if (!isRead(c.req.method)) {
    const origin = c.req.header("Origin");
    const isSame =
      origin === undefined ? c.req.header("Sec-Fetch-Site") === "same-origin" : isOwnOrigin(c.env, c.req.raw, origin);
    if (!isSame) {
      const own = siteUrlOf(c.env, c.req.raw);
      throw new DashboardError("FORBIDDEN", `this request did not come from the dashboard at ${own}`);
    }
  }
  await next();
});

/** Loads the session, if the request has a cookie. */
export const loadSession = createMiddleware<DashboardHono>(async (c, next) => {
  const session = await readSession(c.get("accounts"), getCookie(c, SESSION_COOKIE));
  c.set("session", session);
  if (session && isTouchDue(session, Date.now())) c.executionCtx.waitUntil(touchSession(c.get("accounts"), session.id));
  await next();
});

/** Requires a session: pages redirect to the sign-in, other requests get 401. Counts the request against the user's rate limit. */
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

/** Requires membership in the path's tenant. Answers 404 otherwise, whether or not the tenant exists. */
export const requireTenant = createMiddleware<DashboardHono>(async (c, next) => {
  const slug = c.req.param("slug");
  const membership = sessionOf(c).memberships.find((one) => one.slug === slug);
  if (!membership) throw new DashboardError("NOT_FOUND", "there is no such team, or you are not in it");
  if (!isRead(c.req.method) && !canManage(membership.role) && !isOwnMatter(c.req.path)) {
    throw managersOnly();
  }
  c.set("membership", membership);
  c.set("db", databaseOf(c.env, membership.tenantId));
  if (isRead(c.req.method) && !c.req.path.startsWith("/app/api/")) {
    // Read beside the page's own statements. A page is shown even if only its banner fails.
    const quota = readQuota(c.get("db"), membership.tenantId, Date.now());
    c.set(
      "quota",
      quota.catch((error: unknown) => {
        c.get("log").error("quota_unread", error);
        return undefined;
      }),
    );
  }
  await next();
});

const managersOnly = () => new DashboardError("FORBIDDEN", "only owners and admins of the team can do this");

/** Throws 403 for members: of pages whose forms would refuse them, and of the GitHub Apps, which read the code of a whole account. */
export function requireManager(c: DashboardContext): void {
  if (!canManage(c.get("membership").role)) throw managersOnly();
}

/**
 * Whether plain members may make this mutation: leaving the team, and changes of keys, which `routes/keys.tsx` limits to their own.
 * All others require an owner or admin.
 */
function isOwnMatter(path: string): boolean {
  return /\/(?:leave|keys|keys\/[^/]+\/revoke)$/.test(path);
}

/** Owner of the rate-limit bucket. */
export interface Subject {
  kind: "user" | "email" | "tenant" | "ip";
  id: string;
}

/** Takes from a bucket, sets the rate-limit headers, and throws 429 if it is empty. Audits rejected mutations. */
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
