import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { sql } from "drizzle-orm";
import { afterEach, describe, expect, it } from "vitest";
import { rowsOf } from "../../src/service/db/rows.ts";
import { openBucket } from "../../src/tooling/local/admin/bucket.ts";
import { localBucketUrl } from "../../src/tooling/local/stack/bucket-url.ts";
import { localSecrets, newSecrets } from "../../src/tooling/local/stack/local-secrets.ts";
import { startPushServer } from "../support/push-server.ts";
import { admin, adminOn, api, database, newTenant, runScheduled, service } from "./support/service.ts";
import { freePorts, runStart, type ServiceProcess, spawnService } from "./support/process.ts";

const TIMEOUT_MS = 600_000;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function newDataDir(): string {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "code-context-start-"));
  cleanups.push(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

async function started(env: Record<string, string> & { DATA_DIR: string }): Promise<ServiceProcess> {
  const running = await spawnService(env);
  cleanups.push(() => running.kill());
  return running;
}

const isHealthy = async (url: string) => (await fetch(`${url}/healthz`)).ok;

describe("npm start", () => {
  it(
    "keeps its state, credentials and address over a kill, stops cleanly, and is restored elsewhere",
    async () => {
      const env = { DATA_DIR: newDataDir(), ...(await freePorts()) };
      chmodSync(env.DATA_DIR, 0o755);
      const first = await started(env);
      expect(first.service.apiUrl).toBe(`http://127.0.0.1:${env.PORT}`);
      expect(first.service.siteUrl).toBe(`http://127.0.0.1:${env.SITE_PORT}`);
      expect(await isHealthy(first.service.apiUrl)).toBe(true);
      expect(statSync(path.join(env.DATA_DIR, "service.json")).mode & 0o777).toBe(0o600);

      const inUse = await runStart({ DATA_DIR: env.DATA_DIR, ...(await freePorts()) });
      expect(inUse.code).toBe(1);
      expect(inUse.stderr).toMatch(/^error: the data directory .* is in use by process \d+.*\n$/);

      const credentials = ({ apiKey, workerToken, tenantId, workspaceId }: ServiceProcess["service"]) => ({
        apiKey,
        workerToken,
        tenantId,
        workspaceId,
      });
      await first.kill();

      // After a clean stop it is the same as well: postgres.test.ts.
      const second = await started(env);
      expect(credentials(second.service)).toEqual(credentials(first.service));
      expect(second.service.apiUrl).toBe(first.service.apiUrl);
      expect(await isHealthy(second.service.siteUrl + "/api/v1")).toBe(true);
      expect(statSync(env.DATA_DIR).mode & 0o777).toBe(0o700);
      const backedUp = await backUpWithIndex(second, env.DATA_DIR);
      const stopped = second.stop();
      await expect
        .poll(async () => {
          const response = await fetch(`${second.service.apiUrl}/healthz`);
          return { status: response.status, body: await response.json() };
        })
        .toMatchObject({ status: 503, body: { ok: false, status: "stopping" } });
      expect(await stopped).toBe(0);
      expect(existsSync(path.join(env.DATA_DIR, "service.json"))).toBe(false);
      await expect(fetch(second.service.apiUrl)).rejects.toThrow();

      // Into an empty service with the same secrets, at another address of this machine (Linux has all of 127.0.0.0/8).
      const HOST = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";
      const empty = { ...env, HOST, DATA_DIR: newDataDir(), GIT_ALLOW_LOCAL: "" };
      copyFileSync(path.join(env.DATA_DIR, "secrets.json"), path.join(empty.DATA_DIR, "secrets.json"));
      const other = await started(empty);
      expect(other.service.apiUrl).toBe(`http://${HOST}:${env.PORT}`);
      // Without the setting, nobody reads what listens on this machine.
      const refused = await fetch(`${other.service.apiUrl}/index`, {
        method: "POST",
        headers: { Authorization: `Bearer ${other.service.workerToken}`, "Content-Type": "application/json" },
        body: JSON.stringify({
          workspaceId: other.service.workspaceId,
          source: { type: "git", url: `${other.service.apiUrl}/secret` },
        }),
      });
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("source.url")]);
      const restored = await adminOn(empty.DATA_DIR, "restore", "--from", backedUp.folder);
      expect(restored).toMatchObject({ rows: backedUp.rows, objects: backedUp.objects });
      expect(await searchWith(other, first.service.apiKey)).toEqual(backedUp.answer);
      const again = path.join(newDataDir(), "again");
      expect(await adminOn(empty.DATA_DIR, "backup", "--to", again)).toMatchObject({ objects: backedUp.objects });
      expect(rowsIn(again)).toEqual(rowsIn(backedUp.folder));
      await other.stop();

      // No start with the secrets of another service, which would end all credentials.
      writeFileSync(path.join(empty.DATA_DIR, "secrets.json"), JSON.stringify(newSecrets()));
      const wrong = await runStart(empty);
      expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/another ENCRYPTION_KEY: .* put back/) });
    },
    TIMEOUT_MS,
  );

  it(
    "says in one line what is in its way",
    async () => {
      const taken = createServer().listen(0, "127.0.0.1");
      cleanups.push(() => taken.close());
      await new Promise((resolve) => taken.once("listening", resolve));
      const address = taken.address();
      const port = String(typeof address === "object" && address ? address.port : 0);
      const foreign = newDataDir();
      writeFileSync(path.join(foreign, "thesis.txt"), "mine");
      const file = path.join(newDataDir(), "file");
      writeFileSync(file, "");
      const damaged = newDataDir();
      writeFileSync(path.join(damaged, "secrets.json"), "{");

      const bereft = newDataDir();
      writeFileSync(path.join(bereft, "credentials.json"), "{}");

      const ports = await freePorts();
      const cases: [Record<string, string>, RegExp][] = [
        [{ ...ports, DATA_DIR: newDataDir(), PORT: port }, /port \d+ is in use.*PORT/],
        [{ ...ports, DATA_DIR: newDataDir(), SITE_PORT: port }, /port \d+ is in use.*SITE_PORT/],
        [{ ...ports, DATA_DIR: foreign }, /holds files that are not this service's/],
        [{ ...ports, DATA_DIR: bereft }, /is a data directory without its secrets\.json: put the file back/],
        [{ ...ports, DATA_DIR: path.join(file, "data") }, /cannot be used \(EEXIST\)/],
        [{ ...ports, DATA_DIR: damaged }, /secrets\.json is damaged \(Invalid input: expected object/],
        [{ ...ports, DATA_DIR: newDataDir(), HOST: "203.0.113.1" }, /^error: HOST: 203\.0\.113\.1 is not an address/],
        [{ ...ports, DATA_DIR: newDataDir(), PORT: "many" }, /PORT: expected a port/],
      ];
      for (const [env, message] of cases) {
        const { code, stderr } = await runStart(env);
        expect(code).toBe(1);
        expect(stderr).toMatch(message);
        expect(stderr.trimEnd().split("\n")).toHaveLength(1);
      }
    },
    TIMEOUT_MS,
  );
});

