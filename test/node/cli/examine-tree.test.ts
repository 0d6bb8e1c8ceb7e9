import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileTree } from "../../../src/cli/indexing/file-tree.ts";
import { walkFolder } from "../../../src/cli/indexing/walk.ts";
import { describeTree, saveChanges, saveState } from "../../../src/cli/local-index/describe-tree.ts";
import { type Examination, examineTree } from "../../../src/cli/local-index/examine-tree.ts";
import { SearchFolder } from "../../../src/cli/local-index/search-folder.ts";
import { stateName } from "../../../src/cli/local-index/state-name.ts";
import { sortUtf8 } from "../../../src/engines/search/order.ts";
import { seededIntegers } from "../../support/numbers.ts";

const [EDITED, OTHER] = ["src/a.py", "src/b.py"] as const;

let base: string;
let root: string;
let folder: SearchFolder;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "codectx-examine-")));
  root = join(base, "tree");
  folder = new SearchFolder(join(base, "index"));
  mkdirSync(join(root, "src"), { recursive: true });
  for (const file of [EDITED, OTHER]) writeFileSync(join(root, file), "one\n");
  saveState(folder, root, stateNow("tree-1"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** As after a run that began an hour later. */
function stateNow(table: string, only?: ReadonlySet<string>, isFolder = false) {
  const tree = new FileTree(root);
  const found = walkFolder(tree);
  const listing = isFolder ? found : { ...found, folders: [] };
  const run = { table, head: undefined, listing, startedAtMs: Date.now() + 3_600_000 };
  return describeTree(tree, run, new Map(), only);
}

const examine = (): Examination => examineTree(folder, root) ?? expect.fail("no state");

/** As after a run for what has changed. Returns the paths that it looked at. */
function saveEdits(completes?: string): string[] {
  const last = examine();
  const only = last.mayDiffer ?? expect.fail("it is not known what has changed");
  saveChanges(folder, root, stateNow("tree-2", only), completes ?? last.name);
  return [...only];
}

describe("the examination of a work tree", () => {
  it("tells which files are as they were", () => {
    expect(examine()).toMatchObject({ table: "tree-1", isSame: true, mayDiffer: new Set() });
    writeFileSync(join(root, EDITED), "two\n");
    const last = examine();
    expect(last).toMatchObject({ isSame: false, mayDiffer: new Set([EDITED]) });
    expect([EDITED, OTHER, "src/unknown.py"].filter(last.isSameFile)).toEqual([OTHER]);
  });

  it("takes later changes into account, which complete the state", () => {
    writeFileSync(join(root, EDITED), "two\n");
    expect(saveEdits()).toEqual([EDITED]);
    expect(examine()).toMatchObject({ table: "tree-2", isSame: true });
    expect(examine().isSameFile(EDITED)).toBe(true);
    writeFileSync(join(root, EDITED), "three\n");
    expect(examine().isSame).toBe(false);
    // Changes replace those before, so they are about all files that have changed since the state was written.
    writeFileSync(join(root, OTHER), "two\n");
    expect(saveEdits().sort()).toEqual([EDITED, OTHER]);
    writeFileSync(join(root, OTHER), "one\n");
    expect(saveEdits().sort()).toEqual([EDITED, OTHER]);
    expect(examine().isSame).toBe(true);
  });

  it("tells which files of a list are new, and which are gone", () => {
    expect(examine().newOrGone([EDITED, OTHER])).toEqual([]);
    // The index does not depend on a picture.
    expect(examine().newOrGone(["a.py", "b.png", OTHER, "src/c.py"])).toEqual(["a.py", EDITED, "src/c.py"]);
  });

  it("tells so of any two lists, however their names sort", () => {
    const names = [
      "src/a.py",
      "src/b.py",
      "src.py",
      "src/\u{1f600}.py",
      "src/\uffee.py",
      "src/é.py",
      "src/ab.py",
      "src/a.png",
    ];
    const random = seededIntegers(5);
    const some = () => sortUtf8(names.filter(() => random(2) === 0));
    for (let round = 0; round < 50; round++) {
      const [before, now] = [some(), some()];
      const listing = { ...walkFolder(new FileTree(root)), folders: [], ignoreFiles: [], paths: () => before };
      const run = { table: "tree-1", head: undefined, listing, startedAtMs: Date.now() + 3_600_000 };
      saveState(folder, root, describeTree(new FileTree(root), run, new Map()));
      const found = examine().newOrGone(now);
      const apart = [...now.filter((path) => !before.includes(path)), ...before.filter((path) => !now.includes(path))];
      // Files of unknown kinds are in no state.
      expect(found.toSorted()).toEqual(apart.filter((path) => path.endsWith(".py")).toSorted());
    }
  });

  it("ignores changes of another state", () => {
    rmSync(join(root, OTHER));
    saveEdits("00");
    expect(examine()).toMatchObject({ table: "tree-1", isSame: false });
  });

  it("does not know which files have changed outside of git, where the folders tell", () => {
    saveState(folder, root, stateNow("tree-1", undefined, true));
    expect(examine()).toMatchObject({ isSame: true, mayDiffer: undefined });
    writeFileSync(join(root, "src/new.py"), "one\n");
    expect(examine().isSame).toBe(false);
  });

  it("has nothing to go by where the state is damaged", () => {
    const bytes = Buffer.from(folder.readState(stateName(root)) ?? []);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    folder.writeState(stateName(root), bytes);
    expect(examineTree(folder, root)).toBeUndefined();
  });
});
