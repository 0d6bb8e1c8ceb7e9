/**
 * `npm run screenshots [-- FOLDER]`: starts the service with a made-up team and takes the pictures in docs/images; with a folder, pictures
 * of all pages.
 */
import { DEVELOPMENT_VARS } from "../src/tooling/local/stack/environment.ts";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { CodeContextClient } from "../src/interface/client/index.ts";
import { type Db, openDb } from "../src/service/db/client.ts";
import { createKey, createWorkspace } from "../src/service/tenancy/index.ts";
import { openSource } from "../src/tooling/local/git/demo-source.ts";
import { PROJECT_ROOT } from "../src/tooling/local/project.ts";
import { startService } from "../src/tooling/local/stack/service.ts";
import { addUser, createOwnTenant } from "../src/service/users/index.ts";
import { launchChromium } from "./e2e/support/chromium.ts";
import { seedDashboard } from "./support/dashboard-seed.ts";

const FOLDER = process.argv[2] ?? fileURLToPath(new URL("../docs/images", import.meta.url));
/** Those that the documentation shows. */
const SHOWN = new Set(["search", "file", "name-dark", "repositories", "repository", "usage"]);
const EMAIL = "ann@acme.example";
const WIDE = { width: 1280, height: 860 };
const CODE = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };

interface PictureOptions {
  /** Also what is below the window; default true. */
  fullPage?: boolean;
}

const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-screenshots-"));
const running = await startService({ dataDir, port: 0, sitePort: 0, vars: DEVELOPMENT_VARS });
const browser = await launchChromium({ systemFonts: true });
const checkout = await openSource(PROJECT_ROOT);
try {
  const { siteUrl, apiUrl, databaseUrl, tenantId: otherTenant } = running.service;
  const db = openDb(databaseUrl);
  const { userId } = await addUser(db, { email: EMAIL, tenantId: otherTenant, role: "member" });
  const { tenantId, slug } = await createOwnTenant(db, userId, { name: "Acme" });
  await addUser(db, { email: "bo@acme.example", tenantId, role: "admin" });
  await addUser(db, { email: "chris@acme.example", tenantId, role: "member" });
  const page = await (await browser.newContext({ viewport: WIDE, colorScheme: "light" })).newPage();
  await signIn(page, siteUrl);
  const base = `${siteUrl}/app/${slug}`;
  mkdirSync(FOLDER, { recursive: true });
  await shoot(page, base, "first-steps");
  for (const name of ["laptop", "ci agent", "review bot"]) {
    await page.goto(`${base}/keys`);
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name }).waitFor();
  }
  await picture(page, "new-key");
  await seedDashboard(db, tenantId, `user:${userId}`, { workspaces: 9, runs: 80, auditEvents: 120, days: 30 });
  await shoot(page, base, "overview");
  for (const name of ["repositories", "keys", "team", "usage", "audit", "settings", "connect", "search"]) {
    await shoot(page, `${base}/${name}`, name);
  }
  await page.goto(`${base}/repositories`);
  await page.locator("tbody a").first().click();
  await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  await picture(page, "repository");
  await indexCheckout(db, tenantId, apiUrl);
  await page.setViewportSize(CODE);
  await shoot(page, `${base}/search?q=how+is+a+session+revoked`, "search", { fullPage: false });
  await page.getByRole("link", { name: "src/service/users/sessions.ts" }).first().click();
  await page.getByLabel("Look up a name").waitFor();
  await picture(page, "file", { fullPage: false });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.getByLabel("Look up a name").fill("revokeSession");
  await page.getByRole("button", { name: "Look up" }).click();
  await page.getByRole("heading", { name: "revokeSession" }).waitFor();
  await picture(page, "name-dark", { fullPage: false });
  await page.setViewportSize(WIDE);
  await shoot(page, base, "overview-dark");
  await shoot(page, `${base}/usage`, "usage-dark");
  await shoot(page, `${base}/repositories`, "repositories-dark");
  await page.setViewportSize(PHONE);
  await shoot(page, base, "overview-phone-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await shoot(page, base, "overview-phone");
  await shoot(page, `${base}/usage`, "usage-phone");
  await page.emulateMedia({ colorScheme: "dark" });
  await shoot(page, `${base}/repositories`, "repositories-phone");
} finally {
  await browser.close();
  await checkout.close();
  await running.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();

/** The newest commit of this repository, for pages that show code. */
async function indexCheckout(db: Db, tenantId: string, baseUrl: string): Promise<void> {
  const { workspaceId } = await createWorkspace(db, { tenantId, repo: "github.com/acme/code-context" });
  const { value: apiKey } = await createKey(db, { tenantId, name: "screenshots", kind: "api_key" });
  const { value: workerToken } = await createKey(db, { tenantId, name: "indexer", kind: "worker_token" });
  const client = new CodeContextClient({ baseUrl, apiKey, workerToken });
  await client.index({ workspaceId, source: { type: "git", url: checkout.url } });
}

async function shoot(page: Page, url: string, name: string, options?: PictureOptions): Promise<void> {
  await page.goto(url);
  await picture(page, name, options);
}

async function picture(page: Page, name: string, { fullPage = true }: PictureOptions = {}): Promise<void> {
  if (process.argv[2] === undefined && !SHOWN.has(name)) return;
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`), fullPage });
}

async function signIn(page: Page, siteUrl: string): Promise<void> {
  await page.goto(`${siteUrl}/app`);
  await picture(page, "sign-in");
  await page.getByLabel("E-mail address").fill(EMAIL);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Six-digit code").waitFor();
  const folder = path.join(dataDir, "mail");
  const mail = readFileSync(path.join(folder, readdirSync(folder).at(-1) ?? ""), "utf8");
  await page.getByLabel("Six-digit code").fill(/\b\d{6}\b/.exec(mail)?.[0] ?? "");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/app\/(?!sign-in)/);
}
