import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { api, newTenant, type TestTenant } from "./support/service.ts";

const REPO = "github.com/acme/shared";
const GIT_SHA = "1".repeat(40);

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const manifestOf = (bytes: Uint8Array, gitSha = GIT_SHA) => ({
  formatVersion: 1,
  gitSha,
  checksum: `sha256:${sha256(bytes)}`,
  compression: "gzip",
  fileCount: 2,
  symbolCount: 5,
  embedding: { fingerprint: "emb_test", dimension: 3 },
  sizeBytes: bytes.length,
  builder: { name: "test", nested: [1, null, "ü"] },
});

interface Signed {
  uploadUrl: string;
  storagePath: string;
  uploadHeaders: Record<string, string>;
}

async function answer(response: Response): Promise<Record<string, unknown> & { status: number }> {
  return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
}

const post = (tenant: TestTenant, body: unknown) => api("/index-snapshot", { key: tenant.apiKey, body });
const get = (tenant: TestTenant, query: string) => api(`/index-snapshot?${query}`, { key: tenant.apiKey });

async function sign(tenant: TestTenant, bytes: Uint8Array, repo = REPO, gitSha = GIT_SHA): Promise<Signed> {
  const response = await post(tenant, {
    op: "sign",
    manifest: manifestOf(bytes, gitSha),
    repo,
    sizeBytes: bytes.length,
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Signed;
}

const put = ({ uploadUrl, uploadHeaders }: Signed, bytes: Uint8Array) =>
  fetch(uploadUrl, { method: "PUT", headers: uploadHeaders, body: new Uint8Array(bytes) });

const commit = (tenant: TestTenant, bytes: Uint8Array, extra: Record<string, unknown> = {}, gitSha = GIT_SHA) =>
  post(tenant, { op: "commit", manifest: manifestOf(bytes, gitSha), sizeBytes: bytes.length, repo: REPO, ...extra });

describe("shared snapshots over HTTP", () => {
  let owner: TestTenant;
  let stranger: TestTenant;
  const bytes = new Uint8Array(randomBytes(20_000));

  beforeAll(async () => {
    owner = await newTenant();
    stranger = await newTenant();
  });

  it("go up and come down through signed URLs, byte for byte", async () => {
    const signed = await sign(owner, bytes);
    expect((await put(signed, bytes)).status).toBe(200);
    expect(await answer(await commit(owner, bytes))).toEqual({
      status: 200,
      ok: true,
      storagePath: signed.storagePath,
      gitSha: GIT_SHA,
    });
    const pulled = await answer(await get(owner, `repo=${encodeURIComponent("git@github.com:Acme/Shared.git")}`));
    expect(pulled).toEqual({
      status: 200,
      ok: true,
      manifest: manifestOf(bytes),
      signedUrl: expect.any(String),
      expiresIn: expect.any(Number),
    });
    const download = await fetch(String(pulled["signedUrl"]));
    expect(sha256(new Uint8Array(await download.arrayBuffer()))).toBe(sha256(bytes));
    expect(await answer(await get(owner, `repo=${REPO}&probe=1`))).toEqual({
      status: 200,
      ok: true,
      exists: true,
      gitSha: GIT_SHA,
      builtAt: expect.stringMatching(/^\d{4}-.*Z$/),
      sizeBytes: bytes.length,
      fileCount: 2,
      symbolCount: 5,
      embeddingModel: "emb_test",
      isCurrent: false,
    });
    const list = await answer(await get(owner, "list=1"));
    expect(list).toMatchObject({ ok: true, sharedIndexEnabled: true });
    expect(list["workspaces"]).toContainEqual(
      expect.objectContaining({ repo: REPO, inCloud: true, gitSha: GIT_SHA, sizeBytes: bytes.length }),
    );
  });

  it("refuse any other PUT, and never serve what did not fit", async () => {
    const other = new Uint8Array(randomBytes(bytes.length));
    const signed = await sign(owner, other, REPO, "2".repeat(40));
    expect((await put(signed, other.subarray(1))).status).toBe(403);
    expect((await put({ ...signed, uploadHeaders: {} }, other)).status).toBe(403);
    const elsewhere = signed.uploadUrl.replace("uploads/", "snapshots/");
    expect((await put({ ...signed, uploadUrl: elsewhere }, other)).status).toBe(403);
    expect((await put(signed, bytes)).status).toBe(200);
    expect(await answer(await commit(owner, other, {}, "2".repeat(40)))).toMatchObject({
      status: 400,
      code: "INVALID_BODY",
    });
    expect(await answer(await get(owner, `repo=${REPO}&probe=1`))).toMatchObject({ gitSha: GIT_SHA });
    // After a commit the same URL still takes bytes, but leads nowhere.
    expect((await put(signed, other)).status).toBe(200);
    expect((await commit(owner, other, { expectedGitSha: GIT_SHA }, "2".repeat(40))).status).toBe(200);
    expect((await put(signed, bytes)).status).toBe(200);
    const pulled = await answer(await get(owner, `repo=${REPO}`));
    expect(sha256(new Uint8Array(await (await fetch(String(pulled["signedUrl"]))).arrayBuffer()))).toBe(sha256(other));
    expect(await answer(await commit(owner, bytes, { expectedGitSha: "3".repeat(40) }))).toMatchObject({ status: 200 });
    const late = await sign(owner, bytes, REPO, "4".repeat(40));
    await put(late, bytes);
    expect(await answer(await commit(owner, bytes, { expectedGitSha: GIT_SHA }, "4".repeat(40)))).toMatchObject({
      status: 409,
      code: "SNAPSHOT_CONFLICT",
    });
  });

  it("reveal nothing to other tenants, whichever selector, path or URL they guess", async () => {
    const mine = await answer(await get(owner, "list=1"));
    const roster = mine["workspaces"] as { workspaceId: string; repo: string | null }[];
    const workspace = roster.find(({ repo }) => repo === REPO);
    const theirs = workspace?.workspaceId ?? "";
    const missing = crypto.randomUUID();
    const signed = await sign(owner, bytes, REPO, "5".repeat(40));
    const same = async (request: (workspaceId: string) => Promise<Response>) => {
      const [a, b] = [await request(theirs), await request(missing)];
      expect([a.status, await a.text()]).toEqual([b.status, await b.text()]);
      return a.status;
    };
    expect(await same((workspaceId) => get(stranger, `workspaceId=${workspaceId}`))).toBe(404);
    expect(await same((workspaceId) => get(stranger, `workspaceId=${workspaceId}&probe=1`))).toBe(200);
    expect(await same((workspaceId) => post(stranger, { op: "sign", manifest: manifestOf(bytes), workspaceId }))).toBe(
      404,
    );
    expect(
      await same((workspaceId) =>
        commit(stranger, bytes, { repo: undefined, workspaceId, storagePath: signed.storagePath }),
      ),
    ).toBe(404);
    await sign(stranger, bytes, REPO);
    const guess = await commit(stranger, bytes, { storagePath: signed.storagePath });
    const invented = await commit(stranger, bytes, { storagePath: `${signed.storagePath.slice(0, -1)}_` });
    expect([guess.status, await guess.text()]).toEqual([400, await invented.text()]);
    const pulled = await answer(await get(owner, `repo=${REPO}`));
    const url = String(pulled["signedUrl"]);
    expect((await fetch(url.replace(/[^/]+\.parquet/, (name) => name.toUpperCase()))).status).toBe(403);
    expect((await fetch(url.replace(/\?.*/, ""))).status).toBeGreaterThanOrEqual(400);
    expect(await answer(await get(stranger, "list=1"))).not.toMatchObject({
      workspaces: [expect.objectContaining({ inCloud: true })],
    });
  });

  it.each([
    ["", 400, "INVALID_SELECTOR"],
    ["repo=github.com%2Fa%2Fb&workspaceId=00000000-0000-0000-0000-000000000000", 400, "INVALID_SELECTOR"],
    ["workspaceId=42", 400, "INVALID_SELECTOR"],
    ["repo=nonsense", 400, "INVALID_SELECTOR"],
    ["repo=", 400, "INVALID_SELECTOR"],
    ["list=1&repo=github.com%2Fa%2Fb", 400, "INVALID_SELECTOR"],
    ["repo=github.com%2Fa%2Fb&repo=github.com%2Fa%2Fb", 400, "INVALID_SELECTOR"],
    ["repo=github.com%2Fa%2Fb", 404, "NO_SNAPSHOT"],
  ])("answer GET ?%s with %i %s", async (query, status, code) => {
    expect(await answer(await get(owner, query))).toMatchObject({ status, ok: false, code, error: expect.any(String) });
  });

  it("are served to nobody without a signature, whatever path or header leads to the store", async () => {
    const tenant = await newTenant();
    const signed = await sign(tenant, bytes);
    expect((await put(signed, bytes)).status).toBe(200);
    const { pathname, host, hostname, port } = new URL(signed.uploadUrl);
    const open = pathname.replace("/r2/s3/", "/r2/public/");
    // `fetch` would resolve the path itself.
    const statusOf = async (path: string, headers: Record<string, string> = {}) => {
      const [response] = (await once(request({ hostname, port, path, headers }).end(), "response")) as [
        IncomingMessage,
      ];
      response.resume();
      return response.statusCode;
    };
    expect(await statusOf(pathname.replace("/r2/s3/", "/r2/s3/../public/"))).toBe(404);
    expect(await statusOf(open)).toBe(404);
    expect(await statusOf(pathname, { "MF-Original-URL": `http://${host}${open}` })).toBe(400);
  });

  it("answer each bad body as the contract says", async () => {
    const manifest = manifestOf(bytes);
    for (const [body, status, code] of [
      [{ op: "sign", manifest }, 400, "INVALID_SELECTOR"],
      [{ op: "sign", manifest, repo: REPO, workspaceId: crypto.randomUUID() }, 400, "INVALID_SELECTOR"],
      [{ op: "sign", manifest, workspaceId: "42" }, 400, "INVALID_SELECTOR"],
      [{ op: "sign", manifest, workspaceId: crypto.randomUUID() }, 404, "NO_WORKSPACE"],
      [{ op: "commit", manifest, sizeBytes: bytes.length, repo: "github.com/acme/unknown" }, 404, "NO_WORKSPACE"],
      [{ op: "sign", manifest: { ...manifest, sizeBytes: undefined }, repo: REPO }, 400, "INVALID_BODY"],
      [{ op: "sign", manifest: { ...manifest, gitSha: 7 }, repo: REPO }, 400, "INVALID_BODY"],
      [{ op: "sign", manifest: { ...manifest, note: "x".repeat(70_000) }, repo: REPO }, 400, "INVALID_BODY"],
      [{ op: "sign", repo: REPO }, 400, "INVALID_BODY"],
      [{ op: "burn", manifest, repo: REPO }, 400, "INVALID_BODY"],
      [{ op: "commit", manifest, repo: REPO }, 400, "INVALID_BODY"],
      ["{", 400, "INVALID_BODY"],
    ] as const) {
      expect(await answer(await post(owner, body)), JSON.stringify(body).slice(0, 120)).toMatchObject({
        status,
        ok: false,
        code,
      });
    }
    const off = await newTenant({ sharedIndex: false, repo: REPO });
    expect(await answer(await post(off, { op: "sign", manifest, repo: REPO }))).toMatchObject({
      status: 403,
      code: "SHARED_INDEX_DISABLED",
    });
    expect(await answer(await get(off, `repo=${REPO}`))).toMatchObject({ status: 404, code: "NO_SNAPSHOT" });
    expect(await answer(await get(off, "list=1"))).toMatchObject({ status: 200, sharedIndexEnabled: false });
    expect(await answer(await api("/index-snapshot?list=1", { key: owner.workerToken }))).toMatchObject({
      status: 401,
      code: "INVALID_API_KEY",
    });
  });
});
