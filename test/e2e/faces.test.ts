import { execFileSync } from "node:child_process";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Asked } from "../../src/contract/questions.ts";
import { QUESTIONS } from "../../src/interface/questions/questions.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { createWorkspace } from "../../src/service/tenancy/index.ts";
import { Sandbox } from "../node/cli/support/run.ts";
import { differencesOf, Faces, ROWS, rowOf } from "../support/ask-faces.ts";
import { facesOf, nothingFoundTable, type QuestionName } from "../support/faces.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { memberOf } from "./support/dashboard.ts";
import { pageCases, type PlacesBody, shownPlaces } from "./support/page-cases.ts";
import { api, database, newTenant, service, type TestTenant } from "./support/service.ts";

/** A request, and the row of the table "nothing found" that it is about. */
type Case<N extends QuestionName> = [request: Asked<(typeof QUESTIONS)[N]["parameters"]>, row?: string];

/** At least one request of every question that finds something, and one that finds nothing. */
const CASES: { readonly [N in QuestionName]: readonly Case<N>[] } = {
  search: [
    [{ query: "how are expired sessions closed" }],
    [{ query: "closeExpired", limit: 2, paths: ["src/**"], languages: ["typescript"] }],
    [{ query: '"write_invoice" lang:python', kinds: ["function"], include: ["tests"], maxTokens: 400 }],
    [{ query: "session", limit: 50, maxTokens: 200 }],
    [{ query: "zyxwvut" }, ROWS.empty],
    [{ query: "closeExpired", paths: ["nowhere/**"] }, ROWS.empty],
  ],
  symbols: [
    [{ name: "SessionStore" }],
    [{ name: "SessionStore.closeExpired", match: "exact", kind: "method" }],
    [{ name: "close", match: "prefix", limit: 1 }],
    [{ name: "clsexprd", match: "fuzzy" }],
    [{ name: "closeExpird" }, ROWS.similar],
    [{ name: "zyxwvut" }, ROWS.unknown],
    [{ name: "src/session-store.ts:4" }, ROWS.unknown],
  ],
  references: [
    [{ name: "closeExpired" }],
    [{ name: "SessionStore", limit: 1 }],
    [{ name: "startCleanup" }, ROWS.empty],
    [{ name: "closeExpird" }, ROWS.unknown],
    [{ name: "closeExpired", relation: "callers" }],
    [{ name: "SessionStore", relation: "callers", certainty: "certain", path: "src/session-store.ts", limit: 1 }],
    [{ name: "Date.now", relation: "callers" }],
    [{ name: "startCleanup", relation: "callees", path: "src/server.ts", line: 4, depth: 2 }],
    [{ relation: "importers", path: "src/session-store.ts" }],
    [{ name: "startCleanup", relation: "callers" }, ROWS.empty],
    [{ name: "SessionStore", relation: "implementations" }, ROWS.empty],
    [{ name: "closeExpird", relation: "callers" }, ROWS.unknown],
    [{ name: "src/session-store.ts:4", relation: "callers" }, ROWS.unknown],
    [{ relation: "importers", path: "src/sesion-store.ts" }, ROWS.unknown],
  ],
  definition: [
    [{ path: "src/server.ts", line: 5, column: 9 }],
    [{ path: "src/server.ts", line: 1, column: 12 }],
    [{ path: "src/session-store.ts", line: 4 }],
    [{ path: "lib/invoice.py", line: 4, column: 5 }],
    [{ path: "src/server.ts", line: 5, column: 28 }, ROWS.empty],
    [{ path: "src/sesion-store.ts", line: 1 }, ROWS.unknown],
  ],
  path: [
    [{ from: "startCleanup", to: "SessionStore.closeExpired" }],
    [{ from: "SessionStore.closeExpired", to: "startCleanup" }, ROWS.empty],
    [{ from: "startCleanup", to: "closeExpird" }, ROWS.unknown],
  ],
  impact: [
    [{ name: "SessionStore.closeExpired" }],
    [{ paths: ["src/session-store.ts"], depth: 1, limit: 2 }],
    [{ name: "write_invoice" }],
    [{ name: "closeExpird" }, ROWS.unknown],
    [{ paths: ["src/sesion-store.ts"] }, ROWS.unknown],
  ],
  outline: [
    [{ path: "src/session-store.ts" }],
    [{ path: "docs/guide.md" }],
    [{ path: "src/sesion-store.ts" }, ROWS.unknown],
  ],
  file: [
    [{ path: "src/server.ts" }],
    [{ path: "src/session-store.ts", start: 3, end: 4 }],
    [{ path: "lib/invoice.py", start: 3 }],
    [{ path: "src/secret.ts" }],
    [{ path: "src/Session-Store.ts" }, ROWS.unknown],
  ],
  grep: [
    [{ pattern: "close(Expired|d)\\b" }],
    [{ pattern: "SessionStore", wordRegexp: true, paths: ["src/**"], context: 1, languages: ["typescript"] }],
    [{ pattern: "closeexpired(", fixedStrings: true, ignoreCase: true }],
    [{ pattern: "total\\):\\n", multiline: true }],
    [{ pattern: "session", ignoreCase: true, count: true, include: ["tests"] }],
    [{ pattern: "import", filesOnly: true }],
    [{ pattern: "zyxwvut", paths: ["lib/**"] }, ROWS.noLine],
    [{ pattern: "zyxwvut" }, ROWS.noLineKnown],
  ],
  coverage: [
    [{}],
    [{ reason: "lockfile", limit: 1 }],
    [{ path: "src" }],
    [{ path: "logo.png" }],
    [{ path: "nowhere" }, ROWS.absent],
  ],
  files: [
    [{}],
    [{ depth: 1 }],
    [{ path: "**/*.ts", limit: 2 }],
    [{ path: "src/", cursor: "src/secret.ts" }],
    [{ path: "scr" }, ROWS.unknown],
  ],
};

