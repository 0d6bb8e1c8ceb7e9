/** The service at a public address: behind a reverse proxy with TLS, closed for strangers, and killed between an invitation and its mail. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../src/service/db/client.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { createTenant, createWorkspace } from "../../src/service/tenancy/index.ts";
import { addUser } from "../../src/service/users/index.ts";
import { FakeGithub } from "../support/fake-github.ts";
import { askOverTls, startTlsProxy, type TlsAnswer, type TlsProxy } from "../support/tls-proxy.ts";
import { freePort } from "../../src/tooling/local/stack/ports.ts";
import { newEmail } from "./support/dashboard.ts";
import { KillableService } from "./support/killable-service.ts";

/** Ports that are taken when the Workers start on them, as by another program that was faster. */
const raced: number[] = [];

const NAME = "code.example.com";
const SITE = `https://${NAME}`;
const MAX_FROM_SOURCE = 3;

let service: KillableService;
let proxy: TlsProxy;
let github: FakeGithub;

beforeAll(async () => {
  github = await FakeGithub.start([], { "a.ts": "" });
  service = await KillableService.start(
    {
      SIGN_UP: "invitation",
      GIT_ALLOW_LOCAL: "true",
      GITHUB_URL: github.origin,
      GITHUB_CLIENT_ID: github.signIns.client.id,
      GITHUB_CLIENT_SECRET: github.signIns.client.secret,
      TRUSTED_PROXIES: "127.0.0.1",
      RATE_LIMITS: JSON.stringify({ sign_in_source: { limit: MAX_FROM_SOURCE, windowSec: 100_000_000 } }),
    },
    {
      publicSiteUrl: SITE,
      publicApiUrl: "https://api.example.com",
      choosePort: async () => raced.pop() ?? (await freePort()),
    },
  );
  proxy = await startTlsProxy(service.siteUrl);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await service.close();
  await github[Symbol.asyncDispose]();
});

let clients = 0;

/** A browser at a source address of its own, behind the proxy. */
class Browser {
  readonly cookies = new Map<string, string>();
  readonly source = `203.0.113.${++clients}`;

  async send(target: string, json?: unknown, headers: Record<string, string> = {}): Promise<TlsAnswer> {
    const answer = await askOverTls(proxy.port, {
      name: NAME,
      path: target,
      ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
      headers: {
        Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        "X-Forwarded-For": this.source,
        ...(json === undefined ? {} : { "Content-Type": "application/json", Origin: SITE }),
        ...headers,
      },
    });
    for (const cookie of answer.headers["set-cookie"] ?? []) {
      expect(cookie).toContain("; Secure");
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.cookies.set(name, value);
    }
    return answer;
  }

  async signIn(email: string): Promise<this> {
    expect((await this.send("/app/api/sign-in", { email })).status).toBe(200);
    const code = /\b\d{6}\b/.exec(mailOf(email).at(-1) ?? "")?.[0];
    expect((await this.send("/app/api/sign-in/verify", { code })).status).toBe(200);
    return this;
  }
}

function mailOf(email: string): string[] {
  const folder = path.join(service.dataDir, "mail");
  const names = readdirSync(folder).filter((name) => name.endsWith(`-${email}.eml`));
  return names.toSorted().map((name) => readFileSync(path.join(folder, name), "utf8"));
}

async function newTeam() {
  const db = openDb(service.databaseUrl);
  const { tenantId } = await createTenant(db, { name: "acme" });
  const { workspaceId } = await createWorkspace(db, { tenantId, repo: "https://git.example.com/a/b" });
  const email = newEmail();
  await addUser(db, { email, tenantId, role: "owner" });
  const [row] = await rowsOf<{ slug: string }>(db, sql`select slug from tenants where id = ${tenantId}`);
  return { base: `/app/api/tenants/${row?.slug ?? ""}`, workspaceId, owner: await new Browser().signIn(email), email };
}

