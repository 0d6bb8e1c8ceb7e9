import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CoverageResponse, FilesResponse, GrepResponse } from "../../src/contract/index.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { api, newTenant, type TestTenant } from "./support/service.ts";

let repo: GitRepo;
let git: GitBackend;
let tenant: TestTenant;

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({
    "src/store.ts": "export class Store {\n  close(now: number) {\n    return evict(this, now);\n  }\n}\n",
    "vendor/evict.js": "exports.evict = () => 1;\n",
    "logo.png": Buffer.from([0, 1]),
  });
  repo.commit();
  git = await startGitBackend(repo.root);
  tenant = await newTenant();
  const body = { workspaceId: tenant.workspaceId, source: { type: "git", url: git.url("repo") } };
  const run = await api("/index", { key: tenant.workerToken, body });
  expect(await run.json()).toMatchObject({ fileCount: 1, searchedOnlyCount: 1, skipped: { vendored: 1 } });
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

const get = (path: string, query: Record<string, string>) =>
  api(`${path}?${new URLSearchParams({ workspaceId: tenant.workspaceId, ...query }).toString()}`, {
    key: tenant.apiKey,
  });

describe("exact search over HTTP", () => {
  it("matches regular expressions in all text and says that nothing is missing", async () => {
    const response = await api("/grep", { key: tenant.apiKey, body: { pattern: "\\bevict\\b", context: 1 } });
    expect(response.status).toBe(200);
    const answer = GrepResponse.parse(await response.json());
    expect(answer).toMatchObject({ total: { lines: 2, files: 2 }, complete: true });
    expect(answer.matches[0]).toMatchObject({
      path: "src/store.ts",
      line: 3,
      ranges: [[12, 17]],
      before: ["  close(now: number) {"],
      enclosing: "Store.close",
    });
  });

  it("refuses a pattern that is none, and counts as a search", async () => {
    const response = await api("/grep", { key: tenant.apiKey, body: { pattern: "(" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_BODY", details: { issues: [{ path: "pattern" }] } });
    const usage = (await (await api("/usage", { key: tenant.apiKey })).json()) as { calls: { search: number } };
    expect(usage.calls.search).toBeGreaterThan(0);
  });

  it("lists files, what they are, and reads one that is only searched", async () => {
    const coverage = CoverageResponse.parse(await (await get("/coverage", { path: "logo.png" })).json());
    expect(coverage.path).toEqual({ state: "not_searched", reason: "binary" });
    const files = FilesResponse.parse(await (await get("/files", { path: "vendor" })).json());
    expect(files.files).toMatchObject([{ path: "vendor/evict.js", state: "searched" }]);
    expect(await (await get("/file", { path: "vendor/evict.js" })).json()).toMatchObject({
      text: "exports.evict = () => 1;",
    });
  });
});
