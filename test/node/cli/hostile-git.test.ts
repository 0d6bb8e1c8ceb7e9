import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { editsOf } from "../../../src/cli/git/edits.ts";
import { cannotRunAsOther, runAsOther } from "./support/other-user.ts";
import { sampleFiles, Sandbox } from "./support/run.ts";

let sandbox: Sandbox;
/** Exists once any planted program has run. */
let trace: string;
let program: string;

beforeEach(async () => {
  sandbox = await Sandbox.create();
  sandbox.repository("app", sampleFiles(3));
  trace = sandbox.path("trace");
  program = sandbox.path("planted.sh");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${trace}'\ncat 2>/dev/null\nexit 0\n`);
  chmodSync(program, 0o755);
});
afterEach(() => sandbox.remove());

const NO_KEY = { CODECTX_API_KEY: undefined };

/** Every command that asks git something. */
async function runAll(): Promise<void> {
  await sandbox.run("app", ["index", "--local", "--json"]);
  await sandbox.run("app", ["status", "--json"]);
  await sandbox.run("app", ["publish", "--force", "--json"]);
  await sandbox.run("app", ["pull", "--json"]);
  await sandbox.run("app", ["symbol", "double1", "--json"], { env: NO_KEY });
  await sandbox.run("app", ["outline", "src/module1.ts", "--json"], { env: NO_KEY });
  expect(await sandbox.run("app", ["impact", "--json"], { env: NO_KEY })).toMatchObject({ code: 0 });
  // What `--remote --edits` sends.
  await editsOf(sandbox.path("app"), "HEAD");
}