/** Indexes a repository, asks for something in it, and makes a back-up. */
async function backUpWithIndex(running: ServiceProcess, dataDir: string) {
  const host = await startPushServer({
    "src/session.ts": "/** Ends a session. */\nexport function closeSession(id: string) {\n  return id;\n}\n",
  });
  cleanups.push(() => host[Symbol.asyncDispose]());
  const { apiUrl, apiKey, workerToken, workspaceId } = running.service;
  const indexed = await fetch(`${apiUrl}/index`, {
    method: "POST",
    headers: { Authorization: `Bearer ${workerToken}`, "Content-Type": "application/json" },
    body: JSON.stringify({ workspaceId, source: { type: "git", url: host.url } }),
  });
  expect(await indexed.json()).toMatchObject({ ok: true, fileCount: 1 });
  const answer = await searchWith(running, apiKey);
  expect(answer).toMatchObject([{ path: "src/session.ts" }]);
  const folder = path.join(newDataDir(), "backup");
  const made = await adminOn(dataDir, "backup", "--to", folder);
  expect(made["objects"]).toBeGreaterThan(0);
  return { folder, answer, rows: made["rows"], objects: made["objects"] };
}

async function searchWith({ service: { apiUrl } }: ServiceProcess, key: string): Promise<unknown> {
  const response = await fetch(`${apiUrl}/search`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ query: "closeSession" }),
  });
  return ((await response.json()) as { results: unknown }).results;
}

/** Lines of the tables of a back-up that only indexing writes, in an order of their own. */
function rowsIn(folder: string): Record<string, string[]> {
  const tables = ["workspaces", "revisions", "contents", "symbols", "chunks", "vectors", "revision_files", "runs"];
  return Object.fromEntries(
    tables.map((table) => {
      const text = gunzipSync(readFileSync(path.join(folder, "tables", `${table}.jsonl.gz`))).toString();
      return [table, text.trimEnd().split("\n").toSorted()];
    }),
  );
}

