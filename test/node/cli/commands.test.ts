import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sampleFiles, Sandbox } from "./support/run.ts";

vi.setConfig({ testTimeout: 60_000 });

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
    await sandbox.run("app", ["index", "--local", "--no-embed", "--json"]);
  });

  it("outlines a file from the index, and one that changed from the file", async () => {
    const names = async (args: string[], cwd = "app") => {
      const { json } = await sandbox.run(cwd, ["outline", "--json", ...args]);
      return (json["symbols"] as { name: string }[]).map(({ name }) => name);
    };
    expect(await names(["src/user.ts"])).toEqual(["User", "save", "save"]);
    expect(await names(["user.ts"], "app/src")).toEqual(["User", "save", "save"]);
    sandbox.write("app/src/user.ts", "export class Person {}\n");
    expect(await names(["src/user.ts"])).toEqual(["Person"]);
    expect(await sandbox.run("app", ["outline", "src/none.ts"])).toMatchObject({ code: 4 });
    expect(await sandbox.run("app", ["outline", "../elsewhere.ts"])).toMatchObject({ code: 2 });
    expect((await sandbox.run("app", ["outline", "src/module1.ts"])).stdout).toMatch(
      /^6-10 +class Holder1 .*\n7-9 +method get /m,
    );
  });

  it("finds symbols by name, qualified name, case and beginning", async () => {
    const find = async (...args: string[]) => {
      const { json } = await sandbox.run("app", ["symbol", "--json", ...args]);
      return ((json["symbols"] ?? []) as { qualifiedName: string }[]).map(({ qualifiedName }) => qualifiedName);
    };
    expect(await find("save")).toEqual(["User.save", "save"]);
    expect(await find("User.save")).toEqual(["User.save"]);
    expect(await find("USER")).toEqual(["User"]);
    expect(await find("doub")).toEqual(["double0", "double1"]);
    expect(await find("save", "--kind", "function")).toEqual(["save"]);
    expect(await find("save", "--limit", "1")).toHaveLength(1);
    const missing = await sandbox.run("app", ["symbol", "ouble"]);
    expect(missing).toMatchObject({ code: 4 });
    expect(missing.stderr).toContain("similar: double0, double1");
    sandbox.repository("empty", {});
    expect(await sandbox.run("empty", ["symbol", "x", "--json"])).toMatchObject({
      code: 4,
      json: { code: "NO_INDEX" },
    });
  });

  it("reads an index in a read-only folder, and says so when it cannot write there", async () => {
    if (process.getuid?.() === 0) return;
    const repos = sandbox.path("cache/codectx/repos");
    const [name = ""] = execFileSync("ls", [repos], { encoding: "utf8" }).split("\n");
    chmodSync(`${repos}/${name}`, 0o500);
    expect(await sandbox.run("app", ["symbol", "User"])).toMatchObject({ code: 0 });
    sandbox.write("app/src/new.ts", "export const a = 1;\n");
    expect(await sandbox.run("app", ["index", "--local", "--no-embed"])).toMatchObject({ code: 9 });
    chmodSync(`${repos}/${name}`, 0o700);
  });
});

describe("conventions", () => {
  it("suggests, explains, and speaks JSON about wrong command lines too", async () => {
    const typo = await sandbox.run(".", ["symbl", "x"]);
    expect(typo).toMatchObject({ code: 2, stdout: "" });
    expect(typo.stderr).toContain("Did you mean symbol?");
    const document = await sandbox.run(".", ["--json", "symbol"]);
    expect(document).toMatchObject({ code: 2, stderr: "", json: { ok: false, code: "USAGE" } });
    const help = await sandbox.run(".", ["pull", "--help"]);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain("Examples:");
    expect((await sandbox.run(".", ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("draws nothing and colours nothing where nobody looks, except on request", async () => {
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
    expect(offline).toMatchObject({ code: 0, json: { service: null, local: { indexed: true } } });
  });

  it("prints completion scripts that their shells accept", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await sandbox.run(".", ["completion", shell]);
      expect(code).toBe(0);
      for (const command of ["login", "publish", "symbol"]) expect(stdout).toContain(command);
      if (shell !== "bash") continue;
      const typed =
        "COMP_WORDS=(codectx pu); COMP_CWORD=1; _codectx; echo ${COMPREPLY[@]}; COMP_WORDS=(codectx pull --f); COMP_CWORD=2; _codectx; echo ${COMPREPLY[@]}";
      expect(execFileSync("bash", ["-e"], { input: `${stdout}\n${typed}\n`, encoding: "utf8" })).toBe(
        "publish pull\n--force\n",
      );
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
