import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CodeContextClient } from "../../src/interface/client/index.ts";
import { FileResponse, SearchResponse, SymbolsResponse } from "../../src/contract/index.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { createWorkspace } from "../../src/service/tenancy/workspaces.ts";
import { slugOf } from "./support/agent.ts";
import { memberOf } from "./support/dashboard.ts";
import { api, database, newTenant, service, type TestTenant } from "./support/service.ts";

let repo: GitRepo;
let git: GitBackend;
let tenant: TestTenant;
let other: TestTenant;

const SESSION = [
  "/** Closes a session once its lease expires. */",
  "export class SessionStore {",
  "  closeExpired(now: number): number {",
  "    return evict(this, now);",
  "  }",
  "}",
  "",
].join("\n");

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({
    "src/session-store.ts": SESSION,
    "src/evict.ts": "export function evict(store: unknown, now: number): number {\n  return now;\n}\n",
    "test/session-store.test.ts": "test('closes expired sessions', () => new SessionStore().closeExpired(1));\n",
    "lib/invoice.py": "def write_invoice(total):\n    return str(total)\n",
  });
  repo.commit();
  git = await startGitBackend(repo.root);
  [tenant, other] = await Promise.all([newTenant(), newTenant()]);
  for (const { workspaceId, workerToken } of [tenant, other]) {
    const body = { workspaceId, source: { type: "git", url: git.url("repo") } };
    expect((await api("/index", { key: workerToken, body })).status).toBe(200);
  }
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

const search = (body: Record<string, unknown>, key = tenant.apiKey) => api("/search", { key, body });
const get = (path: string, query: Record<string, string>, key = tenant.apiKey) =>
  api(`${path}?${new URLSearchParams({ workspaceId: tenant.workspaceId, ...query }).toString()}`, { key });

