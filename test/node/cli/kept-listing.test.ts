import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { listWorkTreeFiles } from "../../../src/cli/git/git.ts";
import { listWithMemory } from "../../../src/cli/git/kept-listing.ts";
import { decodeChecked, encodeChecked } from "../../../src/cli/machine/checked-file.ts";

/** What was changed before has settled after this time. */
const SETTLED_MS = 150;
const path = process.env["PATH"];

let base: string;
let root: string;
let env: Record<string, string>;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "codectx-listing-")));
  root = join(base, "tree");
  env = { HOME: join(base, "home"), XDG_CONFIG_HOME: join(base, "home/.config") };
  stubEnv();
  mkdirSync(join(base, "home/.config/git"), { recursive: true });
  mkdirSync(root);
  git("init", "-q", "-b", "main");
  for (const file of ["a.ts", "src/b.ts", "src/deep/c.ts"]) write(file, "one\n");
  write(".gitignore", "*.log\nbuild/\n");
  write("empty/only.log", "");
  write("build/out.ts", "");
  git("add", "-A");
  // Without what is tracked, the rules decide.
  git("rm", "-rq", "--cached", "src/deep");
  commit();
  await keep();
});
/** Each test goes on with what those before have left. */
beforeEach(stubEnv);
afterEach(() => {
  vi.unstubAllEnvs();
  process.env["PATH"] = path;
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function stubEnv(): void {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function git(...args: string[]): string {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "protocol.file.allow=always"];
  return execFileSync("git", [...own, ...args], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function commit(): void {
  git("commit", "-q", "--allow-empty", "-m", "one");
}

async function list(): Promise<readonly string[]> {
  const gitDir = join(root, ".git");
  const tree = {
    root,
    gitDir,
    commonDir: gitDir,
    head: undefined,
    directory: join(base, "cache"),
    identity: "local/x",
  };
  const listing = await listWithMemory(tree, env);
  expect(listing.digest).toMatch(/^[0-9a-f]{64}$/);
  return listing.paths();
}

/** The list is kept once what was changed has settled. */
async function keep(): Promise<void> {
  await sleep(SETTLED_MS);
  await list();
}

/** The list without git; it rejects where git would be asked. */
async function withoutGit(): Promise<readonly string[]> {
  process.env["PATH"] = "";
  try {
    return await list();
  } finally {
    process.env["PATH"] = path;
  }
}

/** Puts another git first in PATH, which notes how it is called and runs a command after it has listed files; gives the notes. */
function watchGit(afterListing = "true"): () => string {
  const folder = mkdtempSync(join(base, "bin-"));
  const calls = join(folder, "calls");
  const script = [
    "#!/bin/sh",
    `PATH='${path}'`,
    `echo "$*" >> '${calls}'`,
    'git "$@"',
    "code=$?",
    `case "$*" in *ls-files*) ${afterListing} ;; esac`,
    "exit $code",
  ];
  writeFileSync(join(folder, "git"), script.join("\n"), { mode: 0o755 });
  process.env["PATH"] = `${folder}:${path}`;
  return () => readFileSync(calls, "utf8");
}

const expected = async (): Promise<readonly string[]> => (await listWorkTreeFiles(root)).paths();

describe("the list of a work tree's files", () => {
  it("is kept as long as nothing has changed that git makes it from", async () => {
    expect(await withoutGit()).toEqual([".gitignore", "a.ts", "src/b.ts", "src/deep/c.ts"]);
  });

  it.each<[string, () => void]>([
    ["an edit", () => write("a.ts", "two\n")],
    ["a name in an ignored folder", () => write("build/other.ts", "")],
    [
      "another file in place of one",
      () => {
        write("src/b.ts.tmp", "two\n");
        renameSync(join(root, "src/b.ts.tmp"), join(root, "src/b.ts"));
      },
    ],
    [
      "a file that came and went",
      () => {
        write("src/x.ts", "");
        rmSync(join(root, "src/x.ts"));
      },
    ],
  ])("stays after %s", async (_, change) => {
    change();
    for (let i = 0; i < 2; i++) {
      expect(await withoutGit()).toEqual(await expected());
      await sleep(SETTLED_MS);
    }
  });

  it("stays after settings that it does not depend on: git is asked for the settings, and for no list", async () => {
    await keep();
    git("config", "user.name", "someone");
    git("remote", "add", "origin", "https://example.test/a.git");
    await sleep(SETTLED_MS);
    const calls = watchGit();
    expect(await list()).toContain("a.ts");
    expect(calls()).toContain("config");
    expect(calls()).not.toContain("ls-files");
    expect(await withoutGit()).toEqual(await expected());
  });

  it("is made again where a setting changed while git made it", async () => {
    writeFileSync(join(base, "rules"), "src/\n");
    write("src/rules.ts", "");
    rmSync(join(base, "cache"), { recursive: true });
    await sleep(SETTLED_MS);
    const calls = watchGit(`git config core.excludesFile '${join(base, "rules")}'`);
    expect(await list()).toContain("src/rules.ts");
    expect(calls()).toContain("ls-files");
    process.env["PATH"] = path;
    await sleep(SETTLED_MS);
    expect(await list()).not.toContain("src/rules.ts");
    git("config", "--unset", "core.excludesFile");
    await keep();
  });

  it.each<[string, () => void]>([
    ["a new file", () => write("src/new.ts", "")],
    ["a new file in a folder that has ignored files alone", () => write("empty/new.ts", "")],
    ["a new file in a new folder", () => write("lib/more/new.ts", "")],
    ["a file of the tree's top", () => write("new.ts", "")],
    ["a removed file that is not tracked", () => rmSync(join(root, "src/deep"), { recursive: true })],
    ["a moved folder", () => renameSync(join(root, "src"), join(root, "source"))],
    ["an edited .gitignore", () => write(".gitignore", "*.log\n")],
    [
      "an edited .gitignore that keeps its time",
      () => {
        writeFileSync(join(root, ".gitignore"), "*.l0g\nbuild/\n");
        utimesSync(join(root, ".gitignore"), 1, 1);
      },
    ],
    ["a new .gitignore", () => write("src/.gitignore", "*\n")],
    ["the repository's own rules", () => appendFileSync(join(root, ".git/info/exclude"), "c.ts\nempty/\n")],
    ["the user's rules", () => writeFileSync(join(base, "home/.config/git/ignore"), "*.ts\n")],
    [
      "the user's configuration",
      () => {
        writeFileSync(join(base, "rules"), "a.ts\nb.ts\n");
        writeFileSync(join(base, "home/.gitconfig"), `[core]\n\texcludesFile = ${join(base, "rules")}\n`);
      },
    ],
    ["a setting that names no file", () => void git("config", "core.ignoreCase", "true")],
    ["the index alone", () => void git("rm", "-q", "--cached", "a.ts")],
    ["a commit", commit],
    ["a forced file in an ignored folder", () => void git("add", "-f", "build/out.ts")],
  ])("is made again after %s", async (_, change) => {
    await keep();
    const before = await withoutGit();
    change();
    const now = await expected();
    await expect(withoutGit().then((paths) => expect(paths).toEqual(now))).rejects.toThrow("git is not installed");
    expect(await list()).toEqual(now);
    expect(before).toContain(".gitignore");
  });

  it.each<[string, () => void]>([
    ["of a folder that becomes a repository", () => execFileSync("git", ["init", "-q", join(root, "own")])],
    ["that a new .gitignore leaves out", () => write("own/.gitignore", "deep/\n")],
  ])("has no file %s", async (_, change) => {
    write("own/deep/new.ts", "");
    await keep();
    expect(await withoutGit()).toContain("own/deep/new.ts");
    change();
    expect(await list()).toEqual(await expected());
    rmSync(join(root, "own"), { recursive: true });
    await keep();
  });

  it("is not kept of what may change without a trace", async () => {
    write("src/new.ts", "");
    await list();
    await expect(withoutGit()).rejects.toThrow("git is not installed");
  });

  it("is made again for a folder that was a submodule", async () => {
    for (const rules of ["tree/.gitignore", "tree/src/.gitignore", "tree/.git/info/exclude", "home/.gitconfig"])
      rmSync(join(base, rules), { force: true });
    rmSync(join(base, "home/.config/git/ignore"), { force: true });
    write(".gitignore", "*.log\n");
    const other = join(base, "other");
    execFileSync("git", ["init", "-q", other]);
    // Ignored here: nothing of it will be listed.
    writeFileSync(join(other, "x.log"), "");
    execFileSync("git", ["add", "-A"], { cwd: other });
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"], { cwd: other });
    git("submodule", "add", "-q", other, "sub");
    await keep();
    expect(await withoutGit()).toContain("sub");
    git("rm", "-q", "--cached", "sub");
    rmSync(join(root, "sub/.git"), { recursive: true, force: true });
    await keep();
    write("sub/y.ts", "");
    expect(await list()).toContain("sub/y.ts");
  });

  it("is asked of git where it has a repository that is not a submodule, and where variables say how", async () => {
    execFileSync("git", ["init", "-q", join(root, "nested")]);
    await keep();
    await expect(withoutGit()).rejects.toThrow("git is not installed");
    rmSync(join(root, "nested"), { recursive: true });
    await keep();
    await withoutGit();
    vi.stubEnv("GIT_CONFIG_GLOBAL", join(base, "other"));
    await expect(withoutGit()).rejects.toThrow("git is not installed");
  });

  it("is made again where an earlier version kept it", async () => {
    await keep();
    const folder = join(base, "cache/texts");
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".listing")) ?? expect.fail("not kept"));
    const bytes = readFileSync(file);
    const kept = decodeChecked<{ version: string }>(bytes, { version: "4" }) ?? expect.fail("not of this version");
    // Version 3 did not tell tracked files from others.
    writeFileSync(file, encodeChecked({ ...kept.header, version: "3" }, [bytes.subarray(kept.bodyAt)]));
    await expect(withoutGit()).rejects.toThrow("git is not installed");
    expect(await list()).toEqual(await expected());
  });

  it("is made again where what was kept is damaged", async () => {
    await keep();
    const folder = join(base, "cache/texts");
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".listing")) ?? expect.fail("not kept"));
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 3) ^ 1, bytes.length - 3);
    writeFileSync(file, bytes);
    await expect(withoutGit()).rejects.toThrow("git is not installed");
    expect(await list()).toEqual(await expected());
  });
});
