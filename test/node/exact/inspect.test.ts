import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { commitTexts } from "../../../src/cli/exact/commit-texts.ts";
import { TextCache } from "../../../src/cli/exact/text-cache.ts";
import { decodeRecords, encodeRecords } from "../../../src/cli/exact/text-records.ts";
import { workTreeTexts } from "../../../src/cli/exact/work-tree-texts.ts";
import { listWorkTreeFiles } from "../../../src/cli/git/git.ts";
import { inspectText } from "../../../src/engines/exact/inspect.ts";
import { blankLines } from "../../../src/engines/parsing/secrets/lines.ts";
import { type FilterPart, mayHold, ngramFilter } from "../../../src/engines/exact/ngram-filter.ts";
import { queryOfBytes } from "../../../src/engines/exact/ngrams.ts";
import { grepUntimed, request } from "./in-memory.ts";

const SECRET = `const key = "${["AKIA", "QX7PLM2ZR5TVB9KD"].join("")}";`;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function repository(): string {
  const root = mkdtempSync(path.join(tmpdir(), "codectx-exact-"));
  folders.push(root);
  execFileSync("git", ["init", "-q"], { cwd: root });
  mkdirSync(path.join(root, "src"));
  writeFileSync(path.join(root, "src", "a.ts"), "export const needle = 1;\n");
  writeFileSync(path.join(root, "package-lock.json"), '{ "needle": 1 }\n');
  writeFileSync(path.join(root, "notes.unknown"), "a needle\n");
  writeFileSync(path.join(root, "image.png"), Buffer.from([1, 0, 2]));
  writeFileSync(path.join(root, "hidden.ts"), "needle\n");
  writeFileSync(path.join(root, ".codectxignore"), "hidden.ts\n");
  symlinkSync("src/a.ts", path.join(root, "link.ts"));
  return root;
}

const enclosing = (wanted: readonly { lines: readonly number[] }[]) =>
  Promise.resolve(wanted.map(({ lines }) => lines.map(() => null)));

/** Records and their changes in memory, and how often each was written. */
function memory() {
  const stored = () => {
    const file = { bytes: undefined as Uint8Array<ArrayBuffer> | undefined, writes: 0 };
    return {
      file,
      read: () => file.bytes,
      write: (bytes: Uint8Array) => {
        file.bytes = Uint8Array.from(bytes);
        file.writes++;
      },
    };
  };
  return { ...stored(), changes: stored() };
}

/** Writes forty files of which each has its own word. */
function writeMany(root: string): void {
  for (let i = 0; i < 40; i++) writeFileSync(path.join(root, "src", `n${i}.ts`), `export const word${i} = ${i};\n`);
}

const bytesOf = ({ bytes, start, length }: FilterPart): number[] => [...bytes.subarray(start, start + length)];

async function grepTree(
  root: string,
  pattern: string,
  records = memory(),
  onProgress?: (done: number, total: number) => void,
) {
  const texts = workTreeTexts({
    root,
    listing: await listWorkTreeFiles(root),
    cache: new TextCache(records),
    enclosing,
    nowMs: Date.now() + 60_000,
    onProgress,
  });
  return grepUntimed(texts, request(pattern));
}

