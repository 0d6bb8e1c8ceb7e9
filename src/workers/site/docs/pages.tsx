/** The pages of the documentation as documents. */
import type { Context } from "hono";
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import { DOCS_STYLE } from "../assets/index.ts";
import { Document, FoldBar, SkipLink, ThemeSwitch } from "../views/document.tsx";
import { Icon } from "../views/icons.tsx";
import { docs } from "./content.ts";
import type { DocsHit } from "./search.ts";
import type { DocsPage } from "./types.ts";

/** A page with its table of contents and its neighbours. */
export function docPage(c: Context, page: DocsPage) {
  const at = docs.pages.indexOf(page);
  const contents = page.headings.filter(({ depth }) => depth <= 3);
  return (
    <Frame c={c} title={page.title} slug={page.slug} description={page.description}>
      <div class="doc-columns">
        <main id="main" class="doc">
          {contents.length > 2 && (
            <details class="toc-fold">
              <summary>On this page</summary>
              <Contents page={page} label="On this page" />
            </details>
          )}
          <article>{raw(page.html)}</article>
          <footer class="doc-foot">
            <nav aria-label="Neighbouring pages" class="neighbours">
              <Neighbour rel="prev" label="Previous" page={docs.pages[at - 1]} />
              <Neighbour rel="next" label="Next" page={docs.pages[at + 1]} />
            </nav>
            <p class="soft small">
              <a href={`/docs/${page.file}`}>This page as Markdown</a>
            </p>
          </footer>
        </main>
        {contents.length > 2 && (
          <aside class="toc">
            <p class="label">On this page</p>
            <Contents page={page} label="On this page, beside it" />
          </aside>
        )}
      </div>
    </Frame>
  );
}

/** Results of a search; without a query, the form alone. */
export function searchPage(c: Context, query: string, hits: readonly DocsHit[]) {
  return (
    <Frame c={c} title="Search the documentation" slug={undefined} description="Search the documentation" query={query}>
      <main id="main" class="doc">
        <h1>{query.trim() === "" ? "Search the documentation" : `Results for “${query.trim()}”`}</h1>
        {query.trim() !== "" && hits.length === 0 && (
          <p role="status">Nothing was found. Try fewer or other words, or look through the pages on the side.</p>
        )}
        <ol class="hits">
          {hits.map((hit) => (
            <li>
              <a href={hit.href}>
                {hit.title}
                {hit.heading !== undefined && <> › {hit.heading}</>}
              </a>
              <p class="snippet">
                {marked(hit.snippet, hit.matched).map(({ text, isMatch }) => (isMatch ? <mark>{text}</mark> : text))}
              </p>
            </li>
          ))}
        </ol>
      </main>
    </Frame>
  );
}

export function missingPage(c: Context) {
  return (
    <Frame c={c} title="Not found" slug={undefined} description="Not found">
      <main id="main" class="doc">
        <h1>Not found</h1>
        <p>
          There is no such page. <a href="/docs">All pages</a> are on the side.
        </p>
      </main>
    </Frame>
  );
}

interface FrameProps {
  c: Context;
  title: string;
  /** Of the page that the navigation marks. */
  slug: string | undefined;
  description: string;
  query?: string;
  children?: Child;
}

/** A page with the navigation of the documentation. */
function Frame({ c, title, slug, description, query = "", children }: FrameProps) {
  const head = (
    <>
      <meta name="description" content={description} />
      <link rel="stylesheet" href={DOCS_STYLE.path} />
    </>
  );
  return (
    <Document c={c} title={title} head={head}>
      <SkipLink />
      <div class="shell">
        <Side c={c} slug={slug} query={query} />
        {children}
      </div>
    </Document>
  );
}

function Side({ c, slug, query }: Pick<FrameProps, "c" | "slug"> & { query: string }) {
  const groups = [...new Set(docs.pages.map(({ group }) => group))];
  return (
    <header class="side">
      <FoldBar home="/docs" />
      <form role="search" action="/docs" class="doc-search">
        <label class="sr" for="docs-query">
          Search the documentation
        </label>
        <input
          id="docs-query"
          type="search"
          name="q"
          value={query}
          placeholder="Search"
          maxlength={300}
          data-search=""
          aria-keyshortcuts="/"
        />
        <button type="submit" aria-label="Search">
          <Icon name="search" />
        </button>
      </form>
      <div class="fold" id="side-fold">
        <nav aria-label="Documentation">
          {groups.map((group) => (
            <>
              {group !== "" && <p class="nav-group">{group}</p>}
              <ul class="nav">
                {docs.pages
                  .filter((page) => page.group === group)
                  .map((page) => (
                    <li>
                      <a href={address(page)} {...(page.slug === slug ? { "aria-current": "page" } : {})}>
                        {page.label}
                      </a>
                    </li>
                  ))}
              </ul>
            </>
          ))}
        </nav>
        <div class="side-foot">
          <div class="row">
            <a href="/app">Dashboard</a>
            <ThemeSwitch c={c} />
          </div>
        </div>
      </div>
    </header>
  );
}

function Contents({ page, label }: { page: DocsPage; label: string }) {
  return (
    <nav aria-label={label}>
      <ul>
        {page.headings
          .filter(({ depth }) => depth <= 3)
          .map(({ id, text, depth }) => (
            <li class={depth === 3 ? "deep" : ""}>
              <a href={`#${id}`}>{text}</a>
            </li>
          ))}
      </ul>
    </nav>
  );
}

function Neighbour({ rel, label, page }: { rel: "prev" | "next"; label: string; page: DocsPage | undefined }) {
  if (!page) return <span />;
  return (
    <a rel={rel} href={address(page)}>
      <span class="soft small">{label}</span>
      {page.label}
    </a>
  );
}

const address = ({ slug }: DocsPage) => (slug === "" ? "/docs" : `/docs/${slug}`);

/** Splits a snippet at the words that matched, each place once, without regard to case. */
function marked(text: string, words: readonly string[]): { text: string; isMatch: boolean }[] {
  const lower = text.toLowerCase();
  const wanted = words.map((word) => word.toLowerCase()).filter((word) => word !== "");
  const parts: { text: string; isMatch: boolean }[] = [];
  let plainFrom = 0;
  let at = 0;
  while (at < text.length) {
    const word = wanted.find((candidate) => lower.startsWith(candidate, at));
    if (word === undefined) {
      at++;
      continue;
    }
    if (at > plainFrom) parts.push({ text: text.slice(plainFrom, at), isMatch: false });
    parts.push({ text: text.slice(at, at + word.length), isMatch: true });
    at += word.length;
    plainFrom = at;
  }
  if (plainFrom < text.length) parts.push({ text: text.slice(plainFrom), isMatch: false });
  return parts;
}
