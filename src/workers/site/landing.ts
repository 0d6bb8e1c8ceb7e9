import type { ErrorCode } from "../../contract/errors.ts";
import { ApiError } from "../../lib/errors.ts";
import { escapeHtml } from "../../lib/html.ts";
import { ownHeaders } from "./headers.ts";
import { tokenize } from "./views/highlight.ts";

/** A search of this project's own code with its first result, as the dashboard answers it. A test compares it with the files. */
export const EXAMPLE = {
  query: "how is a session revoked",
  path: "src/service/users/sessions.ts",
  firstLine: 74,
  code: `/** Ends one session of a user. Returns false if the user has no such session. */
export async function revokeSession(db: Db, userId: string, sessionId: string): Promise<boolean> {
  const gone = await db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), eq(sessions.id, sessionId)))
    .returning({ id: sessions.id });
  return gone.length > 0;
}`,
  name: "revokeSession",
  callers: [
    {
      path: "src/workers/site/routes/account.tsx",
      code: 'const isKnown = /^[\\da-f-]{36}$/.test(id) && (await revokeSession(c.get("accounts"), user.id, id));',
    },
    {
      path: "src/workers/site/routes/sign-in.tsx",
      code: 'if (session) await revokeSession(c.get("accounts"), session.user.id, session.id);',
    },
  ],
} as const;

/** Words of the query as the code has them. */
const MATCHED = /revoke|sessions?/gi;

/** Code as HTML, highlighted, with the matches marked. */
function codeHtml(code: string, matched: RegExp): string {
  return tokenize(code, "typescript")
    .map(({ kind, text }) => {
      const html = escapeHtml(text).replace(matched, "<mark>$&</mark>");
      return kind === undefined ? html : `<span class="${kind}">${html}</span>`;
    })
    .join("");
}

const RESULT = codeHtml(EXAMPLE.code, MATCHED)
  .split("\n")
  .map((line, i) => `<span class="no">${EXAMPLE.firstLine + i}</span>${line}`)
  .join("\n");
const CALLERS = EXAMPLE.callers
  .map(({ path, code }) => `<li><span class="path">${path}</span><code>${codeHtml(code, /revokeSession/g)}</code></li>`)
  .join("\n");

const DARK = `--bg: #0e1013; --panel: #15181c; --text: #e7e9ed; --soft: #a0a7b4; --link: #86a8ff; --ink: #0b1020; --line: #262a31; --code: #1b1f25; --mark: #35270f;
  --key: #d6a3f0; --str: #8fd6a4; --num: #f0b483; --com: #939cab`;

/** Styles of every page of this file. */
const STYLE = `:root { color-scheme: light dark; --bg: #fbfbfc; --panel: #ffffff; --text: #17191e; --soft: #565d6b; --link: #1d4ed8; --ink: #ffffff; --line: #e3e5e9; --code: #f5f6f8; --mark: #fdf0dc;
  --key: #8425b0; --str: #12692f; --num: #9c4708; --com: #616a78; }
@media (prefers-color-scheme: dark) { :root { ${DARK}; } }
* { box-sizing: border-box; }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0; background: var(--bg); color: var(--text); }
main { max-width: 72rem; margin: 0 auto; padding: clamp(2rem, 9vh, 6rem) 1.25rem 3rem; display: grid; gap: 2.5rem 3rem; align-items: center; }
@media (min-width: 60rem) { main { grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); } }
h1 { font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .75rem; }
p { margin: 0 0 1rem; max-width: 36rem; }
a { color: var(--link); text-underline-offset: 2px; }
.lead { font-size: 1.125rem; }
.soft { color: var(--soft); }
.start { display: inline-block; background: var(--link); color: var(--ink); padding: .5rem 1rem; border-radius: .5rem; text-decoration: none; font-weight: 500; }
.links { list-style: none; margin: 1.5rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .9375rem; }`;