describe("a hostile .git/config", () => {
  it("starts no program, whatever it plants", async () => {
    const set = (key: string, value: string): string => sandbox.git("app", "config", key, value);
    for (const key of [
      "core.fsmonitor",
      "core.sshCommand",
      "core.gitProxy",
      "core.pager",
      "core.editor",
      "core.askPass",
      "core.alternateRefsCommand",
      "diff.external",
      "credential.helper",
      "gpg.program",
      "uploadpack.packObjectsHook",
      "diff.planted.textconv",
      "diff.planted.command",
      "filter.planted.clean",
      "filter.planted.smudge",
      "filter.planted.process",
      "remote.origin.uploadpack",
      "pager.status",
    ])
      set(key, program);
    for (const name of ["status", "ls-files", "rev-parse", "config"]) set(`alias.${name}`, `!${program}`);
    set("filter.planted.required", "true");
    set("log.showSignature", "true");
    set("protocol.ext.allow", "always");
    set("protocol.allow", "always");
    // Hooks in the default place and in a named one.
    for (const folder of ["app/.git/hooks", "hooks"]) {
      mkdirSync(sandbox.path(folder), { recursive: true });
      for (const hook of [
        "post-index-change",
        "post-checkout",
        "reference-transaction",
        "pre-auto-gc",
        "fsmonitor-watchman",
      ]) {
        writeFileSync(sandbox.path(folder, hook), `#!/bin/sh\necho hook >> '${trace}'\n`);
        chmodSync(sandbox.path(folder, hook), 0o755);
      }
    }
    set("core.hooksPath", sandbox.path("hooks"));
    writeFileSync(
      sandbox.path("included"),
      `[core]\n\tfsmonitor = ${program}\n[filter "other.name=x"]\n\tclean = ${program}\n`,
    );
    set("include.path", sandbox.path("included"));
    sandbox.write("app/.git/info/attributes", "*.ts filter=planted diff=planted\n*.md filter=other.name=x\n");
    // Changed within the second of git's index: git compares contents, and runs clean filters for that.
    sandbox.write("app/src/module1.ts", "export function double1() {}\n");
    await runAll();
    expect(existsSync(trace)).toBe(false);
    // The plants do work: an ordinary git runs them. It may fail, since they answer nothing.
    try {
      sandbox.git("app", "status");
    } catch {
      // See above.
    }
    expect(existsSync(trace)).toBe(true);
  });

  it("fetches nothing for a partial clone", async () => {
    const oid = sandbox.git("app", "rev-parse", "HEAD:src/module1.ts");
    rmSync(sandbox.path("app/.git/objects", oid.slice(0, 2), oid.slice(2)));
    sandbox.git("app", "config", "remote.origin.url", `ext::${program}`);
    sandbox.git("app", "config", "remote.origin.promisor", "true");
    sandbox.git("app", "config", "extensions.partialClone", "origin");
    sandbox.git("app", "config", "core.repositoryformatversion", "1");
    sandbox.git("app", "config", "protocol.ext.allow", "always");
    const published = await sandbox.run("app", ["publish", "--repo", "github.com/acme/app", "--json"]);
    expect(published.code).not.toBe(0);
    expect(existsSync(trace)).toBe(false);
  });

  it("does not change what a commit contains, by replaced, grafted or forged objects", async () => {
    const planted = "export function planted() {}\n";
    sandbox.repository("other", { "src/module1.ts": planted });
    const [own = "", other = ""] = ["app", "other"].map((name) => sandbox.git(name, "rev-parse", "HEAD"));
    sandbox.git("app", "fetch", "-q", sandbox.path("other"), "main");
    const idsOf = (commit: string) =>
      ["", "^{tree}", ":src", ":src/module1.ts"].map((part) => sandbox.git("app", "rev-parse", commit + part));
    const pairs = idsOf(own).map((id, i) => [id, idsOf(other)[i] ?? ""] as const);
    const read = (env: Record<string, string> = {}) =>
      sandbox.ask("app", ["read", "src/module1.ts", "--ref", own, "--json"], {
        // A new, empty cache each time.
        env: { ...NO_KEY, ...env, XDG_CACHE_HOME: sandbox.path(`cache-${Math.random()}`) },
      });
    for (const [from, to] of pairs) {
      sandbox.git("app", "replace", "-f", from, to);
      expect(sandbox.git("app", "show", `${own}:src/module1.ts`)).toContain("planted");
      const shown = await read();
      expect(shown).toMatchObject({ code: 0, json: { text: expect.stringContaining("double1") as unknown } });
      sandbox.git("app", "replace", "-d", from);
    }
    const [[commit, another] = ["", ""]] = pairs;
    sandbox.git("app", "update-ref", `refs/evil/${commit}`, another);
    const based = await read({ GIT_REPLACE_REF_BASE: "refs/evil/", GIT_LITERAL_PATHSPECS: "1", GIT_TRACE: "1" });
    expect(based).toMatchObject({ code: 0, json: { text: expect.stringContaining("double1") as unknown }, stderr: "" });
    for (const [from, to] of pairs) {
      const fileOf = (id: string) => sandbox.path("app/.git/objects", id.slice(0, 2), id.slice(2));
      const before = readFileSync(fileOf(from));
      rmSync(fileOf(from));
      writeFileSync(fileOf(from), readFileSync(fileOf(to)));
      const { code } = await read();
      // Git itself notices some of them; a file that cannot be read makes the answer incomplete.
      expect([2, 4, 7, 9]).toContain(code);
      rmSync(fileOf(from));
      writeFileSync(fileOf(from), before);
    }
    expect((await read()).code).toBe(0);
  });

  it("does not move the work tree elsewhere", async () => {
    sandbox.write("private/secret.ts", "export const secret = 1;\n");
    sandbox.git("app", "config", "core.worktree", sandbox.path("private"));
    const moved = await sandbox.ask("app", ["index", "--local", "--no-embed", "--json"]);
    expect(moved).toMatchObject({ code: 2, json: { ok: false, code: "FOREIGN_WORK_TREE" } });
    sandbox.git(".", "init", "-q", "other");
    sandbox.git("app", "config", "core.worktree", sandbox.path("other"));
    expect((await sandbox.ask("app", ["index", "--local", "--no-embed", "--json"])).code).toBe(2);
  });

  it("is read as usual in linked worktrees, submodules and where git's folder is elsewhere", async () => {
    sandbox.git("app", "worktree", "add", "-q", sandbox.path("tree"));
    expect(await sandbox.ask("tree", ["index", "--local", "--no-embed", "--json"])).toMatchObject({
      code: 0,
      json: { fileCount: 3 },
    });
    sandbox.git(
      ".",
      "clone",
      "-q",
      "--separate-git-dir",
      sandbox.path("elsewhere.git"),
      sandbox.path("app"),
      sandbox.path("apart"),
    );
    expect(await sandbox.ask("apart", ["index", "--local", "--no-embed", "--json"])).toMatchObject({ code: 0 });
    sandbox.repository("super", {});
    sandbox.git("super", "-c", "protocol.file.allow=always", "submodule", "add", "-q", sandbox.path("app"), "sub");
    expect(await sandbox.ask("super/sub", ["index", "--local", "--no-embed", "--json"])).toMatchObject({
      code: 0,
      json: { fileCount: 3 },
    });
  });
});

describe("a bare repository", () => {
  it("is no work tree, also where a checkout holds one", async () => {
    sandbox.git(".", "clone", "-q", "--bare", sandbox.path("app"), "bare.git");
    for (const command of [["index", "--local", "--no-embed"], ["status"], ["symbol", "double1"]]) {
      expect(await sandbox.ask("bare.git", [...command, "--json"])).toMatchObject({
        code: 2,
        json: { code: "NO_WORK_TREE" },
      });
    }
    expect((await sandbox.ask("app/.git", ["index", "--local", "--no-embed", "--json"])).code).toBe(2);
  });
});

