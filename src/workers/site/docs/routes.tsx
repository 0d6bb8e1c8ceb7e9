/** The documentation: pages below /docs, their Markdown beside them, and /llms.txt. */
import { type Context, Hono } from "hono";
import { etag } from "hono/etag";
import type { Child } from "hono/jsx";
import { ApiError } from "../../../lib/errors.ts";
import { pageHeaders } from "../app/page-headers.ts";
import { type SettingsEnv, siteUrlOf } from "../app/settings.ts";
import { ownHeaders } from "../headers.ts";
import { docs } from "./content.ts";
import { docPage, missingPage, searchPage } from "./pages.tsx";
import { searchDocs } from "./search.ts";

const MARKDOWN = "text/markdown; charset=utf-8";
const PLAIN = "text/plain; charset=utf-8";

/** Makes the application. It answers GET and HEAD. */
export function createDocs(): Hono<{ Bindings: SettingsEnv }> {
  const app = new Hono<{ Bindings: SettingsEnv }>();
  app.use(pageHeaders());
  app.use(etag());
  app.use(async (c, next) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD") {
      const error = new ApiError("METHOD_NOT_ALLOWED", "only GET and HEAD are possible here");
      return c.json(error.toBody(), 405, { ...ownHeaders(c.req.raw.headers), Allow: "GET, HEAD" });
    }
    await next();
    for (const [name, value] of Object.entries(ownHeaders(c.req.raw.headers))) c.header(name, value);
    c.header("Cache-Control", "no-cache");
    // The theme is a cookie.
    c.header("Vary", "Cookie");
  });
  app.get("/llms.txt", (c) => text(c, llmsText(siteUrlOf(c.env, c.req.raw)), PLAIN));
  app.get("/docs", async (c) => {
    const query = c.req.query("q");
    return query === undefined ? page(c, "") : html(c, searchPage(c, query, await searchDocs(query)));
  });
  app.get("/docs/files/:name{.+}", (c) => {
    const name = c.req.param("name");
    const attachment = Object.hasOwn(docs.attachments, name) ? docs.attachments[name] : undefined;
    return attachment === undefined ? missing(c) : text(c, attachment, PLAIN);
  });
  app.get("/docs/:name{.+}", (c) => {
    const name = c.req.param("name");
    const markdown = docs.pages.find(({ file }) => file === name)?.markdown;
    return markdown === undefined ? page(c, name) : text(c, markdown, MARKDOWN);
  });
  return app;
}

function page(c: Context, slug: string) {
  const found = docs.pages.find((page) => page.slug === slug);
  return found ? html(c, docPage(c, found)) : missing(c);
}

/** A page if the client accepts HTML, else the contract's error body. */
function missing(c: Context) {
  if ((c.req.header("Accept") ?? "").includes("text/html")) return html(c, missingPage(c), 404);
  return c.json(new ApiError("NOT_FOUND", "there is no such page").toBody(), 404);
}

const html = (c: Context, content: Child, status: 200 | 404 = 200) => c.html(<>{content}</>, status);

const text = (c: Context, content: string, type: string) => c.body(content, 200, { "Content-Type": type });

/** The index of the Markdown for programs, in the form of llmstxt.org. */
function llmsText(origin: string): string {
  const groups = [...new Set(docs.pages.map(({ group }) => group))].filter((group) => group !== "");
  const sections = groups.map((group) => {
    const lines = docs.pages
      .filter((page) => page.group === group)
      .map(({ title, file, description }) => `- [${title}](${origin}/docs/${file}): ${description}`);
    return `## ${group}\n\n${lines.join("\n")}\n`;
  });
  return `# Code Context

> The open service that gives coding agents and their people the context of a codebase: hosted indexing of Git repositories, metered
> embedding, snapshots, search, an MCP server and the command line codectx.

The machine-readable description of the HTTP API is at ${origin}/api/v1/openapi.json.

${sections.join("\n")}`;
}
