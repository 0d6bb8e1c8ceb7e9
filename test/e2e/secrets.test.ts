import { createHash, randomBytes } from "node:crypto";
import { type Dirent, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rowsOf } from "../../src/service/db/rows.ts";
import { localSecrets } from "../../src/tooling/local/stack/local-secrets.ts";
import { Sandbox } from "../node/cli/support/run.ts";
import { type PushServer, startPushServer } from "../support/push-server.ts";
import { mailOf, memberOf, newEmail, Profile } from "./support/dashboard.ts";
import { api, database, newTenant, service } from "./support/service.ts";

/** Every secret of the calls below, by name. */
const secrets = new Map<string, string>();
/** Every answer that is not meant to contain a secret. */
const answers: string[] = [];
/** A host that repeats credentials in its errors. */
let host: PushServer;
const sandbox = new Sandbox();

beforeAll(async () => {
  host = await startPushServer({ "src/app.ts": "export const one = 1;\n" }, { requireToken: keep("git token") });
});
afterAll(async () => {
  sandbox.remove();
  await host[Symbol.asyncDispose]();
});

/** A new secret under a name, or the given one. */
function keep(name: string, secret = randomBytes(24).toString("hex")): string {
  expect(secret.length, name).toBeGreaterThan(15);
  secrets.set(name, secret);
  return secret;
}

/** The part of a credential that is not public. */
const secretOf = (credential: string): string => credential.slice(credential.lastIndexOf("_") + 1);

async function read(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  answers.push(text, JSON.stringify([...response.headers]));
  return JSON.parse(text) as Record<string, unknown>;
}

/** The encodings in which a secret could be written by accident. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Base64 of the secret at each offset within a longer text, as in Basic credentials, without the characters that neighbours share.
  const inside = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "")
      .slice(offset === 0 ? 0 : offset + 1, -2),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), ...inside];
}

/** Text of a file; undefined if it was removed after it was listed: other tests use the same object store. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function filesBelow(folder: string): string[] {
  const entries: Dirent[] = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** What holds secrets on purpose, and the database, whose rows are read instead. */
const NOT_SEARCHED = /^(?:secrets\.json|service\.json|mail\/|database\/)/;

