import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toCsvLine } from "../../../src/service/dashboard/audit.ts";
import { projectMonth } from "../../../src/service/dashboard/usage.ts";
import { EXAMPLE, landingPage } from "../../../src/workers/site/landing.ts";
import { GrepNotes, SearchNotes } from "../../../src/workers/site/views/answer-notes.tsx";
import { Code } from "../../../src/workers/site/views/code.tsx";
import { describeBrowser } from "../../../src/workers/site/views/browser.ts";
import { formatBytes, formatNumberOf, relativeTime, spanText } from "../../../src/workers/site/views/format.ts";
import { tokenize } from "../../../src/workers/site/views/highlight.ts";
import { Result, type ShownRun } from "../../../src/workers/site/views/runs.tsx";

describe("the landing page", () => {
  it("shows a search of this project's own code, as the code is", async () => {
    const { path, code, name, callers } = EXAMPLE;
    const text = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    expect(text(path)).toContain(`${code}\n`);
    for (const { path: caller, code: line } of callers) {
      expect(line).toContain(`${name}(`);
      expect(text(caller)).toContain(line);
    }
    const html = await landingPage(new Request("http://site.test/"), "/").text();
    expect(html).toContain("<mark>revoke</mark><mark>Session</mark>");
    expect(html).toContain('<span class="key">return</span> gone.length &gt; ');
  });
});

describe("the result of a run", () => {
  const shown = async (result: Record<string, unknown>) => {
    const run: Partial<ShownRun> = { kind: "index", state: "succeeded", error: null, result };
    const html = String(await Result({ run: run as ShownRun, repo: null }));
    return html.replace(/<[^<>]*>/g, "").trim();
  };

  it("has the figures that are not zero", async () => {
    const some = { gitSha: "28a9c128912d", fileCount: 2_000, embeddedCount: 1, skippedUnchanged: 1_999 };
    expect(await shown(some)).toBe("28a9c128 2,000 files, 1 chunk embedded, 1,999 unchanged");
    expect(await shown({ fileCount: 1, embeddedCount: 0, skippedUnchanged: 0 })).toBe("1 file");
  });
});

