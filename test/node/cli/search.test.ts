import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.create();
});
afterEach(() => sandbox.remove());

const NO_KEY = { CODECTX_API_KEY: undefined, CODECTX_API_URL: undefined };

describe("search, refs and read", () => {
  beforeEach(() => {
    sandbox.repository("app", {
      "src/session.ts":
        "/** Closes a session and frees its resources. */\nexport function closeSession(id: string): void {\n  release(id);\n}\n\nfunction release(id: string): void {\n  console.log(id);\n}\n",
      "src/app.ts":
        'import { closeSession } from "./session.ts";\n\nexport function shutdown(): void {\n  closeSession("main");\n}\n',
      "README.md": "# App\n\nNothing about it.\n",
    });
  });
  const results = (json: Record<string, unknown>) => json["results"] as { path: string; startLine: number }[];

  it("answers in a fresh checkout without key or request, uncommitted edits included", async () => {
    const first = await sandbox.run("app", ["search", "how", "are", "sessions", "closed", "--json"], { env: NO_KEY });
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(results(first.json)[0]).toMatchObject({
      path: "src/session.ts",
      language: "typescript",
      symbol: { name: "closeSession", kind: "function" },
      excerpts: [{ text: expect.stringContaining("closeSession") }],
      matched: expect.any(Array),
      score: expect.any(Number),
    });
    expect(first.json["gitSha"]).toBe(sandbox.git("app", "rev-parse", "HEAD"));
    sandbox.write("app/src/later.ts", "export function rotateCredentials(): void {}\n");
    const edited = await sandbox.ask("app", ["search", "rotate credentials", "--json"], { env: NO_KEY });
    expect(results(edited.json)[0]).toMatchObject({ path: "src/later.ts" });
    expect(sandbox.service.requests).toEqual([]);
  });

  it("reads the query from stdin, filters, and prints plain text to a pipe", async () => {
    const piped = await sandbox.run("app", ["search", "-"], { input: "closeSession", env: NO_KEY });
    expect(piped.stdout).toMatch(/^src\/session\.ts:\d+/);
    // oxlint-disable-next-line no-control-regex -- escape sequences are what is looked for
    expect(piped.stdout).not.toMatch(/\u001b/);
    const only = await sandbox.ask("app", ["search", "closeSession", "--path", "src/app*", "--json"], { env: NO_KEY });
    expect(results(only.json).map(({ path }) => path)).toEqual(["src/app.ts"]);
    sandbox.write("app/include/pool.h", "class Pool {\n public:\n  void closeSession();\n};\n");
    const cpp = await sandbox.ask("app", ["search", "closeSession", "--language", "cpp", "--json"], { env: NO_KEY });
    expect(results(cpp.json)).toMatchObject([{ path: "include/pool.h", language: "cpp" }]);
    const none = await sandbox.ask("app", ["search", "session", "--language", "go"], { env: NO_KEY });
    const nowhere = "error: no results in what --language leaves of 4 files\n";
    expect(none).toMatchObject({ code: 4, stdout: "", stderr: nowhere });
    const unknown = await sandbox.ask("app", ["search", "session", "--language", "klingon"]);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no language is named klingon; known are .*, go, /),
    });
    expect(await sandbox.ask("app", ["search", "session", "--kind", "bogus"])).toMatchObject({ code: 2 });
    expect(await sandbox.ask("app", ["search", " "])).toMatchObject({ code: 2 });
    expect(await sandbox.run("app", ["search", "-"], { input: "" })).toMatchObject({ code: 2 });
  });

  it("lists files and their coverage by paths from the current folder", async () => {
    const listed = async (cwd: string, ...args: string[]) => {
      const { json } = await sandbox.ask(cwd, ["files", ...args, "--json"], { env: NO_KEY });
      return (json["files"] as { path: string }[]).map(({ path }) => path);
    };
    expect(await listed("app/src", ".")).toEqual(["src/app.ts", "src/session.ts"]);
    expect(await listed("app/src", "s*.ts")).toEqual(["src/session.ts"]);
    expect(await listed("app/src", "..")).toEqual(["README.md", "src/app.ts", "src/session.ts"]);
    expect(await listed("app", ".")).toEqual(await listed("app/src"));
    const { json } = await sandbox.ask("app/src", ["coverage", "app.ts", "--json"], { env: NO_KEY });
    expect(json).toMatchObject({ path: { state: "indexed" }, indexed: 1 });
    expect(await sandbox.ask("app/src", ["files", "../.."])).toMatchObject({ code: 2 });
  });

  it("answers any query, or says what is wrong with it", async () => {
    const queries = [
      "closeSession ".repeat(2_500),
      "closeSession \u0000\u001b[31m\u202e'; drop table chunks; -- (a+)+$ [[[ (?:",
      `closeSession ${Array.from({ length: 3_500 }, (_, i) => `term${i}`).join(" ")}`,
    ];
    for (const input of queries) {
      const { code, json } = await sandbox.run("app", ["search", "-", "--json"], { input, env: NO_KEY });
      expect(code).toBe(0);
      expect(results(json)[0]).toMatchObject({ path: "src/session.ts" });
    }
    const huge = await sandbox.run("app", ["search", "-"], { input: "x".repeat(32_769), env: NO_KEY });
    expect(huge).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("query: must have at most 32,768 characters"),
    });
  });

  it("finds uses of a name, and prints lines of a file", async () => {
    const { json } = await sandbox.ask("app", ["refs", "closeSession", "--json"], { env: NO_KEY });
    expect(json["references"]).toContainEqual({
      path: "src/app.ts",
      line: 4,
      text: 'closeSession("main");',
      enclosing: "shutdown",
    });
    expect(await sandbox.ask("app", ["refs", "nothingOfThatName"])).toMatchObject({ code: 4 });
    const callers = await sandbox.ask("app", ["callers", "closeSession", "--at", "src/session.ts:2", "--json"]);
    expect(callers.json["references"]).toEqual([
      {
        path: "src/app.ts",
        line: 4,
        text: 'closeSession("main");',
        enclosing: "shutdown",
        relation: "callers",
        distance: 1,
        certainty: "certain",
        target: { path: "src/session.ts", line: 2, qualifiedName: "closeSession" },
      },
    ]);
    const callees = await sandbox.ask("app", ["callees", "closeSession"], { env: NO_KEY });
    expect(callees.stdout).toContain("src/session.ts:3  certain  release(id);  → release  src/session.ts:6");
    expect(await sandbox.ask("app", ["callers", "release", "--at", "src/app.ts"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--at: release is not defined there, but at src/session.ts:6"),
    });
    for (const [name, question] of [
      ["--path", ["search", "release", "--path", ""]],
      ["--at", ["callers", "release", "--at", ""]],
      ["query", ["search", " "]],
    ] as const)
      expect(await sandbox.ask("app", [...question])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`error: ${name}: must not be empty`),
      });
    expect(await sandbox.ask("app", ["implementations", "release"])).toMatchObject({ code: 4 });
    const lines = await sandbox.ask("app/src", ["read", "session.ts:2-4"], { env: NO_KEY });
    expect(lines.stdout).toBe("export function closeSession(id: string): void {\n  release(id);\n}\n");
    const document = await sandbox.ask("app", ["read", "src/app.ts:3", "--json"], { env: NO_KEY });
    expect(document.json).toMatchObject({
      startLine: 3,
      endLine: 3,
      text: "export function shutdown(): void {",
      withheld: [],
    });
    const missing = await sandbox.ask("app", ["read", "lib/session.ts"]);
    expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining("src/session.ts") });
    expect(await sandbox.ask("app", ["read", "src/app.ts:9-3"])).toMatchObject({ code: 2 });
    const behind = await sandbox.ask("app", ["read", "/src/app.ts:900"]);
    expect(behind).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/src\/app\.ts has \d+ lines, and no line 900/),
    });
  });

  it("answers for another commit without touching the work tree", async () => {
    sandbox.git("app", "branch", "before");
    sandbox.write("app/src/session.ts", "export function renamedLater(): void {}\n");
    sandbox.commit("app");
    sandbox.write("app/src/dirty.ts", "export function dirtyOne(): void {}\n");
    const env = NO_KEY;
    const at = async (...args: string[]) => sandbox.ask("app", [...args, "--ref", "before", "--json"], { env });
    const found = await at("symbol", "closeSession");
    expect(found).toMatchObject({ code: 0, json: { gitSha: sandbox.git("app", "rev-parse", "before") } });
    expect(found.json["symbols"]).toMatchObject([{ path: "src/session.ts", startLine: 2 }]);
    expect(results((await at("search", "close a session")).json)[0]).toMatchObject({
      path: "src/session.ts",
      excerpts: [{ text: expect.stringContaining("closeSession") }],
    });
    expect((await at("read", "src/session.ts:2")).json).toMatchObject({
      text: "export function closeSession(id: string): void {",
    });
    expect((await at("outline", "src/session.ts")).json["outline"]).toHaveLength(2);
    expect((await at("symbol", "dirtyOne")).code).toBe(4);
    expect((await sandbox.ask("app", ["symbol", "closeSession"], { env })).code).toBe(4);
    expect(sandbox.git("app", "status", "--porcelain")).toBe("?? src/dirty.ts");
    const none = await sandbox.ask("app", ["search", "x", "--ref", "nosuch", "--json"], { env });
    expect(none).toMatchObject({ code: 4, json: { code: "NO_COMMIT" } });
  });

  it("names the files that are too large to be indexed where a name is not found", async () => {
    sandbox.write("app/src/module.ts", `export function openModule(): void {}\n${"// words\n".repeat(70_000)}`);
    sandbox.write("app/vendor/large.ts", "// words\n".repeat(70_000));
    sandbox.commit("app");
    const said = "1 file is too large to be indexed, but grep searches it: src/module.ts";
    for (const args of [["openModule"], ["openSession"], ["openModule", "--ref", "HEAD"]])
      expect(await sandbox.ask("app", ["symbol", ...args], { env: NO_KEY })).toMatchObject({
        code: 4,
        stderr: expect.stringContaining(said),
      });
    expect((await sandbox.ask("app", ["grep", "-l", "openModule"])).stdout).toBe("src/module.ts\n");
    expect((await sandbox.ask("app", ["symbol", "closeSession"], { env: NO_KEY })).stderr).not.toContain("too large");
  });

  it("completes names of symbols", async () => {
    expect((await sandbox.ask("app", ["complete-symbols", "clo"])).stdout).toBe("closeSession\n");
    expect(await sandbox.ask("app", ["complete-symbols", "xyz"])).toMatchObject({ code: 0, stdout: "" });
  });
});
