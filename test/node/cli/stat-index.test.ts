import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fingerprint } from "../../../src/cli/machine/checksum.ts";
import { FileTree } from "../../../src/cli/indexing/file-tree.ts";
import { walkFolder } from "../../../src/cli/indexing/walk.ts";
import { describeTree, saveChanges, saveState } from "../../../src/cli/local-index/describe-tree.ts";
import { examineTree } from "../../../src/cli/local-index/examine-tree.ts";
import { SearchFolder } from "../../../src/cli/local-index/search-folder.ts";
import { encodeStatIndex, isComparable, MIN_FILES } from "../../../src/cli/local-index/stat-index.ts";
import { stateName } from "../../../src/cli/local-index/state-name.ts";
import { readTreeState, writeTreeState } from "../../../src/cli/local-index/tree-state.ts";

const IN_FOLDER = 100;
/** More than enough, because tests remove files. */
const FOLDERS = MIN_FILES / IN_FOLDER + 5;

let base: string;
let root: string;
let folder: SearchFolder;

/** A work tree of files that were written in an earlier second. Each test changes a file of its own. */
beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "codectx-stats-")));
  root = join(base, "tree");
  folder = new SearchFolder(join(base, "index"));
  for (let i = 0; i < FOLDERS; i++) {
    mkdirSync(join(root, `src/é${i}`), { recursive: true });
    for (let j = 0; j < IN_FOLDER; j++) writeFileSync(join(root, `src/é${i}/f${j}.py`), j === 7 ? "" : "one\n");
  }
  writeFileSync(join(root, `src/${"long".repeat(50)}.py`), "one\n");
  const written = Math.floor(lstatSync(join(root, "src")).ctimeMs / 1_000);
  while (Math.floor(Date.now() / 1_000) <= written + 1) await new Promise((resolve) => setTimeout(resolve, 50));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));
beforeEach(() => remember());

/** As after a run that began `secondsLater` from now. */
function remember(secondsLater = 3_600): void {
  const tree = new FileTree(root);
  const run = {
    table: "tree-1",
    head: undefined,
    listing: { ...walkFolder(tree), folders: [] },
    startedAtMs: Date.now() + secondsLater * 1_000,
  };
  const state = describeTree(tree, run, new Map());
  saveState(folder, root, state ?? expect.fail("the state is racy"));
}

const isUnchanged = async (): Promise<boolean> => (await examineTree(folder, root)?.unchanged) ?? false;
/** Of some paths, those that git has found as they were; undefined if it compared none. */
const foundSame = async (...paths: string[]): Promise<string[] | undefined> => {
  const isSame = await examineTree(folder, root)?.compared();
  return isSame && paths.filter(isSame);
};
const comparedPaths = (): readonly string[] => readTreeState(folder.readState(stateName(root))!)!.compared().paths;
const statIndex = (): string => folder.statIndex(stateName(root)).file;

