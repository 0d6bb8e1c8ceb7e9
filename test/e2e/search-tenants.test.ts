import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { api, newTenant, type TestTenant } from "./support/service.ts";

/** Two tenants have the same repository; one of them also has a branch with a file of its own. */
let repo: GitRepo;
let git: GitBackend;
let tenant: TestTenant;
let other: TestTenant;
let theirCommit: string;
let theirOverlay: string;

const OTHER_REPO = "github.com/acme/zanzibar";
const MARKER = "only the other tenant reads this line";
const THEIRS = "src/theirs.ts";

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({ "src/evict.ts": "export function evict(now: number): number {\n  return now;\n}\n" }).commit();
  git = await startGitBackend(repo.root);
  [tenant, other] = await Promise.all([newTenant(), newTenant({ repo: OTHER_REPO })]);
  const index = async ({ workspaceId, workerToken }: TestTenant, ref?: string) => {
    const body = { workspaceId, source: { type: "git", url: git.url("repo"), ...(ref !== undefined && { ref }) } };
    expect((await api("/index", { key: workerToken, body })).status).toBe(200);
  };
  await index(tenant);
  repo.git("checkout", "-q", "-b", "theirs");
  theirCommit = repo.files({ [THEIRS]: `export function zanzibar(): string {\n  return "${MARKER}";\n}\n` }).commit();
  await index(other, "theirs");
  const files = [{ path: THEIRS, text: `export function zanzibar(): string {\n  return "${MARKER}, edited";\n}\n` }];
  const overlay = await api("/overlays", { key: other.apiKey, body: { repo: OTHER_REPO, base: theirCommit, files } });
  theirOverlay = ((await overlay.json()) as { overlay: string }).overlay;
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

/** For each parameter that a route or tool has: values that would lead to what the other tenant has, as far as it can name that. */
const valuesOf = (name: string): unknown[] => {
  const values: Record<string, unknown[]> = {
    repo: [OTHER_REPO, `https://${OTHER_REPO}.git`, other.workspaceId],
    workspaceId: [other.workspaceId, other.tenantId],
    ref: ["theirs", "refs/heads/theirs", theirCommit, theirOverlay],
    overlay: [theirOverlay],
    query: [`zanzibar "${MARKER}"`, `zanzibar path:${THEIRS}`, OTHER_REPO],
    name: ["zanzibar", "zanz"],
    path: [THEIRS, `../${other.workspaceId}/${THEIRS}`],
    paths: [[THEIRS], ["**"]],
    match: ["exact", "prefix", "fuzzy"],
    kind: ["function"],
    kinds: [["function"]],
    languages: [["typescript"]],
    include: [["tests", "docs", "examples", "generated"]],
    limit: [50],
    start: [1],
    end: [3],
    line: [1],
    column: [1],
    at: [`${THEIRS}:1`, `${THEIRS}:1:1`],
    relation: ["callers", "callees", "implementations", "importers"],
    certainty: ["name"],
    offset: [0, 1],
    maxTokens: [32_000],
    rerank: [true],
    pattern: ["zanzibar", MARKER, "."],
    fixedStrings: [true],
    ignoreCase: [true],
    wordRegexp: [true],
    multiline: [true],
    context: [10],
    filesOnly: [true],
    count: [true],
    reason: ["not_stored"],
    depth: [5],
    patch: [`--- a/${THEIRS}\n+++ b/${THEIRS}\n@@ -1,1 +1,1 @@\n-zanzibar\n+${MARKER}\n`],
    from: ["zanzibar"],
    to: ["zanzibar"],
    cursor: [THEIRS, "src/evict.ts"],
  };
  // Tools write parameters with underscores; some have names of their own.
  const own =
    values[name] ??
    values[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())] ??
    values[name.replace(/_line$/, "")];
  if (own === undefined) throw new Error(`the parameter ${name} is new: add values that may lead to another tenant`);
  return own;
};

/** Answers may repeat what was sent, and must not name anything else of the other tenant. */
function expectNothingOf(text: string, sent: unknown): void {
  const said = JSON.stringify(sent);
  for (const secret of [MARKER, "function zanzibar", theirCommit, other.workspaceId, other.tenantId, OTHER_REPO])
    if (!said.includes(secret)) expect(text, said).not.toContain(secret);
}

