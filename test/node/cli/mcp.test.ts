import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CODECTX_ENTRY } from "../../support/codectx-entry.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

const DOCUMENT = fileURLToPath(new URL("../../../docs/mcp.md", import.meta.url));
const [START, END] = ["<!-- session: npx vitest run test/node/cli/mcp.test.ts checks it -->\n", "<!-- end -->"];

const STORE = `import { randomUUID } from "node:crypto";

export interface Session {
  id: string;
  userId: string;
  expiresAt: number;
}

/** Sessions in memory, by id. */
export class SessionStore {
  readonly #sessions = new Map<string, Session>();

  open(userId: string, now: number): Session {
    const session = { id: randomUUID(), userId, expiresAt: now + 30 * 60_000 };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Ends sessions whose time is over; returns how many. */
  closeExpired(now: number): number {
    let closed = 0;
    for (const session of this.#sessions.values()) {
      if (session.expiresAt > now) continue;
      this.#sessions.delete(session.id);
      closed++;
    }
    return closed;
  }
}
`;
const SERVER = `import { SessionStore } from "./session-store.ts";

const CLEANUP_MS = 60_000;
const sessions = new SessionStore();

export function startCleanup(): NodeJS.Timeout {
  return setInterval(() => {
    const closed = sessions.closeExpired(Date.now());
    if (closed > 0) console.log(\`closed \${closed} sessions\`);
  }, CLEANUP_MS);
}
`;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("shop", {
    "src/session-store.ts": STORE,
    "src/server.ts": SERVER,
    "src/money.ts":
      "/** Cents as text. */\nexport const format = (cents: number): string => (cents / 100).toFixed(2);\n",
    "README.md": "# Shop\n\nA shop with sessions.\n",
  });
});
afterAll(() => sandbox.remove());

function command(): { command: string; args: string[]; cwd: string; env: Record<string, string> } {
  // No address and no key: the tools need neither.
  const env = sandbox.environment({ CODECTX_API_URL: undefined, CODECTX_API_KEY: undefined });
  return { command: process.execPath, args: [CODECTX_ENTRY, "mcp"], cwd: sandbox.path("shop"), env };
}

function textOf(result: object): string {
  const { content } = result as { content: { type: string; text: string }[] };
  expect(content.map(({ type }) => type)).toEqual(["text"]);
  return content[0]?.text ?? "";
}