const EXAMPLE_STYLE = `figure { margin: 0; min-width: 0; background: var(--panel); border: 1px solid var(--line); border-radius: .75rem; overflow: hidden; font-size: .875rem; }
.query { display: flex; gap: .625rem; align-items: center; padding: .75rem 1rem; border-bottom: 1px solid var(--line); font-size: 1rem; }
.query svg { flex: none; width: 1.125rem; height: 1.125rem; fill: none; stroke: var(--soft); stroke-width: 1.8; stroke-linecap: round; }
.head { margin: 0; padding: .625rem 1rem; max-width: none; overflow-wrap: anywhere; }
.path { font-weight: 600; overflow-wrap: anywhere; }
.tag { font-size: .75rem; color: var(--soft); border: 1px solid var(--line); border-radius: .3125rem; padding: .125rem .375rem; }
pre, code { font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "Liberation Mono", monospace; font-size: .78125rem; line-height: 1.55; }
.example { background: var(--code); overflow-x: auto; }
pre { margin: 0; padding: .75rem 1rem; }
.no { display: inline-block; width: 3ch; margin-right: 1rem; text-align: right; color: var(--soft); user-select: none; }
.callers { list-style: none; margin: 0; padding: 0 1rem .75rem; display: grid; gap: .5rem; }
.callers code { display: block; overflow-wrap: anywhere; }
mark { background: var(--mark); color: inherit; border-radius: 2px; font-weight: 600; }
.key { color: var(--key); } .str { color: var(--str); } .num { color: var(--num); } .com { color: var(--com); }
figcaption { padding: .625rem 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .8125rem; }`;

const LINKS = `<ul class="links">
<li><a href="/docs">Documentation</a></li>
<li><a href="/api/v1/openapi.json">API description (OpenAPI 3.1)</a></li>
<li><a href="/api/v1/healthz">Health of the service</a></li>
</ul>`;

const DOCUMENT = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Code Context</title>
<meta name="description" content="The open service that gives coding agents and their people the context of a codebase.">
<style>
${STYLE}
${EXAMPLE_STYLE}
</style>
</head>
<body>
<main>
<div>
<h1>Code Context</h1>
<p class="lead">The open service that gives coding agents and their people the context of a codebase.</p>
<p class="soft">It indexes git repositories at every push and answers where something is done, who defines a name and who uses it: over MCP for
agents, on pages for people, over HTTP and on the command line.</p>
<p><a class="start" href="/app">Open the dashboard</a></p>
${LINKS}
</div>
<figure aria-label="A search and its first result">
<div class="query"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M11 5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15.5 15.5L20 20"/></svg>${EXAMPLE.query}</div>
<p class="head"><span class="path">${EXAMPLE.path}:${EXAMPLE.firstLine + 1}</span> <span class="tag">function</span></p>
<section class="example" tabindex="0" aria-label="${EXAMPLE.path}"><pre><code>${RESULT}</code></pre></section>
<p class="head">Called by</p>
<ul class="callers">
${CALLERS}
</ul>
<figcaption>An example: a search of the code of this service, its first result, and the callers of what it found.</figcaption>
</figure>
</main>
</body>
</html>
`;

const HTML_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  // As the dashboard's pages: a browser that comes from here needs no new process for them, which takes it some 0.3 s.
  "Cross-Origin-Opener-Policy": "same-origin",
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

const ERROR_TITLES: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: "Page not found",
  METHOD_NOT_ALLOWED: "Method not allowed",
};

/** An error page if the client accepts HTML, else the contract's error body. */
function fail(request: Request, error: ApiError, headers: Record<string, string>): Response {
  const { status } = error;
  if (!(request.headers.get("Accept") ?? "").includes("text/html")) {
    return Response.json(error.toBody(), { status, headers });
  }
  const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${status} · Code Context</title>
<style>
${STYLE}
</style>
</head>
<body>
<main>
<div>
<h1>${ERROR_TITLES[error.code] ?? status}</h1>
<p class="lead">${status}: ${error.message}.</p>
<p><a class="start" href="/">Code Context</a></p>
${LINKS}
</div>
</main>
</body>
</html>
`;
  return new Response(page, { status, headers: { ...headers, ...HTML_HEADERS } });
}