describe("a work tree", () => {
  it("is searched with what ranking leaves out, and says what is not searched", async () => {
    const { matches, coverage, gaps, complete } = await grepTree(repository(), "needle");
    expect(matches.map((match) => match.path)).toEqual(["notes.unknown", "src/a.ts", "package-lock.json"]);
    expect(coverage.notSearched).toEqual({ binary: 1, excluded: 1, symlink: 1 });
    expect(gaps).toEqual([{ revision: 0, path: "hidden.ts", reason: "excluded" }]);
    expect(complete).toBe(false);
  });

  it("tells how many files are examined, and how many of those that may match are read", async () => {
    const calls: [done: number, total: number][] = [];
    await grepTree(repository(), "needle", memory(), (...call) => calls.push(call));
    // A hundred files are examined between two reports.
    expect(calls).toEqual([[7, 7], ...[1, 2, 3].map((done) => [done, 3])]);
  });

  it("is inspected once, and an edit is seen", async () => {
    const root = repository();
    const records = memory();
    await grepTree(root, "needle", records);
    await grepTree(root, "needle", records);
    expect(records.file.writes).toBe(1);
    writeFileSync(path.join(root, "src", "a.ts"), "export const thread = 1;\n// other\n");
    expect((await grepTree(root, "thread", records)).total.lines).toBe(1);
    expect((await grepTree(root, "export const needle", records)).total.lines).toBe(0);
    records.file.bytes?.set([1, 2, 3], 40);
    expect((await grepTree(root, "thread", records)).total.lines).toBe(1);
  });

  it("costs what has changed, until that is much", async () => {
    const root = repository();
    writeMany(root);
    const records = memory();
    const writes = () => [records.file.writes, records.changes.file.writes];
    const find = async (pattern: string) => (await grepTree(root, pattern, records)).matches.map(({ path }) => path);
    await find("word1 ");
    expect(writes()).toEqual([1, 0]);
    writeFileSync(path.join(root, "src", "n1.ts"), "export const edited = 1;\n");
    writeFileSync(path.join(root, "src", "new.ts"), "export const edited = 2;\n");
    rmSync(path.join(root, "src", "n2.ts"));
    expect(await find("edited")).toEqual(["src/n1.ts", "src/new.ts"]);
    expect(writes()).toEqual([1, 1]);
    expect(await find("word[12] ")).toEqual([]);
    expect(await find("edited")).toEqual(["src/n1.ts", "src/new.ts"]);
    // What is known already is neither read nor written again.
    expect(writes()).toEqual([1, 1]);
    writeFileSync(path.join(root, "src", "n1.ts"), "export const again = 1;\n");
    expect(await find("again|edited")).toEqual(["src/n1.ts", "src/new.ts"]);
    expect(writes()).toEqual([1, 2]);
    for (let i = 10; i < 20; i++) writeFileSync(path.join(root, "src", `n${i}.ts`), "export const edited = 3;\n");
    expect((await find("edited")).length).toBe(11);
    expect(writes()).toEqual([2, 2]);
    expect((await find("edited")).length).toBe(11);
    expect(writes()).toEqual([2, 2]);
  });

  it("is searched as it is where its changes are damaged, or of other records", async () => {
    const root = repository();
    writeMany(root);
    const records = memory();
    const edited = async () => (await grepTree(root, "edited", records)).matches.map(({ path }) => path);
    await edited();
    const before = records.file.bytes;
    writeFileSync(path.join(root, "src", "n1.ts"), "export const edited = 1;\n");
    expect(await edited()).toEqual(["src/n1.ts"]);
    const changes = records.changes.file;
    for (const damage of [
      (bytes: Uint8Array) => bytes.with(bytes.length - 1, (bytes.at(-1) as number) ^ 1),
      (bytes: Uint8Array) => bytes.slice(0, 50),
      () => new Uint8Array(),
    ]) {
      const writes = changes.writes;
      changes.bytes = Uint8Array.from(damage(changes.bytes ?? new Uint8Array()));
      expect(await edited()).toEqual(["src/n1.ts"]);
      expect(changes.writes).toBe(writes + 1);
    }
    const ofBefore = changes.bytes;
    records.file.bytes = undefined;
    writeFileSync(path.join(root, "src", "n2.ts"), "export const edited = 2;\n");
    expect(await edited()).toEqual(["src/n1.ts", "src/n2.ts"]);
    // As another process leaves them that has read the records before they were written anew.
    changes.bytes = ofBefore;
    const { writes } = changes;
    expect(await edited()).toEqual(["src/n1.ts", "src/n2.ts"]);
    records.file.bytes = before;
    expect(await edited()).toEqual(["src/n1.ts", "src/n2.ts"]);
    expect(changes.writes).toBe(writes + 1);
  });

  it("does not show or match lines that may hold secrets", async () => {
    const root = repository();
    writeFileSync(path.join(root, "src", "keys.ts"), `// before\n${SECRET}\n// after\n`);
    const lines = await grepTree(root, "const key|before|after|^$");
    expect(lines.matches.filter((match) => match.path === "src/keys.ts").map(({ line }) => line)).toEqual([1, 3]);
    expect(lines.coverage.withheldLines).toBe(1);
    expect((await grepTree(root, "AKIA")).total.lines).toBe(0);
  });
});

