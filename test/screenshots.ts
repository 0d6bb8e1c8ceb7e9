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
import { openDb } from "../src/service/db/client.ts";
import { startService } from "../src/tooling/local/stack/service.ts";
import { addUser, createOwnTenant } from "../src/service/users/index.ts";
import { launchChromium } from "./e2e/support/chromium.ts";
import { seedDashboard } from "./support/dashboard-seed.ts";

const FOLDER = process.argv[2] ?? fileURLToPath(new URL("../docs/images", import.meta.url));
/** Those that the documentation shows. */
const SHOWN = new Set(["repositories", "repository", "usage", "usage-dark"]);
const EMAIL = "ann@acme.example";
const WIDE = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-screenshots-"));
const running = await startService({ dataDir, port: 0, sitePort: 0, vars: DEVELOPMENT_VARS });
const browser = await launchChromium();
try {
  const { siteUrl, databaseUrl, tenantId: otherTenant } = running.service;
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
  await page.emulateMedia({ colorScheme: "dark" });
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
  await running.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();

async function shoot(page: Page, url: string, name: string): Promise<void> {
  await page.goto(url);
  await picture(page, name);
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.argv[2] === undefined && !SHOWN.has(name)) return;
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`), fullPage: true });
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
