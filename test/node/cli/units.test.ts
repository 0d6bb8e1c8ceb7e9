import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CodeContextError } from "../../../src/interface/client/errors.ts";
import { EXIT, toCliError } from "../../../src/cli/exit-codes.ts";
import { table, Ui } from "../../../src/cli/terminal/ui.ts";
import { FileTree } from "../../../src/cli/indexing/file-tree.ts";
import { collectGarbage } from "../../../src/cli/indexing/garbage.ts";
import { IgnoreRules } from "../../../src/cli/indexing/ignore-rules.ts";
import { takeWriteLock } from "../../../src/cli/indexing/lock.ts";
import { packFile } from "../../../src/cli/indexing/packed-file.ts";
import { findChanged, scanFiles } from "../../../src/cli/indexing/scan.ts";
import { MAX_ORDINAL, rowId } from "../../../src/cli/indexing/schema.ts";
import { IndexStore, type NewContent } from "../../../src/cli/indexing/store.ts";
import { Output } from "../../../src/cli/terminal/output.ts";
import { pagerFor } from "../../../src/cli/terminal/pager.ts";
import { folderName } from "../../../src/cli/machine/paths.ts";

describe("the pager", () => {
  const long = Array.from({ length: 30 }, (_, line) => `line ${line}`);
  const terminal = { isTerminal: true, rows: 24, env: {} };

  it("shows what is longer than the screen, with the program that the user has chosen", () => {
    expect(pagerFor(long, terminal)).toBe("less");
    expect(pagerFor(long, { ...terminal, env: { PAGER: "more" } })).toBe("more");
    expect(pagerFor(long, { ...terminal, env: { PAGER: "more", CODECTX_PAGER: "bat" } })).toBe("bat");
    expect(pagerFor(long, { ...terminal, rows: undefined })).toBe("less");
  });

  it("is left out where all fits, in a pipe, on a dumb terminal and where the user wants none", () => {
    expect(pagerFor(long, { ...terminal, rows: 31 })).toBeUndefined();
    expect(pagerFor(long, { ...terminal, isTerminal: false })).toBeUndefined();
    for (const env of [{ TERM: "dumb" }, { PAGER: "cat" }, { PAGER: "" }, { PAGER: "more", CODECTX_PAGER: "" }])
      expect(pagerFor(long, { ...terminal, env })).toBeUndefined();
  });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "codectx-unit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const content = (text: string): NewContent => ({
  sha256: Buffer.alloc(32, text),
  language: "text",
  sizeBytes: text.length,
  lineCount: 1,
  outcome: "plain",
  skip: null,
  packed: packFile(
    [],
    [
      {
        text,
        context: "",
        hash: "ab".repeat(32),
        symbol: null,
        startLine: 1,
        endLine: 1,
        startByte: 0,
        endByte: 1,
        withheld: false,
      },
    ],
  ),
});

describe("IndexStore", () => {
  it("keeps what it holds when the disk is full", () => {
    const store = IndexStore.open(folder, 1);
    const kept = store.transaction(() => store.addContent(content("a")));
    store.db.exec("pragma max_page_count = 40");
    let failure: unknown;
    try {
      store.transaction(() => store.addContent(content(randomBytes(500_000).toString("hex"))));
    } catch (error) {
      failure = error;
    }
    expect(toCliError(failure)).toMatchObject({ exit: EXIT.io, code: "DISK_FULL", message: "the disk is full" });
    expect(store.findContent(Buffer.alloc(32, "a"), "text")).toBe(kept);
    expect(store.db.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    store.close();
  });

  it("drops what no work tree has used for 30 days, and only that", () => {
    const store = IndexStore.open(folder, 1);
    const DAY_MS = 86_400_000;
    store.transaction(() => {
      const used = store.addContent(content("a"));
      store.addContent(content("b"));
      store.db.exec(`insert into worktree_files values (1, 'a.txt', ${used}, '')`);
      collectGarbage(store, 0);
      collectGarbage(store, 29 * DAY_MS);
    });
    expect(store.findContent(Buffer.alloc(32, "b"), "text")).toBeDefined();
    store.transaction(() => collectGarbage(store, 31 * DAY_MS));
    expect(store.findContent(Buffer.alloc(32, "b"), "text")).toBeUndefined();
    expect(store.findContent(Buffer.alloc(32, "a"), "text")).toBeDefined();
    expect(store.db.prepare("select count(*) as n from chunks").get()).toEqual({ n: 1 });
    store.close();
  });

  it("shows nothing of an import that was not finished", () => {
    const unfinished = IndexStore.openForImport(folder, 1);
    unfinished.transaction(() => unfinished.addContent(content("a")));
    unfinished.close();
    expect(IndexStore.openForReading(folder, 1)).toBeUndefined();
    const finished = IndexStore.openForImport(folder, 1);
    finished.transaction(() => finished.addContent(content("a")));
    finished.settle();
    finished.transaction(() => finished.addContent(content("b")));
    finished.close();
    const reader = IndexStore.openForReading(folder, 1);
    for (const text of ["a", "b"]) expect(reader?.findContent(Buffer.alloc(32, text), "text")).toBeDefined();
    reader?.close();
  });

  it("numbers rows so that none is another's", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 33 - 1 }), fc.integer({ min: 0, max: MAX_ORDINAL }), (id, ordinal) => {
        const row = rowId(id, ordinal);
        expect(Number.isSafeInteger(row)).toBe(true);
        expect((row - ordinal) / (MAX_ORDINAL + 1)).toBe(id);
      }),
    );
  });
});

