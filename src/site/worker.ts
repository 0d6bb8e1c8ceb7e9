/** Entry of the site Worker: the reverse proxy in front of the api, and the pages. */
import { landingPage } from "./landing.ts";
import { API_PREFIX, proxy } from "./proxy.ts";

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === API_PREFIX || pathname.startsWith(`${API_PREFIX}/`)) {
      return proxy(request, (forwarded) => env.API.fetch(forwarded));
    }
    return landingPage(request, pathname);
  },
} satisfies ExportedHandler<SiteEnv>;
