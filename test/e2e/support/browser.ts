/** A browser for the tests of pages: profiles that note what pages complain about, and checks of every page. */
import { sql } from "drizzle-orm";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import { expect } from "vitest";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { createKey } from "../../../src/service/tenancy/index.ts";
import { addUser } from "../../../src/service/users/index.ts";
import { seedDashboard } from "../../support/dashboard-seed.ts";
import { findViolations } from "./axe.ts";
import { codeFor } from "./dashboard.ts";
import { findHtmlFaults } from "./html.ts";
import { database, service } from "./service.ts";

/** As long as other tests wait for a run: the queue may be busy with the runs of other files. */
const PAGE_TIMEOUT_MS = 60_000;
/** What the browser complained about; must stay empty. */
export const complaints: string[] = [];
/** What is wrong with the HTML of the pages that were opened since the last check. */
const sent: Promise<string[]>[] = [];

/** What can be scrolled sideways: the page, or a table in it. */
export const SIDEWAYS = `[document.documentElement, ...document.querySelectorAll(".scroll")]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((element) => element.getAttribute("aria-label") ?? "the page")`;

/** Labels of charts that are drawn too small to be read, and actions of a page that are not on one line though its title is above them. */
export const AWKWARD = `[
  ...[...document.querySelectorAll(".chart text")].map((label) => label.getBoundingClientRect().height)
    .filter((height) => height > 0 && height < 10).map((height) => "a label " + height + " pixels high"),
  ...[...document.querySelectorAll(".head .text")].filter(({ nextElementSibling: actions }) => actions?.children.length > 0)
    .flatMap((text) => {
      const bottom = text.getBoundingClientRect().bottom;
      const sides = [...text.nextElementSibling.children].map((action) => action.getBoundingClientRect().top < bottom);
      return new Set(sides).size > 1 ? ["actions both beside and below the title"] : [];
    }),
]`;

/** A browser profile of its own, which notes whatever the pages complain about. */
export async function newProfile(
  browser: Browser,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  context.setDefaultTimeout(PAGE_TIMEOUT_MS);
  await context.addInitScript(
    "document.addEventListener('securitypolicyviolation', (event) => console.error('content policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
  );
  context.on("weberror", (error) => complaints.push(String(error.error())));
  // What is sent, before the browser makes a valid document of it.
  context.on("response", (response) => {
    if (
      response.request().isNavigationRequest() &&
      response.headers()["content-type"]?.startsWith("text/html") === true
    )
      sent.push(faultsOf(response));
  });
  context.on("console", (message) => {
    // A refused form is reported by the browser as a failed request; the page shows why.
    const isRefusal = message.text().startsWith("Failed to load resource") && message.text().includes("400");
    if ((message.type() === "error" || message.type() === "warning") && !isRefusal) complaints.push(message.text());
  });
  return context;
}

export async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(`${service().siteUrl}/app`);
  await checkPage(page);
  await page.getByLabel("E-mail address").fill(email);
  await enterCode(page, email);
}

/** From the form that asks for the address to wherever the person wanted to go. */
export async function enterCode(page: Page, email: string): Promise<void> {
  await page.getByRole("button", { name: "Send me a code" }).click();
  await heading(page, "Enter the code");
  await checkPage(page);
  await page.getByLabel("Six-digit code").fill(await codeFor(email));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => !url.pathname.startsWith("/app/sign-in"));
}

/** Gives a team repositories and runs, and a repository and a member with names that are too long for any screen. */
export async function fillTeam(slug: string): Promise<void> {
  const [row] = await rowsOf<{ id: string }>(database(), sql`select id from tenants where slug = ${slug}`);
  const tenantId = row?.id ?? "";
  await seedDashboard(database(), tenantId, "system", { workspaces: 12, runs: 40, auditEvents: 20, days: 3 });
  const long = `git.example.com/acme/${"x".repeat(180)}`;
  const { userId } = await addUser(database(), {
    email: `${"m".repeat(60)}@${"mail.".repeat(24)}example.com`,
    tenantId,
    role: "member",
  });
  const restrictions = { monthlyCredits: 120_000, ratePerMinute: 600 };
  await createKey(database(), { tenantId, name: "k".repeat(80), kind: "api_key", userId, restrictions });
  await database().execute(
    sql`update workspaces set repo = ${long} where tenant_id = ${tenantId} and repo = 'github.com/acme/billing'`,
  );
}

/** Clicks on a name in the code of a file. */
export async function clickName(page: Page, name: string): Promise<void> {
  const { x, y } = await page.evaluate<{ x: number; y: number }>(`(() => {
    const texts = document.createTreeWalker(document.querySelector("[data-names]"), NodeFilter.SHOW_TEXT);
    let at = -1;
    while (at < 0 && texts.nextNode()) at = texts.currentNode.data.indexOf("${name}");
    const range = document.createRange();
    range.setStart(texts.currentNode, at);
    range.setEnd(texts.currentNode, at + ${name.length});
    const { left, top, width, height } = range.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  })()`);
  await page.mouse.click(x, y);
}

export const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 }).waitFor();

/** What html-validate finds in a page as it is sent; none if another page has replaced it before it could be read. */
async function faultsOf(response: Response): Promise<string[]> {
  const html = await response.text().catch(() => undefined);
  const faults = html === undefined ? [] : await findHtmlFaults(html);
  return faults.map((fault) => `${response.url()}: ${fault}`);
}

/** html-validate on the pages so far, and on this one as it is now; axe-core in both themes. */
export async function checkPage(page: Page): Promise<void> {
  const faults = [...(await Promise.all(sent.splice(0))).flat(), ...(await findHtmlFaults(await page.content()))];
  expect([page.url(), ...faults]).toEqual([page.url()]);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const violations = await findViolations(page, colorScheme === "light" ? "all" : "colours");
    expect([page.url(), colorScheme, ...violations]).toEqual([page.url(), colorScheme]);
  }
}