describe("highlighting", () => {
  const kinds = (code: string, language = "typescript") =>
    tokenize(code, language).flatMap(({ kind, text }) => (kind === undefined ? [] : [[kind, text]]));

  it("finds strings, comments, numbers and keywords", () => {
    expect(kinds('const a = "x // y"; // note\nreturn 0x1F + `a\nb`;')).toEqual([
      ["key", "const"],
      ["str", '"x // y"'],
      ["com", "// note"],
      ["key", "return"],
      ["num", "0x1F"],
      ["str", "`a\nb`"],
    ]);
    expect(kinds("x = 1 # note", "python")).toEqual([
      ["num", "1"],
      ["com", "# note"],
    ]);
    expect(kinds("#define x", "c")).toEqual([]);
    expect(kinds("fn f<'a>(x: &Path) {}", "rust")).toEqual([["key", "fn"]]);
    expect(kinds("see https://example.com/x")).toEqual([]);
  });

  it("knows the keywords of each language, and members from keywords", () => {
    expect(kinds("db.delete(a).where(and(b))")).toEqual([]);
    expect(kinds("[...new Set()]")).toEqual([["key", "new"]]);
    expect(kinds("for i in 0..self.len", "rust")).toEqual([
      ["key", "for"],
      ["key", "in"],
      ["num", "0"],
      ["key", "self"],
    ]);
    expect(kinds("SELECT a from b", "sql")).toEqual([
      ["key", "SELECT"],
      ["key", "from"],
    ]);
    expect(kinds("def end(new)", "python")).toEqual([["key", "def"]]);
    expect(kinds("return constructor", "constructor")).toEqual([["key", "return"]]);
  });

  it("tells quotes and slashes apart by the language", () => {
    const pattern = "/^[\\w!/`'\"]+$/";
    expect(kinds(`const name = ${pattern}; // "all"`)).toEqual([
      ["key", "const"],
      ["str", pattern],
      ["com", '// "all"'],
    ]);
    expect(kinds("return /a/.test(b) ? b / 2 / c : d")).toEqual([
      ["key", "return"],
      ["str", "/a/"],
      ["num", "2"],
    ]);
    expect(kinds("half = size // 2", "python")).toEqual([["num", "2"]]);
    expect(kinds("ls src/*.ts # all", "bash")).toEqual([["com", "# all"]]);
    const docstring = '"""It\'s\n"quoted"."""';
    expect(kinds(`${docstring}\nx = ''`, "python")).toEqual([
      ["str", docstring],
      ["str", "''"],
    ]);
    expect(kinds("fn f<'a>(x: &'a u8) -> char { '\\'' }", "rust")).toEqual([
      ["key", "fn"],
      ["key", "u8"],
      ["key", "char"],
      ["str", "'\\''"],
    ]);
    expect(kinds("match c { 'x' => 1 }", "rust")).toEqual([
      ["key", "match"],
      ["str", "'x'"],
      ["num", "1"],
    ]);
  });

  it("loses nothing, whatever the code", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("typescript", "python", "rust", "sql"), (code, language) => {
        expect(
          tokenize(code, language)
            .map(({ text }) => text)
            .join(""),
        ).toBe(code);
      }),
    );
  });

  it("reads each character a bounded number of times", () => {
    // Each of these would take minutes if a quote or comment that is never closed were searched for again and again.
    const parts = [
      '"',
      "'",
      "`",
      "/*",
      "//",
      "a",
      "1",
      "\\",
      "'\\",
      '"a',
      "/",
      "(/",
      "(/[",
      " ",
      " /",
      "'".repeat(3),
      '"""a',
    ];
    for (const language of ["python", "typescript", "rust"]) {
      for (const part of parts) {
        const code = part.repeat(200_000 / part.length);
        const started = process.cpuUsage();
        expect(tokenize(code, language).reduce((sum, { text }) => sum + text.length, 0)).toBe(code.length);
        expect(process.cpuUsage(started).user / 1e6).toBeLessThan(5);
      }
    }
  });
});

it("tells what an answer leaves out, and how far it can be trusted", async () => {
  const workspaceId = crypto.randomUUID();
  const text = (html: unknown) =>
    String(html)
      .replaceAll(/<[^>]+>/g, "")
      .replaceAll(/\s+/g, " ");
  const notes = await SearchNotes({
    weak: { unknown: ["quokka", "<b>"], files: 4_396 },
    degraded: "rerank",
    leftOut: [{ repo: "github.com/acme/app", workspaceId }],
  });
  expect(text(notes)).toBe(
    "Not searched, because their index is being rewritten: github.com/acme/app. Search again in ten seconds." +
      "Ranked without rerank, which is not available now." +
      "Nothing matches well. In none of the 4,396 searched files: quokka, &lt;b&gt;. These files come nearest.",
  );
  const leftOut = Array.from({ length: 1_005 }, (_, i) => ({ repo: `repo-${i}`, workspaceId }));
  expect(text(await SearchNotes({ leftOut }))).toBe(
    "Not searched, because their index is being rewritten: repo-0, repo-1, repo-2, repo-3, repo-4 and 1,000 more. Search again in ten seconds.",
  );
  expect(text(await SearchNotes({}))).toBe("");
  const empty = (unknown: string[]) => SearchNotes({ weak: { unknown, files: 12 }, isEmpty: true });
  expect(text(await empty([]))).toBe("");
  expect(text(await empty(["quokka"])).trim()).toBe("In none of the 12 searched files: quokka.");

  const owner = { repo: "github.com/acme/app", workspaceId };
  const exact = await GrepNotes({
    gaps: [{ ...owner, path: "big.c", reason: "too_large" }],
    withheldIn: [{ ...owner, path: "a/.env", lines: 2 }],
    coverage: { files: 7, bytes: 100, notSearched: { too_large: 3 }, withheldLines: 2 },
    pageOf: ({ path }) => `/code/${path}`,
  });
  expect(text(exact)).toBe(
    "Files that were not searched (1 of 3)github.com/acme/app big.c: too large" +
      "Files with lines that may hold secretsgithub.com/acme/app a/.env: 2 lines",
  );
  expect(String(exact)).toContain('<a href="/code/a/.env">');
});

