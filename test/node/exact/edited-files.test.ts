import { execFileSync } from "node:child_process";
import {
  lstatSync,
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
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordsFile } from "../../../src/cli/exact/records-file.ts";
import { TextCache } from "../../../src/cli/exact/text-cache.ts";
import { workTreeTexts } from "../../../src/cli/exact/work-tree-texts.ts";
import { listWorkTreeFiles } from "../../../src/cli/git/git.ts";
import { grepUntimed, request } from "./in-memory.ts";

/** Long after the files were written, so that none is racy. */
const LATER = Date.now() + 3_600_000;
const COUNT = 60;

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "codectx-edited-")));
const root = path.join(folder, "tree");
const project = { root, directory: path.join(folder, "cache"), identity: "local/test" };
const file = (i: number): string => path.join(root, `d${i % 10}`, `f${i}.ts`);
const cache = (): TextCache => new TextCache(recordsFile(project, "tree"));
const enclosing = (wanted: readonly { lines: readonly number[] }[]) =>
  Promise.resolve(wanted.map(({ lines }) => lines.map(() => null)));

async function grep(pattern: string): Promise<string[]> {
  const listing = await listWorkTreeFiles(root);
  const texts = workTreeTexts({ root, listing, cache: cache(), enclosing, nowMs: LATER });
  const answer = await grepUntimed(texts, request(pattern, { limit: 10_000 }));
  expect(answer.coverage.files + Object.values(answer.coverage.notSearched).reduce((sum, n) => sum + n, 0)).toBe(COUNT);
  return answer.matches.map((match) => `${match.path}:${match.line}`);
}

beforeAll(async () => {
  for (let i = 0; i < 10; i++) mkdirSync(path.join(root, `d${i}`), { recursive: true });
  for (let i = 0; i < COUNT; i++) writeFileSync(file(i), `export const name${i} = "old";\n`);
  execFileSync("git", ["init", "-q"], { cwd: root });
  expect(await grep("name17 ")).toEqual(["d7/f17.ts:1"]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("files of a work tree whose texts are known", () => {
  it("are found with their edits, whatever happened to them", async () => {
    const { atime, mtime } = lstatSync(file(1));
    writeFileSync(file(1), `export const name1 = "new";\n`);
    // As tools that keep times do.
    utimesSync(file(1), atime, mtime);
    rmSync(file(2));
    symlinkSync(file(3), file(2));
    renameSync(file(4), `${file(4)}.tmp`);
    renameSync(file(5), file(4));
    renameSync(`${file(4)}.tmp`, file(5));
    expect(await grep('"new"')).toEqual(["d1/f1.ts:1"]);
    expect(await grep("name[45] ")).toEqual(["d4/f4.ts:1", "d5/f5.ts:1"]);
    expect(await grep("name4 ")).toEqual(["d5/f5.ts:1"]);
    expect(await grep("name2 ")).toEqual([]);
  });

  it("are not read through a link in place of their folder", async () => {
    renameSync(path.join(root, "d9"), path.join(folder, "d9"));
    symlinkSync(path.join(folder, "d9"), path.join(root, "d9"));
    const listing = await listWorkTreeFiles(root);
    expect(listing.paths()).toContain("d9");
    const texts = workTreeTexts({
      root,
      // As git lists them where the files are tracked.
      listing: { ...listing, paths: () => ["d9/f9.ts", "d9/f19.ts"] },
      cache: cache(),
      enclosing,
      nowMs: LATER,
    });
    expect((await grepUntimed(texts, request("name9 "))).total.lines).toBe(0);
  });
});
