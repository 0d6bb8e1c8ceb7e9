import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Sandbox } from "./support/run.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("inner", { "lib/f.ts": "export function inner(): void {}\n" });
  sandbox.repository("outer", {
    "a.ts": "export function outer(): void {}\n",
    "old/gone.ts": "export function gone(): void {}\n",
  });
  sandbox.git("outer", "-c", "protocol.file.allow=always", "submodule", "add", "-q", sandbox.path("inner"), "sub");
  sandbox.git("outer", "commit", "-q", "-m", "submodule");
  rmSync(sandbox.path("outer/old/gone.ts"));
});
afterAll(() => sandbox.remove());

it("questions about a path in a submodule say where to ask, whichever it is", async () => {
  const hint = "a submodule or another repository: ask about it from its folder (cd sub)";
  for (const [command, code] of [
    [["read", "sub/lib/f.ts"], 4],
    [["outline", "sub/lib/f.ts"], 4],
    [["read", "sub"], 4],
    [["coverage", "sub/lib/f.ts"], 4],
    [["grep", "inner", "sub/lib/f.ts"], 2],
    [["grep", "inner", "sub"], 2],
  ] as const) {
    const asked = await sandbox.ask("outer", [...command]);
    expect(asked.code, command.join(" ")).toBe(code);
    expect(asked.stderr, command.join(" ")).toContain(hint);
  }
  const within = await sandbox.ask("outer/sub", ["read", "lib/f.ts"]);
  expect(within.stdout).toContain("function inner");
  const both = await sandbox.ask("outer", ["grep", "function", "a.ts", "sub"]);
  expect([both.code, both.stdout]).toEqual([0, expect.stringContaining("outer")]);
});

it("search, grep and a name that is not found say which submodules were not searched", async () => {
  const note = "not searched: sub, a submodule: ask from its folder, as after `cd sub`";
  for (const [command, code] of [
    [["search", "outer"], 0],
    [["search", "inner", "--path", "sub/**"], 4],
    [["search", '"inner()"'], 4],
    [["grep", "function"], 0],
    [["grep", "-F", "inner()"], 1],
    [["symbol", "inner"], 4],
  ] as const) {
    const asked = await sandbox.ask("outer", [...command]);
    expect([asked.code, asked.stderr], command.join(" ")).toEqual([code, expect.stringContaining(note)]);
  }
  for (const command of [
    ["symbol", "outer"],
    ["grep", "function", "a.ts"],
    ["grep", "function", "--quiet"],
    ["outline", "b.ts"],
  ]) {
    const asked = await sandbox.ask("outer", command);
    expect(asked.stderr, command.join(" ")).not.toContain("submodule");
  }
  expect((await sandbox.ask("inner", ["search", "inner"])).stderr).toBe("");
});

it("a search of nothing says that there is nothing", async () => {
  sandbox.repository("nothing", { "logo.png": "\u0000" });
  const { code, stderr } = await sandbox.ask("nothing", ["search", "logo"]);
  expect([code, stderr]).toEqual([4, expect.stringContaining("there are no files to search; `codectx coverage` says")]);
});

it("a file that is only in the last commit is said to be there", async () => {
  for (const command of ["read", "outline"]) {
    const { code, stderr } = await sandbox.ask("outer", [command, "old/gone.ts"]);
    expect(code).toBe(4);
    expect(stderr).toContain("old/gone.ts is not in the work tree, but in the last commit: --ref HEAD reads that");
  }
  expect((await sandbox.ask("outer", ["read", "old/gone.ts", "--ref", "HEAD"])).stdout).toContain("function gone");
  const nowhere = await sandbox.ask("outer", ["read", "old/never.ts"]);
  expect(nowhere.stderr).toContain("the index has no file old/never.ts");
});
