/** The dashboard: pages below /app, JSON below /app/api. */
import { Hono } from "hono";
import { REQUEST_ID_HEADER, RETRY_AFTER_HEADER } from "../../contract/headers.ts";
import { accountsDatabase } from "../../service/db/databases.ts";
import { AUTHORIZE_PATH } from "../../service/oauth/addresses.ts";
import { createLogger } from "../../lib/log.ts";
import { clearNotice, readNotice, sentForm, setNotice, wantsJson } from "./app/answers.tsx";
import type { DashboardContext, DashboardHono } from "./app/context.ts";
import { DashboardError, toRefusal } from "./app/errors.ts";
import { loadSession, requireSameOrigin, requireSession, requireTenant } from "./app/guards.ts";
import { forgetKeptForm, keepForm, readKeptForm, withKeptForm } from "./app/kept-form.ts";
import { pageHeaders } from "./app/page-headers.ts";
import { isOwnOrigin } from "./app/settings.ts";
import { findAsset } from "./assets/index.ts";
import { accountApi, accountPages } from "./routes/account.tsx";
import { authorizePages } from "./routes/authorize.tsx";
import { MANIFEST_PAGE } from "./routes/github.tsx";
import { githubSignInPages } from "./routes/github-sign-in.tsx";
import { joinApi, joinPages } from "./routes/join.tsx";
import { signInApi, signInPages } from "./routes/sign-in.tsx";
import { tenantApi, tenantPages } from "./routes/tenant.tsx";
import { gatePage } from "./views/layout.tsx";

const ASSET_MAX_AGE_SEC = 31_536_000;

const log = createLogger({ worker: "site" });

/** Creates the dashboard's Hono application. */
export function createDashboard(): Hono<DashboardHono> {
  const app = new Hono<DashboardHono>();
  app.use(async (c, next) => {
    const requestId = crypto.randomUUID();
    c.set("requestId", requestId);
    c.set("log", log.with({ requestId }));
    c.header(REQUEST_ID_HEADER, requestId);
    await next();
  });
  const headers = pageHeaders();
  const headersOfLeaving = pageHeaders({ leaves: true });
  const leaves = (path: string) => path === AUTHORIZE_PATH || MANIFEST_PAGE.test(path);
  app.use((c, next) => (leaves(c.req.path) ? headersOfLeaving : headers)(c, next));
  app.get("/app/assets/:file", (c) => {
    const asset = findAsset(c.req.path);
    if (!asset) throw new DashboardError("NOT_FOUND", "there is no such file");
    return c.body(asset.body, 200, {
      "Content-Type": asset.type,
      "Cache-Control": `public, max-age=${ASSET_MAX_AGE_SEC}, immutable`,
    });
  });
  app.use(async (c, next) => {
    c.header("Cache-Control", "no-store");
    c.set("accounts", accountsDatabase(c.env));
    await next();
  });
  app.use(requireSameOrigin);
  app.use(loadSession);
  app.use(async (c, next) => {
    if (c.req.method !== "GET" || wantsJson(c)) return next();
    const notice = readNotice(c);
    c.set("notice", notice);
    const form = readKeptForm(c);
    await next();
    // On a redirect, keep both for the target page.
    if (notice && c.res.status < 300) clearNotice(c);
    if (form && c.res.status < 300) {
      c.res = withKeptForm(c.res, form);
      forgetKeptForm(c);
    }
  });

  app.route("/app", signInPages);
  app.route("/app", githubSignInPages);
  app.route("/app/api", signInApi);
  app.route("/app", joinPages);
  app.use(AUTHORIZE_PATH, requireSession);
  app.route("/", authorizePages);
  app.use("/app/*", requireSession);
  app.use("/app", requireSession);
  app.route("/app/api", joinApi);
  app.route("/app/api", accountApi);
  app.route("/app", accountPages);
  app.use("/app/api/tenants/:slug/*", requireTenant);
  app.route("/app/api/tenants/:slug", tenantApi);
  app.use("/app/:slug", requireTenant);
  app.use("/app/:slug/*", requireTenant);
  app.route("/app/:slug", tenantPages);

  app.notFound((c) => refuse(c, new DashboardError("NOT_FOUND", "there is no such page")));
  app.onError((error, c) => refuse(c, toRefusal(error, c.get("log"), c.req.path)));
  return app;
}

/**
 * Answers an error: JSON to scripts, a page to browsers. A rejected form redirects to the page it was on, with the reason and what was typed, unless
 * the request may come from another origin. One whose session has expired does so after signing in.
 */
async function refuse(c: DashboardContext, error: DashboardError): Promise<Response> {
  if (error.retryAfterSec !== undefined) c.header(RETRY_AFTER_HEADER, String(error.retryAfterSec));
  if (wantsJson(c)) return c.json(error.toBody(), error.status);
  const back = pageBefore(c);
  const isInput = error.code === "INVALID_BODY" || error.code === "CONFLICT";
  const isSignedOut = error.code === "UNAUTHORIZED" && c.get("session") === undefined;
  if ((isInput || isSignedOut) && back !== undefined && c.req.method === "POST") {
    const values = await sentForm(c);
    const message = capitalize(isSignedOut ? SIGNED_OUT : error.plainMessage);
    if (values)
      keepForm(c, { page: back, action: c.req.path + new URL(c.req.url).search, field: error.field, message, values });
    setNotice(c, { kind: "error", text: isSignedOut ? capitalize(NOTHING_CHANGED) : message });
    return c.redirect(isSignedOut ? `/app/sign-in?next=${encodeURIComponent(back)}` : back, 303);
  }
  return gatePage(
    c,
    { title: TITLES[error.code] ?? "That did not work", status: error.status },
    <div class="panel">
      <h1>{TITLES[error.code] ?? "That did not work"}</h1>
      <p>{capitalize(error.plainMessage)}.</p>
      <p class="soft small">
        Request <code>{c.get("requestId")}</code>
      </p>
      <a class="button" href="/app">
        Go to the dashboard
      </a>
    </div>,
  );
}

const NOTHING_CHANGED = "you were signed out, so nothing was changed; sign in, and what you typed is there again";
const SIGNED_OUT = "you were signed out before this was sent: check it, and send it again";

const TITLES: Partial<Record<DashboardError["code"], string>> = {
  NOT_FOUND: "Not found",
  UNAUTHORIZED: "Signed out",
  FORBIDDEN: "Not allowed",
  RATE_LIMITED: "Too many requests",
  INTERNAL: "Something went wrong",
  UNAVAILABLE: "Not available right now",
};

/** The dashboard page that a form was sent from, if any. */
function pageBefore(c: DashboardContext): string | undefined {
  const referrer = c.req.header("Referer");
  if (referrer === undefined || !URL.canParse(referrer)) return undefined;
  const url = new URL(referrer);
  const isOurs = isOwnOrigin(c.env, c.req.raw, url.origin) && url.pathname.startsWith("/app");
  return isOurs ? url.pathname + url.search : undefined;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