it("writes no secret in clear to a log, a row, an object, a message or an error", async () => {
  const { apiUrl, dataDir } = service();
  const { encryptionKey, r2SecretAccessKey, databasePassword } = localSecrets(dataDir);
  keep("encryption key", encryptionKey);
  keep("R2 key", r2SecretAccessKey);
  keep("database password", databasePassword);
  const tenant = await newTenant();
  keep("API key", secretOf(tenant.apiKey));
  keep("worker token", secretOf(tenant.workerToken));

  // The dashboard: a session, a key, an invitation, a private repository and its hook.
  const owner = await memberOf(tenant.tenantId, "owner");
  keep("session", owner.cookies.get("cc_session"));
  const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenant.tenantId}`);
  const base = `/app/api/tenants/${row?.slug}`;
  const made = await owner.post(`${base}/keys`, { name: "ci", kind: "api_key" });
  keep("second API key", secretOf(String(made["value"])));
  const guest = newEmail();
  expect((await owner.post(`${base}/invitations`, { email: guest, role: "member" })).status).toBe(201);
  const token = keep("invitation", /\/app\/join\/([\w-]{43})/.exec(mailOf(guest).join(""))?.[1]);
  const joining = await new Profile().signIn(guest);
  expect((await joining.send("/app/api/invitations/accept", { json: { token } })).status).toBe(200);
  const source = { url: host.url, token: secrets.get("git token"), branches: [] };
  const { workspaceId } = (await owner.post(`${base}/repositories`, source)) as { workspaceId?: string };
  const hook = await owner.post(`${base}/repositories/${workspaceId}/hooks`, { provider: "gitlab" });
  keep("hook secret", String(hook["secret"]));
  const deliver = (headers: Record<string, string>, body: unknown) =>
    fetch(String(hook["url"]), { method: "POST", headers, body: JSON.stringify(body) });
  const head = { "Content-Type": "application/json", "X-Gitlab-Event": "Push Hook" };
  await read(await deliver({ ...head, "X-Gitlab-Token": keep("wrong hook secret") }, { ref: "refs/heads/main" }));
  const push = { ref: "refs/heads/main", after: host.work.head(), project: { default_branch: "main" } };
  const delivered = await deliver({ ...head, "X-Gitlab-Token": String(hook["secret"]) }, push);
  expect(await read(delivered)).toMatchObject({ outcome: "started" });

  // The API: indexing with good and wrong tokens, snapshots, search, MCP, and errors of each.
  const index = (body: Record<string, unknown>) =>
    api("/index", { key: tenant.workerToken, body: { workspaceId: tenant.workspaceId, ...body } });
  const auth = (name: string) => ({ type: "git", url: host.url, auth: { type: "token", token: keep(name) } });
  await read(await index({ source: { ...auth("wrong git token"), ref: "main" } }));
  await read(await index({ source: { type: "git", url: host.url, auth: { token: secrets.get("git token") } } }));
  await read(await index({ source: auth("git token of a bad request"), options: { include: 1 } }));
  await read(await index({ source: { type: "git", url: `https://u:${keep("password in a URL")}@example.com/a` } }));
  await read(await api(`/embed?key=${keep("key in a query")}`, { key: tenant.apiKey, body: { input: [] } }));
  await read(await api("/usage", { key: `${tenant.apiKey.slice(0, -43)}${keep("wrong API key").slice(0, 43)}` }));
  await read(await api("/search", { key: tenant.apiKey, body: { query: "one" } }));
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_repos", arguments: {} } };
  await api("/mcp", { key: tenant.apiKey, body: call, headers: { Accept: "application/json, text/event-stream" } });
  const bytes = randomBytes(2_000);
  const checksum = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const counts = { formatVersion: 1, compression: "gzip", fileCount: 1, symbolCount: 1, sizeBytes: bytes.length };
  const manifest = { ...counts, gitSha: "1".repeat(40), checksum, embedding: { fingerprint: "f", dimension: 3 } };
  const snapshot = { manifest, repo: "github.com/acme/secrets", sizeBytes: bytes.length };
  const signed = await api("/index-snapshot", { key: tenant.apiKey, body: { op: "sign", ...snapshot } });
  const { uploadUrl, uploadHeaders } = (await signed.json()) as {
    uploadUrl: string;
    uploadHeaders: Record<string, string>;
  };
  keep("upload signature", String(new URL(uploadUrl).searchParams.get("X-Amz-Signature")));
  expect((await fetch(uploadUrl, { method: "PUT", headers: uploadHeaders, body: bytes })).status).toBe(200);
  await read(await api("/index-snapshot", { key: tenant.apiKey, body: { op: "commit", ...snapshot } }));
  const pulled = await api(`/index-snapshot?repo=${snapshot.repo}`, { key: tenant.apiKey });
  const { signedUrl } = (await pulled.json()) as { signedUrl: string };
  keep("download signature", String(new URL(signedUrl).searchParams.get("X-Amz-Signature")));
  await (await fetch(signedUrl)).arrayBuffer();

  // The CLI, with everything that it can print.
  const env = { CODECTX_API_URL: apiUrl, CODECTX_API_KEY: undefined, CODECTX_DEBUG: "1" };
  const loggedIn = await sandbox.run(".", ["login", "--key", "-"], { env, input: tenant.apiKey });
  expect(loggedIn.code).toBe(0);
  const worker = { CODECTX_WORKER_TOKEN: tenant.workerToken, CODECTX_GIT_TOKEN: keep("CLI's git token") };
  const outputs = [loggedIn];
  outputs.push(await sandbox.run(".", ["config"], { env }));
  outputs.push(await sandbox.run(".", ["doctor"], { env }));
  const args = ["index", "--url", host.url, "--workspace", tenant.workspaceId];
  outputs.push(await sandbox.run(".", args, { env: { ...env, ...worker } }));
  for (const { stdout, stderr } of outputs) answers.push(stdout, stderr);

  const places = new Map<string, string>();
  answers.forEach((text, i) => places.set(`answer ${i}`, text));
  for (const file of filesBelow(dataDir)) {
    const name = path.relative(dataDir, file);
    const text = NOT_SEARCHED.test(name) ? undefined : readIfThere(file);
    if (text !== undefined) places.set(name, text);
  }
  const tables = await rowsOf<{ name: string }>(
    database(),
    sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  for (const { name } of tables) {
    const rows = await rowsOf<{ row: string }>(database(), sql`select t::text as row from ${sql.identifier(name)} t`);
    places.set(`table ${name}`, rows.map(({ row: text }) => text).join("\n"));
  }
  const found: string[] = [];
  for (const [name, secret] of secrets) {
    for (const form of formsOf(secret)) {
      for (const [place, text] of places) if (text.includes(form)) found.push(`${name} in ${place}`);
    }
  }
  expect(found).toEqual([]);
  // The search would have found one: it sees the log, the runs' objects and the rows, and knows Basic credentials.
  expect(places.get(path.join("logs", "workers.log"))).toContain("the token was not accepted");
  expect([...places].some(([place, text]) => place.includes("WorkspaceRuns") && text.includes(host.url))).toBe(true);
  expect(places.get("table tenants")).toContain(tenant.tenantId);
  for (const user of ["a", "ab", "abc"]) {
    const basic = Buffer.from(`${user}:${secrets.get("git token")}:`).toString("base64");
    expect(formsOf(String(secrets.get("git token"))).some((form) => basic.includes(form))).toBe(true);
  }
}, 120_000);