const PATHS = [
  "/search",
  "/symbols",
  "/references",
  "/definition",
  "/path",
  "/impact",
  "/outline",
  "/file",
  "/grep",
  "/coverage",
  "/files",
] as const;
/** Schemas of the routes that take a body. */
const BODIES: Record<string, string> = {
  "/search": "SearchRequest",
  "/grep": "GrepRequest",
  "/impact": "ImpactRequest",
};
const REQUIRED: Record<string, Record<string, unknown>> = {
  "/search": { query: "zanzibar" },
  "/symbols": { name: "zanzibar" },
  "/references": { name: "zanzibar" },
  "/definition": { path: THEIRS, line: 1 },
  "/path": { from: "zanzibar", to: "zanzibar" },
  "/impact": {},
  "/outline": { path: THEIRS },
  "/file": { path: THEIRS },
  "/grep": { pattern: "zanzibar" },
  "/coverage": {},
  "/files": {},
};

function ask(path: string, request: Record<string, unknown>, key: string): Promise<Response> {
  if (BODIES[path] !== undefined) return api(path, { key, body: request });
  const query = Object.entries(request).map(([name, value]): [string, string] => [name, String(value)]);
  return api(`${path}?${new URLSearchParams(query).toString()}`, { key });
}

interface Operation {
  parameters?: { name: string }[];
}
interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Record<string, unknown> }> };
}

describe("another tenant's index", () => {
  it("is there to be found, by the tenant itself", async () => {
    const found = await (await ask("/search", { query: "zanzibar", repo: OTHER_REPO }, other.apiKey)).text();
    for (const part of [MARKER, theirCommit, other.workspaceId]) expect(found).toContain(part);
    const file = await ask("/file", { path: THEIRS, repo: OTHER_REPO, ref: "theirs" }, other.apiKey);
    expect(await file.text()).toContain(MARKER);
    const edited = await ask("/file", { path: THEIRS, overlay: theirOverlay }, other.apiKey);
    expect(await edited.text()).toContain(`${MARKER}, edited`);
  });

  it("is not reached by any parameter of any search route", async () => {
    const document = (await (await api("/openapi.json")).json()) as OpenApi;
    for (const path of PATHS) {
      const schema = BODIES[path];
      const names =
        schema !== undefined
          ? Object.keys(document.components.schemas[schema]?.properties ?? {})
          : (document.paths[path]?.["get"]?.parameters ?? []).map(({ name }) => name);
      expect(names, path).toEqual(expect.arrayContaining(["repo", "workspaceId", "ref"]));
      for (const name of names) {
        for (const value of valuesOf(name)) {
          for (const selector of [{ workspaceId: tenant.workspaceId }, { workspaceId: other.workspaceId }, {}]) {
            const isSelector = name === "repo" || name === "workspaceId";
            const request = { ...REQUIRED[path], ...(isSelector ? {} : selector), [name]: value };
            const response = await ask(path, request, tenant.apiKey);
            expect(response.status, `${path} ${JSON.stringify(request)}`).toBeLessThan(500);
            expectNothingOf(await response.text(), request);
          }
        }
      }
    }
  });

  it("is not reached by any parameter of any MCP tool", async () => {
    const call = async (method: string, params: unknown, key = tenant.apiKey): Promise<string> => {
      const headers = { Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18" };
      const response = await api("/mcp", { key, headers, body: { jsonrpc: "2.0", id: 1, method, params } });
      expect(response.status).toBe(200);
      const text = await response.text();
      return text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "");
    };
    const { result } = JSON.parse(await call("tools/list", {})) as {
      result: { tools: { name: string; inputSchema: { properties: Record<string, unknown>; required?: string[] } }[] };
    };
    expect(result.tools.length).toBeGreaterThanOrEqual(7);
    const control = await call("tools/call", { name: "read_file", arguments: { path: THEIRS } }, other.apiKey);
    expect(control).toContain(MARKER);
    for (const { name: tool, inputSchema } of result.tools) {
      const required = Object.fromEntries((inputSchema.required ?? []).map((name) => [name, valuesOf(name)[0]]));
      for (const name of Object.keys(inputSchema.properties)) {
        // The tool takes a name or a position, so neither is required.
        if (tool === "find_symbol" && name !== "at") required["name"] = valuesOf("name")[0];
        else if (tool === "find_symbol") delete required["name"];
        for (const value of valuesOf(name)) {
          const args = { ...required, [name]: value };
          expectNothingOf(await call("tools/call", { name: tool, arguments: args }), args);
        }
      }
    }
  });
});