/** In two parts, so that scanners of this repository do not take it for one. */
const AWS_KEY = ["AKIA", "Q7ZX3M5N2P8R4T6V"].join("");
const FILES = {
  "src/session-store.ts":
    "/** Sessions in memory. */\nexport class SessionStore {\n  /** Ends expired sessions, whose time is over. */\n  closeExpired(now: number): number {\n    return now;\n  }\n}\n",
  "src/server.ts":
    'import { SessionStore } from "./session-store.ts";\n\n\nexport function startCleanup(store: SessionStore): void {\n  store.closeExpired(Date.now());\n}\n',
  "src/secret.ts": `export const name = "service";\n\nexport const key = "${AWS_KEY}";\n`,
  "test/session-store.test.ts":
    'import { SessionStore } from "../src/session-store.ts";\n\ntest("closes expired sessions", () => new SessionStore().closeExpired(1));\n',
  "lib/invoice.py":
    "import os\n\n\ndef write_invoice(total):\n    # “typographic” and \u{1f600}\n    return str(total)\r\n",
  "package-lock.json": "{}\n",
  "logo.png": "\0\0",
  "docs/guide.md": "# Guide\n\n## Sessions\n\nA session is closed when its lease expires.\n",
};
const REPO = "github.com/acme/shop";

let sandbox: Sandbox;
let git: GitBackend;
let tenant: TestTenant;
let faces: Faces;
/** Of a tenant that has indexed nothing. */
let empty: Faces;
const env = () => sandbox.environment({ CODECTX_API_URL: service().apiUrl, CODECTX_API_KEY: tenant.apiKey });

async function index(name: string, workspaceId: string): Promise<void> {
  execFileSync("git", ["clone", "-q", "--bare", sandbox.path(name), sandbox.path(`served/${name}.git`)]);
  const body = { workspaceId, source: { type: "git", url: git.url(`${name}.git`) } };
  expect((await api("/index", { key: tenant.workerToken, body })).status).toBe(200);
}