describe("POST /search", () => {
  it("refuses globs that would take too long, by the name of their field", async () => {
    const glob = (i: number) => `{x${i},*}${"{*,?}".repeat(80)}${i}`;
    const paths = Array.from({ length: 50 }, (_, i) => glob(i));
    for (const [field, body] of [
      ["paths", { query: "sessions", paths }],
      ["query", { query: `sessions ${paths.map((path) => `path:${path}`).join(" ")}` }],
    ] as const) {
      const response = await search(body);
      const answer = (await response.json()) as { details: unknown };
      expect([response.status, answer.details]).toMatchObject([400, { issues: [{ path: field }] }]);
    }
    expect((await search({ query: "sessions", paths: ["**/".repeat(160)] })).status).toBe(200);
  });

  it("finds the place, names the commit and counts the call", async () => {
    const response = await search({ query: "how are expired sessions closed" });
    expect(response.status).toBe(200);
    expect(response.headers.get("X-RateLimit-Limit")).toBe("600");
    const answer = SearchResponse.parse(await response.json());
    expect(answer.results[0]).toMatchObject({
      path: "src/session-store.ts",
      gitSha: repo.head(),
      workspaceId: tenant.workspaceId,
      symbol: { name: "closeExpired" },
      excerpts: [{ text: expect.stringContaining("closeExpired") }],
    });
    expect(answer.indexes).toMatchObject([{ gitSha: repo.head(), workspaceId: tenant.workspaceId }]);
    const usage = (await (await api("/usage", { key: tenant.apiKey })).json()) as { calls: { search: number } };
    expect(usage.calls.search).toBeGreaterThan(0);
  });

  it("takes path: for the beginning of a path, unless it is a folder or a glob", async () => {
    const pathsOf = async (query: string) =>
      SearchResponse.parse(await (await search({ query })).json()).results.map(({ path }) => path);
    expect(await pathsOf("session path:src/sess")).toEqual(["src/session-store.ts"]);
    expect(await pathsOf("session path:src/sess/")).toEqual([]);
    expect(await pathsOf("session path:src/*-store.ts")).toEqual(["src/session-store.ts"]);
  });

  it("answers the same bytes for the same digest and request", async () => {
    const body = { query: "evict now", workspaceId: tenant.workspaceId };
    expect(await (await search(body)).text()).toBe(await (await search(body)).text());
  });

  it("takes filters, a ref and a budget", async () => {
    const paths = SearchResponse.parse(await (await search({ query: "session", paths: ["test/**"] })).json());
    expect(paths.results.map(({ path }) => path)).toEqual(["test/session-store.test.ts"]);
    const language = SearchResponse.parse(await (await search({ query: "write total lang:python" })).json());
    expect(language.results.map(({ path }) => path)).toEqual(["lib/invoice.py"]);
    const commit = { query: "session", workspaceId: tenant.workspaceId, ref: repo.head() };
    expect(SearchResponse.parse(await (await search(commit)).json()).indexes).toMatchObject([{ ref: repo.head() }]);
    const small = SearchResponse.parse(await (await search({ query: "session", maxTokens: 200 })).json());
    expect(small.tokens).toBeLessThanOrEqual(200);
  });

  it.each([
    [400, "INVALID_BODY", { query: "" }],
    [400, "INVALID_BODY", { query: "a\0b" }],
    [400, "INVALID_BODY", { query: "\ud800" }],
    [400, "INVALID_BODY", { query: "x".repeat(32_769) }],
    [400, "INVALID_BODY", { query: "x", limit: 51 }],
    [400, "INVALID_BODY", { query: "x", maxTokens: 199 }],
    [400, "INVALID_BODY", { query: "x", include: ["everything"] }],
    [400, "INVALID_BODY", { query: "x", kinds: ["func"] }],
    [400, "INVALID_BODY", { query: "x", languages: ["py"] }],
    [400, "INVALID_SELECTOR", { query: "x", workspaceId: "nobody" }],
    [400, "INVALID_SELECTOR", { query: "x", repo: "nobody" }],
    [404, "NO_WORKSPACE", { query: "x", repo: "github.com/no/body" }],
    [404, "NO_WORKSPACE", { query: "x", workspaceId: "7d9f2c1e-3b4a-4c5d-8e6f-0a1b2c3d4e5f" }],
  ])("answers %i %s to bad requests", async (status, code, body) => {
    const response = await search(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ ok: false, code });
  });

  it("does not tell a workspace of another tenant from a missing one", async () => {
    const foreign = await search({ query: "session", workspaceId: other.workspaceId });
    const missing = await search({ query: "session", workspaceId: "7d9f2c1e-3b4a-4c5d-8e6f-0a1b2c3d4e5f" });
    expect(foreign.status).toBe(404);
    expect(await foreign.text()).toBe(await missing.text());
    for (const path of ["/symbols", "/references", "/outline", "/file"]) {
      const query = { workspaceId: other.workspaceId, name: "evict", path: "src/evict.ts" };
      expect(await (await get(path, query)).json()).toMatchObject({ code: "NO_WORKSPACE" });
    }
    expect((await search({ query: "session" }, tenant.workerToken)).status).toBe(401);
  });

  it("answers hostile queries in bounded time", async () => {
    const words = Array.from({ length: 10_000 }, (_, i) => `w${i.toString(36)}`)
      .join(" ")
      .slice(0, 32_768);
    const hostile = [
      words,
      "(a+)+$".repeat(4_000),
      "'; drop table tenants; --",
      '"'.repeat(9_999),
      "\u0001\u202e\u{1f600}",
      "path:**/**/**/a lang:x",
    ];
    for (const query of hostile) expect((await search({ query })).status).toBe(200);
  });
});

