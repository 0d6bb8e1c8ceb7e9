import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { locateWorkTree } from "../../../src/cli/git/locate.ts";
import type { LocatedTree } from "../../../src/cli/git/located-file.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "codectx-locate-")));
const path = process.env["PATH"];
const root = join(base, "repo");
const HEAD_FILE = join(root, ".git/HEAD");

beforeAll(() => {
  mkdirSync(join(root, "src"), { recursive: true });
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", "https://host.example/owner/one.git");
  commit("first");
});
/** Each test begins with an answer that is kept. */
beforeEach(() => keep(root));
afterEach(() => (process.env["PATH"] = path));
afterAll(() => rmSync(base, { recursive: true, force: true }));

function git(...args: string[]): string {
  const own = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-C", root];
  return execFileSync("git", [...own, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

function commit(message: string): void {
  git("commit", "-q", "--allow-empty", "-m", message);
}

async function keep(cwd: string): Promise<void> {
  await locateWorkTree(cwd);
  await locateWorkTree(cwd);
}

/** The answer without git; it rejects where git would be asked. */
async function withoutGit(cwd = root): Promise<LocatedTree | undefined> {
  process.env["PATH"] = "";
  try {
    return await locateWorkTree(cwd);
  } finally {
    process.env["PATH"] = path;
  }
}

it("answers without git while nothing has changed", async () => {
  expect(await withoutGit()).toEqual({
    root,
    gitDir: join(root, ".git"),
    commonDir: join(root, ".git"),
    head: git("rev-parse", "HEAD"),
    remote: "https://host.example/owner/one.git",
  });
});

it.each<[string, () => void]>([
  ["a commit", () => commit("second")],
  ["another branch", () => void git("checkout", "-q", "-b", "next", "HEAD~1")],
  ["a packed branch", () => void git("pack-refs", "--all")],
  ["a reference of a reference", () => void git("symbolic-ref", "refs/heads/next", "refs/heads/main")],
  ["a commit to what a reference names", () => commit("third")],
  ["a detached commit", () => void git("checkout", "-q", "--detach", "HEAD~1")],
])("sees %s", async (_, change) => {
  change();
  await expect(withoutGit()).rejects.toThrow("git is not installed");
  expect(await locateWorkTree(root)).toMatchObject({ head: git("rev-parse", "HEAD") });
});

it("sees that a packed branch moves", async () => {
  git("checkout", "-q", "main");
  git("pack-refs", "--all");
  await keep(root);
  const { head } = (await withoutGit()) ?? {};
  expect(head).toBe(git("rev-parse", "HEAD"));
  commit("second");
  git("pack-refs", "--all");
  expect((await locateWorkTree(root))?.head).not.toBe(head);
});

it("sees another remote", async () => {
  git("remote", "set-url", "origin", "https://host.example/owner/two.git");
  expect(await locateWorkTree(root)).toMatchObject({ remote: "https://host.example/owner/two.git" });
});

it("sees a linked work tree's own commit", async () => {
  const linked = join(base, "linked");
  git("worktree", "add", "-q", "-b", "linked", linked);
  await keep(linked);
  expect(await withoutGit(linked)).toMatchObject({ root: linked, commonDir: join(root, ".git") });
  execFileSync("git", ["-C", linked, "checkout", "-q", "--detach"]);
  await expect(withoutGit(linked)).rejects.toThrow("git is not installed");
});

it("sees that the git directory is moved, and a file names it", async () => {
  const moved = join(base, "moved");
  renameSync(join(root, ".git"), moved);
  try {
    writeFileSync(join(root, ".git"), `gitdir: ${moved}\n`);
    expect(await locateWorkTree(root)).toMatchObject({ root, gitDir: moved, head: git("rev-parse", "HEAD") });
  } finally {
    rmSync(join(root, ".git"));
    renameSync(moved, join(root, ".git"));
  }
});

describe("for other processes", () => {
  const file = join(base, "cache/located.json");
  beforeEach(() => rmSync(file, { force: true }));

  /** What a new process finds, asked often enough that its answer is kept. */
  async function inNewProcess(canAskGit: boolean): Promise<LocatedTree | undefined> {
    vi.resetModules();
    const { locateWorkTree: locate } = await import("../../../src/cli/git/locate.ts");
    if (!canAskGit) process.env["PATH"] = "";
    try {
      return await locate(root, file);
    } finally {
      process.env["PATH"] = path;
    }
  }

  it("keeps an answer that two of them got", async () => {
    for (const canAskGit of [true, true, false])
      expect(await inNewProcess(canAskGit)).toMatchObject({ root, head: git("rev-parse", "HEAD") });
    commit("for others");
    await expect(inNewProcess(false)).rejects.toThrow("git is not installed");
  });

  it("keeps none of another environment", async () => {
    for (const canAskGit of [true, true]) await inNewProcess(canAskGit);
    vi.stubEnv("GIT_DIR", join(base, "nowhere"));
    await expect(inNewProcess(false)).rejects.toThrow("git is not installed");
    vi.unstubAllEnvs();
    expect(await inNewProcess(false)).toMatchObject({ root });
  });

  it("keeps none that depends on files which the configuration includes", async () => {
    git("config", "include.path", "../other.config");
    for (const canAskGit of [true, true]) await inNewProcess(canAskGit);
    await expect(inNewProcess(false)).rejects.toThrow("git is not installed");
    git("config", "--unset", "include.path");
  });

  it("writes no password", async () => {
    git("remote", "set-url", "origin", "https://user:secret@host.example/owner/one.git");
    for (const canAskGit of [true, true]) await inNewProcess(canAskGit);
    expect(existsSync(file)).toBe(false);
    git("remote", "set-url", "origin", "https://host.example/owner/one.git");
  });

  it("asks git if the file is damaged", async () => {
    for (const canAskGit of [true, true]) await inNewProcess(canAskGit);
    writeFileSync(file, readFileSync(file).subarray(0, -9));
    expect(await inNewProcess(true)).toMatchObject({ root });
  });
});

it("does not wait for a FIFO in place of a file that git reads", async () => {
  const head = readFileSync(HEAD_FILE);
  rmSync(HEAD_FILE);
  execFileSync("mkfifo", [HEAD_FILE]);
  await expect(withoutGit()).rejects.toThrow("git is not installed");
  rmSync(HEAD_FILE);
  writeFileSync(HEAD_FILE, "ref: ../../outside\n");
  await expect(withoutGit()).rejects.toThrow("git is not installed");
  writeFileSync(HEAD_FILE, head);
});

it("sees a repository that is made in between, and one that is gone", async () => {
  const inner = join(root, "src");
  await keep(inner);
  expect(await withoutGit(inner)).toMatchObject({ root });
  execFileSync("git", ["init", "-q", inner]);
  expect(await locateWorkTree(inner)).toMatchObject({ root: inner, head: undefined });
  renameSync(join(root, ".git"), join(root, "not.git"));
  await expect(withoutGit()).rejects.toThrow("git is not installed");
});