describe("the month's projection", () => {
  const day = (d: number) => `2026-11-${String(d).padStart(2, "0")}`;
  const noon = (d: number) => Date.UTC(2026, 10, d, 12);

  it("goes on like the last seven full days", () => {
    const steady = new Map(Array.from({ length: 20 }, (_, i) => [day(i + 1), 100] as const));
    // 20 November, noon: 10.5 days are left.
    expect(projectMonth(1_950, steady, noon(20))).toBe(1_950 + 1_050);
    const idle = new Map(Array.from({ length: 20 }, (_, i) => [day(i + 1), i < 10 ? 100 : 0] as const));
    expect(projectMonth(1_000, idle, noon(20))).toBe(1_000);
  });

  it("needs no history, and never falls below what is used", () => {
    expect(projectMonth(0, new Map(), noon(1))).toBe(0);
    expect(projectMonth(10, new Map([[day(1), 10]]), noon(1))).toBe(10 + 10 * 59);
    fc.assert(
      fc.property(
        fc.nat(1e6),
        fc.dictionary(fc.constantFrom(...Array.from({ length: 30 }, (_, i) => day(i + 1))), fc.nat(1e5)),
        fc.integer({ min: 1, max: 30 }),
        (used, days, d) => {
          expect(projectMonth(used, new Map(Object.entries(days)), noon(d))).toBeGreaterThanOrEqual(used);
        },
      ),
    );
  });
});

describe("exports", () => {
  it("quote cells, and keep spreadsheets from taking them for formulas", () => {
    const row = {
      id: "1",
      at: "2026-11-21T12:00:00Z",
      event: "X",
      actor: "=cmd()",
      actorName: 'a "b", c',
      details: { a: "\n" },
    };
    expect(toCsvLine(row)).toBe(`"2026-11-21T12:00:00.000Z","X","'=cmd()","a ""b"", c","{""a"":""\\n""}"\r\n`);
  });
});

describe("formats", () => {
  it("read as people say them", () => {
    expect([0, 420, 9_960, 59_700, 119_700, 3_599_600, 7_800_000].map(spanText)).toEqual([
      "0.0 s",
      "0.4 s",
      "10 s",
      "1 min 0 s",
      "2 min 0 s",
      "1 h 0 min",
      "2 h 10 min",
    ]);
    const now = Date.UTC(2026, 10, 21);
    expect(relativeTime(new Date(now - 5_000), now)).toBe("just now");
    expect(relativeTime(new Date(now - 180_000), now)).toBe("3 minutes ago");
    expect(relativeTime(new Date(now + 2 * 86_400_000), now)).toBe("in 2 days");
    expect([0, 999, 1_000, 12_345_678, 999_999_999_999].map(formatBytes)).toEqual([
      "0 B",
      "999 B",
      "1.0 KB",
      "12.3 MB",
      "1000 GB",
    ]);
    expect(describeBrowser("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")).toBe(
      "Firefox on Linux",
    );
    expect(describeBrowser("")).toBe("Unknown browser");
  });
});

it("counts one thing in the singular", () => {
  expect([0, 1, 2_000].map((count) => formatNumberOf(count, "chunk"))).toEqual(["0 chunks", "1 chunk", "2,000 chunks"]);
});

it("writes code with line numbers that take little of a page", async () => {
  const html = String(await Code({ text: "\n".repeat(4_999), language: "c", firstLine: 1, label: "a.c", page: "" }));
  expect(html).toContain('<a class="line-no" id="L5000" href="#L5000" tabindex="-1">5000</a>');
  const best = { startLine: 3, endLine: 3 };
  const marked = String(await Code({ text: "a\nb", language: "", firstLine: 2, label: "a.c", page: "/a.c", best }));
  expect(marked).toMatch(/class="line-no" href="[^"]+L2"[\s\S]*class="line-no on" href="[^"]+L3"/);
  // A page of 5,000 lines is to take 150 KB, code, style and script included.
  expect(gzipSync(html).byteLength).toBeLessThan(50_000);
});