describe("a commit", () => {
  it("is searched from git's objects", async () => {
    const root = repository();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: root })
        .toString()
        .trim();
    git("add", "-A");
    git("commit", "-qm", "first");
    writeFileSync(path.join(root, "src", "a.ts"), "changed\n");
    const records = memory();
    const grep = (pattern: string) =>
      grepUntimed(
        commitTexts({ root, gitSha: git("rev-parse", "HEAD"), cache: new TextCache(records), enclosing }),
        request(pattern),
      );
    const { matches, coverage } = await grep("needle");
    expect(matches.map((match) => match.path)).toEqual(["notes.unknown", "src/a.ts", "package-lock.json"]);
    expect(coverage.notSearched).toEqual({ binary: 1, excluded: 1, symlink: 1 });
    expect((await grep("changed")).total.lines).toBe(0);
    expect(records.file.writes).toBe(1);
  });

  it("costs what it changes", async () => {
    const root = repository();
    writeMany(root);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: root })
        .toString()
        .trim();
    const commit = (): string => {
      git("add", "-A");
      git("commit", "-qm", "next");
      return git("rev-parse", "HEAD");
    };
    const records = memory();
    const find = async (gitSha: string, pattern: string) => {
      const texts = commitTexts({ root, gitSha, cache: new TextCache(records), enclosing });
      return (await grepUntimed(texts, request(pattern))).matches.map(({ path }) => path);
    };
    const first = commit();
    expect(await find(first, "word1 ")).toEqual(["src/n1.ts"]);
    writeFileSync(path.join(root, "src", "n1.ts"), "export const edited = 1;\n");
    const second = commit();
    expect(await find(second, "word1 |edited")).toEqual(["src/n1.ts"]);
    expect(await find(first, "word1 |edited")).toEqual(["src/n1.ts"]);
    expect([records.file.writes, records.changes.file.writes]).toEqual([1, 1]);
  });
});

describe("what is known of a text", () => {
  it("survives a round trip, and damage is noticed", () => {
    const stat = { size: 3, mtimeMs: 1_700_000_000_000.25, ctimeMs: 1_700_000_000_001, ino: 2 ** 33 };
    const records = new Map(
      [Buffer.from("#!/bin/sh\necho needle\n"), Buffer.from([0, 1]), Buffer.from(`one\n${SECRET}\n`)].map((text, i) => [
        `dir/${i}é`,
        { stat: { ...stat, size: i }, inspected: inspectText(text) },
      ]),
    );
    const bytes = Uint8Array.from(encodeRecords(records));
    const decoded = decodeRecords(bytes);
    if (!decoded) throw new Error("not decoded");
    expect(decoded.size).toBe(records.size);
    // In another order than theirs.
    for (const [key, { stat: own, inspected }] of [...records].toReversed()) {
      const position = decoded.find(key);
      const found = decoded.at(position);
      expect(decoded.keyAt(position)).toBe(key);
      const { reason, script, withheld, filter } = found.inspected;
      expect({ reason, script, withheld, filter: bytesOf(filter) }).toEqual({
        ...inspected,
        filter: bytesOf(inspected.filter),
      });
      expect(found.stat).toEqual(own);
      expect(decoded.isInState(position, own)).toBe(true);
      expect(decoded.isInState(position, { ...own, mtimeMs: own.mtimeMs + 0.25 })).toBe(false);
    }
    expect(decoded.find("dir/3é")).toBe(-1);
    expect(decodeRecords(Uint8Array.from(encodeRecords(new Map())))?.size).toBe(0);
    const changes = Uint8Array.from(encodeRecords(records, { completes: decoded.name }));
    expect(decodeRecords(changes, decoded.name)?.size).toBe(records.size);
    // Neither stands for the other.
    expect(decodeRecords(changes)).toBeUndefined();
    expect(decodeRecords(bytes, decoded.name)).toBeUndefined();
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    expect(decodeRecords(bytes)).toBeUndefined();
  });

  it("leaves lines out without moving the others", () => {
    const text = Buffer.from("a\nb\r\nc\nd");
    expect(Buffer.from(blankLines(text, [[2, 2]])).toString()).toBe("a\n\nc\nd");
    expect(
      Buffer.from(
        blankLines(text, [
          [1, 1],
          [3, 4],
        ]),
      ).toString(),
    ).toBe("\nb\r\n\n");
  });

  it("has a filter that finds every part of the text, in any case", () => {
    const text = Array.from({ length: 3_000 }, (_, i) => `name${i}`).join("\n");
    const own = ngramFilter(Buffer.from(text));
    const filter = { bytes: Buffer.concat([Buffer.alloc(5), own]), start: 5, length: own.length };
    for (let i = 0; i < 3_000; i += 7) expect(mayHold(filter, queryOfBytes(Buffer.from(`NAME${i}`)))).toBe(true);
    const others = Array.from({ length: 1_000 }, (_, i) => `zq${i}xjv`).filter((other) =>
      mayHold(filter, queryOfBytes(Buffer.from(other))),
    );
    expect(others.length).toBeLessThan(60);
  });
});
