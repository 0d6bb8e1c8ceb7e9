/**
 * `npm run bench -- dashboard [--events N] [--rounds N]`: time to the last byte of each page's HTML on a large tenant (300
 * repositories, 10,000 runs, a million audit events), beside the same page on an empty tenant: the ratio tells what size costs. Then the
 * time to the first paint of the large tenant's pages in a browser, on a wide window and on a phone's.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { sql } from "drizzle-orm";
import { openDb } from "../src/service/db/client.ts";
import { startService } from "../src/tooling/local/stack/service.ts";
import { addUser, createOwnTenant } from "../src/service/users/index.ts";
import { seedDashboard } from "../test/support/dashboard-seed.ts";
import { launchChromium } from "../test/e2e/support/chromium.ts";
import { firstPaints, WINDOWS } from "./dashboard/paint.ts";
import { median, ratio, temporaryFolder } from "./support.ts";

const EMAIL = "bench@example.com";
/** Rows inserted per statement, which has a time limit of 30 s. */
const BATCH = 20_000;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { events: { type: "string", default: "1000000" }, rounds: { type: "string", default: "15" } },
  });
  const events = Number(values.events);
  const dataDir = temporaryFolder("dashboard");
  const running = await startService({ dataDir, port: 0, sitePort: 0 });
  try {
    const { siteUrl, databaseUrl, tenantId: demo } = running.service;
    const db = openDb(databaseUrl);
    const { userId } = await addUser(db, { email: EMAIL, tenantId: demo, role: "member" });
    await createOwnTenant(db, userId, { name: "empty" });
    const large = await createOwnTenant(db, userId, { name: "large" });
    await seedDashboard(db, large.tenantId, `user:${userId}`, {
      workspaces: 300,
      runs: 10_000,
      auditEvents: Math.min(events, BATCH),
      days: 30,
    });
    for (let done = BATCH; done < events; done += BATCH) {
      await db.execute(sql`
        insert into audit_events (id, tenant_id, at, event, actor, dedupe_key, details)
        select gen_random_uuid(), ${large.tenantId}, now() - make_interval(secs => ${done} + i),
          case when i % 50 = 0 then 'KEY_REVOKED' else 'RATE_LIMITED' end, 'system', 'bench:' || ${done} + i, '{"name":"x"}'
        from generate_series(1, ${BATCH}::int) i`);
    }
    await db.execute(sql`analyze`);
    const cookie = await signIn(siteUrl, dataDir);
    const [row] = (await db.execute(sql`select id from workspaces where tenant_id = ${large.tenantId} limit 1`)).rows;
    const pages = ["repositories", "runs", "keys", "team", "usage", "audit", "audit?event=KEY_REVOKED", "settings"];
    const rows: [string, number, number][] = [];
    for (const page of pages) {
      const times = await measure(
        [`${siteUrl}/app/empty/${page}`, `${siteUrl}/app/large/${page}`],
        cookie,
        Number(values.rounds),
      );
      rows.push([page, times[0] ?? 0, times[1] ?? 0]);
    }
    const [one = 0] = await measure(
      [`${siteUrl}/app/large/repositories/${String(row?.["id"])}`],
      cookie,
      Number(values.rounds),
    );
    console.log("page                         empty ms  large ms  ratio");
    for (const [page, small, big] of rows) {
      console.log(
        `${page.padEnd(28)} ${small.toFixed(1).padStart(8)} ${big.toFixed(1).padStart(9)}  ${ratio(big, small)}`,
      );
    }
    console.log(`one repository               ${"".padStart(8)} ${one.toFixed(1).padStart(9)}`);
    await printPaints(`${siteUrl}/app/large`, ["", "search", ...pages], cookie, Number(values.rounds));
  } finally {
    await running.stop();
  }
}

/** Medians of the times to the last byte, measured in turn. */
async function measure(urls: string[], cookie: string, rounds: number): Promise<number[]> {
  const times = urls.map((): number[] => []);
  for (let round = -2; round < rounds; round++) {
    for (const [i, url] of urls.entries()) {
      const started = performance.now();
      const response = await fetch(url, { headers: { Cookie: cookie, Accept: "text/html" }, redirect: "manual" });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
      if (round >= 0) times[i]?.push(performance.now() - started);
    }
  }
  return times.map(median);
}

async function printPaints(base: string, pages: readonly string[], cookie: string, rounds: number): Promise<void> {
  const browser = await launchChromium();
  try {
    const urls = pages.map((page) => (page === "" ? base : `${base}/${page}`));
    const wide = await firstPaints(browser, urls, { cookie, rounds, window: WINDOWS.wide });
    const phone = await firstPaints(browser, urls, { cookie, rounds, window: WINDOWS.phone });
    console.log("\nfirst paint                   wide ms  phone ms");
    for (const [i, page] of pages.entries()) {
      const cell = (time: number | undefined) => (time ?? 0).toFixed(0).padStart(8);
      console.log(`${(page === "" ? "overview" : page).padEnd(28)} ${cell(wide[i])}  ${cell(phone[i])}`);
    }
  } finally {
    await browser.close();
  }
}

async function signIn(siteUrl: string, dataDir: string): Promise<string> {
  const post = async (target: string, body: object, cookie = "") => {
    const headers = { "Content-Type": "application/json", Origin: siteUrl, Cookie: cookie };
    const response = await fetch(`${siteUrl}${target}`, { method: "POST", headers, body: JSON.stringify(body) });
    return response.headers.getSetCookie().map((one) => one.split(";")[0] ?? "");
  };
  const pending = await post("/app/api/sign-in", { email: EMAIL });
  const folder = path.join(dataDir, "mail");
  const mail = readFileSync(path.join(folder, readdirSync(folder).at(-1) ?? ""), "utf8");
  const session = await post(
    "/app/api/sign-in/verify",
    { code: /\b\d{6}\b/.exec(mail)?.[0] ?? "" },
    pending.join("; "),
  );
  return session.find((one) => one.startsWith("cc_session=")) ?? "";
}
