import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRacy, stampOf } from "../../../src/cli/indexing/file-stat.ts";
import type { FileListing } from "../../../src/cli/git/git.ts";
import { FileTree } from "../../../src/cli/indexing/file-tree.ts";
import { walkFolder } from "../../../src/cli/indexing/walk.ts";
import { describeTree } from "../../../src/cli/local-index/describe-tree.ts";
import {
  changedPaths,
  readTreeState,
  type TreeState,
  writeTreeState,
} from "../../../src/cli/local-index/tree-state.ts";

const FILES = ["run", "src/a.py", "src/deep/b.py", "logo.png", ".codectxignore"];
/** As git would list them. */
const LISTING: FileListing = {
  digest: "a1",
  named: () => [],
  paths: () => FILES,
  folders: [],
  ignoreFiles: [],
  unreadable: 0,
  tree: undefined,
};
/** Long after the files were written, so that no stat is racy. */
const LATER = Date.now() + 3_600_000;

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "codectx-state-")));
  mkdirSync(join(root, "src/deep"), { recursive: true });
  for (const file of FILES) writeFileSync(join(root, file), "one\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The state with the Python files known to the index. */
function describeNow(startedAtMs = LATER): TreeState {
  const tree = new FileTree(root);
  const known = new Map(
    ["src/a.py", "src/deep/b.py"].map((path) => {
      const stat = tree.lstat(path);
      return [path, stat ? stampOf(stat) : ""];
    }),
  );
  return describeTree(tree, { table: "tree-1", head: undefined, listing: LISTING, startedAtMs }, known);
}

/** The state outside of git. */
function describeFolder(): TreeState {
  const tree = new FileTree(root);
  const run = { table: "tree-1", head: undefined, listing: walkFolder(tree), startedAtMs: LATER };
  return describeTree(tree, run, new Map());
}

function isSame(state: TreeState): boolean {
  return changedPaths(new FileTree(root), state.examined, state.folderCount).size === 0;
}

describe("the state of a work tree", () => {
  it("is the same after it was written and read", () => {
    const state = describeNow();
    const read = readTreeState(new Uint8Array(writeTreeState(state)));
    expect(read).toEqual({ ...state, name: expect.stringMatching(/^[0-9a-f]+-[0-9a-f]+$/) });
    expect(read && isSame(read)).toBe(true);
  });

  it("covers files that may become scripts and ignore files, not files left out by name", () => {
    expect(describeNow().examined.paths).toEqual(["run", "src/a.py", "src/deep/b.py", ".codectxignore"]);
  });

  it.each<[string, () => void]>([
    ["an edit of the same length", () => writeFileSync(join(root, "src/a.py"), "two\n")],
    ["a changed time", () => utimesSync(join(root, "src/deep/b.py"), 1, 1)],
    ["a removed file", () => rmSync(join(root, "src/a.py"))],
    ["a file that was not indexed", () => writeFileSync(join(root, "run"), "#!/bin/sh\n")],
    ["an ignore file", () => writeFileSync(join(root, ".codectxignore"), "src\n")],
    [
      "a folder that is now a link to itself",
      () => {
        renameSync(join(root, "src"), join(root, "moved"));
        symlinkSync(join(root, "moved"), join(root, "src"));
      },
    ],
  ])("notices %s", (_, change) => {
    const state = describeNow();
    change();
    expect(isSame(state)).toBe(false);
  });

  it.each<[string, () => void]>([
    ["a new file in an empty folder", () => writeFileSync(join(root, "empty/c.py"), "one\n")],
    ["a new folder", () => mkdirSync(join(root, "src/new"))],
    ["an ignore file that ignores itself", () => writeFileSync(join(root, "src/.gitignore"), ".*\n\n")],
    ["an edit of the same length", () => writeFileSync(join(root, "src/a.py"), "two\n")],
    [
      "a folder that is now a link to itself",
      () => {
        renameSync(join(root, "empty"), join(root, "src/moved"));
        symlinkSync(join(root, "src/moved"), join(root, "empty"));
      },
    ],
  ])("notices %s outside of git, where nothing is listed", (_, change) => {
    mkdirSync(join(root, "empty"));
    writeFileSync(join(root, "src/.gitignore"), ".*\n");
    const state = describeFolder();
    const read = readTreeState(new Uint8Array(writeTreeState(state)));
    expect(read).toEqual({ ...state, name: expect.stringMatching(/^[0-9a-f]+-[0-9a-f]+$/) });
    expect(isSame(state)).toBe(true);
    change();
    expect(isSame(state)).toBe(false);
  });

  it("has no state of what changed while the run examined it, and that of the rest", () => {
    const tree = new FileTree(root);
    const changed = (state: TreeState) => [...changedPaths(tree, state.examined, state.folderCount)];
    const run = { table: "tree-1", head: undefined, listing: LISTING, startedAtMs: LATER };
    expect(changed(describeTree(tree, run, new Map([["src/a.py", ""]])))).toEqual(["src/a.py"]);
    // Not those whose state the index has taken.
    expect(changed(describeNow(Date.now() - 1_000))).toEqual(["run", ".codectxignore"]);
    const folders = { ...run, listing: walkFolder(tree), startedAtMs: Date.now() - 1_000 };
    expect(changed(describeTree(tree, folders, new Map()))).toContain("src");
  });

  it("is that of a file whose time is ahead of the clock, unless it has just changed", () => {
    const path = "src/a.py";
    utimesSync(join(root, path), LATER, LATER);
    const { size, mtimeMs, ctimeMs, ino } = new FileTree(root).lstat(path) ?? expect.fail(path);
    const nowMs = ctimeMs + 5_000;
    expect(isRacy({ size, mtimeMs, ctimeMs, ino }, nowMs)).toBe(false);
    expect(isRacy({ size, mtimeMs, ctimeMs, ino }, ctimeMs)).toBe(true);
    // The clock was ahead.
    expect(isRacy({ size, mtimeMs, ctimeMs: mtimeMs, ino }, nowMs)).toBe(true);
  });

  it("is not used where its bytes are damaged or cut off", () => {
    const bytes = new Uint8Array(writeTreeState(describeNow()));
    for (let at = 0; at < bytes.length; at += 7) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ 0x10;
      expect(readTreeState(damaged)).toBeUndefined();
      expect(readTreeState(bytes.slice(0, at))).toBeUndefined();
    }
  });
});
