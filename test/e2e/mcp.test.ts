import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { api, newTenant, service, type TestTenant } from "./support/service.ts";

const STORE = `/** Sessions in memory. */
export class SessionStore {
  /** Ends sessions whose time is over. */
  closeExpired(now: number): number {
    return now;
  }
}
`;
const SERVER = `import { SessionStore } from "./session-store.ts";

export function startCleanup(store: SessionStore): void {
  store.closeExpired(Date.now());
}
`;

let repo: GitRepo;
let git: GitBackend;
let tenant: TestTenant;

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({ "src/session-store.ts": STORE, "src/server.ts": SERVER });
  repo.commit();
  git = await startGitBackend(repo.root);
  tenant = await newTenant({ repo: "github.com/acme/shop" });
  const response = await api("/index", {
    key: tenant.workerToken,
    body: { workspaceId: tenant.workspaceId, source: { type: "git", url: git.url("repo") } },
  });
  expect(response.status).toBe(200);
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

function textOf(result: object): string {
  return (result as { content: { text: string }[] }).content[0]?.text ?? "";
}

const headersOf = (key: string) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });

describe("the MCP server with official clients", () => {
  it("answers the current era: find, read around, follow a reference", async () => {
    const client = new Client({ name: "test", version: "1" });
    const url = new URL(`${service().apiUrl}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, headersOf(tenant.apiKey)));
    const call = async (name: string, args: Record<string, unknown>) =>
      textOf(await client.callTool({ name, arguments: args }));
    try {
      expect((await client.listTools()).tools).toHaveLength(8);
      const head = `github.com/acme/shop@${repo.head().slice(0, 10)}, indexed `;
      expect(await call("list_repos", {})).toContain(head);
      const found = await call("search_code", { query: "end sessions whose time is over" });
      expect(found).toContain(head);
      expect(found).toMatch(/src\/session-store\.ts:\d+-\d+ /);
      expect(await call("find_symbol", { name: "SessionStore.closeExpired" })).toContain(
        "src/session-store.ts:4-6  method SessionStore.closeExpired\n4    closeExpired(now: number): number {",
      );
      expect(await call("find_references", { name: "closeExpired" })).toContain("4  store.closeExpired(Date.now());");
      expect(await call("outline", { path: "src/server.ts" })).toContain("function startCleanup");
      const file = await call("read_file", { path: "src/server.ts", repo: "github.com/acme/shop", start_line: 3 });
      expect(file).toContain("3  export function startCleanup");
      expect(await call("read_file", { path: "src/serve.ts" })).toContain("Similar: src/server.ts");
    } finally {
      await client.close();
    }
  });

  it("answers the era before, through the site's proxy", async () => {
    const client = new LegacyClient({ name: "test", version: "1" });
    const url = new URL(`${service().siteUrl}/api/v1/mcp`);
    await client.connect(new LegacyTransport(url, headersOf(tenant.apiKey)));
    try {
      const found = await client.callTool({ name: "find_symbol", arguments: { name: "startCleanup" } });
      expect(textOf(found)).toContain("src/server.ts:3-5");
    } finally {
      await client.close();
    }
  });

  it("reveals nothing of another tenant", async () => {
    const stranger = await newTenant();
    const client = new Client({ name: "test", version: "1" });
    const url = new URL(`${service().apiUrl}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, headersOf(stranger.apiKey)));
    try {
      for (const [name, args] of [
        ["list_repos", {}],
        ["search_code", { query: "sessions", repo: "github.com/acme/shop" }],
        ["read_file", { path: "src/server.ts", repo: tenant.workspaceId }],
        ["find_symbol", { name: "SessionStore", ref: repo.head() }],
      ] as const) {
        const text = textOf(await client.callTool({ name, arguments: args }));
        expect(text).not.toContain("SessionStore.");
        expect(text).not.toContain(repo.head().slice(0, 10) + ",");
      }
    } finally {
      await client.close();
    }
  });
});
