import { createHash } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunStatus, SnapshotManifest } from "../../src/contract/index.ts";
import { auditEvents } from "../../src/service/db/records-schema.ts";
import { runs } from "../../src/service/db/schema.ts";
import { openSnapshot } from "../../src/engines/snapshot/reader.ts";
import type { SnapshotFile } from "../../src/engines/snapshot/types.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { api, database, newTenant, type TestTenant } from "./support/service.ts";

let repo: GitRepo;
let git: GitBackend;

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({
    "src/app.ts": "/** Adds. */\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n",
    "lib/tool.py": "def tool():\n    '''Doc.'''\n    return 1\n",
    "empty.ts": "",
    "README.md": "# Title\n\nSome text.\n",
  });
  repo.commit();
  git = await startGitBackend(repo.root);
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

const publish = (tenant: TestTenant, gitSha: string) =>
  api("/snapshot", {
    key: tenant.workerToken,
    body: {
      tenantId: tenant.tenantId,
      workspaceId: tenant.workspaceId,
      gitSha,
      source: { type: "git", url: git.url("repo") },
    },
  });

async function ended(tenant: TestTenant, accepted: Response): Promise<RunStatus> {
  const { runId } = (await accepted.json()) as { runId: string };
  for (;;) {
    const status = (await (await api(`/index/${runId}`, { key: tenant.workerToken })).json()) as RunStatus;
    if (status.state === "succeeded" || status.state === "failed") return status;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function pull(tenant: TestTenant): Promise<{ manifest: SnapshotManifest; bytes: Uint8Array }> {
  const response = await api(`/index-snapshot?workspaceId=${tenant.workspaceId}`, { key: tenant.apiKey });
  expect(response.status).toBe(200);
  const { manifest, signedUrl } = (await response.json()) as { manifest: SnapshotManifest; signedUrl: string };
  const bytes = new Uint8Array(await (await fetch(signedUrl)).arrayBuffer());
  expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(manifest.checksum);
  return { manifest, bytes };
}

async function filesOf(bytes: Uint8Array): Promise<SnapshotFile[]> {
  const reader = await openSnapshot({
    byteLength: bytes.length,
    read: async (start, end) => bytes.subarray(start, end),
  });
  const files: SnapshotFile[] = [];
  for await (const file of reader.files()) files.push(file);
  return files;
}

describe("POST /snapshot", () => {
  it("indexes the commit, and publishes an artifact that anyone else builds alike", async () => {
    const tenant = await newTenant();
    const accepted = await publish(tenant, repo.head());
    expect(accepted.status).toBe(202);
    expect(await accepted.clone().json()).toMatchObject({ ok: true, accepted: true });
    expect(await ended(tenant, accepted)).toMatchObject({
      state: "succeeded",
      result: { gitSha: repo.head(), fileCount: 4 },
    });
    const { manifest, bytes } = await pull(tenant);
    expect(manifest).toMatchObject({ gitSha: repo.head(), fileCount: 4, compression: "gzip" });
    const files = await filesOf(bytes);
    expect(files.map((file) => file.path)).toEqual(["README.md", "empty.ts", "lib/tool.py", "src/app.ts"]);
    const app = files.at(-1);
    expect(app?.symbols.map((symbol) => symbol.name)).toContain("add");
    expect(app?.chunks.every((chunk) => chunk.vector !== undefined && chunk.text !== "")).toBe(true);
    const probe = await api(`/index-snapshot?workspaceId=${tenant.workspaceId}&probe=1`, { key: tenant.apiKey });
    expect(await probe.json()).toMatchObject({ exists: true, gitSha: repo.head(), isCurrent: true });

    const other = await newTenant();
    await ended(other, await publish(other, repo.head()));
    expect((await pull(other)).manifest.checksum).toBe(manifest.checksum);
  });

  it("runs one job at a time for a tenant", async () => {
    const tenant = await newTenant();
    const answers = await Promise.all(Array.from({ length: 5 }, () => publish(tenant, repo.head())));
    const accepted = answers.filter((answer) => answer.status === 202);
    const refused = answers.filter((answer) => answer.status === 409);
    expect(accepted.length + refused.length).toBe(5);
    expect(refused.length).toBeGreaterThan(0);
    expect(await refused[0]?.json()).toMatchObject({ ok: false, code: "SNAPSHOT_IN_PROGRESS" });
    for (const answer of accepted) expect(await ended(tenant, answer)).toMatchObject({ state: "succeeded" });
    await pull(tenant);
  });

  it("is not blocked forever by a job that never reached its coordinator", async () => {
    const tenant = await newTenant();
    const { tenantId, workspaceId } = tenant;
    const lost = {
      id: crypto.randomUUID(),
      tenantId,
      workspaceId,
      kind: "snapshot",
      state: "queued",
      request: {},
    } as const;
    await database().insert(runs).values(lost);
    expect((await publish(tenant, repo.head())).status).toBe(409);
    await database()
      .update(runs)
      .set({ createdAt: new Date(Date.now() - 120_000) })
      .where(eq(runs.id, lost.id));
    expect(await ended(tenant, await publish(tenant, repo.head()))).toMatchObject({ state: "succeeded" });
  });

  it("keeps the old snapshot and reports an error if the commit does not exist", async () => {
    const tenant = await newTenant();
    await ended(tenant, await publish(tenant, repo.head()));
    const before = await pull(tenant);
    const failed = await ended(tenant, await publish(tenant, "d".repeat(40)));
    expect(failed).toMatchObject({ state: "failed", error: { code: expect.any(String) } });
    expect((await pull(tenant)).manifest).toEqual(before.manifest);
    const events = await database()
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.tenantId, tenant.tenantId), eq(auditEvents.event, "SNAPSHOT_FAILED")));
    expect(events).toHaveLength(1);
  });

  it.each([
    ["BAD_TENANT_ID", { tenantId: "x" }],
    ["BAD_WORKSPACE_ID", { workspaceId: 7 }],
    ["BAD_GIT_SHA", { gitSha: undefined }],
    ["BAD_GIT_SHA", { gitSha: "main" }],
    ["BAD_SOURCE", { source: { type: "git" } }],
    ["BAD_SOURCE", { source: { type: "git", url: "http://169.254.169.254/r.git" } }],
  ])("answers 400 %s", async (code, change) => {
    const tenant = await newTenant();
    const good = {
      tenantId: tenant.tenantId,
      workspaceId: tenant.workspaceId,
      gitSha: repo.head(),
      source: { type: "git", url: git.url("repo") },
    };
    const response = await api("/snapshot", { key: tenant.workerToken, body: { ...good, ...change } });
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ ok: false, code })]);
    const array = await api("/snapshot", { key: tenant.workerToken, body: [] });
    expect(await array.json()).toMatchObject({ code: "BAD_BODY" });
  });

  it("is for the worker token of the tenant that is named, and needs the opt-in", async () => {
    const [tenant, other] = [await newTenant(), await newTenant({ sharedIndex: false })];
    const body = {
      tenantId: other.tenantId,
      workspaceId: other.workspaceId,
      gitSha: repo.head(),
      source: { type: "git", url: git.url("repo") },
    };
    const answers = [
      await api("/snapshot", { key: tenant.apiKey, body }),
      await api("/snapshot", { key: tenant.workerToken, body }),
      await api("/snapshot", { key: tenant.workerToken, body: { ...body, tenantId: tenant.tenantId } }),
      await api("/snapshot", { key: other.workerToken, body }),
    ];
    const codes = await Promise.all(
      answers.map(async (answer) => [answer.status, ((await answer.json()) as { code: string }).code]),
    );
    expect(codes).toEqual([
      [401, "UNAUTHORIZED"],
      [403, "FORBIDDEN_WORKSPACE"],
      [403, "FORBIDDEN_WORKSPACE"],
      [403, "SHARED_INDEX_DISABLED"],
    ]);
  });
});
