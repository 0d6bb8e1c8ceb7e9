import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CODECTX_ENTRY } from "../../support/codectx-entry.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../../support/test-certificate.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
});
afterEach(() => sandbox.remove());

const NO_KEY = { CODECTX_API_KEY: undefined, CODECTX_API_URL: undefined };

describe("login", () => {
  const config = () => sandbox.path("config/codectx/config.json");

  it("checks the key, stores it for this user alone, and uses it for this service alone", async () => {
    const { url, key } = sandbox.service;
    const login = await sandbox.run(".", ["login", "--key", "-", "--api-url", url, "--json"], {
      env: NO_KEY,
      input: `${key}\n`,
    });
    expect(login).toMatchObject({ code: 0, json: { ok: true, apiUrl: url, fingerprint: "fp-1" } });
    expect(statSync(config()).mode & 0o777).toBe(0o600);
    expect(login.stdout + login.stderr).not.toContain(key);
    expect((await sandbox.run(".", ["repos", "--json"], { env: NO_KEY })).json).toMatchObject({
      ok: true,
      workspaces: [],
    });
    const elsewhere = await sandbox.run(".", ["repos", "--json", "--api-url", "http://127.0.0.1:9"], { env: NO_KEY });
    expect(elsewhere).toMatchObject({ code: 3, json: { code: "NOT_LOGGED_IN" } });
    expect((await sandbox.run(".", ["logout", "--json"], { env: NO_KEY })).json).toMatchObject({ removed: [url] });
    expect((await sandbox.run(".", ["usage", "--json"], { env: { ...NO_KEY, CODECTX_API_URL: url } })).code).toBe(3);
    expect(readFileSync(config(), "utf8")).not.toContain(key);
  });

  it("stores nothing that the service does not accept", async () => {
    const refused = await sandbox.run(".", ["login", "--key", "-", "--json"], {
      env: { CODECTX_API_KEY: undefined },
      input: "cc_live_wrong",
    });
    expect(refused).toMatchObject({ code: 3, json: { code: "INVALID_API_KEY", requestId: "req-test" } });
    expect(existsSync(config())).toBe(false);
    const asked = await sandbox.run(".", ["login", "--json"], { env: { CODECTX_API_KEY: undefined } });
    expect(asked).toMatchObject({ code: 2, json: { code: "NO_KEY" } });
  });

  it("says so if the address is not that of an api", async () => {
    const apiUrl = `${sandbox.service.url}/app`;
    const ran = await sandbox.run(".", ["login", "--key", sandbox.service.key, "--api-url", apiUrl], { env: NO_KEY });
    expect(ran.code).toBe(6);
    expect(ran.stderr).toContain(`error: ${apiUrl} is not the address of a service's api (`);
    expect(ran.stderr).toContain("at the site's address it is <site>/api/v1");
    expect(existsSync(config())).toBe(false);
  });

  it("other commands say where the api is if the address has another path", async () => {
    const page = createHttpServer((_, answer) => {
      answer.writeHead(404, { "Content-Type": "application/json" });
      answer.end(JSON.stringify({ ok: false, code: "NOT_FOUND", error: "there is no such page" }));
    });
    await once(page.listen(0, "127.0.0.1"), "listening");
    const address = page.address();
    const env = { CODECTX_API_URL: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1` };
    const ran = await sandbox.run(".", ["usage"], { env });
    page.close();
    expect(ran.stderr).toContain("there is no such page: the address of the service is wrong");
    expect(ran.stderr).toContain("<site>/api/v1");
  });

  it("tries an address with an unknown certificate, or without TLS, twice, and says what to do", async () => {
    const connectionsOf = async (server: Server, advice: string) => {
      let connections = 0;
      server.on("connection", () => connections++).listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      const apiUrl = `https://localhost:${typeof address === "object" ? address?.port : ""}`;
      const ran = await sandbox.run(".", ["login", "--key", "cc_live_x", "--api-url", apiUrl], { env: NO_KEY });
      server.close();
      expect(ran).toMatchObject({ code: 6, stderr: expect.stringContaining(advice) });
      return connections;
    };
    const signedByItself = createHttpsServer({ cert: TEST_CERTIFICATE, key: TEST_KEY });
    expect(
      await connectionsOf(signedByItself, "(DEPTH_ZERO_SELF_SIGNED_CERT): set NODE_EXTRA_CA_CERTS to a file"),
    ).toBe(2);
    expect(await connectionsOf(createHttpServer(), "(EPROTO): the TLS handshake failed; a service without TLS")).toBe(
      2,
    );
  });

  it("stores no user or password of an address, prints none, and drops those of earlier versions", async () => {
    const address = sandbox.service.url.replace("//", "//user:hunter2@");
    for (const args of [["login", "--key", "-", "--api-url", address], ["config", "api-url", address], ["usage"]]) {
      const ran = await sandbox.run(".", args, {
        env: { ...NO_KEY, CODECTX_API_URL: address },
        input: sandbox.service.key,
      });
      expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("leave out user, password") });
      expect(ran.stdout + ran.stderr).not.toContain("hunter2");
    }
    expect(existsSync(config())).toBe(false);
    sandbox.write(
      "config/codectx/config.json",
      JSON.stringify({ apiUrl: address, services: { [address]: { apiKey: sandbox.service.key } } }),
    );
    expect((await sandbox.run(".", ["repos"], { env: NO_KEY })).code).toBe(0);
    await sandbox.run(".", ["config", "api-url", sandbox.service.url], { env: NO_KEY });
    expect(readFileSync(config(), "utf8")).not.toContain("hunter2");
    expect(readFileSync(config(), "utf8")).toContain(sandbox.service.key);
  });

  it("does not send a key in clear text over a network", async () => {
    const { code, json } = await sandbox.run(".", ["usage", "--json", "--api-url", "http://example.com"]);
    expect({ code, json }).toMatchObject({ code: 2, json: { code: "BAD_API_URL" } });
  });
});