describe("npm run admin", () => {
  it("provisions on the running service, printing one line of JSON", async () => {
    const { tenantId, apiKey, workerToken } = await admin(
      "tenant",
      "create",
      "--name",
      "Acme",
      "--monthly-credits",
      "7",
      "--shared-index",
      "on",
    );
    expect(apiKey).toMatch(/^cc_live_/);
    expect(workerToken).toMatch(/^cc_wrk_/);
    const tenant = String(tenantId);
    expect(Object.keys(await admin("workspace", "create", "--tenant", tenant, "--repo", "git@github.com:a/b"))).toEqual(
      ["workspaceId"],
    );
    const key = await admin("key", "create", "--tenant", tenant, "--name", "ci");
    expect(Object.keys(key)).toEqual(["keyId", "apiKey"]);
    await admin("key", "revoke", "--id", String(key["keyId"]));
    await admin("tenant", "set", "--tenant", tenant, "--shared-index", "off");
    const token = await admin("token", "create", "--tenant", tenant, "--name", "ci");
    await admin("token", "revoke", "--id", String(token["tokenId"]));
  });

  it("exports a tenant and erases it with all that belongs to it", async () => {
    const host = await startPushServer({ "src/a.ts": "export function gone() {\n  return 1;\n}\n" });
    cleanups.push(() => host[Symbol.asyncDispose]());
    const { tenantId, apiKey, workerToken, workspaceId } = await newTenant();
    const other = await newTenant();
    const body = { workspaceId, source: { type: "git", url: host.url, auth: { type: "token", token: "s3cret" } } };
    expect(await (await api("/index", { key: workerToken, body })).json()).toMatchObject({ ok: true });
    expect((await api("/search", { key: apiKey, body: { query: "gone" } })).status).toBe(200);

    const folder = path.join(newDataDir(), "export");
    const exported = await admin("tenant", "export", "--tenant", tenantId, "--to", folder);
    expect(exported["objects"]).toBeGreaterThan(0);
    const texts = readdirSync(folder).map((name) => readFileSync(path.join(folder, name)));
    const all = texts.map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString()).join("\n");
    expect(all).toContain("export function gone()");
    expect(all).not.toMatch(/secret_hash|token_hash|sealed_|s3cret/);
    expect(all).not.toContain(other.tenantId);

    expect(await admin("tenant", "erase", "--tenant", tenantId)).toEqual({ tenantId, erased: true });
    await expect(admin("tenant", "erase", "--tenant", tenantId)).rejects.toThrow(/there is no tenant/);
    await expect.poll(async () => (await api("/search", { key: apiKey, body: { query: "gone" } })).status).toBe(401);
    await runScheduled();
    const report = await admin("tenant", "erased", "--tenant", tenantId);
    expect(report).toMatchObject({ rowsLeft: 0, durableObjects: 2, finishedAt: expect.any(String) });
    expect(report["objects"]).toBeGreaterThanOrEqual(Number(exported["objects"]));

    // Nothing names the tenant any more, in any table but that of erasures, nor in any key of the bucket.
    const db = database();
    const columns = await rowsOf<{ table: string; column: string }>(
      db,
      sql`select c.table_name as "table", c.column_name as "column" from information_schema.columns c
          where c.table_schema = 'public' and c.udt_name in ('uuid', 'text', 'jsonb') and c.table_name <> 'erasures'`,
    );
    for (const { table, column } of columns) {
      const [row] = await rowsOf<{ count: number }>(
        db,
        sql`select count(*)::int as count from ${sql.identifier(table)} where ${sql.identifier(column)}::text in (${tenantId}, ${workspaceId})`,
      );
      expect([table, column, row?.count]).toEqual([table, column, 0]);
    }
    const { r2AccessKeyId: accessKeyId, r2SecretAccessKey: secretAccessKey } = localSecrets(service().dataDir);
    const bucket = openBucket({ url: localBucketUrl(service().apiUrl), accessKeyId, secretAccessKey });
    for await (const { key } of bucket.list()) expect(key).not.toContain(tenantId);
    expect((await api("/usage", { key: other.apiKey })).status).toBe(200);
  });

  it("names the flag it misses and changes nothing", async () => {
    const { tenantId } = await newTenant();
    await expect(admin("key", "create", "--tenant", tenantId)).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: "error: key create needs --name\n",
    });
    await expect(admin("key", "show")).rejects.toMatchObject({
      code: 2,
      stderr: 'error: unknown command "key show": expected one of key create, key list, key revoke (see --help)\n',
    });
    await expect(admin("tenant", "set", "--tenant", tenantId, "--shared-index", "maybe")).rejects.toMatchObject({
      code: 2,
    });
    await expect(admin("workspace", "create", "--tenant", service().workspaceId)).rejects.toMatchObject({ code: 1 });
  });
});

describe("the daily job", () => {
  it(
    "can be run now",
    async () => {
      await runScheduled();
    },
    TIMEOUT_MS,
  );
});
