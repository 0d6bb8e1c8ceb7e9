import { spawn } from "node:child_process";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CODECTX_ENTRY } from "../../support/codectx-entry.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", sampleFiles(3));
});
afterEach(() => sandbox.remove());

const NO_KEY = { CODECTX_API_KEY: undefined, CODECTX_API_URL: undefined };
const SECRET = "const key = 'ghp_9fK2mQx7LzR4tVb8NcW3yHs6JdP1aEuG5oTi';\n";

/** A session of `codectx mcp`: messages go in by `send`, answers come out by id. */
function openMcp(cwd: string, fullDisk = false) {
  const command = [process.execPath, CODECTX_ENTRY, "mcp"];
  const [program = "", ...args] = fullDisk ? ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"', ...command] : command;
  const child = spawn(program, args, { cwd: sandbox.path(cwd), env: sandbox.environment(NO_KEY), stdio: "pipe" });
  child.stdin.on("error", () => undefined);
  const answers = new Map<number, string>();
  let rest = "";
  const read = (): void => {
    child.stdout.on("data", (part: Buffer) => {
      const lines = (rest + part.toString()).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) answers.set((JSON.parse(line) as { id: number }).id, line);
    });
  };
  const send = (id: number, method: string, params: object = {}): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  };
  send(0, "initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  const call = async (id: number, name: string, given: object): Promise<string> => {
    send(id, "tools/call", { name, arguments: given });
    await vi.waitUntil(() => answers.has(id), { timeout: 30_000, interval: 20 });
    return answers.get(id) ?? "";
  };
  return { child, answers, read, send, call };
}

describe.skipIf(process.platform === "win32")("a cache that cannot be written", () => {
  const ask = (...args: string[]) => sandbox.run("app", [...args, "--json"], { env: NO_KEY, fullDisk: true });

  it("makes answers stale, and says so, where there is an index of before", async () => {
    await sandbox.ask("app", ["search", "double"], { env: NO_KEY });
    // Unchanged, the index is current.
    expect((await ask("symbol", "double1")).json).not.toHaveProperty("stale");
    sandbox.write("app/src/new.ts", "export function brandNew() {}\n");
    sandbox.write("app/src/module1.ts", `${SECRET}export function double1() {}\n`);
    for (const args of [
      ["symbol", "double1"],
      ["search", "double"],
      ["refs", "double2"],
      ["outline", "src/module2.ts"],
      ["read", "src/module2.ts"],
    ]) {
      const stale = await ask(...args);
      expect(stale).toMatchObject({ code: 0, json: { ok: true, stale: true, indexedAt: expect.any(String) } });
      expect(stale.stderr).toContain("the index is stale");
    }
    for (const args of [
      ["symbol", "brandNew"],
      ["search", "brandNew"],
      ["refs", "brandNew"],
    ])
      expect(await ask(...args)).toMatchObject({ code: 9, json: { code: "INDEX_STALE", details: { stale: true } } });
    // A file that is not indexed yet is read from the work tree.
    expect(await ask("read", "src/new.ts")).toMatchObject({ code: 0, json: { stale: true, path: "src/new.ts" } });
    // A secret that came after the index.
    const read = await ask("read", "src/module1.ts");
    expect(read).toMatchObject({ code: 0, json: { withheld: [[1, expect.any(Number)]] } });
    expect(read.stdout).not.toContain("ghp_");
    const { child, read: readAnswers, call } = openMcp("app", true);
    readAnswers();
    expect(await call(1, "find_symbol", { name: "double1" })).toMatch(/STALE: indexed .*later edits are missing/);
    expect(await call(2, "find_symbol", { name: "brandNew" })).toContain("the index is stale");
    child.kill();
    // As soon as there is room again, the next answer is current.
    const current = await sandbox.ask("app", ["symbol", "brandNew", "--json"], { env: NO_KEY });
    expect(current.code).toBe(0);
    expect(current.json).not.toHaveProperty("stale");
  });

  it("is an error with code 9 where there is none", async () => {
    expect(await ask("symbol", "double1")).toMatchObject({ code: 9, json: { ok: false } });
    // No file system of its own for a test: nothing can be made in /proc either.
    for (const env of [{ XDG_CACHE_HOME: "/proc/none" }, { XDG_CACHE_HOME: undefined, HOME: "/proc" }]) {
      const ran = await sandbox.ask("app", ["symbol", "double1", "--json"], { env: { ...NO_KEY, ...env } });
      if (process.platform === "linux") expect(ran).toMatchObject({ code: 9, json: { ok: false } });
    }
  });
});

