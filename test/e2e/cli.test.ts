import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { sql } from "drizzle-orm";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startGitServer } from "../../src/tooling/local/git/git-server.ts";
import { CODECTX_ENTRY } from "../support/codectx-entry.ts";
import { sampleFiles, Sandbox, type Ran } from "../node/cli/support/run.ts";
import { admin, database, newTenant, service, type TestTenant } from "./support/service.ts";

/** As a new user would: log in, index, publish on one clone; pull and look a symbol up on another machine. */
describe("codectx against the service", () => {
  const sandbox = new Sandbox();
  let tenant: TestTenant;
  let server: Awaited<ReturnType<typeof startGitServer>>;

  const run = (
    cwd: string,
    args: string[],
    env: Record<string, string | undefined> = {},
    input?: string,
  ): Promise<Ran> =>
    sandbox.run(cwd, [...args, "--json"], {
      env: { CODECTX_API_URL: service().apiUrl, CODECTX_API_KEY: undefined, ...env },
      ...(input === undefined ? {} : { input }),
    });
  const colleague = () => ({ XDG_CACHE_HOME: sandbox.path("colleague"), CODECTX_API_KEY: tenant.apiKey });

  beforeAll(async () => {
    tenant = await newTenant();
    sandbox.repository("app", {
      ...sampleFiles(30),
      "src/user.py": "class User:\n    def save(self):\n        return 1\n",
    });
    execFileSync("git", ["clone", "-q", "--bare", sandbox.path("app"), sandbox.path("served/app.git")]);
    server = await startGitServer(sandbox.path("served"));
    sandbox.git("app", "remote", "set-url", "origin", `${server.origin}/app.git`);
  });
  afterAll(async () => {
    await server.close();
    sandbox.remove();
  });

  it("refuses a key that the service does not know", async () => {
    const wrong = `${tenant.apiKey.slice(0, -4)}AAAA`;
    expect(await run(".", ["login", "--key", "-"], {}, wrong)).toMatchObject({
      code: 3,
      json: { code: "INVALID_API_KEY" },
    });
  });

  it("logs in, indexes, publishes", async () => {
    expect(await run(".", ["login", "--key", "-"], {}, tenant.apiKey)).toMatchObject({ code: 0, json: { ok: true } });
    const indexed = await run("app", ["index", "--local"]);
    expect(indexed).toMatchObject({ code: 0, json: { fileCount: 31, parsedFiles: 31 } });
    const published = await run("app", ["publish"]);
    expect(published).toMatchObject({ code: 0, json: { published: true, fileCount: 31, embeddedCount: 0 } });
    expect(await run("app", ["publish"])).toMatchObject({ code: 0, json: { published: false } });
    const { json } = await run("app", ["repos"]);
    expect(json["workspaces"]).toContainEqual(
      expect.objectContaining({ repo: published.json["repo"], gitSha: published.json["gitSha"] }),
    );
    const usage = await run("app", ["usage"]);
    expect(usage.json).toMatchObject({ calls: { embed: 1 } });
  });

  it("pulls on another machine and finds symbols there without paying", async () => {
    sandbox.clone("app", "clone");
    const before = await run("clone", ["usage"], colleague());
    const pulled = await run("clone", ["pull"], colleague());
    expect(pulled).toMatchObject({
      code: 0,
      json: { downloaded: true, workTree: { fileCount: 31, parsedFiles: 0, embeddedCount: 0 } },
    });
    expect(await run("clone", ["symbol", "User.save"], colleague())).toMatchObject({
      code: 0,
      json: { symbols: [{ path: "src/user.py", startLine: 2, kind: "method" }] },
    });
    expect(await run("clone", ["status"], colleague())).toMatchObject({
      json: { snapshot: { exists: true }, local: { indexed: true } },
    });
    const after = await run("clone", ["usage"], colleague());
    expect(after.json["credits"]).toEqual(before.json["credits"]);
    expect(readdirSync(sandbox.path("colleague/codectx/repos"))).toHaveLength(1);
  });

  it("follows a hosted run, in another workspace than the first", async () => {
    const env = { CODECTX_WORKER_TOKEN: tenant.workerToken, CODECTX_WORKSPACE: tenant.workspaceId };
    const url = `${server.origin}/${path.basename("app.git")}`;
    const hosted = await run("app", ["index", "--url", url], env);
    expect(hosted).toMatchObject({ code: 0, json: { ok: true, fileCount: 31, workspaceId: tenant.workspaceId } });
    const missing = await run("app", ["index", "--url", `${server.origin}/none.git`], env);
    expect(missing).toMatchObject({ code: 6, json: { ok: false, code: "CLONE_FAILED" } });
    expect(await run("app", ["index", "--url", url], { ...env, CODECTX_WORKER_TOKEN: "cc_wrk_no" })).toMatchObject({
      code: 3,
    });
  });

  it("lists, follows and cancels runs", async () => {
    const env = { CODECTX_WORKER_TOKEN: tenant.workerToken, CODECTX_WORKSPACE: tenant.workspaceId };
    const { json } = await run("app", ["runs", "list"], env);
    const ended = (json["runs"] as { runId: string; state: string }[]).find(({ state }) => state === "succeeded");
    expect(ended).toBeDefined();
    const { runId } = ended!;
    expect(await run("app", ["runs", "watch", runId], env)).toMatchObject({ code: 0, json: { runId, fileCount: 31 } });
    expect(await run("app", ["runs", "cancel", runId], env)).toMatchObject({ json: { runId, state: "succeeded" } });
    // A server that takes the request and never answers: the run waits until it is cancelled.
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    try {
      const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/app.git`;
      const started = await run("app", ["index", "--url", url, "--detach"], env);
      const slow = String(started.json["runId"]);
      expect(await run("app", ["runs", "cancel", slow], env)).toMatchObject({ code: 0, json: { state: "cancelled" } });
      expect(await run("app", ["runs", "watch", slow], env)).toMatchObject({
        code: 1,
        json: { code: "RUN_CANCELLED" },
      });
      expect((await run("app", ["runs", "list"], env)).json["runs"]).toContainEqual(
        expect.objectContaining({ runId: slow, state: "cancelled" }),
      );
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
    const unknown = await run("app", ["runs", "watch", tenant.workspaceId], env);
    expect(unknown).toMatchObject({ code: 4, json: { ok: false } });
  });

  it("has the service build a snapshot where a hosted run left none, and says how to ask for it", async () => {
    const env = { CODECTX_WORKER_TOKEN: tenant.workerToken, CODECTX_WORKSPACE: tenant.workspaceId };
    const list = () => sandbox.run("app", ["repos"], { env: { CODECTX_API_URL: service().apiUrl, ...colleague() } });
    expect((await list()).stdout).toContain("no snapshot");
    expect((await list()).stdout).toContain("`codectx snapshot`");
    const url = `${server.origin}/app.git`;
    const built = await run("app", ["snapshot", "--tenant", tenant.tenantId, "--url", url], env);
    const gitSha = sandbox.git("app", "rev-parse", "HEAD");
    expect(built).toMatchObject({ code: 0, json: { gitSha, workspaceId: tenant.workspaceId } });
    expect((await list()).stdout).not.toContain("no snapshot");
  });

  it("asks the service's index with --remote", async () => {
    const env = { CODECTX_WORKER_TOKEN: tenant.workerToken };
    expect(await run("app", ["index"], env)).toMatchObject({ code: 0, json: { fileCount: 31 } });
    const { code, json } = await run("app", ["search", "--remote", "double7"]);
    expect(code).toBe(0);
    expect((json["results"] as { path: string }[])[0]?.path).toBe("src/module7.ts");
    const other = await run("app", ["search", "--remote", "--repo", "github.com/acme/none", "double7"]);
    expect(other).toMatchObject({ code: 4, json: { code: "NO_WORKSPACE" } });
    for (const args of [
      ["symbol", "double7"],
      ["refs", "double7"],
      ["outline", "src/module7.ts"],
      ["read", "src/module7.ts:1-2"],
    ]) {
      const local = await run("app", args);
      const remote = await run("app", [...args, "--remote"]);
      // Over HTTP, definitions and uses say which workspace they are from.
      const {
        indexes,
        by: _,
        gitSha,
        ...answer
      } = JSON.parse(
        JSON.stringify(remote.json, (key, value: unknown) =>
          key === "repo" || key === "workspaceId" ? undefined : value,
        ),
      ) as typeof remote.json;
      expect([args, remote.code, indexes]).toEqual([args, local.code, [expect.objectContaining({ gitSha })]]);
      expect(local.json).toMatchObject(answer);
    }
    expect(await run("app", ["symbol", "--remote", "double"])).toMatchObject({ code: 0, json: { match: "prefix" } });
    expect(await run("app", ["symbol", "--remote", "nothing"])).toMatchObject({ code: 4, json: { code: "NOT_FOUND" } });
    expect(await run("app", ["read", "--repo", "github.com/acme/none", "a.ts"])).toMatchObject({ code: 2 });
  });

  it("asks the service about the edits of the work tree with --edits", async () => {
    sandbox.write("app/src/module7.ts", "export function tripled7(n: number) {\n  return n * 3;\n}\n");
    sandbox.write("app/src/fresh.ts", "export const freshlyAdded = tripled7(2);\n");
    const edited = await run("app", ["symbol", "tripled7", "--remote", "--edits"]);
    expect(edited).toMatchObject({ code: 0, json: { symbols: [{ path: "src/module7.ts", startLine: 1 }] } });
    expect(await run("app", ["symbol", "tripled7", "--remote"])).toMatchObject({ code: 4 });
    const used = await run("app", ["refs", "tripled7", "--remote", "--edits"]);
    expect(used).toMatchObject({ code: 0, json: { references: [{ path: "src/fresh.ts", line: 1 }] } });
    // Commits that are not pushed are edits, too.
    sandbox.git("app", "add", "-A");
    sandbox.git("app", "commit", "-qm", "not pushed");
    sandbox.git("app", "update-ref", "refs/remotes/origin/main", "HEAD~1");
    sandbox.git("app", "branch", "-q", "--set-upstream-to=origin/main");
    expect(await run("app", ["search", "freshlyAdded", "--remote", "--edits"])).toMatchObject({ code: 0 });
    for (const args of [["--edits"], ["--remote", "--edits", "--ref", "HEAD"]])
      expect(await run("app", ["symbol", "tripled7", ...args])).toMatchObject({ code: 2, json: { code: "USAGE" } });
    sandbox.git("app", "reset", "-q", "--hard", "HEAD~1");
  });

  it("serves the service's index with the edits of the work tree to agents, with mcp --remote --edits", async () => {
    const env = sandbox.environment({ CODECTX_API_URL: service().apiUrl, CODECTX_API_KEY: undefined });
    const [command, cwd] = [process.execPath, sandbox.path("app")];
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({ command, args: [CODECTX_ENTRY, "mcp", "--remote", "--edits"], cwd, env }),
    );
    const ask = async (name: string, input: Record<string, unknown>): Promise<string> => {
      const { content } = await client.callTool({ name, arguments: input });
      return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    };
    try {
      sandbox.write("app/src/module7.ts", "export function tripled7(n: number) {\n  return n * 3;\n}\n");
      expect(await ask("find_symbol", { name: "tripled7" })).toMatch(/edits included[^]*src\/module7\.ts:1/);
      sandbox.write("app/src/module7.ts", "\nexport function fourfold7(n: number) {\n  return n * 4;\n}\n");
      expect(await ask("find_symbol", { name: "fourfold7" })).toContain("src/module7.ts:2");
      expect(await ask("read_file", { path: sandbox.path("app/src/module7.ts") })).toContain("fourfold7");
      // A named revision is the service's own, and so is another repository.
      expect(await ask("find_symbol", { name: "fourfold7", ref: "main" })).toContain("nothing in the index is named");
      expect(await ask("find_symbol", { name: "fourfold7", repo: "github.com/acme/other" })).toContain("no workspace");
      expect(await ask("grep", { pattern: "(" })).toContain("pattern");
      expect(await ask("list_repos", {})).toMatch(
        /^\S+\/app@[0-9a-f]{10}, indexed .*[^]*\n2 of 2 repositories shown\.$/,
      );
      await database().execute(sql`update overlays set expires_at = now() where tenant_id = ${tenant.tenantId}`);
      expect(await ask("grep", { pattern: "fourfold\\d" })).toContain("src/module7.ts");
    } finally {
      await client.close();
      sandbox.git("app", "checkout", "-q", "--", ".");
    }
    for (const args of [["--edits"], ["--remote", "--all"], ["--remote", "--repos", "."]])
      expect(await run("app", ["mcp", ...args])).toMatchObject({ code: 2, json: { code: "USAGE" } });
    expect(await run("app", ["mcp", "--remote"], { XDG_CONFIG_HOME: sandbox.path("nobody") })).toMatchObject({
      code: 3,
      json: { code: "NOT_LOGGED_IN" },
    });
  });

  it("publishes from a pipeline with a key for that alone, and stops at once when the key is revoked", async () => {
    sandbox.write("clone/src/more.ts", "export const more = 1;\n");
    sandbox.commit("clone");
    const limits = ["--scope", "embed", "--scope", "snapshot", "--repo", `${server.origin}/app.git`];
    const narrow = await run("clone", ["token", "create", "--ttl", "1h", ...limits]);
    const runner = { XDG_CACHE_HOME: sandbox.path("runner"), CODECTX_API_KEY: String(narrow.json["token"]) };
    expect(await run("clone", ["ci"], runner)).toMatchObject({
      code: 0,
      json: { published: true, fileCount: 32, embeddedCount: 1 },
    });
    const { keyId, apiKey } = (await admin("key", "create", "--tenant", tenant.tenantId, "--name", "laptop")) as {
      keyId: string;
      apiKey: string;
    };
    const revoked = { ...runner, CODECTX_API_KEY: apiKey };
    expect(await run("clone", ["pull"], revoked)).toMatchObject({ code: 0, json: { downloaded: false } });
    await admin("key", "revoke", "--id", keyId);
    expect(await run("clone", ["pull", "--force"], revoked)).toMatchObject({
      code: 3,
      json: { code: "INVALID_API_KEY" },
    });
    expect(await run("clone", ["symbol", "double7"], revoked)).toMatchObject({ code: 0 });
  });

  it("says so when the tenant has not opted in", async () => {
    const closed = await newTenant({ sharedIndex: false });
    const env = { XDG_CACHE_HOME: sandbox.path("closed"), CODECTX_API_KEY: closed.apiKey };
    expect(await run("app", ["publish"], env)).toMatchObject({ code: 3, json: { code: "SHARED_INDEX_DISABLED" } });
  });
});
