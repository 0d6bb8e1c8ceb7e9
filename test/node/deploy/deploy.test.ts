import { spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/db/client.ts";
import { type RunningDatabase, startDatabase } from "../../../src/local/database/database.ts";
import { readSettings } from "../../../src/deploy/settings.ts";
import { PROJECT_ROOT } from "../../../src/local/project.ts";
import { FAKE_TOKEN, FakeCloudflare } from "../../support/fake-cloudflare.ts";
import { FAKE_NEON_KEY, FakeNeon } from "../../support/fake-neon.ts";

/** The whole command against fakes of both APIs; wrangler and the migrations are the real ones. */
let cloudflare: FakeCloudflare;
let neon: FakeNeon;
let database: RunningDatabase;
let health: Server;
let stateDir: string;

beforeAll(async () => {
  database = await startDatabase();
  await openDb(database.url).execute(sql.raw("drop schema public cascade"));
  await openDb(database.url).execute(sql.raw("drop schema drizzle cascade"));
  await openDb(database.url).execute(sql.raw("create schema public"));
  [cloudflare, neon] = await Promise.all([FakeCloudflare.start(), FakeNeon.start(database.url)]);
  health = createServer((_request, response) => response.end('{"ok":true,"status":"ok"}'));
  await new Promise<void>((resolve) => health.listen(0, "127.0.0.1", resolve));
  stateDir = mkdtempSync(path.join(tmpdir(), "code-context-deploy-"));
});

afterAll(async () => {
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

/** Runs the command; `killAt` ends it with SIGKILL before its nth change at either API. */
function deploy(args: string[] = [], { env = {}, input = "", killAt = 0 } = {}): Promise<Outcome> {
  const apiUrl = `http://127.0.0.1:${(health.address() as AddressInfo).port}`;
  const entry = ["--import", "./src/local/drizzle-imports.mjs", "src/deploy/deploy.ts"];
  const child = spawn(process.execPath, [...entry, "--env", "staging", ...args], {
    cwd: PROJECT_ROOT,
    env: {
      PATH: process.env["PATH"],
      HOME: stateDir,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      CLOUDFLARE_API_BASE_URL: cloudflare.apiUrl,
      CLOUDFLARE_API_TOKEN: FAKE_TOKEN,
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

describe("npm run deploy", () => {
  it("names what is missing in the environment", () => {
    const read = (args: string[], env: NodeJS.ProcessEnv) => () => readSettings(args, env, []);
    const token = { CLOUDFLARE_API_TOKEN: "t" };
    expect(read([], {})).toThrow("CLOUDFLARE_API_TOKEN is not set");
    expect(read([], token)).toThrow("set NEON_API_KEY to have one created, or DATABASE_URL");
    expect(read([], { ...token, DATABASE_URL: "mysql://x" })).toThrow("DATABASE_URL: expected postgres://");
    expect(read(["--env", "No!"], token)).toThrow("--env No!: expected up to 20 lower-case letters");
    expect(read(["--bogus"], token)).toThrow("Unknown option '--bogus'");
    expect(read(["undo"], token)).toThrow('unknown command "undo"');
    const mail = { ...token, NEON_API_KEY: "n", MAIL_PROVIDER: "resend", MAIL_API_KEY: "", MAIL_FROM: "" };
    expect(read([], mail)).toThrow("MAIL_FROM is not set");
    expect(read([], { ...mail, MAIL_FROM: "a@example.com" })).toThrow("MAIL_API_KEY is not set: resend needs it");
    expect(read([], { ...mail, MAIL_PROVIDER: "smtp" })).toThrow("expected cloudflare, resend or none");
    expect(read([], { ...token, NEON_API_KEY: "n", R2_ACCESS_KEY_ID: "id" })).toThrow("set both, or neither");
  });

  it("passes on the platform's refusal of a token, without the token", async () => {
    const wrong = await deploy([], { env: { CLOUDFLARE_API_TOKEN: "wrong-token" } });
    expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining("Invalid access token (9109)") });
    expect(wrong.output).not.toContain("wrong-token");
  });

  it("says what it would do and does nothing in a dry run", async () => {
    const { code, output } = await deploy(["--dry-run"]);
    expect(output).toContain("create Neon project code-context-staging");
    expect(output).toContain("create code-context-staging-index, code-context-staging-index-dead");
    expect(output).toContain("Dry run: nothing was changed.");
    expect(code).toBe(0);
    expect(cloudflare.changes).toEqual([]);
    expect(neon.projects.size).toBe(0);
    expect(existsSync(path.join(stateDir, "staging.json"))).toBe(false);
  });

  it("goes on after a kill at every step, and ends with one complete deployment", { timeout: 300_000 }, async () => {
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
    expect(api?.secrets.get("DATABASE_URL")).toBe(database.url);
    const s3Url = api?.metadata.bindings.find(({ name }) => name === "SNAPSHOTS_S3_URL")?.text;
    expect(s3Url).toBe(`https://${cloudflare.accountId}.r2.cloudflarestorage.com/code-context-staging-snapshots`);
    const buckets = [...cloudflare.buckets.values()];
    expect(buckets.filter(({ lifecycle }) => lifecycle.length > 0)).toHaveLength(1);
    expect(buckets.filter(({ cors }) => cors.length > 0)).toHaveLength(1);
    expect(statSync(path.join(stateDir, "staging.json")).mode & 0o777).toBe(0o600);
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

  it("changes nothing but the uploads when it is repeated, and shows no secret", async () => {
    const before = cloudflare.changes.length;
    const key = cloudflare.scripts.get("code-context-staging-api")?.secrets.get("ENCRYPTION_KEY") ?? "";
    const mail = { MAIL_PROVIDER: "resend", MAIL_FROM: "Code <noreply@example.com>", MAIL_API_KEY: "mail-secret" };
    const r2 = { R2_ACCESS_KEY_ID: "second-id", R2_SECRET_ACCESS_KEY: "second-secret" };
    const { code, output } = await deploy([], { env: { ...mail, ...r2, EMBED_PROVIDER: "workers-ai" } });
    expect(code, output).toBe(0);
    expect(cloudflare.scripts.get("code-context-staging-api")?.secrets.get("R2_SECRET_ACCESS_KEY")).toBe(
      "second-secret",
    );
    expect(output).not.toContain("second-secret");
    // A given key is kept: a later deployment without the variables must not bring the one before back.
    const state = JSON.parse(readFileSync(path.join(stateDir, "staging.json"), "utf8")) as object;
    expect(state).toMatchObject({ r2: { accessKeyId: "second-id", secretAccessKey: "second-secret" } });
    expect((await deploy(["--dry-run"])).output).toMatch(/R2 key +nothing to do/);
    const bindingsOf = (worker: string) =>
      cloudflare.scripts.get(`code-context-staging-${worker}`)?.metadata.bindings ?? [];
    expect(bindingsOf("site").find(({ name }) => name === "MAIL_FROM")?.text).toBe(mail.MAIL_FROM);
    expect(cloudflare.scripts.get("code-context-staging-site")?.secrets.get("MAIL_API_KEY")).toBe("mail-secret");
    const withAi = ["api", "indexer", "site"].map((worker) => bindingsOf(worker).some(({ type }) => type === "ai"));
    expect(withAi).toEqual([true, true, false]);
    expect(output).not.toContain("mail-secret");
    const changed = cloudflare.changes.slice(before).filter((change) => !change.includes("/workers/scripts/"));
    expect(changed.filter((change) => !change.includes("/consumers"))).toEqual([]);
    expect(cloudflare.scripts.get("code-context-staging-api")?.secrets.get("ENCRYPTION_KEY")).toBe(key);
    expect(output).not.toContain(key);
    expect(output).not.toContain("postgres://");
    expect(output).not.toContain("cc_live_");
  });

  it("goes back to the version before, once, and changes nothing else", async () => {
    const active = () => [...cloudflare.scripts.values()].map(({ deployments }) => deployments[0]?.versionId);
    const earlier = [...cloudflare.scripts.values()].map(({ deployments }) => deployments[1]?.versionId);
    const before = cloudflare.changes.length;
    expect((await deploy(["rollback", "--dry-run"])).output).toContain("Dry run: nothing was changed.");
    expect(cloudflare.changes.length).toBe(before);
    // Killed after the first of three Workers, and repeated: no Worker goes back twice, or forward again.
    await deploy(["rollback"], { killAt: 2 });
    const { code, output } = await deploy(["rollback"]);
    expect(code, output).toBe(0);
    expect(output).toMatch(/site Worker +nothing to do/);
    expect(active()).toEqual(earlier);
    expect(cloudflare.scripts.get("code-context-staging-site")?.secrets.get("MAIL_API_KEY")).toBe("unset");
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
    for (const bucket of cloudflare.buckets.values()) bucket.objects = 1;
    const answers = "code-context-staging\ndelete code-context-staging data\n";
    const full = await deploy(["destroy"], { input: answers });
    expect(full.output).toContain("they expire within a day");
    expect(neon.projects.size + cloudflare.tokens.size).toBe(0);
    // What is gone is forgotten: a deployment in the meantime would otherwise use a deleted key or project.
    const { encryptionKey, ...rest } = JSON.parse(
      readFileSync(path.join(stateDir, "staging.json"), "utf8"),
    ) as object & {
      encryptionKey: string;
    };
    expect(encryptionKey).not.toBe("");
    expect(rest).toEqual({});
    for (const bucket of cloudflare.buckets.values()) bucket.objects = 0;
    await deploy(["destroy"], { input: answers });
    expect(cloudflare.buckets.size).toBe(0);
    expect(existsSync(path.join(stateDir, "staging.json"))).toBe(false);
  });
});