describe("behind a proxy with TLS", () => {
  it("people sign in, and links name the public address, whatever the Host header says", async () => {
    const { base, workspaceId, owner, email } = await newTeam();
    expect(mailOf(email).at(-1)).toContain(`Enter this code at ${SITE} `);
    const evil = { Host: "evil.example" };
    const stranger = newEmail();
    expect((await owner.send(`${base}/invitations`, { email: stranger, role: "member" }, evil)).status).toBe(201);
    const link = /https?:\/\/\S+\/app\/join\/[\w-]{43}/.exec(mailOf(stranger).at(-1) ?? "")?.[0] ?? "";
    expect(link.startsWith(`${SITE}/app/join/`)).toBe(true);
    const hook = await owner.send(`${base}/repositories/${workspaceId}/hooks`, { provider: "github" }, evil);
    expect((JSON.parse(hook.text) as { url: string }).url).toMatch(`${SITE}/api/v1/hooks/github/`);
    for (const page of [base.replace("/app/api/tenants/", "/app/") + "/connect", "/llms.txt"]) {
      const { text } = await owner.send(page, undefined, { ...evil, Accept: "text/html" });
      expect(text).toContain(SITE);
      expect(text).not.toContain("evil.example");
    }
    const again = new Browser();
    await again.send("/app/api/sign-in", { email }, evil);
    expect(mailOf(email).at(-1)).toContain(`at ${SITE} `);
  });

  it("changes come from the public address only", async () => {
    const { base, owner } = await newTeam();
    for (const Origin of ["https://evil.example", `http://${NAME}`, `${SITE}:8443`, service.siteUrl, "null"]) {
      const { status, text } = await owner.send(`${base}/settings`, { name: "x" }, { Origin });
      expect([Origin, status]).toEqual([Origin, 403]);
      expect(text).toContain(SITE);
    }
    const evil = { Host: "evil.example", Origin: "https://evil.example" };
    expect((await owner.send(`${base}/settings`, { name: "x" }, evil)).status).toBe(403);
    expect((await owner.send(`${base}/settings`, { name: "x" })).status).toBe(200);
  });

  it("snapshots are uploaded at the public address of the api", async () => {
    const { apiKey } = await createTenant(openDb(service.databaseUrl), { name: "acme", sharedIndex: true });
    await using apiProxy = await startTlsProxy(service.apiUrl);
    const name = "api.example.com";
    const body = "an artifact";
    const manifest = {
      formatVersion: 4,
      gitSha: "a".repeat(40),
      checksum: `sha256:${createHash("sha256").update(body).digest("hex")}`,
      compression: "zstd",
      fileCount: 1,
      symbolCount: 1,
      embedding: { fingerprint: "x", dimension: 3 },
    };
    const signed = await askOverTls(apiProxy.port, {
      name,
      path: "/index-snapshot",
      method: "POST",
      headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ op: "sign", repo: "github.com/a/b", sizeBytes: body.length, manifest }),
    });
    const { uploadUrl, uploadHeaders } = JSON.parse(signed.text) as {
      uploadUrl: string;
      uploadHeaders: Record<string, string>;
    };
    const url = new URL(uploadUrl);
    expect(url.origin).toBe(`https://${name}`);
    const put = await askOverTls(apiProxy.port, {
      name,
      path: url.pathname + url.search,
      method: "PUT",
      headers: { ...uploadHeaders, "Content-Length": String(body.length) },
      body,
    });
    expect([put.status, put.text]).toEqual([200, ""]);
  });

  it("budgets by address count for the client, not for the proxy, and not for what the client claims", async () => {
    const ask = async (browser: Browser, claimed?: string) => {
      const headers = claimed === undefined ? {} : { "X-Forwarded-For": `${claimed}, ${browser.source}` };
      return (await browser.send("/app/api/sign-in", { email: newEmail() }, headers)).status;
    };
    const [first, second] = [new Browser(), new Browser()];
    for (let i = 0; i < MAX_FROM_SOURCE; i++) expect(await ask(first, `198.51.100.${i}`)).toBe(200);
    expect(await ask(first, "198.51.100.99")).toBe(429);
    expect(await ask(second)).toBe(200);
  });
});

describe("by invitation", () => {
  it("strangers get the same answer and no code; invited people get one", async () => {
    const { base, owner, email } = await newTeam();
    const stranger = newEmail();
    const [known, unknown] = [new Browser(), new Browser()];
    const answers = [
      await known.send("/app/api/sign-in", { email }),
      await unknown.send("/app/api/sign-in", { email: stranger }),
    ];
    const [a, b] = answers.map(({ status, text }) => [
      status,
      text.replace(encodeURIComponent(email), encodeURIComponent(stranger)),
    ]);
    expect(a).toEqual(b);
    expect(unknown.cookies.get("cc_pending")).toHaveLength(43);
    expect(mailOf(stranger)).toEqual([]);
    await owner.send(`${base}/invitations`, { email: stranger, role: "member" });
    const guest = await new Browser().signIn(stranger);
    const token = /\/app\/join\/([\w-]{43})/.exec(mailOf(stranger)[0] ?? "")?.[1];
    expect((await guest.send("/app/api/invitations/accept", { token })).status).toBe(200);
  });
});