describe("takeWriteLock", () => {
  it("says who holds the lock, and gives it back", async () => {
    const first = await takeWriteLock(folder, { command: "index --local", waitMs: 0 });
    const waited: string[] = [];
    const second = takeWriteLock(folder, { command: "pull", waitMs: 0, onWait: (holder) => waited.push(holder) });
    await expect(second).rejects.toMatchObject({ exit: EXIT.busy, code: "INDEX_BUSY" });
    expect(waited).toEqual([expect.stringContaining(`\`codectx index --local\` (process ${process.pid}`)]);
    first.release();
    (await takeWriteLock(folder, { command: "pull", waitMs: 0 })).release();
  });

  it("gives the lock back although the note about its holder cannot be removed", async () => {
    const note = join(folder, "lock.json");
    const first = await takeWriteLock(folder, { command: "pull", waitMs: 0 });
    rmSync(note);
    mkdirSync(note);
    first.release();
    rmSync(note, { recursive: true });
    (await takeWriteLock(folder, { command: "pull", waitMs: 0 })).release();
  });
});

describe("scanFiles", () => {
  const scan = (known: Map<string, string>, nowMs: number, isSame?: (path: string) => boolean) => {
    const tree = new FileTree(folder);
    const changedSince = findChanged(tree, known, isSame);
    return scanFiles(tree, ["a.ts"], new IgnoreRules(), known, { maxFileSizeBytes: 100, nowMs, changedSince });
  };

  it("trusts timestamps only once they are old enough to tell a later change", () => {
    writeFileSync(join(folder, "a.ts"), "1");
    const fresh = scan(new Map(), Date.now()).changed[0];
    expect(fresh?.stat).toBe("");
    const settled = scan(new Map(), Date.now() + 10_000).changed[0];
    expect(settled?.stat).not.toBe("");
    const known = new Map([["a.ts", settled?.stat ?? ""]]);
    expect(scan(known, Date.now() + 10_000).unchanged).toEqual(["a.ts"]);
    expect(scan(new Map([["a.ts", ""]]), Date.now() + 10_000).changed).toHaveLength(1);
  });

  it("notices a change that keeps size and modification time", () => {
    const file = join(folder, "a.ts");
    writeFileSync(file, "1");
    utimesSync(file, 1, 1);
    const { stat = "" } = scan(new Map(), Date.now() + 10_000).changed[0] ?? {};
    writeFileSync(file, "2");
    utimesSync(file, 1, 1);
    const known = new Map([["a.ts", stat]]);
    expect(scan(known, Date.now() + 10_000).changed).toHaveLength(1);
    // Unless it is known to be the same, so that it need not be looked at.
    expect(scan(known, Date.now() + 10_000, (path) => path === "a.ts").changed).toEqual([]);
  });

  it("leaves large files out and counts them", () => {
    writeFileSync(join(folder, "a.ts"), "x".repeat(101));
    expect(scan(new Map(), Date.now())).toMatchObject({ changed: [], skipped: { too_large: 1 } });
  });

  it.skipIf(process.platform === "win32")("counts links and special files", () => {
    rmSync(join(folder, "a.ts"), { force: true });
    symlinkSync("elsewhere.ts", join(folder, "a.ts"));
    expect(scan(new Map(), Date.now())).toMatchObject({ changed: [], skipped: { symlink: 1 } });
    rmSync(join(folder, "a.ts"));
    execFileSync("mkfifo", [join(folder, "a.ts")]);
    expect(scan(new Map(), Date.now())).toMatchObject({ changed: [], skipped: { special_file: 1 } });
  });
});

describe("IgnoreRules", () => {
  it("lets an inner file overrule an outer one, each below its own folder", () => {
    const rules = new IgnoreRules();
    rules.add("", "*.log\n/build/\n", ".gitignore");
    rules.add("logs", "!keep.log\n", ".gitignore");
    const verdicts = ["a.log", "logs/a.log", "logs/keep.log", "other/keep.log", "build/x.ts", "src/build/x.ts"];
    expect(verdicts.map((path) => rules.ignores(path))).toEqual([true, true, false, true, true, false]);
  });

  it("adds up the files of a folder, and takes nothing back in that lies in an ignored folder", () => {
    const rules = new IgnoreRules();
    rules.add("", "*.log\nout\n[Bb]in/\n", ".gitignore");
    rules.add("", "!keep.log\n/docs/*.md\n", ".gitignore");
    rules.add("out", "!*\n", ".gitignore");
    const ignored = ["a.log", "x/out/deep/a.ts", "out/a.ts", "lib/Bin/a.ts", "docs/a.md"];
    const kept = ["keep.log", "lib/bin", "lib/docs/a.md", "docs/in/a.md", "outer/a.ts"];
    expect([...ignored, ...kept].filter((path) => rules.ignores(path))).toEqual(ignored);
  });
});

