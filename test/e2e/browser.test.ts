/**
 * The dashboard in a real browser: the whole way of a new user, and every page checked for valid HTML, and for accessibility in both themes.
 * Errors on the console and violations of the content policy fail the test.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PushServer, startPushServer } from "../support/push-server.ts";
import { launchChromium } from "./support/chromium.ts";
import {
  AWKWARD,
  checkPage,
  clickName,
  complaints,
  enterCode,
  fillTeam,
  heading,
  newProfile,
  SIDEWAYS,
  signIn,
} from "./support/browser.ts";
import { mailOf, newEmail } from "./support/dashboard.ts";
import { api, service } from "./support/service.ts";

/** Some 25 s where the machine is idle. */
const TEST_TIMEOUT_MS = 600_000;
const FILES = {
  "src/session.ts":
    "/** Ends the session of a user and forgets its token. */\nexport function closeSession(token: string): void {\n  sessions.delete(token);\n}\n\nconst sessions = new Map<string, string>();\n",
  "README.md": "# Sessions\n\nHow sessions are opened and closed.\n",
};

/** Words of code in tables that are broken over lines. */
const BROKEN_WORDS = `[...document.querySelectorAll("td code")].flatMap(({ firstChild: text }) =>
  [...(text?.nodeValue ?? "").matchAll(/\\w+/g)].flatMap(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return range.getClientRects().length > 1 ? [word] : [];
  }))`;

/** Counts changes of attributes from now on. Texts may change: the times tell how long ago something was. */
const COUNT_CHANGES = `window.changes = 0;
  new MutationObserver((records) => { window.changes += records.length; })
    .observe(document.body, { subtree: true, attributes: true })`;