describe("codectx mcp", () => {
  it("serves the official client of the current era", async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport(command()));
    try {
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(8);
      for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true });
      const found = await client.callTool({ name: "find_symbol", arguments: { name: "SessionStore.closeExpired" } });
      expect(textOf(found)).toContain(
        "src/session-store.ts:20-28  method SessionStore.closeExpired\n20    closeExpired(",
      );
    } finally {
      await client.close();
    }
  });

  it("serves the official client of the era before", async () => {
    const client = new LegacyClient({ name: "test", version: "1" });
    await client.connect(new LegacyStdioClientTransport(command()));
    try {
      expect((await client.listTools()).tools).toHaveLength(8);
      expect(client.getInstructions()).toContain("search_code");
      const found = await client.callTool({ name: "search_code", arguments: { query: "end expired sessions" } });
      expect(found["structuredContent"]).toBeUndefined();
      expect(textOf(found)).toContain("src/session-store.ts");
      const missing = await client.callTool({ name: "read_file", arguments: { path: "lib/session-store.ts" } });
      expect(missing.isError).toBe(true);
      expect(textOf(missing)).toContain("src/session-store.ts");
    } finally {
      await client.close();
    }
  });

  it("understands paths and names as agents write them, and answers what cannot be meant with what could", async () => {
    sandbox.write("shop/package-lock.json", `{\n  "name": "shop"\n}\n`);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport(command()));
    const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
      textOf(await client.callTool({ name, arguments: args }));
    try {
      for (const path of ["/src/money.ts", "./src/money.ts", sandbox.path("shop/src/money.ts")])
        expect(await call("read_file", { path })).toContain("2  export const format");
      expect(await call("read_file", { path: "src/money.ts", start_line: 99 })).toContain(
        "src/money.ts, 2 lines\n\nThere is no line 99.",
      );
      expect(await call("outline", { path: "src/" })).toContain("\nsrc/\n\nsrc/money.ts\nsrc/server.ts\n");
      expect(await call("outline", { path: "." })).toContain("src/  3 files\nREADME.md");
      // Searched, and not indexed.
      expect(await call("read_file", { path: "package-lock.json" })).toContain('2    "name": "shop"');
      expect(await call("search_code", { query: "sessions", languages: ["ts"] })).toBe(
        "languages: no language is named ts, did you mean typescript?",
      );
      expect(await call("search_code", { query: "sessions", path: "src" })).toContain("did you mean paths?");
      expect(await call("search_code", { query: "sessions", repo: "acme/shop" })).toContain("src/session-store.ts");
      sandbox.git("shop", "update-ref", "refs/remotes/origin/feature", "HEAD");
      expect(await call("search_code", { query: "sessions", ref: "feature" })).toContain(
        "did you mean origin/feature?",
      );
      expect(await call("find_symbol", { name: "format", ref: "origin/feature" })).toMatch(/shop@\w{10}, indexed/);
    } finally {
      sandbox.git("shop", "update-ref", "-d", "refs/remotes/origin/feature");
      rmSync(sandbox.path("shop/package-lock.json"));
      await client.close();
    }
  });

  it("answers for several work trees, by repository, folder and ref, and says which", async () => {
    sandbox.repository("web", { "src/page.ts": "export function renderPage(): string {\n  return '';\n}\n" });
    sandbox.clone("web", "web-2");
    sandbox.write("web-2/src/page.ts", "export function renderTwice(): string {\n  return '';\n}\n");
    sandbox.repository("plain/tool", { "main.py": "def run_tool():\n    return 1\n" }, "");
    sandbox.git("plain/tool", "remote", "remove", "origin");
    const client = new Client({ name: "test", version: "1" });
    const { args, ...rest } = command();
    const trees = ["../web", sandbox.path("web-2"), "../plain/tool"];
    await client.connect(new StdioClientTransport({ ...rest, args: [...args, "--repos", ...trees] }));
    const call = async (name: string, input: Record<string, unknown>): Promise<string> =>
      textOf(await client.callTool({ name, arguments: input }));
    try {
      const [web, copy, shop] = [sandbox.path("web"), sandbox.path("web-2"), "github.com/acme/shop"];
      const listed = await call("list_repos", {});
      expect(listed).toMatch(
        new RegExp(
          `^${shop}@\\w{10} \\(work tree, edits included\\), indexed (?:just now|\\d+ minutes? ago), 4 files\n`,
        ),
      );
      expect(listed).toContain(`\n${web}, not indexed before its first question`);
      expect(await call("find_symbol", { name: "closeExpired" })).toContain(`${shop}@`);
      expect(await call("find_symbol", { name: "renderPage", repo: web })).toContain(`${web}@`);
      expect(await call("find_symbol", { name: "renderTwice", repo: "web-2" })).toContain(`${copy}@`);
      symlinkSync(copy, sandbox.path("linked"));
      for (const repo of [sandbox.path("linked"), `${path.basename(path.dirname(copy))}\\web-2`])
        expect(await call("find_symbol", { name: "renderTwice", repo })).toContain(`${copy}@`);
      expect(await call("find_symbol", { name: "renderPage", repo: "web-2", ref: "main" })).toContain("page.ts:1-3");
      expect(await call("find_symbol", { name: "run_tool", repo: "tool" })).toContain("tool@");
      expect(await call("find_symbol", { name: "renderPage", repo: "github.com/acme/web" })).toBe(
        `repo: several work trees are called github.com/acme/web; name the folder of one: ${web}, ${copy}`,
      );
      expect(await call("find_symbol", { name: "x", repo: "github.com/acme/shpo" })).toContain(`did you mean ${shop}?`);
      expect(await call("list_repos", {})).toMatch(new RegExp(`${copy}@\\w{10} \\(work tree, edits included\\)`));
    } finally {
      await client.close();
    }
  });

  it("serves all work trees with an index from a folder that is none, and refuses names without one", async () => {
    await sandbox.run("shop", ["search", "sessions"]);
    sandbox.write("elsewhere/notes.txt", "");
    const { args, ...rest } = command();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ ...rest, cwd: sandbox.path("elsewhere"), args: [...args, "--all"] }),
    );
    try {
      const read = { name: "read_file", arguments: { path: "src/money.ts", repo: "shop" } };
      expect(textOf(await client.callTool(read))).toContain("2  export const format");
    } finally {
      await client.close();
    }
    const unknown = await sandbox.run("elsewhere", ["mcp", "--repos", "../nowhere"]);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--repos: ../nowhere is neither a folder"),
    });
  });

  it("tells a client that waits for the first index how far it is", async () => {
    sandbox.repository("large", sampleFiles(400));
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport({ ...command(), cwd: sandbox.path("large") }));
    const progress: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    try {
      const found = { name: "find_symbol", arguments: { name: "double7" } };
      const answer = await client.callTool(found, { onprogress: (update) => void progress.push(update) });
      expect(textOf(answer)).toContain("src/module7.ts");
    } finally {
      await client.close();
    }
    expect(progress.length).toBeGreaterThan(0);
    expect(progress.map(({ progress: done }) => done)).toEqual(
      progress.map(({ progress: done }) => done).toSorted((a, b) => a - b),
    );
    expect(progress[0]).toMatchObject({ total: 400, message: expect.stringMatching(/^Indexing: \d+ of 400 files$/) });
  });

  it("writes nothing but the protocol to stdout, and ends with its client", async () => {
    const { code, stdout } = await sandbox.run("shop", ["mcp"], {
      input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`,
    });
    expect(code).toBe(0);
    for (const line of stdout.split("\n").filter((text) => text !== ""))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });

  it("answers lines that are no messages, and goes on", async () => {
    const lines = ['{"jsonrpc":', "", '{"id":7}', "[]", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })];
    const { code, stdout } = await sandbox.run("shop", ["mcp"], { input: `${lines.join("\n")}\n` });
    expect(code).toBe(0);
    const answers = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { id: unknown }]));
    const refused = answers.filter(({ id }) => id !== 1);
    expect(refused).toMatchObject([
      { jsonrpc: "2.0", id: null, error: { code: -32_700 } },
      { id: 7, error: { code: -32_600 } },
      { id: null, error: { code: -32_600 } },
    ]);
  });

  it("answers a session as docs/mcp.md shows it: find, read around, follow a reference, edit, find again", async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport(command()));
    const session: string[] = [];
    const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
      const text = textOf(await client.callTool({ name, arguments: args }));
      session.push(`> ${name} ${JSON.stringify(args)}\n\n${text}`);
      return text;
    };
    try {
      const found = await call("search_code", { query: "where are sessions ended when their time is over", limit: 2 });
      expect(found).toContain("closeExpired");
      expect(await call("outline", { path: "src/session-store.ts" })).toContain("closeExpired");
      expect(await call("find_references", { name: "closeExpired" })).toMatch(/src\/server\.ts\n *8 .*closeExpired/);
      expect(await call("grep", { pattern: "closeExp\\w+\\(" })).toMatch(/src\/server\.ts\n *8 .*closeExpired/);
      expect(await call("grep", { pattern: "closeExpired", word_regexp: true, count: true })).toContain(
        "src/server.ts: ",
      );
      expect(await call("grep", { pattern: "nowhere to be found" })).toMatch(/No match in \d+ files/);
      expect(await call("read_file", { path: "src/server.ts", start_line: 6, end_line: 11 })).toContain("setInterval");

      const edited = STORE.replace(
        "  /** Ends sessions",
        "  /** Ends all sessions of a user. */\n  closeAllOf(userId: string): void {\n    for (const { id, userId: owner } of this.#sessions.values()) if (owner === userId) this.#sessions.delete(id);\n  }\n\n  /** Ends sessions",
      );
      sandbox.write("shop/src/session-store.ts", edited);
      session.push("(the agent adds SessionStore.closeAllOf to src/session-store.ts)");
      expect(await call("find_symbol", { name: "closeAllOf" })).toContain("src/session-store.ts:20-22");
      expect(await call("find_symbol", { name: "closeExpired" })).toContain("src/session-store.ts:25-33");
    } finally {
      await client.close();
    }
    const head = sandbox.git("shop", "rev-parse", "HEAD").slice(0, 10);
    // On a busy machine minutes pass between the first test and this one.
    const said = session
      .join("\n\n")
      .replaceAll(head, "6c1f0b2a94")
      .replaceAll(/indexed \d+ minutes? ago/g, "indexed just now");
    const shown = `${START}\n\`\`\`text\n${said}\n\`\`\`\n\n`;
    const document = readFileSync(DOCUMENT, "utf8");
    const [before, after] = [document.slice(0, document.indexOf(START)), document.slice(document.indexOf(END))];
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(DOCUMENT, before + shown + after);
    else expect(document).toBe(before + shown + after);
  });

  it("serves the folders that the host names, wherever it starts the server", async () => {
    sandbox.write("plugin/plugin.json", '{"name":"code-context"}');
    sandbox.repository("other", { "src/other.ts": "export function findOther(): void {}\n" });
    /** Calls a tool of a server that runs in the plugin's folder. */
    const call = async (
      name: string,
      args: Record<string, unknown>,
      { roots, env = {} }: { roots?: string[]; env?: Record<string, string> },
    ): Promise<string> => {
      const client = new LegacyClient(
        { name: "test", version: "1" },
        roots && { capabilities: { roots: { listChanged: true } } },
      );
      if (roots)
        client.setRequestHandler(ListRootsRequestSchema, () => ({
          roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
        }));
      const { env: own, ...rest } = command();
      const cwd = sandbox.path("plugin");
      await client.connect(new LegacyStdioClientTransport({ ...rest, cwd, env: { ...own, ...env } }));
      try {
        return textOf(await client.callTool({ name, arguments: args }));
      } finally {
        await client.close();
      }
    };
    const [shop, other] = [sandbox.path("shop"), sandbox.path("other")];
    const found = { name: "closeExpired" };
    const asked = await Promise.all([
      call("find_symbol", found, { roots: [shop] }),
      call("find_symbol", found, { env: { CLAUDE_PROJECT_DIR: shop } }),
      call("find_symbol", found, { env: { WORKSPACE_FOLDER_PATHS: `${shop},${other}` } }),
    ]);
    for (const answer of asked) expect(answer).toMatch(/src\/session-store\.ts:\d+-\d+  method/);
    const second = { name: "findOther", repo: "other" };
    expect(await call("find_symbol", second, { roots: [shop, other, sandbox.path("gone")] })).toContain("other.ts:1-1");
    for (const roots of [undefined, []])
      expect(await call("find_symbol", found, { ...(roots && { roots }) })).toContain(
        "is the folder of the plugin, and the agent's host does not say which project it works on: add --repos",
      );
  });
});
