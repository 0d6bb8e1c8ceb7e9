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
<li><a href="/api/v1/openapi.json">API description (OpenAPI 3.1)</a></li>
<li><a href="/api/v1/healthz">Health of the service</a></li>
</ul>
</body>
</html>
`;

const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** Everything outside of the api: a landing page at `/`, and nothing else yet. */
export function landingPage(request: Request, pathname: string): Response {
  if (pathname !== "/") return text("There is no such page.\n", 404);
  if (request.method !== "GET" && request.method !== "HEAD") {
    return text("Only GET is possible here.\n", 405, { Allow: "GET, HEAD" });
  }
  return new Response(request.method === "HEAD" ? null : DOCUMENT, { headers: HEADERS });
}

function text(body: string, status: number, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" } });
}