describe("toCliError", () => {
  beforeEach(() => {
    for (const name of ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]) vi.stubEnv(name, "");
  });

  afterEach(() => vi.unstubAllEnvs());

  it("gives every failure one line and an exit code", () => {
    const service = (code: string, status: number) => toCliError(new CodeContextError(code, "a\n b", { status })).exit;
    expect(service("INVALID_API_KEY", 401)).toBe(EXIT.auth);
    expect(toCliError(new CodeContextError("INVALID_API_KEY", "no", { status: 401 })).message).toContain("expired");
    const refused = (url: string) =>
      toCliError(new CodeContextError("NETWORK_ERROR", `cannot reach ${url} (ECONNREFUSED)`)).message;
    expect(refused("http://127.0.0.1:8787")).toMatch(/ECONNREFUSED\): start the service with `npm start`/);
    expect(refused("https://api.example.com")).toMatch(/ECONNREFUSED\)$/);
    expect(service("NO_SNAPSHOT", 404)).toBe(EXIT.notFound);
    expect(service("QUOTA_EXCEEDED", 429)).toBe(EXIT.limit);
    expect(service("A_CODE_OF_TOMORROW", 503)).toBe(EXIT.unavailable);
    expect(service("SNAPSHOT_CONFLICT", 409)).toBe(EXIT.busy);
    expect(toCliError(Object.assign(new Error("x"), { code: "EROFS", path: "/p" }))).toMatchObject({
      exit: EXIT.io,
      message: "the file system is read-only: /p",
    });
    expect(toCliError(new Error("two\nlines")).message).toBe("two lines");
  });

  it("says what a proxy in the environment has to do with a service that cannot be reached", () => {
    const refused = (url: string) =>
      toCliError(new CodeContextError("NETWORK_ERROR", `cannot reach ${url} (ECONNREFUSED)`)).message;
    vi.stubEnv("HTTPS_PROXY", "http://proxy.example.com:3128");
    expect(refused("https://api.example.com")).toMatch(/: HTTPS_PROXY is used if NODE_USE_ENV_PROXY=1 is set too$/);
    expect(refused("http://127.0.0.1:8787")).toContain("start the service");
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect(refused("http://127.0.0.1:8787")).toContain("go to the proxy of HTTPS_PROXY; NO_PROXY lists");
    expect(toCliError(new CodeContextError("NOT_FOUND", "no such route", { status: 404 })).message).toBe(
      "no such route",
    );
  });
});

describe("folderName", () => {
  it("can be read, and is another one for each identity", () => {
    expect(folderName("github.com/owner/repo.js")).toMatch(/^github\.com-owner-repo\.js-[0-9a-f]{16}$/);
    const text = fc.string({ unit: "grapheme", maxLength: 200 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(folderName(a)).toMatch(/^[a-z0-9_][a-z0-9._-]{0,59}-[0-9a-f]{16}$|^-[0-9a-f]{16}$/);
        expect(folderName(a) === folderName(b)).toBe(a === b);
      }),
    );
  });
});

describe("table", () => {
  it("aligns columns by their usual cells, and leaves no spaces at the ends of lines", () => {
    const long = "x".repeat(200);
    expect(
      table([
        ["a", "1", ""],
        ["bcd", "20", "late"],
        [long, "3", ""],
      ]),
    ).toEqual(["a    1", "bcd  20  late", `${long}  3`]);
  });

  it("aligns ideographs, emoji and letters with combining marks as a terminal shows them", () => {
    expect(
      table([
        ["会话.ts", "1"],
        ["🚀", "2"],
        ["e\u0301t", "3"],
        ["plain.ts", "4"],
      ]),
    ).toEqual(["会话.ts   1", "🚀        2", "e\u0301t        3", "plain.ts  4"]);
  });
});

describe("Ui", () => {
  it("shows the progress of work only once it takes long", () => {
    let written = "";
    const stderr = {
      isTTY: true,
      columns: 80,
      write: (text: string) => (written += text),
      cursorTo: () => true,
      clearLine: () => true,
    };
    const ui = new Ui({
      json: false,
      quiet: false,
      color: false,
      stdout: new Output(
        1,
        () => process.stdout,
        () => undefined,
      ),
      stderr: { stream: stderr, isTTY: true } as unknown as Output,
      env: {},
    });
    ui.progress("Searching", { afterMs: 60_000 }).update(1, 2, "1/2 files");
    expect(written).toBe("");
    ui.progress("Searching", { afterMs: -1 }).update(1, 2, "1/2 files");
    expect(written).toContain("50 % 1/2 files");
  });
});
