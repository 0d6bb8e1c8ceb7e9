import { spawn } from "node:child_process";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/service/db/client.ts";
import { type RunningDatabase, startDatabase } from "../../../src/tooling/local/database/database.ts";
import { addKey } from "../../../src/tooling/local/admin/encryption-key.ts";
import { readKeyRing } from "../../../src/lib/key-ring.ts";
import { bundleModules, WORKERS } from "../../../src/tooling/local/bundles/bundles.ts";
import { PROJECT_ROOT } from "../../../src/tooling/local/project.ts";
import { FAKE_TOKEN, FakeCloudflare } from "../../support/fake-cloudflare.ts";
import { FAKE_NEON_KEY, FakeNeon } from "../../support/fake-neon.ts";

/** The whole command against fakes of both APIs; wrangler and the migrations are the real ones. */
let cloudflare: FakeCloudflare;
let neon: FakeNeon;
let database: RunningDatabase;
let health: Server;
/** Passes queries on to the database, except those that `isLost` names. */
let neonHost: Server;
let isLost: (query: string) => boolean = () => false;
let stateDir: string;

beforeAll(async () => {
  database = await startDatabase();
  await openDb(database.url).execute(sql.raw("drop schema public, drizzle cascade"));
  await openDb(database.url).execute(sql.raw("create schema public"));
  neonHost = createServer((request, response) => {
    const pass = async () => {
      const body = new Uint8Array(await buffer(request));
      if (isLost(new TextDecoder().decode(body))) return void request.socket.destroy();
      const endpoint = `http://${new URL(database.url).host}${request.url}`;
      const answer = await fetch(endpoint, { method: "POST", headers: neonOptions(request.headers), body });
      response.writeHead(answer.status).end(new Uint8Array(await answer.arrayBuffer()));
    };
    pass().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => neonHost.listen(0, "127.0.0.1", resolve));
  [cloudflare, neon] = await Promise.all([FakeCloudflare.start(), FakeNeon.start(neonUrl())]);
  health = createServer((_request, response) => response.end('{"ok":true,"status":"ok"}'));
  await new Promise<void>((resolve) => health.listen(0, "127.0.0.1", resolve));
  stateDir = mkdtempSync(path.join(tmpdir(), "code-context-deploy-"));
});

/** Address of the database as Neon gives it. */
function neonUrl(): string {
  const url = new URL(database.url);
  url.port = String((neonHost.address() as AddressInfo).port);
  return url.toString();
}

/** The driver's headers that change the form of an answer. */
function neonOptions(headers: IncomingHttpHeaders): Record<string, string> {
  const names = Object.keys(headers).filter((name) => name.startsWith("neon-"));
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}

afterAll(async () => {
  neonHost?.closeAllConnections();
  neonHost?.close();
  await Promise.all([
    cloudflare?.stop(),
    neon?.stop(),
    database?.close(),
    new Promise((resolve) => health.close(resolve)),
  ]);
  rmSync(stateDir, { recursive: true, force: true });
});

interface Outcome {
  code: number | null;
  output: string;
}

function stateFile(): string {
  return path.join(stateDir, "staging.json");
}

/** Runs the command; `killAt` ends it with SIGKILL before its nth change at either API. */
function deploy(args: string[] = [], { env = {}, input = "", killAt = 0 } = {}): Promise<Outcome> {
  const apiUrl = `http://127.0.0.1:${(health.address() as AddressInfo).port}`;
  const entry = ["--import", "./src/tooling/local/drizzle-imports.mjs", "src/tooling/deploy/deploy.ts"];
  const child = spawn(process.execPath, [...entry, "--env", "staging", ...args], {
    cwd: PROJECT_ROOT,
    env: {
      PATH: process.env["PATH"],
      HOME: stateDir,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      CLOUDFLARE_API_BASE_URL: cloudflare.apiUrl,
      CLOUDFLARE_API_TOKEN: FAKE_TOKEN,
      CLOUDFLARE_ACCOUNT_ID: cloudflare.accountId,
      // wrangler prefers these to the token if they are set.
      CLOUDFLARE_API_KEY: "of-another-account",
      CLOUDFLARE_EMAIL: "someone@example.com",
      NEON_API_BASE_URL: neon.apiUrl,
      NEON_API_KEY: FAKE_NEON_KEY,
      DEPLOY_STATE_DIR: stateDir,
      CORS_ORIGINS: "https://app.example.com",
      API_URL: apiUrl,
      TENANT_NAME: "acme",
      OWNER_EMAIL: "ada@example.com",
      ...env,
    },
  });
  let changes = 0;
  const countChange = () => {
    if (++changes === killAt) child.kill("SIGKILL");
  };
  // The change itself is still carried out: its answer is lost, which is the worst moment for a creation.
  cloudflare.beforeChange = countChange;
  neon.beforeChange = countChange;
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stdin.end(input);
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

const OPERATORS_RULE = { id: "mine", allowed: { methods: ["GET"], origins: ["https://mine.example.com"] } };

/** Settings of the Workers that a deployment must not reset. */
const SETTINGS_IN_USE = {
  api: { EMBED_PROVIDER: "workers-ai", GIT_HOSTS: "github.com" },
  indexer: { EMBED_PROVIDER: "workers-ai", GIT_HOSTS: "github.com" },
  site: { GIT_HOSTS: "github.com", MAIL_PROVIDER: "resend", MAIL_FROM: "Code <noreply@example.com>" },
  mailKey: "mail-secret",
  r2: "second-secret",
};

/** Versions of the Workers before the last release. */
let releaseBefore: unknown;
/** The encryption key after its rotation. */
let ring: string;

function activeVersions(): unknown {
  return [...cloudflare.scripts.values()].map(({ deployments }) => deployments[0]?.versionId);
}

function workersSettings(): object {
  const of = (worker: string, names: string[]) => {
    const bindings = cloudflare.scripts.get(`code-context-staging-${worker}`)?.metadata.bindings ?? [];
    return Object.fromEntries(names.map((name) => [name, bindings.find((binding) => binding.name === name)?.text]));
  };
  return {
    api: of("api", Object.keys(SETTINGS_IN_USE.api)),
    indexer: of("indexer", Object.keys(SETTINGS_IN_USE.indexer)),
    site: of("site", Object.keys(SETTINGS_IN_USE.site)),
    mailKey: cloudflare.scripts.get("code-context-staging-site")?.secrets.get("MAIL_API_KEY"),
    r2: cloudflare.scripts.get("code-context-staging-api")?.secrets.get("R2_SECRET_ACCESS_KEY"),
  };
}

describe("npm run deploy", () => {
  it("passes on the platform's refusal of a token, without the token", async () => {
    const wrong = await deploy([], { env: { CLOUDFLARE_API_TOKEN: "wrong-token" } });
    expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining("Invalid access token (9109)") });
    expect(wrong.output).not.toContain("wrong-token");
  });

  it("says what to do about a token that may not list accounts or create tokens", async () => {
    const accountless = await deploy(["--dry-run"], { env: { CLOUDFLARE_ACCOUNT_ID: "" } });
    expect(accountless.output).toContain("the token cannot list its accounts: set CLOUDFLARE_ACCOUNT_ID");
    cloudflare.token.makesTokens = false;
    const keyless = await deploy(["--dry-run"]);
    cloudflare.token.makesTokens = true;
    expect(keyless.output).toMatch(/may not create an R2 key .*9109.*set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY/);
  });

  it("says what it would do and does nothing in a dry run", async () => {
    const { code, output } = await deploy(["--dry-run"]);
    expect(output).toContain("create Neon project code-context-staging");
    expect(output).toContain("create code-context-staging-index, code-context-staging-index-dead");
    expect(output).toContain("Dry run: nothing was changed.");
    expect(code).toBe(0);
    expect(cloudflare.changes).toEqual([]);
    expect(neon.projects.size).toBe(0);
    expect(existsSync(stateFile())).toBe(false);
  });

  it("goes on after a kill at every step, and ends with one complete deployment", { timeout: 600_000 }, async () => {
    let last: Outcome = { code: null, output: "" };
    // Two or three changes a run: replacing a key whose value was lost takes two. Uploads are left to the last run.
    for (let runs = 0; last.code !== 0; runs++) {
      expect(runs, last.output).toBeLessThan(20);
      last = await deploy([], { killAt: cloudflare.scripts.size > 0 ? 0 : 2 + (runs % 2) });
    }
    expect(cloudflare.unknown).toEqual([]);
    expect([...cloudflare.scripts.keys()]).toEqual([
      "code-context-staging-api",
      "code-context-staging-indexer",
      "code-context-staging-site",
    ]);
    for (const worker of WORKERS) {
      const uploaded = [...(cloudflare.scripts.get(`code-context-staging-${worker}`)?.modules ?? [])];
      const built = bundleModules(worker).map((module) => path.basename(module.path));
      expect(uploaded.map(([name]) => name).toSorted()).toEqual([...built, "worker.js.map"].toSorted());
      for (const [name, type] of uploaded) if (/\.(?:css|client\.js|txt)$/.test(name)) expect(type).toBe("text/plain");
    }
    expect([...cloudflare.queues.values()].map(({ name, consumers }) => [name, consumers.length])).toEqual([
      ["code-context-staging-index", 1],
      ["code-context-staging-index-dead", 1],
    ]);
    expect(neon.projects.size).toBe(1);
    expect(cloudflare.tokens.size).toBe(1);
    const api = cloudflare.scripts.get("code-context-staging-api");
    const indexer = cloudflare.scripts.get("code-context-staging-indexer");
    const [tokenId = ""] = cloudflare.tokens.keys();
    expect(api?.secrets.get("R2_ACCESS_KEY_ID")).toBe(tokenId);
    expect(api?.secrets.get("R2_SECRET_ACCESS_KEY")).toBe(cloudflare.secretOf(tokenId));
    expect(api?.secrets.get("ENCRYPTION_KEY")).toBe(indexer?.secrets.get("ENCRYPTION_KEY"));
    expect(api?.secrets.get("DATABASE_URL")).toBe(neonUrl());
    const s3Url = api?.metadata.bindings.find(({ name }) => name === "SNAPSHOTS_S3_URL")?.text;
    expect(s3Url).toBe(`https://${cloudflare.accountId}.r2.cloudflarestorage.com/code-context-staging-snapshots`);
    const buckets = [...cloudflare.buckets.values()];
    // Each has R2's own rule, and one has ours besides.
    expect(buckets.map(({ lifecycle }) => lifecycle.length)).toEqual([1, 2]);
    expect(buckets.filter(({ cors }) => cors.length > 0)).toHaveLength(1);
    expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
    const owners = sql`select t.name, u.email, m.role from tenants t join memberships m on m.tenant_id = t.id join users u on u.id = m.user_id`;
    const { rows } = await openDb(database.url).execute(owners);
    expect(rows).toEqual([{ name: "acme", email: "ada@example.com", role: "owner" }]);
    expect(last.output).toMatch(/API key +cc_live_/);
    expect(last.output).toContain("ada@example.com cannot sign in to the dashboard yet: set MAIL_PROVIDER");
    const site = cloudflare.scripts.get("code-context-staging-site")?.metadata.bindings ?? [];
    expect(site).toContainEqual(
      expect.objectContaining({ type: "service", service: "code-context-staging-api", entrypoint: "DashboardSearch" }),
    );
    expect(site).toContainEqual(expect.objectContaining({ type: "send_email", name: "EMAIL" }));
    expect(site.find(({ name }) => name === "MAIL_PROVIDER")?.text).toBe("none");
  });

  it("changes nothing but the uploads when it is repeated, and shows no secret", { timeout: 600_000 }, async () => {
    const before = cloudflare.changes.length;
    const key = cloudflare.scripts.get("code-context-staging-api")?.secrets.get("ENCRYPTION_KEY") ?? "";
    const mail = { MAIL_PROVIDER: "resend", MAIL_FROM: "Code <noreply@example.com>", MAIL_API_KEY: "mail-secret" };
    const r2 = { R2_ACCESS_KEY_ID: "second-id", R2_SECRET_ACCESS_KEY: "second-secret" };
    let requests = 0;
    cloudflare.isTooMany = () => ++requests % 8 === 0;
    const settings = { EMBED_PROVIDER: "workers-ai", GIT_HOSTS: "github.com", SITE_DOMAIN: "code.example.com" };
    const { code, output } = await deploy([], { env: { ...mail, ...r2, ...settings } });
    cloudflare.isTooMany = () => false;
    expect(code, output).toBe(0);
    expect(output).toContain('EMBED_PROVIDER: "builtin" → "workers-ai"');
    const site = { hostname: "code.example.com", service: "code-context-staging-site" };
    expect([...cloudflare.domains.attached.values()]).toMatchObject([site]);
    expect(cloudflare.scripts.get("code-context-staging-api")?.secrets.get("R2_SECRET_ACCESS_KEY")).toBe(
      "second-secret",
    );
    expect(output).not.toContain("second-secret");
    // A given key is kept: a later deployment without the variables must not bring the one before back.
    const state = JSON.parse(readFileSync(stateFile(), "utf8")) as object;
    expect(state).toMatchObject({ r2: { accessKeyId: "second-id", secretAccessKey: "second-secret" } });
    expect((await deploy(["--dry-run"])).output).toMatch(/R2 key +nothing to do/);
    const bindingsOf = (worker: string) =>
      cloudflare.scripts.get(`code-context-staging-${worker}`)?.metadata.bindings ?? [];
    expect(bindingsOf("site").find(({ name }) => name === "MAIL_FROM")?.text).toBe(mail.MAIL_FROM);
    expect(cloudflare.scripts.get("code-context-staging-site")?.secrets.get("MAIL_API_KEY")).toBe("mail-secret");
    const withAi = ["api", "indexer", "site"].map((worker) => bindingsOf(worker).some(({ type }) => type === "ai"));
    expect(withAi).toEqual([true, true, false]);
    expect(output).not.toContain("mail-secret");
    const changed = cloudflare.changes.slice(before).filter((change) => !/\/workers\/(?:scripts|domains)/.test(change));
    expect(changed.filter((change) => !change.includes("/consumers"))).toEqual([]);
    expect(cloudflare.scripts.get("code-context-staging-api")?.secrets.get("ENCRYPTION_KEY")).toBe(key);
    expect(output).not.toContain(key);
    expect(output).not.toContain("postgres://");
    expect(output).not.toContain("cc_live_");
  });

  it(
    "resets nothing when it is run from another shell, on a state of an earlier commit, and when it fails half-way",
    { timeout: 600_000 },
    async () => {
      releaseBefore = activeVersions();
      const kept = JSON.parse(readFileSync(stateFile(), "utf8")) as { encryptionKey: string; neonProjectId: string };
      const { encryptionKey, neonProjectId } = kept;
      ring = addKey(encryptionKey);
      // As 7f3ff83 wrote it.
      const r2 = { accessKeyId: "second-id", secretAccessKey: "second-secret" };
      writeFileSync(stateFile(), JSON.stringify({ encryptionKey, r2, neonProjectId }));
      cloudflare.buckets.get("code-context-staging-snapshots")?.cors.push(OPERATORS_RULE);
      const bare = { CORS_ORIGINS: "", TENANT_NAME: "", CLOUDFLARE_API_KEY: "", CLOUDFLARE_EMAIL: "" };
      const plan = await deploy(["--dry-run"], { env: bare });
      expect(plan.output).toContain(`settings              keep them in ${stateFile()}`);
      // Fails for good once the first of three Workers is uploaded.
      const api = cloudflare.scripts.get("code-context-staging-api");
      const uploaded = api?.versions.size ?? 0;
      cloudflare.isTooMany = (request) => request.includes("staging-indexer") && (api?.versions.size ?? 0) > uploaded;
      const failed = await deploy([], { env: { ...bare, ENCRYPTION_KEY: ring } });
      cloudflare.isTooMany = () => false;
      expect(failed).toMatchObject({
        code: 1,
        output: expect.stringMatching(/api Worker(?:.|\n)*throttling your request/),
      });
      expect(failed.output).not.toContain(encryptionKey);
      expect(api?.versions.size).toBe(uploaded + 1);
      expect(workersSettings()).toEqual(SETTINGS_IN_USE);
      expect(cloudflare.buckets.get("code-context-staging-snapshots")?.cors).toHaveLength(2);
      const state = JSON.parse(readFileSync(stateFile(), "utf8")) as object;
      expect(state).toMatchObject({ version: 2, encryptionKey: ring, r2, neonProjectId });
    },
  );

  it(
    "keeps a rotated encryption key, takes CORS rules away and refuses what would harm, with a lost answer",
    { timeout: 600_000 },
    async () => {
      const env = { API_URL: "", CORS_ORIGINS: "", TENANT_NAME: "", CLOUDFLARE_ACCOUNT_ID: "" };
      const foreign = await deploy([], { env: { ...env, ENCRYPTION_KEY: "x".repeat(44) } });
      expect(foreign.output).toContain("ENCRYPTION_KEY does not continue the key in use");
      const elsewhere = await deploy([], { env: { ...env, CLOUDFLARE_ACCOUNT_ID: "f".repeat(32) } });
      expect(elsewhere.output).toContain(`staging is deployed in account ${cloudflare.accountId}`);
      const lost: string[] = [];
      isLost = (query) => {
        const isCount = /count\(\*\).* from \\"(?:tenants|users)\\"/.test(query);
        return isCount && lost.push(query) === 1;
      };
      // Without ENCRYPTION_KEY: the run before has kept it.
      const args = ["--unset", "CORS_ORIGINS"];
      const { code, output } = await deploy(args, { env: { ...env, SITE_DOMAIN: "code.example.com" } });
      isLost = () => false;
      expect(code, output).toBe(0);
      expect(lost.length).toBeGreaterThan(1);
      const [count] = (await openDb(database.url).execute(sql`select count(*)::int as tenants from tenants`)).rows;
      expect(count).toEqual({ tenants: 1 });
      for (const worker of ["api", "indexer", "site"])
        expect(cloudflare.scripts.get(`code-context-staging-${worker}`)?.secrets.get("ENCRYPTION_KEY")).toBe(ring);
      expect(cloudflare.buckets.get("code-context-staging-snapshots")?.cors).toEqual([OPERATORS_RULE]);
      expect(workersSettings()).toEqual(SETTINGS_IN_USE);
      const { current, others } = readKeyRing(ring);
      for (const key of [current, ...others]) expect(output).not.toContain(key);
    },
  );

  it("goes back to the version before, once, and changes nothing else", async () => {
    const before = cloudflare.changes.length;
    expect((await deploy(["rollback", "--dry-run"])).output).toContain("Dry run: nothing was changed.");
    expect(cloudflare.changes.length).toBe(before);
    // Killed after the first of three Workers, and repeated: no Worker goes back twice, or forward again.
    await deploy(["rollback"], { killAt: 2 });
    const { code, output } = await deploy(["rollback"]);
    expect(code, output).toBe(0);
    expect(output).toMatch(/site Worker +nothing to do/);
    // Not to the upload before, which was the interrupted first half of the same release.
    expect(activeVersions()).toEqual(releaseBefore);
    // Cloudflare refuses a version whose secrets have changed, unless it is forced.
    expect(output).toMatch(/the version has secrets of its own: .*10220/);
    const changes = new Set(cloudflare.changes.slice(before).map((change) => change.split("/").at(-1)));
    expect([...changes]).toEqual(["deployments"]);
    expect(cloudflare.unknown).toEqual([]);
  });

  it("destroys only what is confirmed, the data after a second question", async () => {
    expect((await deploy(["destroy"], { input: "yes\n" })).output).toContain("nothing was changed");
    const keyless = await deploy(["destroy"], { input: "code-context-staging\n", env: { NEON_API_KEY: "" } });
    expect(keyless.output).toContain("NEON_API_KEY is not set: this deployment has the Neon project");
    expect(cloudflare.scripts.size).toBe(3);
    const first = await deploy(["destroy"], { input: "code-context-staging\nno\n" });
    expect(first.output).toContain("data kept");
    expect(cloudflare.scripts.size + cloudflare.queues.size).toBe(0);
    expect(neon.projects.size).toBe(1);
    expect(first.output).toContain("detached code.example.com");
    expect(first.output).toContain("removed code-context-staging-api");
    for (const bucket of cloudflare.buckets.values()) bucket.objects = 1;
    cloudflare.token.makesTokens = false;
    const answers = "code-context-staging\ndelete code-context-staging data\n";
    const full = await deploy(["destroy"], { input: answers });
    expect(full.output).toContain("code-context-staging-api does not exist");
    expect(full.output).toContain("R2 token code-context-staging-r2 could not be looked for");
    expect(full.output).toContain("they expire within a day");
    expect(full.output).toContain("removed Neon project code-context-staging");
    expect(neon.projects.size).toBe(0);
    // What is gone is forgotten: a deployment in the meantime would otherwise use a deleted key or project.
    const left = JSON.parse(readFileSync(stateFile(), "utf8")) as object;
    expect(Object.keys(left).toSorted()).toEqual([
      "accountId",
      "domains",
      "encryptionKey",
      "secrets",
      "vars",
      "version",
    ]);
    for (const bucket of cloudflare.buckets.values()) bucket.objects = 0;
    await deploy(["destroy"], { input: answers });
    expect(cloudflare.buckets.size).toBe(0);
    expect(existsSync(stateFile())).toBe(false);
  });
});
