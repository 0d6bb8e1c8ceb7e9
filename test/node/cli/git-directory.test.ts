import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findWorkTree, readRemoteUrls } from "../../../src/cli/git.ts";
import { readPlainWorkTree, readRemotes } from "../../../src/cli/git-directory.ts";

let base: string;
let root: string;
const ENV = {};
const git = (...args: string[]): string => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();
const configFile = (): string => join(root, ".git/config");

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "codectx-git-")));
  root = join(base, "repo");
  mkdirSync(join(root, "a/b"), { recursive: true });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "t");
  git("config", "user.email", "t@example.com");
  git("remote", "add", "upstream", "git@example.com:o/up.git");
  git("remote", "add", "origin", "https://example.com/o/r.git");
  git("commit", "-q", "--allow-empty", "-m", "one");
});
afterEach(() => rmSync(base, { recursive: true }));

/** Checks out a branch that is another name of a ref. */
function standFor(ref: string): void {
  git("symbolic-ref", "refs/heads/named", ref);
  git("symbolic-ref", "HEAD", "refs/heads/named");
}

/** What is read is what git says. */
async function expectSame(cwd = root): Promise<void> {
  const read = readPlainWorkTree(cwd, ENV);
  expect(read).toBeDefined();
  expect(read).toEqual({ tree: await findWorkTree(cwd), remotes: await readRemoteUrls(cwd) });
}

describe.skipIf(process.platform === "win32")("readPlainWorkTree", () => {
  it("says what git says: at the root and below, on a branch, on a commit, with packed refs", async () => {
    await expectSame();
    await expectSame(join(root, "a/b"));
    git("switch", "-q", "-c", "topic/x");
    git("commit", "-q", "--allow-empty", "-m", "two");
    await expectSame();
    git("pack-refs", "--all");
    await expectSame();
    git("commit", "-q", "--allow-empty", "-m", "three");
    await expectSame();
    git("checkout", "-q", "--detach", "HEAD~1");
    await expectSame();
  });

  it("says what git says with settings of all sorts", async () => {
    git("config", "core.autocrlf", "input");
    git("config", "core.editor", `"a b" -c # no comment`);
    git("config", "branch.main.description", "with [remote] in it");
    git("config", "--add", "remote.origin.url", "https://example.com/second");
    git("config", "url.https://mirror.example/.insteadOf", "https://example.com/");
    await expectSame();
  });

  it.each([
    ["a first commit that is yet to come", () => git("switch", "-q", "--orphan", "new")],
    ["settings that include others", () => git("config", "include.path", "more")],
    ["settings for each work tree", () => git("config", "extensions.worktreeConfig", "true")],
    ["another format", () => git("config", "core.repositoryFormatVersion", "1")],
    ["a work tree elsewhere", () => git("config", "core.worktree", join(base, "else"))],
    ["no work tree", () => git("config", "core.bare", "true")],
    ["a URL in quotes", () => git("config", "remote.origin.url", " a#b")],
    ["a setting over two lines", () => writeFileSync(configFile(), '[remote "o"]\n url = a\\\nb\n', { flag: "a" })],
    ["an old form of a name", () => writeFileSync(configFile(), "[remote.o]\n url = a\n", { flag: "a" })],
    ["nothing but a folder of that name", () => rmSync(join(root, ".git/objects"), { recursive: true })],
    ["a branch that stands for another", () => standFor("refs/heads/main")],
  ])("leaves %s to git", (_what, arrange) => {
    arrange();
    expect(readPlainWorkTree(root, ENV)).toBeUndefined();
  });

  it("leaves linked work trees, the inside of a git folder, other folders and an environment of git's to git", () => {
    git("worktree", "add", "-q", join(base, "linked"));
    for (const folder of [join(base, "linked"), join(root, ".git"), join(root, ".git/refs"), base])
      expect(readPlainWorkTree(folder, ENV)).toBeUndefined();
    expect(readPlainWorkTree(root, { GIT_DIR: join(root, ".git") })).toBeUndefined();
    expect(readPlainWorkTree(root, { GIT_CONFIG_COUNT: "0" })).toBeUndefined();
    expect(readPlainWorkTree(root, { GIT_EDITOR: "vi" })).toBeDefined();
  });
});

it("reads a configuration as git does, or not at all", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "[core]",
      '[remote "a"]',
      '[remote "b c"] ; c',
      '[branch "x"]',
      "[alias]",
      '[remote "d"]',
      "# c",
      "",
    ),
    fc.constantFrom(
      "\turl = x",
      "url=y z",
      "URL = 1",
      "url = q;w",
      'url = "p"',
      "url",
      "bare = false",
      "url = a\\",
      " x = 1",
    ),
    fc.string({ unit: "grapheme-ascii", maxLength: 8 }),
  );
  const file = join(base, "config");
  let read = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const text = `[core]\n${lines.join("\n")}\n`;
      const remotes = readRemotes(text);
      if (!remotes) return;
      writeFileSync(file, text);
      const answer = new Map<string, string>();
      try {
        const args = ["config", "-z", "--file", file, "--get-regexp", String.raw`^remote\..*\.url$`];
        for (const entry of execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).split("\0")) {
          const [, name, url] = /^remote\.(.*)\.url\n(.*)$/s.exec(entry) ?? [];
          if (name !== undefined && url !== undefined && !answer.has(name)) answer.set(name, url);
        }
      } catch (error) {
        // 1: there is none. Other codes: git does not read such a file, and will say so when it is asked for the files.
        if ((error as { status: number }).status !== 1) return;
      }
      read++;
      expect(remotes).toEqual(answer);
    }),
    { numRuns: 150 },
  );
  expect(read).toBeGreaterThan(0);
});
