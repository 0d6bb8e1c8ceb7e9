import { chmodSync, rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cannotRunAsOther, runAsOther } from "./support/other-user.ts";
import { Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", {
    "src/pool.ts": "export class Pool {\n  close() {\n    return drain(this);\n  }\n}\n",
    "vendor/drain.js": "exports.drain = () => 1;\n",
  });
});
afterEach(() => sandbox.remove());

const grep = (...args: string[]) => sandbox.ask("app", ["grep", ...args]);
const SECRET = ["AKIA", "2E0A8F3B244C9986"].join("");

describe("codectx grep", () => {
  it("has the lines and exits of rg, of the work tree as it is, and indexes nothing", async () => {
    expect(await grep("drain")).toMatchObject({
      code: 0,
      stdout: "src/pool.ts:3:12:    return drain(this);\nvendor/drain.js:1:9:exports.drain = () => 1;\n",
      stderr: "",
    });
    sandbox.write("app/src/pool.ts", "export const idle = 1;\n");
    expect(await grep("-l", "dr[a-z]in")).toMatchObject({ code: 0, stdout: "vendor/drain.js\n" });
    expect(await grep("Pool")).toMatchObject({ code: 1, stdout: "", stderr: "no match in 2 files\n" });
    expect(await grep("(")).toMatchObject({ code: 2, stdout: "" });
    const { json } = await sandbox.ask("app", ["cache", "list", "--json"]);
    expect(json["indexes"]).toMatchObject([{ worktrees: [] }]);
  });

  it("takes files and folders as rg does, from the folder that it runs in, and its short flags", async () => {
    const pool = "src/pool.ts:3:12:    return drain(this);\n";
    const vendor = "vendor/drain.js:1:9:exports.drain = () => 1;\n";
    sandbox.write("app/src/[id].ts", "drain();\n");
    expect(await grep("-n", "drain", "src/pool.ts", "vendor")).toMatchObject({ code: 0, stdout: pool + vendor });
    expect(await grep("drain", "src/[id].ts")).toMatchObject({ code: 0, stdout: "src/[id].ts:1:1:drain();\n" });
    const inSources = (...args: string[]) => sandbox.ask("app/src", ["grep", "-l", "drain", ...args]);
    expect(await inSources("pool.ts", "../vendor")).toMatchObject({ stdout: "src/pool.ts\nvendor/drain.js\n" });
    expect(await inSources(".", "--json")).toMatchObject({
      json: { files: [{ path: "src/[id].ts" }, { path: "src/pool.ts" }] },
    });
    expect(await inSources("..")).toMatchObject({ stdout: "src/[id].ts\nsrc/pool.ts\nvendor/drain.js\n" });
    expect(await grep("drain", "-t", "javascript", "-g", "vendor/**")).toMatchObject({ code: 0, stdout: vendor });
    expect(await grep("drain", "src/none")).toMatchObject({ code: 2, stderr: expect.stringContaining("src/none") });
    expect(await grep("drain", "src", "--path", "*.ts")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--path"),
    });
  });

  it("separates lines with context, and numbers every line of a match, as rg does", async () => {
    expect((await grep("-C", "1", "drain|class")).stdout).toBe(
      [
        "src/pool.ts:1:8:export class Pool {",
        "src/pool.ts-2-  close() {",
        "src/pool.ts:3:12:    return drain(this);",
        "src/pool.ts-4-  }",
        "--",
        "vendor/drain.js:1:9:exports.drain = () => 1;\n",
      ].join("\n"),
    );
    expect((await grep("-U", "close\\(\\) \\{\\n.*return")).stdout).toBe(
      "src/pool.ts:2:3:  close() {\nsrc/pool.ts:3:1:    return drain(this);\n",
    );
  });

  it("reads a commit without a checkout, and refuses one that is not there", async () => {
    sandbox.write("app/src/pool.ts", "export const idle = 1;\n");
    expect(await grep("--ref", "HEAD", "-c", "Pool")).toMatchObject({ code: 0, stdout: "src/pool.ts:1\n" });
    expect(await grep("--ref", "nowhere", "Pool")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nowhere"),
    });
  });

  it("names the enclosing symbol and the state of the index with --json", async () => {
    const { json, code } = await grep("--json", "drain\\(");
    expect(code).toBe(0);
    expect(json).toMatchObject({
      gitSha: sandbox.git("app", "rev-parse", "HEAD"),
      digest: expect.any(String),
      matches: [{ path: "src/pool.ts", line: 3, enclosing: "Pool.close" }],
    });
  });

  it("says which files have withheld lines, whatever the pattern is", async () => {
    sandbox.write("app/key.ts", `const id = 1;\nconst key = "${SECRET}";\n`);
    const said = "not complete: 1 line withheld, which may hold secrets: key.ts\n";
    for (const pattern of [SECRET, "AKIA", "zzz"])
      expect(await grep(pattern)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining(`no match in 3 files; ${said}`),
      });
    expect(await grep("id")).toMatchObject({ code: 0, stderr: expect.stringContaining(said) });
    expect(await grep("--path", "src/**", "zzz")).toMatchObject({ code: 1 });
  });

  it("finds and reads UTF-16 with a byte order mark", async () => {
    const bytes = Buffer.from("\ufeff// é\r\nABOUT = drain\r\n", "utf16le");
    sandbox.write("app/menu.txt", bytes);
    expect(await grep("drain$")).toMatchObject({ code: 0, stdout: "menu.txt:2:9:ABOUT = drain\n", stderr: "" });
    expect(await sandbox.ask("app", ["read", "menu.txt"])).toMatchObject({ stdout: expect.stringContaining("// é") });
    expect(await sandbox.ask("app", ["coverage", "menu.txt"])).toMatchObject({
      stdout: expect.stringContaining("utf16"),
    });
    expect(await sandbox.ask("app", ["coverage", "--reason", "utf16"])).toMatchObject({ code: 0, stderr: "" });
    const stderr = "no file is left out of the index as utf8\n";
    expect(await sandbox.ask("app", ["coverage", "--reason", "utf8"])).toMatchObject({ code: 0, stderr });
  });

  it("finds the edit of a file that it has just learned about", async () => {
    await grep("drain");
    for (const name of ["first", "other", "third"]) {
      sandbox.write("app/src/pool.ts", `export const ${name} = 1;\n`);
      expect(await grep(name)).toMatchObject({ code: 0, stdout: `src/pool.ts:1:14:export const ${name} = 1;\n` });
    }
  });

  it("finds the rest where a file has replaced a folder that git has in its index, and search too", async () => {
    rmSync(sandbox.path("app/vendor"), { recursive: true });
    sandbox.write("app/vendor", "drain = 1\n");
    expect(await grep("-l", "drain")).toMatchObject({ code: 0, stdout: "src/pool.ts\nvendor\n", stderr: "" });
    expect(await sandbox.ask("app", ["search", "drain", "--json"])).toMatchObject({
      code: 0,
      json: { results: [{ path: "src/pool.ts" }] },
    });
  });

  it.skipIf(cannotRunAsOther())("says which files are in a folder that is closed", async () => {
    chmodSync(sandbox.path("app/vendor"), 0o000);
    const asOther = (...args: string[]) => runAsOther(sandbox, "app", args);
    const said = "not complete: vendor/drain.js (unreadable) not searched\n";
    const found = await asOther("grep", "-l", "drain");
    const none = await asOther("grep", "nowhere");
    const searched = await asOther("search", "drain", "--json");
    chmodSync(sandbox.path("app/vendor"), 0o700);
    expect(found).toMatchObject({ code: 0, stdout: "src/pool.ts\n", stderr: said });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
    expect(searched).toMatchObject({ code: 0, json: { results: [{ path: "src/pool.ts" }] } });
  });
});