describe.skipIf(process.env["SKIP_BROWSER"] === "1")("in a browser", { timeout: TEST_TIMEOUT_MS }, () => {
  let browser: Browser;
  let host: PushServer;
  beforeAll(async () => {
    [browser, host] = await Promise.all([launchChromium(), startPushServer(FILES)]);
  });
  afterAll(async () => {
    await browser?.close();
    await host?.[Symbol.asyncDispose]();
  });

  it("a new user goes from the sign-in to an indexed push, and a colleague joins", async () => {
    const email = newEmail();
    const context = await newProfile(browser);
    const page = await context.newPage();
    const { siteUrl } = service();

    await signIn(page, email);
    await page.getByLabel("Team name").fill("Browser team");
    await page.getByRole("button", { name: "Create the team" }).click();
    await heading(page, "Overview");
    await checkPage(page);
    const base = page.url();

    await page.getByRole("link", { name: "Make a key" }).click();
    await page.getByLabel("Name").fill("laptop");
    await page.getByRole("button", { name: "Create" }).click();
    const shown = page.getByRole("region", { name: "New key" });
    const key = await shown.locator("code").innerText();
    expect(key).toMatch(/^cc_live_\w+$/);
    await shown.getByRole("button", { name: "Copy API key" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key);
    await checkPage(page);

    // The step checks itself: nothing on the page is touched.
    await page.goto(base);
    await done(page, "Make an API key");
    expect((await api("/embed", { key })).status).toBe(200);
    await done(page, "Connect an agent");

    await page.getByRole("link", { name: "Connect a repository" }).click();
    await page.getByLabel("Clone address").fill("ftp://nowhere");
    await page.getByRole("button", { name: "Connect and index" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: /https|HTTPS/ })
      .waitFor();
    const refused = page.locator("[aria-invalid=true]:focus");
    await refused.waitFor();
    expect(await refused.inputValue()).toBe("ftp://nowhere");
    await page.getByLabel("Clone address").fill(host.url);
    await checkPage(page);
    await page.getByRole("button", { name: "Connect and index" }).click();
    await page.getByText("is connected").waitFor();
    const runs = page.locator("#runs");
    await runs.getByText("succeeded").waitFor();
    await checkPage(page);
    const repository = page.url();

    await page.getByLabel("Host").selectOption("gitea");
    await page.getByRole("button", { name: "Make a hook" }).click();
    await page.getByRole("region", { name: "New hook" }).waitFor();
    const [url = "", secret = ""] = await page
      .getByRole("region", { name: "New hook" })
      .locator("code")
      .allInnerTexts();
    await checkPage(page);
    host.setHook({ provider: "gitea", url, secret });
    await page.goto(repository);
    host.work.files({
      "README.md": "# Sessions\n\nHow sessions are opened, kept and closed.\n",
      "src/token.ts":
        "/** Makes a token nobody can guess. */\nexport function unguessableToken(): string {\n  return crypto.randomUUID();\n}\n",
      // Its name has a mark of direction, so it is not offered below as the completion of a path.
      "src/tst.\u202enekot": "export {};\n",
    });
    host.work.commit();
    await host.push("main");
    // The run shows up without a reload.
    await page.locator("#deliveries").getByText("started").waitFor();
    await runs.getByText("succeeded").nth(1).waitFor();
    await checkPage(page);

    // The regions of the idle page are refreshed together.
    await page.clock.install();
    await page.reload();
    const polls: string[] = [];
    page.on("request", (request) => {
      if (request.headers()["x-refresh"] !== undefined) polls.push(request.url());
    });
    expect(await page.locator("[data-refresh]").count()).toBe(3);
    await page.clock.runFor(500);
    await page.evaluate(COUNT_CHANGES);
    const answered = page.waitForResponse(repository);
    await page.clock.runFor(5_000);
    await (await answered).finished();
    expect(polls).toEqual([repository]);
    // The next refresh waits until this one is worked in.
    const again = page.waitForResponse(repository);
    await expect.poll(() => page.clock.runFor(5_000).then(() => polls.length)).toBeGreaterThan(1);
    await again;
    expect(await page.evaluate("window.changes")).toBe(0);
    await page.clock.resume();

    await page.getByRole("link", { name: "Browse files" }).click();
    await page.getByRole("link", { name: "README.md" }).click();
    await heading(page, "README.md");
    await page.getByText("History changed in 1 of 2 revisions").click();
    const revisions = page.getByRole("region", { name: "Revisions" });
    await checkPage(page);
    await revisions.getByRole("link", { name: /^Compare/ }).click();
    const changes = page.getByRole("region", { name: "Changes of README.md" });
    expect(await changes.locator("del, ins").allInnerTexts()).toEqual([
      "How sessions are opened and closed.",
      "How sessions are opened, kept and closed.",
    ]);
    await checkPage(page);
    await page.goBack();
    await page.getByText("History changed in 1 of 2 revisions").click();
    await revisions
      .getByRole("link", { name: /^[0-9a-f]{8}/ })
      .last()
      .click();
    await page.waitForURL(/ref=[0-9a-f]{40}/);
    await page.getByText("How sessions are opened and closed.").waitFor();
    await checkPage(page);

    await page.keyboard.press("/");
    await heading(page, "Search");
    const offered = () =>
      page.evaluate("Array.from(document.querySelectorAll('#completions option'), ({ value }) => value)");
    await page.getByLabel("Query").fill("token lang:typesc");
    await expect.poll(offered).toEqual(["token lang:typescript"]);
    await page.getByLabel("Query").fill("path:src/t");
    await expect.poll(offered).toEqual(["path:src/token.ts"]);
    await page.getByLabel("Query").fill("unguessableToken path:src/tok");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const result = page.getByRole("article").first();
    await result.getByText("src/token.ts").first().waitFor();
    await result.getByText("return").waitFor();
    await checkPage(page);
    await page.getByLabel("Query").fill("unguessableToken");
    await page.getByLabel("Find").selectOption("text");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    expect(await page.getByRole("article").first().locator("mark").first().textContent()).toBe("unguessableToken");
    await checkPage(page);
    // Down from the query to the first result, and into it.
    await page.getByLabel("Query").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await heading(page, "token.ts");
    await page.locator("#L2.line-no:target").waitFor();
    await checkPage(page);
    await clickName(page, "unguessableToken");
    await heading(page, "unguessableToken");
    await page.getByText("certain", { exact: true }).waitFor();
    await page.getByRole("region", { name: "The definition in src/token.ts" }).getByText("randomUUID").waitFor();
    await checkPage(page);
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await heading(page, "Repositories");

    await page.goto(base);
    for (const step of ["Make an API key", "Connect an agent", "Connect a repository", "Search"])
      await done(page, step);
    await page.goto(`${base}/usage`);
    await page.getByRole("rowheader", { name: "laptop" }).waitFor();
    await checkPage(page);
    for (const [path, title] of [
      ["repositories", "Repositories"],
      ["repositories/several", "Connect several repositories"],
      ["runs", "Runs"],
      ["connect", "Connect"],
      ["connect?client=vscode", "Connect"],
      ["settings", "Settings"],
    ] as const) {
      await page.goto(`${base}/${path}`);
      await heading(page, title);
      await checkPage(page);
    }
    await page.goto(`${siteUrl}/app/account`);
    await checkPage(page);
    await page.goto(siteUrl);
    await heading(page, "Code Context");
    await checkPage(page);

    await page.goto(`${base}/team`);
    const colleague = newEmail();
    await page.getByLabel("E-mail address").fill(colleague);
    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByText(`${colleague} is invited`).waitFor();
    await checkPage(page);
    const other = await newProfile(browser);
    const joining = await other.newPage();
    const link = /\/app\/join\/[\w-]{43}/.exec(mailOf(colleague).at(-1) ?? "")?.[0] ?? "";
    await joining.goto(`${siteUrl}${link}`);
    await checkPage(joining);
    await joining.getByRole("link", { name: "Sign in to accept" }).click();
    await enterCode(joining, colleague);
    await joining.getByRole("button", { name: "Join Browser team" }).click();
    await joining.getByText("You are in the team now").waitFor();
    // Their own key is made, and in the settings of their agent; its first call is noticed.
    await heading(joining, "Connect");
    await checkPage(joining);
    const own = await joining.getByRole("region", { name: "New key" }).locator("code").innerText();
    expect(await joining.locator("details[open] code").innerText()).toContain(`Authorization: Bearer ${own}`);
    expect((await api("/embed", { key: own })).status).toBe(200);
    await joining.getByText("first key has called").waitFor();
    await joining.goto(`${base}/keys`);
    await joining.getByRole("rowheader", { name: "first key" }).waitFor();
    expect(await joining.getByRole("rowheader", { name: "laptop" }).count()).toBe(0);
    await other.close();

    await page.goto(`${base}/audit`);
    await page.getByRole("cell", { name: colleague }).first().waitFor();
    await checkPage(page);
    await page.goto(`${base}/keys`);
    const opener = page.getByRole("button", { name: "Revoke … laptop" });
    await opener.click();
    // The dialog keeps the focus, first on what changes nothing, and gives it back.
    const dialog = page.getByRole("dialog");
    const focused = () => page.evaluate("document.activeElement.textContent");
    // Browsers tell of the opening in a task of its own.
    await expect.poll(focused).toBe("Keep it");
    for (const key of ["Tab", "Tab", "Shift+Tab"]) await page.keyboard.press(key);
    expect(await focused()).toBe("Revoke for good");
    await checkPage(page);
    await page.keyboard.press("Escape");
    expect(await focused()).toContain("Revoke …");
    await opener.click();
    await dialog.getByRole("button", { name: "Revoke for good" }).click();
    await page.getByText("The key is revoked").waitFor();
    await expect.poll(async () => (await api("/embed", { key })).status).toBe(401);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out").waitFor();
    await context.close();
    expect(complaints).toEqual([]);
  });

  it("the documentation is read, searched and followed, with and without JavaScript", async () => {
    const { siteUrl } = service();
    const context = await newProfile(browser);
    const page = await context.newPage();
    for (const path of ["", "/start", "/http", "/operations"]) {
      await page.goto(`${siteUrl}/docs${path}`);
      await checkPage(page);
      expect([path, ...(await page.evaluate<string[]>(BROKEN_WORDS))]).toEqual([path]);
    }
    await page.keyboard.press("/");
    await page.keyboard.type("rate limits");
    await page.keyboard.press("Enter");
    await heading(page, "Results for “rate limits”");
    await checkPage(page);
    await page.getByRole("link", { name: "HTTP API › Rate limits" }).click();
    await page.waitForURL(`${siteUrl}/docs/http#rate-limits`);
    await page.getByRole("button", { name: "Theme" }).click();
    const theme = await page.evaluate("document.documentElement.dataset.theme");
    await page.getByRole("link", { name: /^Next/ }).click();
    expect([theme, await page.evaluate("document.documentElement.dataset.theme")]).toEqual(["light", "light"]);
    for (const next of ["dark", undefined]) {
      await page.getByRole("button", { name: "Theme" }).click();
      expect(await page.evaluate("document.documentElement.dataset.theme")).toBe(next);
    }
    await page.reload();
    await page.getByRole("button", { name: "Theme: system" }).waitFor();
    await context.close();

    const phone = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const plain = await phone.newPage();
    for (const path of ["/http", "/operations", "?q=snapshot"]) {
      await plain.goto(`${siteUrl}/docs${path}`);
      const overflow = await plain.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      expect([path, overflow]).toEqual([path, 0]);
    }
    await plain.getByLabel("Search the documentation").fill("exit codes");
    await plain.keyboard.press("Enter");
    await plain.getByRole("link", { name: "codectx › For programs" }).click();
    await heading(plain, "codectx");
    await phone.close();
    expect(complaints).toEqual([]);
  });

  it("works on a phone, by keyboard alone, and without JavaScript", async () => {
    const email = newEmail();
    const context = await newProfile(browser, { viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    await signIn(page, email);
    await page.getByLabel("Team name").fill("Phone team");
    await page.keyboard.press("Enter");
    await heading(page, "Overview");
    const base = page.url();
    await fillTeam(base.split("/").at(-1) ?? "");
    await page.goto(`${base}/repositories?q=xxx`);
    const long = (await page.locator("tbody a").first().getAttribute("href"))?.slice(new URL(base).pathname.length);
    for (const width of [360, 768, 1024, 1280]) {
      await page.setViewportSize({ width, height: 740 });
      for (const path of [
        "",
        "/repositories",
        "/runs",
        "/keys",
        "/team",
        "/usage",
        "/audit",
        "/settings",
        "/connect",
        long ?? "",
      ]) {
        await page.goto(base + path);
        expect([width, path, ...(await page.evaluate<string[]>(SIDEWAYS))]).toEqual([width, path]);
        expect([width, path, ...(await page.evaluate<string[]>(AWKWARD))]).toEqual([width, path]);
      }
      await checkPage(page);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole("button", { name: "Menu" }).press("Enter");
    await page.getByRole("link", { name: "Connect", exact: true }).press("Enter");
    await page.getByRole("link", { name: "Keys and connected agents" }).press("Enter");
    await heading(page, "Keys");
    const state = await context.storageState();
    await context.close();

    const plain = await browser.newContext({ javaScriptEnabled: false, storageState: state });
    const still = await plain.newPage();
    await still.goto(`${service().siteUrl}/app`);
    await still.getByRole("link", { name: "Make a key" }).click();
    await still.getByLabel("Name").fill("without script");
    await still.getByRole("button", { name: "Create" }).click();
    await still.getByText("Copy it now").waitFor();
    await still.getByRole("link", { name: "Connect", exact: true }).first().click();
    await still.getByRole("link", { name: "Keys and connected agents" }).click();
    await still.getByRole("button", { name: "Revoke … without script" }).click();
    await still.getByRole("button", { name: "Revoke for good" }).click();
    await still.getByText("The key is revoked").waitFor();
    await plain.close();
    expect(complaints).toEqual([]);
  });
});

/** Waits until a first step has noticed that it is done. */
const done = (page: Page, step: string) => page.getByRole("heading", { name: `${step} (done)` }).waitFor();