describe("remotes", () => {
  const repoOf = async (name: string): Promise<unknown> =>
    (await sandbox.ask(name, ["index", "--local", "--no-embed", "--json"])).json["repo"];

  it("are chosen: origin, the one the branch follows, the first", async () => {
    sandbox.git("app", "remote", "rename", "origin", "fork");
    sandbox.git("app", "remote", "add", "company", "git@github.com:Company/App.git");
    expect(await repoOf("app")).toBe("github.com/acme/app");
    sandbox.git("app", "config", "branch.main.remote", "company");
    sandbox.git("app", "checkout", "-q", "-B", "main");
    expect(await repoOf("app")).toBe("github.com/company/app");
    sandbox.git("app", "remote", "add", "origin", "https://gitlab.com/a/b.git");
    expect(await repoOf("app")).toBe("gitlab.com/a/b");
  });
});

it("follows no link out of the work tree", async () => {
  sandbox.write("private/secret.ts", "export function topSecret() {}\n");
  // Tracked as a folder, then replaced by a link: git lists `lib/secret.ts` still.
  sandbox.write("app/lib/secret.ts", "export function harmless() {}\n");
  sandbox.commit("app");
  rmSync(sandbox.path("app/lib"), { recursive: true });
  symlinkSync(sandbox.path("private"), sandbox.path("app/lib"));
  symlinkSync(sandbox.path("private/secret.ts"), sandbox.path("app/link.ts"));
  symlinkSync(sandbox.path("private"), sandbox.path("app/.codectxignore"));
  await sandbox.ask("app", ["index", "--local", "--no-embed", "--json"]);
  expect((await sandbox.ask("app", ["symbol", "topSecret", "--json"])).code).toBe(4);
  for (const file of ["link.ts", "lib/secret.ts"]) {
    expect(await sandbox.ask("app", ["outline", file, "--json"])).toMatchObject({ code: 2, json: { code: "OUTSIDE" } });
  }
});

it.skipIf(process.platform === "win32")("is not blocked by a FIFO", async () => {
  for (const name of ["pipe.ts", ".codectxignore"]) execFileSync("mkfifo", [sandbox.path("app", name)]);
  const indexed = await sandbox.ask("app", ["index", "--local", "--no-embed", "--json"]);
  expect(indexed).toMatchObject({ code: 0, json: { fileCount: 3 } });
  expect((await sandbox.ask("app", ["outline", "pipe.ts", "--json"])).code).toBe(2);
  // Sparse files: reading them as a whole would take more memory than there is.
  for (const name of ["huge.ts", "src/.codectxignore"]) {
    sandbox.write(`app/${name}`, "");
    truncateSync(sandbox.path("app", name), 64 * 1024 ** 3);
  }
  expect(await sandbox.ask("app", ["outline", "huge.ts", "--json"])).toMatchObject({
    code: 2,
    json: { code: "NOT_INDEXED", error: expect.stringContaining("too_large") as unknown },
  });
  // Larger than what is indexed, and still parsed when it is asked for.
  sandbox.write("app/large.ts", `${"// filler\n".repeat(60_000)}export const last = 1;\n`);
  expect(await sandbox.ask("app", ["outline", "large.ts", "--json"])).toMatchObject({
    code: 0,
    json: { outline: [{ name: "last", startLine: 60_001 }] },
  });
  sandbox.write("plain/a.py", "def alpha():\n    return 1\n");
  for (const name of ["b.py", ".gitignore"]) execFileSync("mkfifo", [sandbox.path("plain", name)]);
  expect(await sandbox.ask("plain", ["index", "--local", "--no-embed", "--json"])).toMatchObject({
    code: 0,
    json: { fileCount: 1 },
  });
  // Git itself would wait for this one.
  sandbox.write("app/lib/a.ts", "export const a = 1;\n");
  execFileSync("mkfifo", [sandbox.path("app", "lib", ".gitignore")]);
  expect(await sandbox.ask("app", ["index", "--local", "--no-embed", "--json"])).toMatchObject({
    code: 2,
    json: { code: "SPECIAL_FILE", error: expect.stringContaining("lib/.gitignore") },
  });
  rmSync(sandbox.path("app/lib"), { recursive: true });
  rmSync(sandbox.path("app/.git/HEAD"));
  execFileSync("mkfifo", [sandbox.path("app/.git/HEAD")]);
  expect(await sandbox.ask("app", ["search", "double", "--json"])).toMatchObject({
    code: 2,
    json: { code: "SPECIAL_FILE", error: expect.stringContaining(".git/HEAD") },
  });
});

