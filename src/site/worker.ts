/** Entry point of the site Worker: the reverse proxy in front of the api, the dashboard and the documentation. */
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
    if (isDocs(pathname)) {
      // Evaluated on first use: an isolate that only proxies never parses the pages.
      const { createDocs } = await import("./docs/routes.tsx");
      return createDocs().fetch(request, env, ctx);
    }
    if (pathname === "/app" || pathname.startsWith("/app/")) return dashboard.fetch(request, env, ctx);
    return landingPage(request, pathname);
  },
} satisfies ExportedHandler<SiteEnv>;

function isDocs(pathname: string): boolean {
  return pathname === "/docs" || pathname.startsWith("/docs/") || pathname === "/llms.txt";
}
