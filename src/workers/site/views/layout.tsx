import { createHash } from "node:crypto";
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Quota } from "../../../service/dashboard/usage.ts";
import { visibleHtml } from "../../../lib/display.ts";
import { type DashboardContext, type Notice, sessionOf, tenantPath } from "../app/context.ts";
import { toRefusal } from "../app/errors.ts";
import { inTwo } from "../app/streams.ts";
import { Brand, Document, FoldBar, SkipLink, ThemeSwitch } from "./document.tsx";
import { QuotaBanner } from "./quota.tsx";
import { Icon, type IconName } from "./icons.tsx";

interface PageOptions {
  title: string;
  status?: 200 | 201 | 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429 | 500 | 503;
}

/** Pages of the menu; `key` after "g" goes there. `below`: pages that are reached from this one. */
const PAGES: readonly { page: string; label: string; icon: IconName; key: string; below?: readonly string[] }[] = [
  { page: "search", label: "Search", icon: "search", key: "s" },
  { page: "repositories", label: "Repositories", icon: "repositories", key: "r" },
  { page: "runs", label: "Runs", icon: "runs", key: "n" },
  { page: "connect", label: "Connect", icon: "connect", key: "c", below: ["keys"] },
  { page: "team", label: "Team", icon: "team", key: "t" },
  { page: "usage", label: "Usage", icon: "usage", key: "u" },
  { page: "settings", label: "Settings", icon: "settings", key: "e", below: ["audit"] },
];

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** Answers with a page whose texts, which may come from a repository or another person, are shown by display.ts. */
async function show(c: DashboardContext, page: Html, status: PageOptions["status"]): Promise<Response> {
  const html = await shownHtml(page);
  if (c.req.header("X-Refresh") === undefined) return c.html(html, status);
  const etag = etagOf(html);
  if (c.req.header("If-None-Match") === etag) return c.body(null, 304, { ETag: etag });
  return c.html(html, status, { ETag: etag });
}

const shownHtml = async (part: Html): Promise<string> => visibleHtml((await part).toString());

/** Seeds of forms, which differ in every copy of a page. */
const SEEDS = /name="once" value="[^"]{0,1000}"/g;

/** Tag of a page that refreshes itself: the same for copies that show the same. */
function etagOf(html: string): string {
  return `W/"${createHash("sha256").update(html.replace(SEEDS, "")).digest("base64url").slice(0, 22)}"`;
}

/** A page outside of a team: sign-in, invitation, errors. */
export function gatePage(c: DashboardContext, { title, status = 200 }: PageOptions, content: Child) {
  return show(
    c,
    <Document c={c} title={title}>
      <div class="gate">
        <main id="main">
          <Brand home="/app" />
          <NoticeBar c={c} />
          {content}
        </main>
      </div>
    </Document>,
    status,
  );
}

/** A page of a tenant, with the navigation. `page` is its path segment. */
export async function tenantPage(
  c: DashboardContext,
  page: string,
  { title, status = 200 }: PageOptions,
  content: Child,
) {
  const quota = await c.get("quota");
  return show(c, <Shell c={c} title={title} page={page} content={content} quota={quota} />, status);
}

/** Where the rest of a page that is sent in two parts belongs. */
const REST = "<!--rest-->";

/**
 * The same, for content whose last part takes long: what is before it is sent, and can be seen and used, meanwhile. If the rest cannot
 * be had, the page ends with the reason, because its status has been sent.
 */
export async function tenantPageInTwo(
  c: DashboardContext,
  page: string,
  { title, rest }: { title: string; rest: Promise<Child> },
  content: Child,
) {
  const last = rest
    .then((found) => shownHtml(<>{found}</>))
    .catch((error: unknown) =>
      shownHtml(<NoticeLine kind="error" text={toRefusal(error, c.get("log"), c.req.path).message} />),
    );
  const shell = <Shell c={c} title={title} page={page} content={[content, raw(REST)]} quota={await c.get("quota")} />;
  const [start = "", end = ""] = (await shownHtml(shell)).split(REST);
  const body = inTwo(
    start,
    last.then((html) => html + end),
  );
  return c.body(body, 200, { "Content-Type": "text/html; charset=UTF-8" });
}

/** A page of the signed-in user, with a list of their teams. */
export function accountPage(c: DashboardContext, { title, status = 200 }: PageOptions, content: Child) {
  return show(c, <Shell c={c} title={title} page="account" content={content} />, status);
}

interface ShellProps {
  c: DashboardContext;
  title: string;
  page: string;
  content: Child;
  quota?: Quota | undefined;
}

function Shell({ c, title, page, content, quota }: ShellProps) {
  const { user, memberships } = sessionOf(c);
  const current = c.get("membership");
  return (
    <Document c={c} title={title}>
      <SkipLink />
      <div class="shell">
        <header class="side">
          <FoldBar home={current ? `/app/${current.slug}` : "/app"} />
          <div class="fold" id="side-fold">
            <details class="switch">
              <summary>
                <span class="name">{current?.name ?? "Choose a team"}</span>
                <Icon name="chevron" />
                <span class="sr">Switch team</span>
              </summary>
              <ul class="nav">
                {memberships.map((one) => (
                  <li>
                    <a href={`/app/${one.slug}`} {...(one.slug === current?.slug ? { "aria-current": "true" } : {})}>
                      {one.name}
                    </a>
                  </li>
                ))}
                <li>
                  <a href="/app/new">New team</a>
                </li>
              </ul>
            </details>
            {current && (
              <nav aria-label="Team">
                <ul class="nav">
                  {PAGES.map((entry) => (
                    <li>
                      <a
                        href={`/app/${current.slug}/${entry.page}`}
                        {...currentOf(entry, page)}
                        data-go={entry.key}
                        {...(entry.page === "search" ? { "data-search": "", "aria-keyshortcuts": "/" } : {})}
                      >
                        <Icon name={entry.icon} /> {entry.label}
                      </a>
                    </li>
                  ))}
                </ul>
              </nav>
            )}
            <div class="side-foot">
              <ul class="nav">
                <li>
                  <a href="/docs/tasks" data-go="d">
                    <Icon name="help" /> Help
                  </a>
                </li>
                <li>
                  <a href="/app/account" {...(page === "account" ? { "aria-current": "page" } : {})}>
                    <Icon name="user" />{" "}
                    <span class="name" title={user.email}>
                      {user.name ?? user.email}
                    </span>
                  </a>
                </li>
              </ul>
              <div class="row">
                <form method="post" action="/app/api/sign-out" class="inline">
                  <button type="submit" class="quiet">
                    Sign out
                  </button>
                </form>
                <ThemeSwitch c={c} />
              </div>
            </div>
          </div>
        </header>
        <main id="main">
          {quota && <QuotaBanner quota={quota} usagePath={tenantPath(c, "usage")} nowMs={Date.now()} />}
          <NoticeBar c={c} />
          {content}
        </main>
      </div>
    </Document>
  );
}

/** Marks the menu's entry of a page, or that from which the page is reached. */
function currentOf({ page, below }: (typeof PAGES)[number], shown: string) {
  if (page === shown) return { "aria-current": "page" } as const;
  return below?.includes(shown) ? ({ "aria-current": "true" } as const) : {};
}

function NoticeBar({ c }: { c: DashboardContext }) {
  const notice = c.get("notice");
  return notice ? <NoticeLine {...notice} /> : null;
}

function NoticeLine({ kind, text }: Notice) {
  return (
    <p class={kind === "error" ? "notice error" : "notice"} role={kind === "error" ? "alert" : "status"}>
      {text}
    </p>
  );
}
