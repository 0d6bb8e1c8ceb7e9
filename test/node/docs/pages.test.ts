import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { renderDocs, indexDocs } from "../../../src/tooling/local/docs/build.ts";
import { siteLink, siteMarkdown } from "../../../src/tooling/local/docs/links.ts";
import { anchorsOf, renderPage } from "../../../src/tooling/local/docs/render.ts";
import { openIndex } from "../../../src/engines/search/search-index.ts";
import { search } from "../../../src/engines/search/search.ts";
import { sectionsOf } from "../../../src/workers/site/docs/sections.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const { docs, dead: deadLinks } = renderDocs();
const { pages } = docs;

describe("the pages", () => {
  it("are all files of docs/, each with one title and a table of contents in order", () => {
    const files = readdirSync(path.join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
    expect(pages.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
    for (const { file, html, headings } of pages) {
      expect([file, html.match(/<h1 /g)?.length]).toEqual([file, 1]);
      expect([file, headings.map(({ line }) => line)]).toEqual([
        file,
        headings.map(({ line }) => line).toSorted((a, b) => a - b),
      ]);
    }
  });

  it("name every variable and secret of the Workers' configurations", () => {
    const text = readFileSync(path.join(ROOT, "docs/operations.md"), "utf8");
    for (const folder of ["", "src/workers/indexer", "src/workers/site"]) {
      const config = readFileSync(path.join(ROOT, folder, "wrangler.toml"), "utf8");
      const secrets = /^required = \[([^\]]*)\]/m.exec(config)?.[1] ?? "";
      const names = [...config.matchAll(/^([A-Z]\w+) = /gm), ...secrets.matchAll(/"(\w+)"/g)].map(([, name]) => name);
      expect(names.length).toBeGreaterThan(5);
      expect([folder, ...names.filter((name) => !text.includes(`\`${name}\``))]).toEqual([folder]);
    }
  });

  it("have no comments behind commands, which zsh takes for arguments", () => {
    const files = ["README.md", "CONTRIBUTING.md", ...pages.map(({ file }) => `docs/${file}`)];
    const found = files.flatMap((file) => {
      const blocks = readFileSync(path.join(ROOT, file), "utf8").matchAll(/^ *```(?:sh|bash|shell)\n([^]*?)^ *```/gm);
      return [...blocks].flatMap(([, text = ""]) => text.split("\n").filter((line) => / #\s/.test(line)));
    });
    expect(found).toEqual([]);
  });

  it("link to pages and anchors that exist, README.md included", () => {
    const anchors = new Map(pages.map((page) => [page.slug === "" ? "/docs" : `/docs/${page.slug}`, anchorsOf(page)]));
    const dead = [...deadLinks];
    for (const { file, slug, html } of pages) {
      for (const [, href = ""] of html.matchAll(/<a (?:class="anchor" )?href="([^"]*)"/g)) {
        if (!href.startsWith("#") && !href.startsWith("/docs")) continue;
        const [address = "", anchor] = href.startsWith("#")
          ? [slug === "" ? "/docs" : `/docs/${slug}`, href.slice(1)]
          : href.split("#");
        const known = anchors.get(address);
        const isAttachment = address.startsWith("/docs/files/");
        if (!isAttachment && (!known || (anchor !== undefined && !known.has(anchor))))
          dead.push(`docs/${file}: ${href}`);
      }
    }
    const readme = readFileSync(path.join(ROOT, "README.md"), "utf8");
    for (const [, target = ""] of readme.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const page = pages.find((page) => `docs/${page.file}` === file);
      if (page && (anchor === undefined || anchorsOf(page).has(anchor))) continue;
      if (page || !readdirSync(path.join(ROOT, path.dirname(file))).includes(path.basename(file)))
        dead.push(`README.md: ${target}`);
    }
    expect(dead).toEqual([]);
  });

  it("report a link that leads nowhere, and refuse a page without a title", () => {
    const report = { attachments: new Set<string>(), dead: [] };
    const { html } = renderPage("# A\n\n[b](c.md) [d](start.md#e) [f](../package.json)", siteLink("a.md", report));
    expect(report).toEqual({ attachments: new Set(["package.json"]), dead: ["docs/a.md: c.md"] });
    expect(html).toContain('<a href="/docs/start#e">d</a>');
    expect(() => renderPage("no title", (href) => href)).toThrow(/heading/);
  });

  it("have Markdown beside them whose links work on the site", () => {
    const report = { attachments: new Set<string>(), dead: [] };
    const markdown =
      "[a](start.md#b) ![p](images/p.png)\n[c](../package.json) [d](openapi.json) [e](https://e.example/)\n";
    expect(siteMarkdown("a.md", markdown, report)).toBe(
      "[a](start.md#b) \n[c](/docs/files/package.json) [d](/api/v1/openapi.json) [e](https://e.example/)\n",
    );
    for (const text of ["[".repeat(200_000), "[a](".repeat(50_000)])
      expect(siteMarkdown("a.md", text, report)).toBe(text);
    for (const { file, markdown: twin } of pages)
      for (const [, target = ""] of twin.matchAll(/\]\(([^()\s]+)\)/g))
        expect([file, target]).toEqual([
          file,
          expect.stringMatching(/^(?:#|https?:|\/docs\/files\/|\/api\/v1\/|[\w-]+\.md(?:#|$))/),
        ]);
  });

  it("have anchors as on GitHub, escape what is not Markdown, and keep code as it is", () => {
    const markdown =
      '# Title\n\n<script>alert(1)</script>\n\n## `POST /index` & more\n\ntext\n\n## Twice\n\n## Twice\n\n```sh\necho "a<b" # c\n```\n';
    const { html, headings } = renderPage(markdown, (href) => href);
    expect(headings.map(({ id, line }) => [id, line])).toEqual([
      ["post-index--more", 5],
      ["twice", 9],
      ["twice-1", 11],
    ]);
    expect(html).not.toContain("<script");
    expect(html.replaceAll(/<[^>]*>/g, "")).toContain("echo &quot;a&lt;b&quot; # c");
  });
});

describe("the search index", () => {
  it("finds the section that answers", async () => {
    const { segment, table } = await indexDocs(pages);
    const reader = (bytes: Uint8Array) => ({
      size: bytes.length,
      read: (offset: number, length: number) => bytes.subarray(offset, offset + length),
    });
    const index = await openIndex([{ table: reader(table), segment: () => reader(segment) }]);
    const paths = new Set(pages.flatMap(sectionsOf).map((section) => section.path));
    const find = async (query: string) => {
      const { results } = await search(index, { query, limit: 3 }, (wanted) =>
        wanted.map(({ chunks, symbols }) => ({ chunks: chunks.map(() => ""), signatures: symbols.map(() => "") })),
      );
      expect(results.every(({ path }) => paths.has(path))).toBe(true);
      return results.map(({ path }) => path);
    };
    expect(await find("rate limits")).toContain("http/rate-limits.md");
    expect(await find("GET /usage")).toContain("http/get-usage.md");
    expect(await find("share an index between machines")).toContain("cli/share-an-index.md");
    expect(await find("Cursor over HTTP")).toContain("mcp/clients-hosted-indexes-over-http.md");
    // What newcomers type.
    for (const [query, section] of [
      ["webhook", "index-every-push-with-a-webhook"],
      ["add a teammate", "add-a-teammate-invite-a-colleague"],
      ["invite a colleague", "add-a-teammate-invite-a-colleague"],
      ["private repository token", "connect-a-private-repository-with-a-read-token"],
      ["api key", "make-an-api-key"],
      ["log in", "log-in-sign-in-sign-out-lost-code"],
      ["why did my run fail", "find-out-why-a-run-failed"],
    ] as const)
      expect([query, ...(await find(query))]).toContain(`tasks/${section}.md`);
  });
});