beforeAll(async () => {
  sandbox = new Sandbox();
  sandbox.repository("shop", FILES);
  sandbox.repository("billing", { "src/bill.ts": "export function closeExpired(): void {}\n\ncloseExpired();\n" });
  tenant = await newTenant({ repo: REPO });
  git = await startGitBackend(sandbox.path("served"));
  await index("shop", tenant.workspaceId);
  const { apiUrl } = service();
  faces = await Faces.open({ apiUrl, apiKey: tenant.apiKey, cwd: sandbox.path("shop"), env: env(), repo: REPO });
  const { apiKey } = await newTenant();
  const keyed = { ...env(), CODECTX_API_KEY: apiKey };
  empty = await Faces.open({ apiUrl, apiKey, cwd: sandbox.path("served"), env: keyed });
});
afterAll(async () => {
  await faces?.close();
  await empty?.close();
  await git?.close();
  sandbox.remove();
});

it("asks every question, in every row of the table", () => {
  expect(Object.keys(CASES)).toEqual(Object.keys(QUESTIONS));
  const rows = Object.values(CASES).flatMap((cases: readonly Case<QuestionName>[]) => cases.map(([, row]) => row));
  const asked = new Set([...rows, ROWS.nothing]);
  expect(asked).toEqual(new Set([undefined, ...nothingFoundTable().keys()]));
});

describe.each(Object.keys(CASES) as QuestionName[])("the question %s", (name) => {
  it.each<Case<QuestionName>>(CASES[name])("is answered alike at all faces: %j", async (request, row) => {
    const answers = await faces.ask(name, request);
    expect(rowOf(request, answers.http)).toBe(row);
    expect(differencesOf(request, answers)).toEqual([]);
  });

  it("is shown alike here and with --remote", async () => {
    const [[request] = [{}]] = CASES[name];
    const [here, remote] = await Promise.all([
      faces.command(name, [], request),
      faces.command(name, ["--remote"], request),
    ]);
    expect(here).toMatchObject({ exit: 0, json: { stdout: expect.stringMatching(/\S/) } });
    expect(remote).toEqual(here);
  });

  it("says that nothing is indexed", async () => {
    const [[request] = [{}]] = CASES[name];
    const { http, mcp, remote } = await empty.ask(name, request);
    // A search over no index at all is a search without hits.
    const isEmpty = name === "search";
    expect([http.status, http.body["code"]]).toEqual(isEmpty ? [200, undefined] : [404, "NO_INDEX"]);
    if (mcp) expect(mcp).toEqual({ isError: true, text: "Nothing is indexed yet." });
    expect(remote.exit).toBe(name === "grep" ? 2 : 4);
  });
});

it("takes a change as a patch over HTTP and by the tool, and says what is wrong with one", async () => {
  const path = "src/session-store.ts";
  const patch = `--- a/${path}\n+++ b/${path}\n@@ -4 +4 @@\n-  closeExpired(now: number): number {\n+  closeExpired() {\n`;
  const { http, mcp } = await faces.ask("impact", { patch });
  const interfaces = [{ path, symbol: "SessionStore.closeExpired", change: "changed" }];
  const dependents = [{ path: "src/server.ts" }, { path: "test/session-store.test.ts" }];
  expect(http).toMatchObject({ status: 200, body: { interfaces, dependents, usuallyTogether: null } });
  expect(mcp).toMatchObject({ isError: false, text: expect.stringContaining("src/server.ts:5  calls") });
  const bad = await faces.ask("impact", { patch: `${patch}@@ -1,9 +1,9 @@\n a\n` });
  expect(bad.http).toMatchObject({ status: 400, body: { code: "INVALID_BODY" } });
  expect(bad.mcp).toMatchObject({ isError: true, text: expect.stringContaining("patch: line 7: the patch ends") });
});

