import { execFileSync } from "node:child_process";
import {
  chmodSync,
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
import type { RevisionTexts } from "../../../src/engines/exact/types.ts";
import { listWorkTreeFiles } from "../../../src/cli/git/git.ts";
import { seededNumbers } from "../../support/numbers.ts";
import { grepUntimed, request } from "./in-memory.ts";

/** Long after the files were written, so that none is racy. */
const LATER = Date.now() + 3_600_000;
const COUNT = 60;
/** Searches of files that are edited meanwhile. `EDITED_SEARCHES=1000` takes half a minute. */
const SEARCHES = Number(process.env["EDITED_SEARCHES"] ?? 20);

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

  it("are gone where a file or a link to itself is in place of their folder", async () => {
    for (const folderName of ["d7", "d8"]) rmSync(path.join(root, folderName), { recursive: true });
    writeFileSync(path.join(root, "d7"), "name of a file\n");
    symlinkSync("d8", path.join(root, "d8"));
    const listing = await listWorkTreeFiles(root);
    // As git lists them where the files are tracked.
    const paths = () => [...listing.paths(), "d7/f7.ts", "d8/f8.ts"];
    const texts = workTreeTexts({ root, listing: { ...listing, paths }, cache: cache(), enclosing, nowMs: LATER });
    const { matches, coverage } = await grepUntimed(texts, request("name (of|[78])"));
    expect(matches.map((match) => match.path)).toEqual(["d7"]);
    expect(coverage.notSearched).toEqual({ symlink: 3 });
  });

  // Permissions do not bind root, and Windows has others.
  it.skipIf(process.getuid?.() === 0 || process.platform === "win32")(
    "are not searched, rather than gone, in a folder that may not be entered",
    async () => {
      const listing = await listWorkTreeFiles(root);
      chmodSync(path.join(root, "d6"), 0);
      try {
        const texts = workTreeTexts({ root, listing, cache: cache(), enclosing, nowMs: LATER });
        const { coverage } = await grepUntimed(texts, request("name6 "));
        expect(coverage.notSearched).toMatchObject({ unreadable: 6 });
      } finally {
        chmodSync(path.join(root, "d6"), 0o755);
      }
    },
  );

  it("are all found while others edit them, or the answer says which were not read", async () => {
    const next = seededNumbers(4);
    const own = (i: number) => path.join(root, "edited", `e${i}.ts`);
    mkdirSync(path.join(root, "edited"));
    /** Every state of a file has the line that is searched for. */
    const write = (i: number, to = own(i)) =>
      writeFileSync(to, `${"// line\n".repeat(next(40))}const always = ${next(1_000)};\n// word${next(5)}\n`);
    const edits: ((i: number) => void)[] = [
      write,
      (i) => {
        write(i, `${own(i)}.tmp`);
        renameSync(`${own(i)}.tmp`, own(i));
      },
      (i) => rmSync(own(i), { force: true }),
      (i) => {
        const { atime, mtime } = lstatSync(own(i), { throwIfNoEntry: false }) ?? { atime: 1, mtime: 1 };
        write(i);
        utimesSync(own(i), atime, mtime);
      },
    ];
    const edit = (): void => {
      if (next(3) === 0) edits[next(edits.length)]?.(next(20));
    };
    const outcomes = { complete: 0, incomplete: 0 };
    for (let round = 0; round < SEARCHES; round++) {
      for (let i = 0; i < 20; i++) write(i);
      const listing = await listWorkTreeFiles(root);
      const texts = workTreeTexts({ root, listing, cache: cache(), enclosing, nowMs: LATER });
      const disturbed: RevisionTexts = {
        ...texts,
        candidates: (query, contents) => {
          for (let i = 0; i < 5; i++) edit();
          return texts.candidates(query, contents);
        },
        async *read(contents) {
          for await (const read of texts.read(contents)) {
            edit();
            yield read;
          }
        },
      };
      const answer = await grepUntimed(disturbed, request("const always", { limit: 100 }));
      const found = answer.matches.map((match) => match.path);
      const gaps = answer.gaps.map((gap) => gap.path);
      expect([...found, ...gaps].sort(), `round ${round}`).toEqual(
        Array.from({ length: 20 }, (_, i) => `edited/e${i}.ts`).sort(),
      );
      expect(answer.complete).toBe(gaps.length === 0);
      outcomes[answer.complete ? "complete" : "incomplete"]++;
    }
    expect(Math.min(outcomes.complete, outcomes.incomplete)).toBeGreaterThan(0);
  });
});
