import { ApiError } from "../../lib/errors.ts";
import { ownHeaders } from "./headers.ts";

const DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Code Context</title>
<style>
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 10vh auto; padding: 0 1rem; color-scheme: light dark; }
</style>
</head>
<body>
<h1>Code Context</h1>
<p>The open service that gives coding agents and their people the context of a codebase.</p>
<ul>
<li><a href="/docs">Documentation</a></li>
<li><a href="/app">Dashboard</a></li>
<li><a href="/api/v1/openapi.json">API description (OpenAPI 3.1)</a></li>
<li><a href="/api/v1/healthz">Health of the service</a></li>
</ul>
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