describe("outline and symbol", () => {
  beforeEach(async () => {
    sandbox.repository("app", {
      ...sampleFiles(2),
      "src/user.ts": "export class User {\n  save(): void {}\n}\n\nexport function save(): void {}\n",
    });
    await sandbox.ask("app", ["index", "--local", "--no-embed", "--json"]);
  });

  it("outlines a file from the index, and one that changed from the file", async () => {
    const names = async (args: string[], cwd = "app") => {
      const { json } = await sandbox.ask(cwd, ["outline", "--json", ...args]);
      return (json["symbols"] as { name: string }[]).map(({ name }) => name);
    };
    expect(await names(["src/user.ts"])).toEqual(["User", "save", "save"]);
    expect(await names(["user.ts"], "app/src")).toEqual(["User", "save", "save"]);
    sandbox.write("app/src/user.ts", "export class Person {}\n");
    expect(await names(["src/user.ts"])).toEqual(["Person"]);
    expect(await sandbox.ask("app", ["outline", "src/none.ts"])).toMatchObject({ code: 4 });
    expect(await sandbox.ask("app", ["outline", "src/user.ts/none.ts"])).toMatchObject({ code: 4 });
    expect(await sandbox.ask("app", ["outline", "../elsewhere.ts"])).toMatchObject({ code: 2 });
    expect((await sandbox.ask("app", ["outline", "src/module1.ts"])).stdout).toMatch(
      /^2-4 +export function double1\(value: number\): number\n6-10 +export class Holder1\n7-9 +get\(\): number$/m,
    );
  });

  it("finds symbols by name, qualified name, case and beginning", async () => {
    const find = async (...args: string[]) => {
      const { json } = await sandbox.ask("app", ["symbol", "--json", ...args]);
      return ((json["symbols"] ?? []) as { qualifiedName: string }[]).map(({ qualifiedName }) => qualifiedName);
    };
    expect(await find("save")).toEqual(["User.save", "save"]);
    expect(await find("User.save")).toEqual(["User.save"]);
    expect(await find("USER")).toEqual(["User"]);
    expect(await find("doub")).toEqual(["double0", "double1"]);
    expect(await find("save", "--kind", "function")).toEqual(["save"]);
    expect(await find("save", "--limit", "1")).toHaveLength(1);
    for (const match of [[], ["--match", "exact"]]) {
      const missing = await sandbox.ask("app", ["symbol", "ouble", ...match]);
      expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining("similar: double0, double1") });
    }
    expect(await find("ouble", "--match", "fuzzy")).toEqual(["double0", "double1"]);
    expect(await sandbox.ask("app", ["symbol", "save", "--kind", "bogus"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no kind is named bogus; known are function, method, /),
    });
    expect(await sandbox.ask("app", ["symbol", ""])).toMatchObject({ code: 2 });
    sandbox.repository("empty", {});
    expect(await sandbox.ask("empty", ["symbol", "x", "--json"])).toMatchObject({
      code: 4,
      json: { code: "NOT_FOUND" },
    });
  });

  it("reads an index in a read-only folder, and says so when it cannot write there", async () => {
    if (process.getuid?.() === 0) return;
    const repos = sandbox.path("cache/codectx/repos");
    const [name = ""] = execFileSync("ls", [repos], { encoding: "utf8" }).split("\n");
    chmodSync(`${repos}/${name}`, 0o500);
    expect(await sandbox.ask("app", ["symbol", "User"])).toMatchObject({ code: 0 });
    sandbox.write("app/src/new.ts", "export const a = 1;\n");
    expect(await sandbox.ask("app", ["index", "--local", "--no-embed"])).toMatchObject({ code: 9 });
    chmodSync(`${repos}/${name}`, 0o700);
  });
});

