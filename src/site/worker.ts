/** Entry of the site Worker: the reverse proxy in front of the api, and the dashboard. */
import { createDashboard } from "./dashboard.tsx";
import { landingPage } from "./landing.ts";
import { API_PREFIX, proxy } from "./proxy.ts";

const dashboard = createDashboard();

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === API_PREFIX || pathname.startsWith(`${API_PREFIX}/`)) {
      return proxy(request, (forwarded) => env.API.fetch(forwarded));
    }
    if (pathname === "/app" || pathname.startsWith("/app/")) return dashboard.fetch(request, env, ctx);
    return landingPage(request, pathname);
  },
} satisfies ExportedHandler<SiteEnv>;
