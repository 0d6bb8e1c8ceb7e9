/** Entry point of the site Worker: the reverse proxy in front of the api, the dashboard and the documentation. */
import { accountsDatabase } from "../../service/db/databases.ts";
import { createLogger } from "../../lib/log.ts";
import { createMailer, queueNotices, sendMails } from "../../service/mail/index.ts";
import { AUTHORIZE_PATH } from "../../service/oauth/addresses.ts";
import type { DashboardEnv } from "./app/context.ts";
import { settingsOf } from "./app/settings.ts";
import { createDashboard } from "./dashboard.tsx";
import { answerOAuth, isOAuth } from "./oauth.ts";
import { API_PREFIX, proxy } from "./proxy.ts";

export { OAuthObject } from "../../service/oauth/oauth-object.ts";

const dashboard = createDashboard();
const log = createLogger({ worker: "site" });

export default {
  async fetch(request, env, ctx) {
    const { pathname, search } = new URL(request.url);
    if (pathname === API_PREFIX || pathname.startsWith(`${API_PREFIX}/`)) {
      return proxy(request, (forwarded) => env.API.fetch(forwarded), settingsOf(env).proxies);
    }
    if (isDocs(pathname) || isApp(pathname)) {
      const page = withoutSlashes(pathname);
      if (page !== pathname && request.method === "GET") return redirect(page + search);
    }
    if (isDocs(pathname)) {
      // Evaluated on first use: an isolate that only proxies never parses the pages.
      const { createDocs } = await import("./docs/routes.tsx");
      return createDocs().fetch(request, env, ctx);
    }
    if (pathname === AUTHORIZE_PATH) return dashboard.fetch(request, env, ctx);
    if (isOAuth(pathname)) return answerOAuth(request, env);
    if (isApp(pathname)) return dashboard.fetch(request, env, ctx);
    const { landingPage } = await import("./landing.ts");
    return landingPage(request, pathname);
  },

  /**
   * Queues notices to owners, and sends mail that is due: also what could not be sent when it was queued, because the provider was away or
   * the Worker was killed.
   */
  async scheduled(_event, env) {
    if (env.MAIL_PROVIDER === "none") return;
    const shared = { db: accountsDatabase(env), encryptionKey: env.ENCRYPTION_KEY, now: Date.now };
    try {
      const queued = await queueNotices({ ...shared, siteUrl: settingsOf(env).siteUrl });
      if (queued > 0) log.info("notices_queued", { queued });
    } catch (error) {
      // Sign-in codes must not wait for notices.
      log.error("notices_not_queued", error);
    }
    const { sent, failed } = await sendMails({ ...shared, mailer: createMailer(env, fetch), log });
    if (sent + failed > 0) log.info("outbox_sent", { sent, failed });
  },
} satisfies ExportedHandler<DashboardEnv>;

function isDocs(pathname: string): boolean {
  return pathname === "/docs" || pathname.startsWith("/docs/") || pathname === "/llms.txt";
}

function isApp(pathname: string): boolean {
  return pathname === "/app" || pathname.startsWith("/app/");
}

/** Pages have no slash at the end, but typed addresses and links from elsewhere may. */
function withoutSlashes(pathname: string): string {
  let end = pathname.length;
  while (pathname.charAt(end - 1) === "/") end--;
  return pathname.slice(0, end);
}

function redirect(location: string): Response {
  return new Response(null, { status: 301, headers: { Location: location } });
}