describe("with GitHub", () => {
  const BEGIN = "/app/sign-in/github";
  const address = (email: string, primary = true, verified = true) => ({ email, primary, verified, visibility: null });

  /** Goes to GitHub, where the person has these addresses; the path to which GitHub leads back. */
  async function begin(browser: Browser, emails = [address(newEmail())], next = "/app"): Promise<string> {
    const asked = await browser.send(`${BEGIN}?next=${encodeURIComponent(next)}`);
    const there = new URL(String(asked.headers["location"]));
    expect([asked.status, there.origin, there.searchParams.get("scope")]).toEqual([302, github.origin, "user:email"]);
    expect(there.searchParams.get("redirect_uri")).toBe(`${SITE}${BEGIN}/callback`);
    github.signIns.emailsOfPerson = emails;
    const back = await fetch(there, { redirect: "manual" });
    return (back.headers.get("Location") ?? "").replace(SITE, "");
  }

  /** Where a sign-in ends, and what is said. */
  async function end(browser: Browser, path: string): Promise<[string, string]> {
    const answer = await browser.send(path);
    expect(answer.status).toBe(303);
    return [String(answer.headers["location"]), decodeURIComponent(browser.cookies.get("cc_notice") ?? "")];
  }

  it("the verified primary address decides the person; SIGN_UP holds, and GitHub's codes count once", async () => {
    const { base, email, owner } = await newTeam();
    expect((await owner.send("/app/sign-in")).status).toBe(303);
    const browser = new Browser();
    expect((await browser.send("/app/sign-in")).text).toContain("Sign in with GitHub");
    const page = base.replace("/app/api/tenants/", "/app/");
    const others = [address(newEmail(), false), address(email.toUpperCase())];
    const path = await begin(browser, others, `${page}/team`);
    expect((await end(browser, path))[0]).toBe(`${page}/team`);
    const { text } = await browser.send(`${page}/team`);
    expect(text).toContain(email);
    for (const secret of github.secrets) expect(text).not.toContain(secret);
    // The same path again, in this browser and in another.
    for (const again of [browser, new Browser()])
      expect((await end(again, path))[1]).toContain("was not begun in this browser");
    const stranger = new Browser();
    expect((await end(stranger, await begin(stranger)))[1]).toContain("is not invited");
    expect(stranger.cookies.get("cc_session")).toBeUndefined();
  });

  it("nobody takes over an account with an address that is not theirs, or a sign-in of others", async () => {
    const { email } = await newTeam();
    for (const emails of [[address(email, true, false)], [address(email, false)], []]) {
      const browser = new Browser();
      expect((await end(browser, await begin(browser, emails)))[1]).toContain("is not verified");
      expect(browser.cookies.get("cc_session")).toBeUndefined();
    }
    // The code and state of somebody else's browser.
    const victim = new Browser();
    await begin(victim);
    const attacker = await begin(new Browser(), [address(email)]);
    expect((await end(victim, attacker))[1]).toContain("was not begun in this browser");
    // A code that was made for another challenge.
    const thief = new Browser();
    const own = new URL(await begin(thief), SITE);
    own.searchParams.set("code", new URL(attacker, SITE).searchParams.get("code") ?? "");
    expect((await end(thief, own.pathname + own.search))[1]).toContain("does not accept this sign-in");
    const refused = new Browser();
    const denied = new URL(await begin(refused), SITE);
    denied.searchParams.delete("code");
    expect((await end(refused, `${denied.pathname}${denied.search}&error=access_denied`))[1]).toContain(
      "GitHub sent no code",
    );
  });

  it("begins as often as codes are sent to an address, and survives a GitHub that fails", async () => {
    const browser = new Browser();
    const path = await begin(browser);
    github.failing = 500;
    const [to, notice] = await end(browser, path).finally(() => (github.failing = undefined));
    expect([to, notice]).toEqual(["/app/sign-in?next=%2Fapp", expect.stringContaining("answered with status 500")]);
    await browser.send(BEGIN);
    expect((await browser.send(BEGIN)).status).toBe(429);
    for (const next of ["https://evil.example", "//evil.example", "/app/api/sign-out"]) {
      const other = new Browser();
      expect((await end(other, await begin(other, [], next)))[0]).toBe("/app/sign-in?next=%2Fapp");
    }
  });
});

// Each waits for a restart and then for the lease of a mail.
describe("a kill between an invitation and its mail", { timeout: 240_000 }, () => {
  it("loses no mail, also if its sender died with it", async () => {
    const { base, owner } = await newTeam();
    const guest = newEmail();
    const killed = service.killAt({ at: "after", matches: ({ query }) => query.includes("update mails set due_at") });
    const inviting = owner.send(`${base}/invitations`, { email: guest, role: "member" }).catch(() => undefined);
    await killed;
    await inviting;
    expect(mailOf(guest)).toEqual([]);
    await service.resume();
    await expect.poll(() => mailOf(guest).length, { interval: 200 }).toBe(1);
  });

  it("sends no mail twice that was delivered, and could not be recorded", async () => {
    const { base, owner } = await newTeam();
    const guest = newEmail();
    const killed = service.killAt({
      at: "before",
      matches: ({ query }) => /update "mails" set .*"sent_at"/.test(query),
    });
    const inviting = owner.send(`${base}/invitations`, { email: guest, role: "member" }).catch(() => undefined);
    await killed;
    await inviting;
    expect(mailOf(guest)).toHaveLength(1);
    raced.push(proxy.port);
    await service.restart();
    expect(raced).toEqual([]);
    const isSent = sql`select sent_at is not null as sent from mails order by created_at desc limit 1`;
    await expect.poll(() => rowsOf(openDb(service.databaseUrl), isSent), { interval: 500 }).toEqual([{ sent: true }]);
    expect(mailOf(guest)).toHaveLength(1);
  });
});