describe("a folder without git", () => {
  it("is not a whole disk or home folder", async () => {
    sandbox.write("home/notes.md", "# Notes\n");
    for (const folder of ["home", "../../../../../.."]) {
      expect(await sandbox.ask(folder, ["index", "--local", "--no-embed", "--json"])).toMatchObject({
        code: 2,
        json: { code: "NOT_A_PROJECT" },
      });
    }
  });

  it.skipIf(cannotRunAsOther())("is indexed but for what may not be read", async () => {
    sandbox.write("plain/a.py", "def alpha():\n    return 1\n");
    sandbox.write("plain/closed/b.py", "def beta():\n    return 1\n");
    chmodSync(sandbox.path("plain/closed"), 0o000);
    const indexed = await runAsOther(sandbox, "plain", ["index", "--local", "--no-embed", "--json"]);
    chmodSync(sandbox.path("plain/closed"), 0o700);
    expect(indexed).toMatchObject({ code: 0, json: { fileCount: 1, skipped: { unreadable: 1 } } });
  });
});

describe("output", () => {
  // A line break, and what hides: zero width, tags, a variation selector without its emoji.
  const NAME = "evil\u001b]0;owned\u0007\u202egnp\nsrc/safe.ts:1  export function shown() {}\u200b\u{e0041}\ufe01.ts";
  const QUOTED = String.raw`"evil\033]0;owned\a\342\200\256gnp\nsrc/safe.ts:1  export function shown() {}\342\200\213\363\240\201\201\357\270\201.ts"`;
  const UNSEEN = /(?![\n\t])\p{C}/u;

  it("shows what would not be seen, in names and signatures, as escapes, and a name as one line", async () => {
    sandbox.write(`app/${NAME}`, "export function shown(a = '\u001b[31m', b = '\u202e\u{e0041}') {}\n");
    const env = { FORCE_COLOR: "1", ...NO_KEY };
    const file = sandbox.path("app", NAME);
    await sandbox.ask("app", ["index", "--local", "--no-embed"], { env });
    const runs = [
      await sandbox.ask("app", ["symbol", "shown"], { env }),
      await sandbox.ask("app", ["symbol", "shown"], { env: NO_KEY }),
      await sandbox.ask("app", ["outline", NAME], { env }),
      await sandbox.ask("app", ["outline", `${file}.none`], { env }),
      await sandbox.ask("app", ["--wrong\u202e"], { env }),
      await sandbox.ask("app", ["symbol", "shown", "--json"]),
      await sandbox.ask("app", ["outline", NAME, "--json"]),
    ];
    for (const { stdout, stderr } of runs) {
      const text = stdout + stderr;
      // Our own colours aside.
      // oxlint-disable-next-line no-control-regex -- see above
      expect(text.replace(/\u001b\[\d+m/g, "")).not.toMatch(UNSEEN);
      for (const hidden of ["\u001b[31m', b", "\ufe01"]) expect(text).not.toContain(hidden);
    }
    for (const { stdout } of runs.slice(0, 2)) {
      expect(stdout).toContain(QUOTED);
      expect(stdout.trim().split("\n")).toHaveLength(1);
    }
    expect(runs.at(-1)?.json["path"]).toBe(QUOTED);
  });
});

describe("CODECTX_GIT_TOKEN", () => {
  const TOKEN = { CODECTX_GIT_TOKEN: "ghp_secret", CODECTX_WORKER_TOKEN: "cc_wrk_x", CODECTX_WORKSPACE: "w" };
  const index = (env: Record<string, string>, ...args: string[]) =>
    sandbox.ask("app", ["index", "--detach", "--json", ...args], { env: { ...TOKEN, ...env } });
  const sent = () => sandbox.service.indexRequests.at(-1)?.source;

  it("goes only to the host it is for", async () => {
    sandbox.git("app", "remote", "set-url", "origin", "https://collector.example/acme/app.git");
    expect(await index({})).toMatchObject({ code: 2, json: { code: "GIT_TOKEN_HOST" } });
    expect(sandbox.service.indexRequests).toEqual([]);
    const other = await index({ CODECTX_GIT_HOST: "github.com" });
    expect(other.code).toBe(0);
    expect(other.stderr).toContain("CODECTX_GIT_TOKEN is for github.com and is not sent to collector.example");
    expect(sent()).not.toHaveProperty("auth");
    expect((await index({ CODECTX_GIT_HOST: "Collector.example" })).code).toBe(0);
    expect(sent()).toMatchObject({ auth: { token: "ghp_secret" } });
    expect((await index({}, "--url", "https://git.example/a/b.git")).code).toBe(0);
    expect(sent()).toMatchObject({ url: "https://git.example/a/b.git", auth: { token: "ghp_secret" } });
  });
});
