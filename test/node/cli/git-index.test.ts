import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countReread, type GitIndex, isAsIndexed, readGitIndex } from "../../../src/cli/git-index.ts";
import { lstatFile, stampOf } from "../../../src/cli/index/file-stat.ts";

const FILES = ["a.txt", "b/äöü.txt", "b/c.txt", `long/${"x".repeat(200)}/${"y".repeat(200)}`, "z.sh"];
const DEEP = `deep/${Array.from({ length: 20 }, () => "d".repeat(220)).join("/")}/file`;

let root: string;
const git = (...args: string[]): string => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" }).trim();

function repository(format: "sha1" | "sha256"): string {
  git("init", "-q", `--object-format=${format}`);
  for (const [position, file] of FILES.entries()) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "x".repeat(position));
  }
  git("add", ".");
  return join(root, ".git/index");
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "codectx-index-"));
});
afterEach(() => rmSync(root, { recursive: true }));

describe.skipIf(process.platform === "win32")("readGitIndex", () => {
  it.each([
    ["2", "sha1"],
    ["3", "sha1"],
    ["4", "sha1"],
    ["2", "sha256"],
    ["4", "sha256"],
  ] as const)("reads version %s with %s: the same states as lstat", (version, format) => {
    const file = repository(format);
    if (version === "3") {
      writeFileSync(join(root, "later.txt"), "");
      git("add", "--intent-to-add", "later.txt");
    } else git("update-index", "--index-version", version);
    // An entry without a file on disk, whose path is longer than the length field can say.
    const oid = git("hash-object", "-w", "a.txt");
    git("update-index", "--add", "--cacheinfo", `100644,${oid},${DEEP}`);
    git("update-index", "--add", "--cacheinfo", `120000,${oid},link`);
    const stats = readGitIndex(file, oid.length / 2)?.stats;
    const extra = version === "3" ? ["later.txt"] : [];
    expect([...(stats?.keys() ?? [])].sort()).toEqual([...FILES, DEEP, ...extra].sort());
    for (const path of FILES) {
      const [said, real] = [stats?.get(path), lstatFile(root, path)];
      expect(said && stampOf(said)).toBe(real && stampOf(real));
    }
  });

  it("leaves alone what it does not know: a split index, a cut one, none", () => {
    const file = repository("sha1");
    expect(readGitIndex(join(root, "none"), 20)).toBeUndefined();
    truncateSync(file, 300);
    expect(readGitIndex(file, 20)).toBeUndefined();
    rmSync(file);
    git("add", ".");
    git("update-index", "--split-index");
    expect(readGitIndex(file, 20)).toBeUndefined();
  });

  it("knows which files are as they were, and how many git would read again", () => {
    const file = repository("sha1");
    const writtenAt = new Date(Date.now() - 60_000);
    for (const path of FILES) utimesSync(join(root, path), writtenAt, writtenAt);
    git("update-index", "--refresh");
    const fresh = readGitIndex(file, 20);
    if (!fresh) throw new Error("not read");
    const isSame = (path: string, index: GitIndex = fresh): boolean => {
      const [indexed, now] = [index.stats.get(path), lstatFile(root, path)];
      return indexed !== undefined && now !== undefined && isAsIndexed(now, index, indexed);
    };
    expect(countReread(fresh)).toBe(0);
    // Their inodes changed less than a clock's tick before the index was written, or more.
    const changedAtMs = lstatFile(root, "a.txt")?.ctimeMs ?? 0;
    expect(isSame("a.txt", { ...fresh, writtenAtMs: changedAtMs + 1 })).toBe(false);
    expect(isSame("a.txt", { ...fresh, writtenAtMs: changedAtMs + 50 })).toBe(true);
    expect(fresh.isCurrent()).toBe(true);

    writeFileSync(join(root, "z.sh"), "y".repeat(FILES.indexOf("z.sh")));
    expect(isSame("z.sh", { ...fresh, writtenAtMs: Date.now() + 60_000 })).toBe(false);
    git("add", ".");
    expect(fresh.isCurrent()).toBe(false);
    const later = readGitIndex(file, 20);
    expect(later && countReread(later)).toBe(1);
  });
});