describe("codectx mcp", () => {
  it("says that its folder is gone, and goes on when it is back", async () => {
    mkdirSync(sandbox.path("gone"));
    const { child, read, call } = openMcp("gone");
    read();
    expect(await call(1, "list_repos", {})).toContain("indexed just now");
    rmSync(sandbox.path("gone"), { recursive: true });
    const answer = await call(2, "search_code", { query: "x" });
    expect(answer).toContain("does not exist any more");
    expect(answer).not.toContain("Try again");
    mkdirSync(sandbox.path("gone"));
    expect(await call(3, "list_repos", {})).toContain("indexed just now");
    child.kill();
  });

  it("reads no more from a client that does not read, and answers all when it does", async () => {
    const { child, answers, read, send } = openMcp("app");
    const [count, padding] = [200, "x".repeat(20_000)];
    for (let id = 1; id <= count; id++) send(id, "tools/list", { padding });
    let left = -1;
    for (let same = 0; same < 15; same++) {
      if (left !== child.stdin.writableLength) same = 0;
      left = child.stdin.writableLength;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(left).toBeGreaterThan((count * padding.length) / 2);
    read();
    await vi.waitUntil(() => answers.size === count + 1, { timeout: 30_000, interval: 50 });
    child.kill();
  });
});

describe("a hostile service", () => {
  const seen: string[] = [];
  const servers: Server[] = [];
  const serve = async (answer: (response: ServerResponse, url: string) => void): Promise<string> => {
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.headers.authorization ?? "-"}`);
      answer(response, request.url ?? "");
    });
    servers.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
    seen.length = 0;
  });
  const ask = (url: string, ...args: string[]) =>
    sandbox.ask("app", [...args, "--json"], { env: { CODECTX_API_URL: url } });
  const SEARCH = ["search", "x", "--remote", "--repo", "github.com/acme/app"];
  const bad = { code: 6, json: { code: "BAD_RESPONSE" } };

  it("is not read to the end, whatever status it answers", async () => {
    for (const status of [200, 500]) {
      let sent = 0;
      const endless = await serve((response) => {
        response.writeHead(status, { "Content-Type": "application/json" });
        const more = (): void => {
          while (sent < 3e9 && response.write(`"${"a".repeat(1 << 20)}",`)) sent += 1 << 20;
        };
        response.on("drain", more);
        response.write('{"ok":true,"results":[');
        more();
      });
      expect(await ask(endless, "usage")).toMatchObject(bad);
      expect(sent).toBeLessThan(100e6);
    }
  });

  it("gets a credential redirected to its own origin only", async () => {
    const other = await serve((response) => response.end("{}"));
    const away = await serve((response) => response.writeHead(307, { Location: `${other}/usage` }).end());
    for (const args of [["usage"], SEARCH]) {
      const refused = await ask(away, ...args);
      expect(refused).toMatchObject(bad);
      expect(refused.json["error"]).toContain(`redirect to ${other}`);
    }
    expect(seen).toHaveLength(2);
    const within = await serve((response, url) =>
      url === "/there"
        ? response.writeHead(401).end('{"ok":false,"code":"INVALID_API_KEY","error":"no"}')
        : response.writeHead(307, { Location: "/there" }).end(),
    );
    expect(await ask(within, "usage")).toMatchObject({ code: 3, json: { code: "INVALID_API_KEY" } });
  });

  it("cannot overflow the stack, or write to the terminal", async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const nested = await serve((response) =>
      response.writeHead(500).end(`{"ok":false,"code":"X","error":"e","details":${deep}}`),
    );
    expect(await ask(nested, "usage")).toMatchObject(bad);
    const loud = await serve((response) =>
      response
        .writeHead(400, { "X-Request-Id": "a\u009b2J" })
        .end(JSON.stringify({ ok: false, code: "INVALID_BODY", error: "\u001b[2J\u202e\u{e0041}\nforged" })),
    );
    const shown = await sandbox.ask("app", SEARCH, { env: { CODECTX_API_URL: loud } });
    expect(shown.stderr).toBe(String.raw`error: \x1b[2J\u202e\u{e0041} forged (request a\x9b2J)` + "\n");
  });
});