describe("look-ups", () => {
  it("find definitions by any language's qualified name", async () => {
    for (const name of [
      "closeExpired",
      "SessionStore.closeExpired",
      "SessionStore::closeExpired",
      "SessionStore#closeExpired",
    ]) {
      const answer = SymbolsResponse.parse(await (await get("/symbols", { name })).json());
      expect(answer.symbols, name).toMatchObject([{ qualifiedName: "SessionStore.closeExpired", startLine: 3 }]);
    }
    const near = await get("/symbols", { name: "SessionStorage", match: "exact" });
    expect(near.status).toBe(404);
  });

  it("find uses of a name, with what is around them", async () => {
    const answer = (await (await get("/references", { name: "evict" })).json()) as { references: unknown[] };
    expect(answer.references).toEqual([
      {
        repo: null,
        workspaceId: expect.any(String),
        path: "src/session-store.ts",
        line: 4,
        text: "return evict(this, now);",
        enclosing: "SessionStore.closeExpired",
      },
    ]);
  });

  it("show the outline and the lines of a file", async () => {
    const outline = (await (await get("/outline", { path: "src/session-store.ts" })).json()) as { outline: unknown[] };
    expect(outline.outline).toMatchObject([
      { name: "SessionStore", depth: 0 },
      { name: "closeExpired", depth: 1 },
    ]);
    const whole = FileResponse.parse(await (await get("/file", { path: "src/session-store.ts" })).json());
    expect(`${whole.text}\n`).toBe(SESSION);
    const part = FileResponse.parse(
      await (await get("/file", { path: "src/session-store.ts", start: "3", end: "3" })).json(),
    );
    expect(part).toMatchObject({ startLine: 3, endLine: 3, text: "  closeExpired(now: number): number {" });
    const missing = await get("/file", { path: "lib/session-store.ts" });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({
      code: "NOT_FOUND",
      details: { near: expect.arrayContaining(["src/session-store.ts"]) },
    });
    expect((await get("/file", { path: "src/evict.ts", start: "0" })).status).toBe(400);
    const reversed = await get("/file", { path: "src/evict.ts", start: "2", end: "1" });
    expect(await reversed.json()).toMatchObject({
      code: "INVALID_BODY",
      details: { issues: [{ path: "end", message: "must not be below start" }] },
    });
    expect((await get("/outline", { path: "a\0b" })).status).toBe(400);
  });

  it("come through the typed client", async () => {
    const client = new CodeContextClient({ baseUrl: service().apiUrl, apiKey: tenant.apiKey });
    const selector = { workspaceId: tenant.workspaceId };
    expect((await client.search({ query: "evict" })).results.length).toBeGreaterThan(0);
    expect((await client.symbols({ ...selector, name: "evict" })).symbols).toHaveLength(1);
    expect((await client.references({ ...selector, name: "evict", limit: 1 })).references).toHaveLength(1);
    expect((await client.outline({ ...selector, path: "src/evict.ts" })).outline).toHaveLength(1);
    expect((await client.file({ ...selector, path: "src/evict.ts", end: 1 })).endLine).toBe(1);
  });
});

describe("the page of a search", () => {
  it("shows what two repositories have alike once, and names both", async () => {
    const { tenantId, workerToken } = other;
    const { workspaceId } = await createWorkspace(database(), { tenantId, repo: "github.com/acme/fork" });
    const body = { workspaceId, source: { type: "git", url: git.url("repo") } };
    expect((await api("/index", { key: workerToken, body })).status).toBe(200);
    const member = await memberOf(tenantId, "member");
    const pages = `/app/${await slugOf(member)}`;
    for (const query of ["q=closeExpired", "q=closeExpired&mode=text"]) {
      const html = await member.page(`${pages}/search?${query}`);
      const titles = Array.from(html.matchAll(/data-result[^>]*>([^<]+)</g), ([, title]) => title);
      expect([query, titles.filter((title) => title?.startsWith("src/session-store.ts")).length]).toEqual([query, 1]);
      expect(html).toContain("The same in");
      expect(html).toContain(`${pages}/code/${other.workspaceId}/src/session-store.ts`);
      expect(html).toContain(`${pages}/code/github.com/acme/fork/src/session-store.ts`);
    }
  });

  it("names the words that no file has, and promises no files where there are none", async () => {
    const member = await memberOf(other.tenantId, "member");
    const html = await member.page(`/app/${await slugOf(member)}/search?q=quokka+burrow+telemetry`);
    expect(html).toMatch(/In none of the \d+ searched files: <code>quokka<\/code>[\s\S]*Nothing found/);
    expect(html).not.toContain("These files come nearest");
  });

  it("folds the filters above results, and names those that are set", async () => {
    const pages = `/app/${await slugOf(await memberOf(other.tenantId, "member"))}`;
    const filters = async (query: string) => {
      const html = await (await memberOf(other.tenantId, "member")).page(`${pages}/search${query}`);
      return /<details(?: open="")?><summary>Filters[^<]*/.exec(html)?.[0];
    };
    expect(await filters("")).toBe('<details open=""><summary>Filters');
    expect(await filters("?q=session")).toBe("<details><summary>Filters");
    expect(await filters("?q=session&path=src&word=whole")).toBe("<details><summary>Filters: src, whole words");
  });

  it("ends with the reason if the search is refused, below the form that has what was typed", async () => {
    const member = await memberOf(other.tenantId, "member");
    const html = await member.page(`/app/${await slugOf(member)}/search?q=%28open&mode=regex`);
    expect(html).toMatch(
      /value="\(open"[\s\S]*<p class="notice error" role="alert">[^<]*pattern[^<]*<\/p>[\s\S]*<\/html>$/,
    );
  });
});
