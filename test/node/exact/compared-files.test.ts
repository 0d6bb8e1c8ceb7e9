import { execFileSync } from "node:child_process";
import {
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
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { treeRecordsFile } from "../../../src/cli/exact/records-file.ts";
import { TextCache } from "../../../src/cli/exact/text-cache.ts";
import { workTreeTexts } from "../../../src/cli/exact/work-tree-texts.ts";
import { listWorkTreeFiles } from "../../../src/cli/git/git.ts";
import { MIN_FILES } from "../../../src/cli/local-index/stat-index.ts";
import { grepUntimed, request } from "./in-memory.ts";

/** Long after the files were written, so that git may compare them. */
const LATER = Date.now() + 3_600_000;
const FOLDERS = 100;
const COUNT = MIN_FILES + FOLDERS;

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "codectx-compared-")));
const root = path.join(folder, "tree");
const project = { root, directory: path.join(folder, "cache"), identity: "local/test" };
const file = (i: number): string => path.join(root, `d${i % FOLDERS}`, `f${i}.ts`);
const statIndex = (): string => path.join(project.directory, "texts", treeName());
let comparisons: (number | undefined)[] = [];

function treeName(): string {
  const names = execFileSync("ls", [path.join(project.directory, "texts")], { encoding: "utf8" }).split("\n");
  return names.find((name) => name.endsWith(".index")) ?? "";
}

async function grep(pattern: string): Promise<string[]> {
  const records = treeRecordsFile(project);
  const cache = new TextCache({
    ...records,
    index: records.index && {
      ...records.index,
      differing: async (digest) => {
        const differing = await records.index?.differing(digest);
        comparisons.push(differing?.size);
        return differing;
      },
    },
  });
  const listing = await listWorkTreeFiles(root);
  const enclosing = (wanted: readonly { lines: readonly number[] }[]) =>
    Promise.resolve(wanted.map(({ lines }) => lines.map(() => null)));
  const texts = workTreeTexts({ root, listing, cache, enclosing, nowMs: LATER });
  const answer = await grepUntimed(texts, request(pattern, { limit: 10_000 }));
  expect(answer.coverage.files + Object.values(answer.coverage.notSearched).reduce((sum, n) => sum + n, 0)).toBe(COUNT);
  return answer.matches.map((match) => `${match.path}:${match.line}`);
}

beforeAll(async () => {
  for (let i = 0; i < FOLDERS; i++) mkdirSync(path.join(root, `d${i}`), { recursive: true });
  for (let i = 0; i < COUNT; i++) writeFileSync(file(i), `export const name${i} = "old";\n`);
  execFileSync("git", ["init", "-q"], { cwd: root });
  // Git compares contents where a file and the index were written in the same second, and notices no edit of that second.
  await sleep(1_100);
  expect(await grep("name17 ")).toEqual(["d17/f17.ts:1"]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("files that git compares with their states", () => {
  it("are not examined again as long as they are the same", async () => {
    comparisons = [];
    expect(await grep("name18 ")).toEqual(["d18/f18.ts:1"]);
    expect(comparisons).toEqual([0]);
  });

  it("are found with their edits, whatever happened to them", async () => {
    comparisons = [];
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
    expect(comparisons[0]).toBe(4);
    expect(comparisons).not.toContain(undefined);
  });

  it("are examined where the index is damaged or gone", async () => {
    comparisons = [];
    const bytes = readFileSync(statIndex());
    const name = Buffer.from("d7/f7.ts\0");
    const damaged = Buffer.from(bytes);
    damaged.write("d7/f8.ts", bytes.indexOf(name));
    writeFileSync(statIndex(), damaged);
    writeFileSync(file(7), `export const name7 = "newer";\n`);
    expect(await grep('"newer"')).toEqual(["d7/f7.ts:1"]);
    rmSync(statIndex());
    writeFileSync(file(8), `export const name8 = "newest";\n`);
    expect(await grep('"newest"')).toEqual(["d8/f8.ts:1"]);
    expect(comparisons[0]).toBeUndefined();
  });

  it("are not read through a link in place of their folder", async () => {
    renameSync(path.join(root, "d9"), path.join(folder, "d9"));
    symlinkSync(path.join(folder, "d9"), path.join(root, "d9"));
    const listing = await listWorkTreeFiles(root);
    expect(listing.paths()).toContain("d9");
    const cache = new TextCache(treeRecordsFile(project));
    const texts = workTreeTexts({
      root,
      // As git lists them where the files are tracked.
      listing: { ...listing, paths: () => ["d9/f9.ts", "d9/f109.ts"] },
      cache,
      enclosing: () => Promise.resolve([]),
      nowMs: LATER,
    });
    expect((await grepUntimed(texts, request("name9 "))).total.lines).toBe(0);
  });
});