describe("conventions", () => {
  it("suggests, explains, and reports wrong command lines as JSON too", async () => {
    const typo = await sandbox.run(".", ["symbl", "x"]);
    expect(typo).toMatchObject({ code: 2, stdout: "" });
    expect(typo.stderr).toContain("Did you mean symbol?");
    const help = await sandbox.run(".", ["help", "symbl"]);
    expect(help).toMatchObject({ code: 2, stdout: "" });
    expect(help.stderr).toMatch(/^error: unknown command 'symbl'\n\(Did you mean symbol\?\)\n$/);
    expect(await sandbox.run(".", ["help", "symbol"])).toMatchObject({ code: 0, stderr: "" });
    const document = await sandbox.run(".", ["--json", "symbol"]);
    expect(document).toMatchObject({ code: 2, stderr: "", json: { ok: false, code: "USAGE" } });
    const pull = await sandbox.run(".", ["pull", "--help"]);
    expect(pull.code).toBe(0);
    expect(pull.stdout).toContain("Examples:");
    expect((await sandbox.run(".", ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("shows no progress and no colours without a terminal, except on request", async () => {
    sandbox.repository("app", sampleFiles(3));
    const indexed = await sandbox.run("app", ["index", "--local"]);
    expect(indexed.stderr).toBe("");
    expect(indexed.stdout).toMatch(/^3 files, /);
    // oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
    const ESCAPE = /\u001b\[/;
    expect((await sandbox.run("app", ["symbol", "double1"])).stdout).not.toMatch(ESCAPE);
    expect((await sandbox.run("app", ["symbol", "double1"], { env: { FORCE_COLOR: "1" } })).stdout).toMatch(ESCAPE);
    expect(
      (await sandbox.run("app", ["symbol", "double1"], { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).stdout,
    ).not.toMatch(ESCAPE);
  });

  it("tells the state of everything with status, whatever of it fails", async () => {
    sandbox.repository("app", sampleFiles(2));
    const before = await sandbox.run("app", ["status", "--json"]);
    expect(before.json).toMatchObject({
      loggedIn: true,
      local: { indexed: false },
      snapshot: { exists: false },
      failures: {},
    });
    await sandbox.run("app", ["publish", "--json"]);
    await sandbox.run("app", ["index", "--local", "--json"]);
    const after = await sandbox.run("app", ["status", "--json"]);
    expect(after.json).toMatchObject({
      local: { indexed: true, fileCount: 2, fingerprint: "fp-1" },
      snapshot: { exists: true },
    });
    const offline = await sandbox.run("app", ["status", "--json", "--api-url", "http://127.0.0.1:9"]);
    expect(offline).toMatchObject({
      code: 6,
      json: { ok: false, exitCode: 6, service: null, local: { indexed: true } },
    });
  });

  it("ends status with 3 where the key is refused", async () => {
    sandbox.repository("app", sampleFiles(1));
    const refused = await sandbox.run("app", ["status", "--json"], { env: { CODECTX_API_KEY: "cc_live_revoked" } });
    expect(refused).toMatchObject({ code: 3, json: { ok: false, loggedIn: false, local: { indexed: false } } });
    expect((await sandbox.run("app", ["status"], { env: NO_KEY })).code).toBe(6);
    await sandbox.ask("app", ["index", "--local", "--no-embed"]);
    expect((await sandbox.ask("app", ["status"], { env: NO_KEY })).stdout).toMatch(/^Index +1 file, 3 symbols, /m);
    const { url } = sandbox.service;
    const keyless = await sandbox.run("app", ["status"], { env: { CODECTX_API_KEY: undefined, CODECTX_API_URL: url } });
    expect(keyless.code).toBe(0);
  });

  it("says in one line, and soon, that the service cannot be reached", async () => {
    sandbox.repository("app", sampleFiles(1));
    const startedAt = performance.now();
    const { code, stderr } = await sandbox.run("app", ["pull", "--api-url", "http://127.0.0.1:9"]);
    expect(code).toBe(6);
    expect(stderr.trim().split("\n")).toEqual([expect.stringContaining("cannot reach http://127.0.0.1:9")]);
    // Two tries a second apart, and two starts of the program on a busy machine; it was half a minute once.
    expect(performance.now() - startedAt).toBeLessThan(25_000);
  });

  it("refuses options of hosted runs with --local", async () => {
    sandbox.repository("app", sampleFiles(1));
    const refused = await sandbox.run("app", ["index", "--local", "--ref", "main", "--workspace", "w", "--json"]);
    expect(refused).toMatchObject({ code: 2, json: { code: "USAGE" } });
    expect(refused.json["error"]).toContain("--workspace, --ref: only for hosted runs");
  });

  it("prints completion scripts that their shells accept", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await sandbox.run(".", ["completion", shell]);
      expect(code).toBe(0);
      for (const command of ["login", "publish", "symbol"]) expect(stdout).toContain(command);
      if (shell !== "bash") continue;
      const complete = (...words: string[]) =>
        `COMP_WORDS=(codectx ${words.join(" ")}); COMP_CWORD=${words.length}; _codectx; echo \${COMPREPLY[@]}`;
      const typed = [
        complete("pu"),
        complete("pull", "--f"),
        complete("search", "--language", "py"),
        complete("symbol", "open", "--kind", "met"),
        complete("search", "--include", "te"),
        complete("setup", "cl"),
        complete("callers", "open", "--ref", "fe"),
      ];
      // The script calls `codectx`, as a user has it.
      const codectx = `codectx() { cd "${sandbox.path("refs")}"; "${process.execPath}" "${CODECTX_ENTRY}" "$@"; }`;
      sandbox.repository("refs", {});
      sandbox.git("refs", "branch", "feature/one");
      const input = [codectx, stdout, ...typed, ""].join("\n");
      expect(execFileSync("bash", ["-e"], { input, encoding: "utf8" }).split("\n")).toEqual([
        "publish pull",
        "--force",
        "python",
        "method",
        "tests",
        "claude-code claude-desktop",
        "feature/one",
        "",
      ]);
    }
    expect(await sandbox.run(".", ["completion", "cmd", "--json"])).toMatchObject({
      code: 2,
      json: { code: "UNKNOWN_SHELL" },
    });
  });

  it("says which thing is in the way when the cache cannot be made", async () => {
    sandbox.repository("app", sampleFiles(1));
    mkdirSync(sandbox.path("cache"), { recursive: true });
    writeFileSync(sandbox.path("cache/codectx"), "");
    const { code, stderr } = await sandbox.run("app", ["index", "--local"]);
    expect(code).toBe(9);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("config, cache and doctor", () => {
  it("stores the identity of a repository whose remote is a fork", async () => {
    sandbox.repository("app", sampleFiles(1), "https://github.com/me/fork.git");
    const repo = async () => (await sandbox.run("app", ["status", "--json"])).json["project"];
    expect(await repo()).toMatchObject({ repo: "github.com/me/fork" });
    const set = await sandbox.run("app", ["config", "repo", "git@github.com:Upstream/App.git", "--json"]);
    expect(set.json).toMatchObject({ repo: "github.com/upstream/app" });
    expect(await repo()).toMatchObject({ repo: "github.com/upstream/app" });
    // A key that is stored later leaves it in place.
    await sandbox.run(".", ["login", "--key", sandbox.service.key, "--api-url", sandbox.service.url]);
    expect((await sandbox.run("app", ["config", "repo"])).stdout).toBe("github.com/upstream/app\n");
    await sandbox.run("app", ["config", "repo", "--unset"]);
    expect(await repo()).toMatchObject({ repo: "github.com/me/fork" });
    expect(await sandbox.run("app", ["config", "colour"])).toMatchObject({ code: 2 });
    expect(await sandbox.run("app", ["config", "repo", "nonsense"])).toMatchObject({ code: 2 });
  });

  it("lists local indexes and deletes those whose work trees are gone", async () => {
    for (const name of ["kept", "gone"]) {
      sandbox.repository(name, sampleFiles(1));
      await sandbox.ask(name, ["index", "--local", "--no-embed"]);
    }
    const list = async () =>
      ((await sandbox.ask(".", ["cache", "list", "--json"])).json["indexes"] as { repository: string }[]).map(
        ({ repository }) => repository,
      );
    expect((await list()).sort()).toEqual(["github.com/acme/gone", "github.com/acme/kept"]);
    rmSync(sandbox.path("gone"), { recursive: true });
    expect((await sandbox.ask(".", ["cache", "clean", "--json"])).json).toMatchObject({
      removed: ["github.com/acme/gone"],
    });
    expect(await list()).toEqual(["github.com/acme/kept"]);
    // As a run leaves it that ended before it wrote anything.
    sandbox.write("cache/codectx/repos/empty/repository.txt", "github.com/acme/empty\n");
    const { stdout } = await sandbox.ask(".", ["cache", "list"]);
    expect(stdout).toMatch(/acme\/empty +\d+ B +[\d-]+ +0$/m);
    await sandbox.ask(".", ["cache", "clean"]);
    expect(await list()).toEqual(["github.com/acme/kept"]);
    expect(await sandbox.ask(".", ["cache", "clean", "github.com/acme/none"])).toMatchObject({ code: 4 });
    await sandbox.ask(".", ["cache", "clean", "github.com/acme/kept"]);
    expect(await list()).toEqual([]);
  });

  it("tells with doctor what is missing, and ends with its code", async () => {
    sandbox.repository("app", sampleFiles(1));
    const well = await sandbox.run("app", ["doctor", "--json"]);
    expect(well).toMatchObject({ code: 0, json: { ok: true } });
    const states = (ran: typeof well) =>
      Object.fromEntries((ran.json["checks"] as { name: string; state: string }[]).map((c) => [c.name, c.state]));
    expect(states(well)).toMatchObject({ git: "ok", cache: "ok", "work tree": "ok", service: "ok", key: "ok" });
    const refused = await sandbox.run("app", ["doctor", "--json"], { env: { CODECTX_API_KEY: "cc_live_revoked" } });
    expect(refused.code).toBe(3);
    expect(states(refused)).toMatchObject({ service: "ok", key: "failed" });
    expect((await sandbox.run("app", ["doctor"], { env: { CODECTX_API_KEY: undefined } })).code).toBe(0);
  });
});