describe("all repositories of a tenant", () => {
  let everywhere: Faces;
  beforeAll(async () => {
    const { workspaceId } = await createWorkspace(database(), {
      tenantId: tenant.tenantId,
      repo: "github.com/acme/billing",
    });
    await index("billing", workspaceId);
    const { apiUrl } = service();
    everywhere = await Faces.open({ apiUrl, apiKey: tenant.apiKey, cwd: sandbox.path("served"), env: env() });
  });
  afterAll(() => everywhere?.close());

  it.each<[QuestionName, Record<string, unknown>]>([
    ["search", { query: "closeExpired" }],
    ["symbols", { name: "closeExpired" }],
    ["references", { name: "closeExpired" }],
    ["outline", { path: "src/bill.ts" }],
    ["file", { path: "src/bill.ts", start: 1, end: 1 }],
    ["grep", { pattern: "closeExpired" }],
  ])("are asked without naming one, outside of a work tree: %s", async (name, request) => {
    const answers = await everywhere.ask(name, request);
    expect(answers.http.status).toBe(200);
    expect(JSON.stringify(answers.http.body)).toContain("github.com/acme/billing");
    expect(differencesOf(request, answers)).toEqual([]);
    expect(answers.remote.exit).toBe(0);
  });

  it("are left out in a work tree, whose own is asked", async () => {
    const { json } = await faces.command("symbols", ["--json", "--remote"], { name: "closeExpired" });
    expect(json["indexes"]).toMatchObject([{ repo: REPO }]);
  });
});

/** A member of the team, and its slug. */
async function visitor() {
  const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenant.tenantId}`);
  return { row, member: await memberOf(tenant.tenantId, "member") };
}

describe("the dashboard", () => {
  const pages = (Object.keys(QUESTIONS) as QuestionName[]).filter((name) => facesOf(name).page !== undefined);

  it.each(pages)("answers %s as HTTP does", async (name) => {
    const { row, member } = await visitor();
    const { page } = facesOf(name);
    const asked = pageCases(tenant.workspaceId, REPO)[name];
    if (!asked) throw new Error(`${name} has a page and no case`);
    const { body } = await faces.http(name, asked.request);
    if (page === "search") {
      const answer = await member.send(`/app/api/tenants/${row?.slug}/search${asked.address}`);
      expect(await answer.json()).toEqual(body);
    }
    const html = await member.page(`/app/${row?.slug}/${page}${asked.address}`);
    const expected = asked.expected(body);
    expect(expected).not.toEqual([]);
    expect(asked.read(html)).toEqual(expected);
  });

  it("shows what calls a name, and what it calls, as HTTP does", async () => {
    const { row, member } = await visitor();
    const query = (name: string) => new URLSearchParams({ name, repo: tenant.workspaceId }).toString();
    for (const [name, relation, from, to] of [
      ["closeExpired", "callers", "Callers (", "Callees ("],
      ["startCleanup", "callees", "Callees (", "Uses ("],
    ] as const) {
      const html = await member.page(`/app/${row?.slug}/names?${query(name)}`);
      const { body } = await faces.http("references", { name, relation, limit: 50 });
      const { references } = body as unknown as PlacesBody;
      expect(references).not.toEqual([]);
      const shown = shownPlaces(html.slice(html.indexOf(from), html.indexOf(to)));
      expect(shown).toEqual(references.map(({ path, line }) => `${path}:${line}`));
    }
  });

  it("looks up by name what no longer stands at a place", async () => {
    const { row, member } = await visitor();
    const page = (at: Record<string, string>) => {
      const query = new URLSearchParams({ ...at, repo: tenant.workspaceId }).toString();
      return member.page(`/app/${row?.slug}/names?${query}`);
    };
    const use = { path: "src/server.ts", line: "5", name: "closeExpired" };
    const defined = ["src/session-store.ts:4"];
    for (const at of [{ ...use, column: "28" }, { ...use, line: "99999999" }, { ...use, path: "nowhere" }, use]) {
      const html = await page(at);
      expect([at, shownPlaces(html.slice(0, html.indexOf("Callers (")))]).toEqual([at, defined]);
    }
    // A local variable has no definition in the index, and nothing is said to call it.
    const local = await page({ path: "src/server.ts", line: "4", column: "30", name: "store" });
    expect(local).toContain("No definition in this repository");
    expect(local).not.toContain("Callers (");
  });

  it("says why a question is refused", async () => {
    const { row, member } = await visitor();
    const query = new URLSearchParams({ q: `closeExpired path:${"{a,".repeat(400)}` }).toString();
    const html = await member.page(`/app/${row?.slug}/search?${query}`);
    expect(html).toContain('role="alert"');
  });
});
