import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunStatus } from "../../src/contract/index.ts";
import { auditEvents } from "../../src/service/db/records-schema.ts";
import { runs } from "../../src/service/db/schema.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { roomInWindow } from "../support/rate-window.ts";
import { api, database, newTenant, service, type TestTenant } from "./support/service.ts";

let repo: GitRepo;
let git: GitBackend;

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({
    "src/app.ts":
      "/** Adds. */\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n\nexport class Counter {\n  step(): void {}\n}\n",
    "lib/tool.py": "def tool():\n    '''Doc.'''\n    return 1\n",
    "README.md": "# Title\n\nSome text.\n",
  });
  repo.commit();
  git = await startGitBackend(repo.root);
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

const source = (extra: Record<string, unknown> = {}) => ({ type: "git", url: git.url("repo"), ...extra });

function index(
  tenant: TestTenant,
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  return api("/index", {
    key: tenant.workerToken,
    body: { workspaceId: tenant.workspaceId, source: source(), ...body },
    headers,
  });
}

const HOSTILE_GLOBS = Array.from({ length: 50 }, (_, i) => `${"{a,b,*,**/}".repeat(40)}${i}`);
const json = async (response: Response) => (await response.json()) as Record<string, unknown>;

async function ended(tenant: TestTenant, runId: string): Promise<RunStatus> {
  for (;;) {
    const status = (await (await api(`/index/${runId}`, { key: tenant.workerToken })).json()) as RunStatus;
    if (status.state === "succeeded" || status.state === "failed") return status;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describe("POST /index", () => {
  it("answers 200 with the run result, and skips every file the second time", async () => {
    const tenant = await newTenant();
    const first = await index(tenant);
    expect(first.status).toBe(200);
    expect(first.headers.get("X-RateLimit-Limit")).toBe("30");
    expect(first.headers.get("X-RateLimit-Remaining")).toBe("29");
    expect(Number(first.headers.get("X-RateLimit-Reset"))).toBeGreaterThan(Date.now() / 1_000);
    const result = await json(first);
    expect(result).toMatchObject({ ok: true, fileCount: 3, skippedUnchanged: 0, region: "local", gitSha: repo.head() });
    expect(result["symbolCount"]).toBeGreaterThanOrEqual(4);
    expect(result["runId"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(result["embeddedCount"]).toBe(result["chunkCount"]);
    const second = await json(await index(tenant));
    expect(second).toMatchObject({
      fileCount: 3,
      skippedUnchanged: 3,
      embeddedCount: 0,
      chunkCount: result["chunkCount"],
    });
  });

  it("is the same under /api/v1 and through the site's proxy", async () => {
    const tenant = await newTenant();
    const body = { workspaceId: tenant.workspaceId, source: source() };
    await roomInWindow(3_600, 20_000);
    expect((await api("/api/v1/index", { key: tenant.workerToken, body })).status).toBe(200);
    const proxied = await api("/index", { key: tenant.workerToken, body, site: true });
    expect(proxied.status).toBe(200);
    expect(await json(proxied)).toMatchObject({ skippedUnchanged: 3 });
    expect(proxied.headers.get("X-RateLimit-Remaining")).toBe("28");
  });

  it.each([
    ["workspaceId", { workspaceId: "not-a-uuid" }],
    ["workspaceId", { workspaceId: undefined }],
    ["source.type", { source: { type: "s3", url: "https://example.com/r" } }],
    ["source.url", { source: { type: "git" } }],
    ["source.url", { source: { type: "git", url: "http://example.com/r.git" } }],
    ["source.url", { source: { type: "git", url: "https://user:secret@example.com/r.git" } }],
    ["source.url", { source: { type: "git", url: "https://10.0.0.1/r.git" } }],
    ["source.url", { source: { type: "git", url: "https://2130706433/r.git" } }],
    ["source.url", { source: { type: "git", url: "file:///etc/passwd" } }],
    ["source.auth.token", { source: { type: "git", url: "https://example.com/r.git", auth: { token: 1 } } }],
    ["options.maxFileSizeBytes", { options: { maxFileSizeBytes: 0 } }],
    ["options.include.0", { options: { include: [1] } }],
    // Refused only when it is tried on the paths of the repository.
    ["options.exclude", { options: { exclude: HOSTILE_GLOBS } }],
  ])("rejects a bad %s with its name, and charges the attempt", async (field, body) => {
    const tenant = await newTenant();
    const response = await index(tenant, body);
    expect(response.status).toBe(400);
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("29");
    const error = await json(response);
    expect(error).toMatchObject({ ok: false, code: "INVALID_BODY" });
    expect((error["details"] as { issues: { path: string }[] }).issues.map((issue) => issue.path)).toContain(field);
    expect(error["error"]).toContain(field);
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("rejects malformed JSON, and a body that is too large", async () => {
    const tenant = await newTenant();
    const send = (body: string, headers = {}) => api("/index", { key: tenant.workerToken, body, headers });
    expect(await json(await send("{nope"))).toMatchObject({ code: "INVALID_BODY" });
    expect(await json(await send("{}", { "Content-Type": "text/plain" }))).toMatchObject({ code: "INVALID_BODY" });
    const large = await send(JSON.stringify({ pad: "x".repeat(5 * 1024 * 1024) }));
    expect(large.status).toBe(413);
    expect(await json(large)).toMatchObject({ code: "INPUT_TOO_LARGE" });
  });

  it("requires a worker token, whatever the body, and does not count a 401", async () => {
    const tenant = await newTenant();
    for (const key of [undefined, "cc_wrk_nonsense", tenant.apiKey, `${tenant.workerToken}x`]) {
      const response = await api("/index", { ...(key === undefined ? {} : { key }), body: {} });
      expect(response.status).toBe(401);
      expect(await json(response)).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
      expect(response.headers.get("X-RateLimit-Limit")).toBeNull();
      expect(response.headers.get("X-Request-Id")).toBeTruthy();
    }
    expect((await index(tenant)).headers.get("X-RateLimit-Remaining")).toBe("29");
  });

  it("distinguishes an unknown workspace from another tenant's", async () => {
    const [tenant, other] = [await newTenant(), await newTenant()];
    const unknown = await index(tenant, { workspaceId: crypto.randomUUID() });
    expect([unknown.status, (await json(unknown))["code"]]).toEqual([404, "WORKSPACE_NOT_FOUND"]);
    const foreign = await index(tenant, { workspaceId: other.workspaceId });
    expect([foreign.status, (await json(foreign))["code"]]).toEqual([403, "FORBIDDEN_WORKSPACE"]);
  });

  it("answers CLONE_FAILED with what git said, without the token", async () => {
    const tenant = await newTenant();
    const missing = await index(tenant, { source: source({ url: `${git.origin}/nothing-here` }) });
    expect(missing.status).toBe(422);
    expect(await json(missing)).toMatchObject({
      code: "CLONE_FAILED",
      details: { gitStderr: expect.stringMatching(/\S/) },
    });
    const ref = await json(await index(tenant, { source: source({ ref: "no-such-ref" }) }));
    expect(ref).toMatchObject({ code: "CLONE_FAILED", details: { gitStderr: expect.stringContaining("no-such-ref") } });
    await using guarded = await startGitBackend(repo.root, { requireToken: "the-right-token" });
    const url = guarded.url("repo");
    const token = "the-wrong-token-1234567890";
    const denied = await index(tenant, { source: source({ url, auth: { type: "token", token } }) });
    expect(denied.status).toBe(422);
    const text = await denied.text();
    expect(text).not.toContain(token);
    expect(
      (await index(tenant, { source: source({ url, auth: { type: "token", token: "the-right-token" } }) })).status,
    ).toBe(200);
    const rows = await database().select().from(runs).where(eq(runs.tenantId, tenant.tenantId));
    expect(JSON.stringify(rows)).not.toMatch(/the-(right|wrong)-token/);
    const logs = path.join(service().dataDir, "logs");
    const written = readdirSync(logs).map((name) => readFileSync(path.join(logs, name), "utf8"));
    expect(written.join("")).toContain("GitError[AUTH]");
    const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
    for (const secret of ["the-right-token", token, basic, tenant.workerToken])
      expect(written.join("")).not.toContain(secret);
    await using cut = await startGitBackend(repo.root, { cutAfterBytes: 200 });
    const fresh = await newTenant();
    expect(await json(await index(fresh, { source: source({ url: cut.url("repo") }) }))).toMatchObject({
      code: "CLONE_FAILED",
    });
  });

  it("runs on when asked to respond asynchronously, and streams its progress", async () => {
    const tenant = await newTenant();
    const accepted = await index(tenant, {}, { Prefer: "respond-async" });
    expect(accepted.status).toBe(202);
    const { runId, ...rest } = (await json(accepted)) as { runId: string };
    expect(rest).toEqual({ ok: true, accepted: true });
    expect(accepted.headers.get("Location")).toBe(`/index/${runId}`);
    const stream = await api(`/index/${runId}`, { key: tenant.workerToken, headers: { Accept: "text/event-stream" } });
    expect(stream.headers.get("Content-Type")).toBe("text/event-stream");
    const events = [...(await stream.text()).matchAll(/^event: status\ndata: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data ?? "") as RunStatus,
    );
    expect(events.at(-1)).toMatchObject({
      ok: true,
      runId,
      state: "succeeded",
      result: { fileCount: 3 },
      progress: { phase: "done" },
    });
    expect(await ended(tenant, runId)).toEqual(events.at(-1));
    const other = await newTenant();
    const foreign = await api(`/index/${runId}`, { key: other.workerToken });
    const unknown = await api(`/index/${crypto.randomUUID()}`, { key: other.workerToken });
    expect([foreign.status, await foreign.json()]).toEqual([unknown.status, await unknown.json()]);
    expect(foreign.status).toBe(404);
  });

  it("continues when the client disconnects", async () => {
    const tenant = await newTenant();
    const controller = new AbortController();
    await using slow = await startGitBackend(repo.root, { delayMs: 400 });
    const leaving = api("/index", {
      key: tenant.workerToken,
      body: { workspaceId: tenant.workspaceId, source: source({ url: slow.url("repo") }) },
      signal: controller.signal,
    });
    const own = () => database().select().from(runs).where(eq(runs.tenantId, tenant.tenantId));
    await expect.poll(own).toHaveLength(1);
    controller.abort();
    await expect(leaving).rejects.toThrow();
    await expect.poll(async () => (await own())[0]?.state).toBe("succeeded");
  });

  it("never interleaves the runs of one workspace", async () => {
    const tenant = await newTenant();
    const results = await Promise.all(Array.from({ length: 6 }, async () => json(await index(tenant))));
    expect(results.map((result) => result["ok"])).toEqual(Array.from({ length: 6 }, () => true));
    expect(results.map((result) => Number(result["skippedUnchanged"])).sort((a, b) => a - b)).toEqual([
      0, 3, 3, 3, 3, 3,
    ]);
  });

  it("stops at 30 runs an hour, says when to come back, and audits it once", async () => {
    const tenant = await newTenant();
    await roomInWindow(3_600, 20_000);
    const statuses: number[] = [];
    for (let i = 0; i < 33; i++) statuses.push((await index(tenant, { workspaceId: "bad" })).status);
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 400), 429, 429, 429]);
    const rejected = await index(tenant);
    const retryAfter = Number(rejected.headers.get("Retry-After"));
    expect(retryAfter).toBeGreaterThan(0);
    expect(rejected.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(await json(rejected)).toMatchObject({ ok: false, code: "RATE_LIMITED", retryAfterSec: retryAfter });
    const events = () =>
      database()
        .select()
        .from(auditEvents)
        .where(and(eq(auditEvents.tenantId, tenant.tenantId), eq(auditEvents.event, "RATE_LIMITED")));
    await expect.poll(async () => (await events())[0]?.details).toMatchObject({ surface: "index", rejected: 4 });
    expect(await events()).toHaveLength(1);
  });
});

describe("every route", () => {
  it("answers unknown routes and methods with the contract's error body", async () => {
    const nothing = await api("/no/such/route");
    expect([nothing.status, await nothing.json()]).toEqual([
      404,
      { ok: false, code: "NOT_FOUND", error: expect.any(String) },
    ]);
    const method = await api("/index", { method: "DELETE" });
    expect(method.status).toBe(405);
    expect(method.headers.get("Allow")).toBe("GET, HEAD, POST");
    expect(await method.json()).toMatchObject({ ok: false, code: "METHOD_NOT_ALLOWED" });
    expect(method.headers.get("X-Request-Id")).toBeTruthy();
  });

  it("answers the health probe without a credential", async () => {
    const response = await fetch(`${service().apiUrl}/healthz`);
    expect(response.status).toBe(200);
    expect(response.headers.get("X-RateLimit-Limit")).toBe("600");
    expect(await response.json()).toMatchObject({
      ok: true,
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      checks: { database: { ok: true }, storage: { ok: true }, queue: { ok: true }, embedding: { ok: true } },
    });
  });
});
