import { ApiError } from "../../lib/errors.ts";
import { ownHeaders } from "./headers.ts";

const DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Code Context</title>
<style>
:root { color-scheme: light dark; --bg: #fbfbfc; --text: #17191e; --soft: #565d6b; --link: #1d4ed8; --ink: #ffffff; --line: #e3e5e9; }
@media (prefers-color-scheme: dark) { :root { --bg: #0e1013; --text: #e7e9ed; --soft: #a0a7b4; --link: #86a8ff; --ink: #0b1020; --line: #262a31; } }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 0 auto; padding: 10vh 1rem; background: var(--bg); color: var(--text); }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.02em; }
a { color: var(--link); }
.soft { color: var(--soft); }
.start { display: inline-block; background: var(--link); color: var(--ink); padding: .5rem 1rem; border-radius: .5rem; text-decoration: none; }
ul { list-style: none; padding: 1rem 0 0; border-top: 1px solid var(--line); }
</style>
</head>
<body>
<main>
<h1>Code Context</h1>
<p>The open service that gives coding agents and their people the context of a codebase.</p>
<p class="soft">It indexes git repositories at every push and answers where something is done, who defines a name and who uses it: over MCP for
agents, on pages for people, over HTTP and on the command line.</p>
<p><a class="start" href="/app">Open the dashboard</a></p>
<ul>
<li><a href="/docs">Documentation</a></li>
<li><a href="/api/v1/openapi.json">API description (OpenAPI 3.1)</a></li>
<li><a href="/api/v1/healthz">Health of the service</a></li>
</ul>
</main>
</body>
</html>
`;

const HTML_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
};

/** Answers requests outside of the api and the dashboard: a landing page at `/`, else 404. */
export function landingPage(request: Request, pathname: string): Response {
  const own = ownHeaders(request.headers);
  if (pathname !== "/") return fail(request, new ApiError("NOT_FOUND", "there is no such page"), own);
  if (request.method !== "GET" && request.method !== "HEAD") {
    const error = new ApiError("METHOD_NOT_ALLOWED", "only GET and HEAD are possible here");
    return fail(request, error, { ...own, Allow: "GET, HEAD" });
  }
  return new Response(request.method === "HEAD" ? null : DOCUMENT, { headers: { ...own, ...HTML_HEADERS } });
}

/** An error page if the client accepts HTML, else the contract's error body. */
function fail(request: Request, error: ApiError, headers: Record<string, string>): Response {
  const { status } = error;
  if (!(request.headers.get("Accept") ?? "").includes("text/html")) {
    return Response.json(error.toBody(), { status, headers });
  }
  const page = `<!doctype html><html lang="en"><title>${status}</title><h1>${status}</h1><p>${error.message}.</p><p><a href="/">Code Context</a></p></html>`;
  return new Response(page, { status, headers: { ...headers, ...HTML_HEADERS } });
}