describe("files that git compares with their stats", () => {
  it("are all of them, and found unchanged", async () => {
    expect(comparedPaths()).toHaveLength(FOLDERS * IN_FOLDER + 1);
    expect(await isUnchanged()).toBe(true);
    const { gitDirectory, file } = folder.statIndex(stateName(root));
    const env = { ...process.env, GIT_DIR: gitDirectory, GIT_INDEX_FILE: file, GIT_WORK_TREE: root };
    // Git reads the index as it was meant, and finds nothing different.
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, env, encoding: "utf8" });
    expect(git("ls-files", "-z").split("\0").filter(Boolean).sort()).toEqual([...comparedPaths()].sort());
    expect(git("diff-files", "--name-only")).toBe("");
  });

  it.each<[string, () => void]>([
    ["an edit of the same length", () => writeFileSync(join(root, "src/é0/f1.py"), "two\n")],
    ["an empty file that is no longer empty", () => writeFileSync(join(root, "src/é0/f7.py"), "one\n")],
    ["a file that is now empty", () => writeFileSync(join(root, "src/é0/f2.py"), "")],
    [
      "an edit whose time was set back",
      () => {
        const { atimeMs, mtimeMs } = lstatSync(join(root, "src/é1/f1.py"));
        writeFileSync(join(root, "src/é1/f1.py"), "two\n");
        utimesSync(join(root, "src/é1/f1.py"), atimeMs / 1_000, mtimeMs / 1_000);
      },
    ],
    ["a changed time", () => utimesSync(join(root, "src/é2/f1.py"), 1, 1)],
    ["a file that may be executed now", () => chmodSync(join(root, "src/é2/f2.py"), 0o755)],
    ["a removed file", () => rmSync(join(root, "src/é3/f1.py"))],
    [
      "a file that another one has replaced",
      () => {
        writeFileSync(join(base, "other"), "two\n");
        renameSync(join(base, "other"), join(root, "src/é4/f1.py"));
      },
    ],
    [
      "a file that is now a link",
      () => {
        renameSync(join(root, "src/é5/f1.py"), join(base, "moved.py"));
        symlinkSync(join(base, "moved.py"), join(root, "src/é5/f1.py"));
      },
    ],
    [
      "a folder that is now a link to itself",
      () => {
        renameSync(join(root, "src/é6"), join(base, "moved"));
        symlinkSync(join(base, "moved"), join(root, "src/é6"));
      },
    ],
  ])("notices %s", async (_, change) => {
    expect(await isUnchanged()).toBe(true);
    change();
    expect(await isUnchanged()).toBe(false);
  });

  it("are told from those that have changed, and from those that git does not compare", async () => {
    writeFileSync(join(root, "src/é7/f1.py"), "two\n");
    expect(await foundSame("src/é7/f1.py", "src/é7/f2.py", "src/new.py")).toEqual(["src/é7/f2.py"]);
  });

  it("are examined here where git fails", async () => {
    rmSync(folder.statIndex(stateName(root)).gitDirectory, { recursive: true });
    expect(await isUnchanged()).toBe(true);
    expect(await foundSame("src/é8/f1.py")).toBeUndefined();
    writeFileSync(join(root, "src/é8/f1.py"), "two\n");
    expect(await isUnchanged()).toBe(false);
  });

  it("are examined here where git finds other differences: another owner, stats as new as the index", async () => {
    const state = readTreeState(folder.readState(stateName(root))!)!;
    const index = encodeStatIndex(state.compared(), { uid: 12_345, gid: 12_345 });
    const digest = fingerprint(index);
    folder.writeState(stateName(root), writeTreeState({ ...state, statIndex: digest }), index);
    expect(await isUnchanged()).toBe(true);
    writeFileSync(join(root, "src/é8/f2.py"), "two\n");
    expect(await isUnchanged()).toBe(false);
    remember();
    utimesSync(statIndex(), 1, 1);
    expect(await isUnchanged()).toBe(true);
    writeFileSync(join(root, "src/é9/f1.py"), "two\n");
    expect(await isUnchanged()).toBe(false);
  });

  it("count as changed where the index is damaged, of another state, or gone", async () => {
    const bytes = readFileSync(statIndex());
    for (const at of [0, 20, 70, bytes.length - 1]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 0x10;
      writeFileSync(statIndex(), damaged);
      expect(await isUnchanged()).toBe(false);
    }
    rmSync(statIndex());
    expect(await isUnchanged()).toBe(false);
    remember();
    expect(await isUnchanged()).toBe(true);
  });

  it("are completed by those that an edit has changed, which are examined here", async () => {
    const [edited, other] = ["src/é10/f1.py", "src/é10/f2.py"];
    const saveEdit = async (completes?: string): Promise<string[]> => {
      const last = examineTree(folder, root) ?? expect.fail("no state");
      const only = (await last.mayDiffer()) ?? expect.fail("git compared nothing");
      const tree = new FileTree(root);
      const run = {
        table: "tree-2",
        head: undefined,
        listing: { ...walkFolder(tree), folders: [] },
        startedAtMs: Date.now() + 3_600_000,
      };
      const changes = describeTree(tree, run, new Map(), only) ?? expect.fail("the changes are racy");
      saveChanges(folder, root, changes, completes ?? last.name);
      return [...only];
    };
    writeFileSync(join(root, edited), "two\n");
    expect(await saveEdit()).toEqual([edited]);
    expect(examineTree(folder, root)?.table).toBe("tree-2");
    expect(await isUnchanged()).toBe(true);
    expect(await foundSame(edited, other)).toEqual([other]);
    writeFileSync(join(root, edited), "three\n");
    expect(await isUnchanged()).toBe(false);
    expect(await saveEdit()).toEqual([edited]);
    expect(await isUnchanged()).toBe(true);
    rmSync(folder.statIndex(stateName(root)).gitDirectory, { recursive: true });
    expect(await isUnchanged()).toBe(true);
    writeFileSync(join(root, other), "two\n");
    expect(await isUnchanged()).toBe(false);
    remember();
    expect(examineTree(folder, root)?.table).toBe("tree-1");
    expect(await isUnchanged()).toBe(true);
    rmSync(join(root, other));
    // Git may name the file that was edited within the same second, too.
    expect(await saveEdit("00")).toContain(other);
    expect(examineTree(folder, root)?.table).toBe("tree-1");
    expect(await isUnchanged()).toBe(false);
  });

  it("are not those that changed shortly before the run", () => {
    const at = (mtimeMs: number, ctimeMs = mtimeMs, size = 1) => isComparable({ size, mtimeMs, ctimeMs }, 100_000);
    expect([at(80_000), at(80_000, 95_000), at(95_000, 80_000), at(120_000, 80_000)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    // Before 1970, and a file that is not there.
    expect([at(-1_000, 80_000), at(0, 0, -1)]).toEqual([false, false]);
  });

  it("are compared without the settings of the repository, of the variables of a hook, and without its programs", async () => {
    const pwned = join(base, "pwned");
    const git = (...args: string[]): Buffer => execFileSync("git", args, { cwd: root });
    git("init", "-q");
    appendFileSync(
      join(root, ".git/config"),
      `[core]\n\tfsmonitor = "touch ${pwned}; false"\n[filter "x"]\n\tclean = "touch ${pwned}; cat"\n\trequired\n`,
    );
    writeFileSync(join(root, ".gitattributes"), "* filter=x\n");
    remember();
    // Stats as new as the index make git read the files.
    utimesSync(statIndex(), 1, 1);
    process.env["GIT_OBJECT_DIRECTORY"] = join(base, "nowhere");
    try {
      expect(await isUnchanged()).toBe(true);
    } finally {
      delete process.env["GIT_OBJECT_DIRECTORY"];
    }
    expect(existsSync(pwned)).toBe(false);
  });
});
