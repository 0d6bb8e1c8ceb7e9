import { describe, expect, it } from "vitest";
import type { FoundLine, GrepRequest, RevisionTexts, Tally } from "../../../src/engines/exact/types.ts";
import { type GivenFile, grepUntimed, inMemory, request } from "./in-memory.ts";

async function grep(files: readonly GivenFile[], pattern: string, options: Partial<GrepRequest> = {}) {
  return grepUntimed(inMemory(files), request(pattern, options));
}

/** `path:line` of each match, with the last line of one over several. */
async function linesOf(bytes: string | Uint8Array, pattern: string, options: Partial<GrepRequest> = {}) {
  const { matches } = await grep([{ path: "a", bytes }], pattern, options);
  return matches.map(({ line, endLine }) => (endLine === undefined ? line : `${line}-${endLine}`));
}

const latin1 = (text: string) => Buffer.from(text, "latin1");

describe("the lines that match", () => {
  const text = "foo\r\nbar foo\nx\n-foo-\nfoobar\n";

  it.each<[pattern: string, lines: (number | string)[], options?: Partial<GrepRequest>]>([
    ["foo", [1, 2, 4, 5]],
    ["^foo", [1, 5]],
    [String.raw`\Afoo`, [1, 5]],
    ["foo$", [1, 2]],
    [String.raw`foo\z`, [1, 2]],
    [String.raw`o\r`, [1]],
    ["^foo.$", [1]],
    ["^.?$", [3]],
    [String.raw`\bfoo\b`, [1, 2, 4]],
    ["foo", [1, 2, 4], { wordRegexp: true }],
    ["-foo", [4], { wordRegexp: true }],
    ["FOO", [1, 2, 4, 5], { ignoreCase: true }],
    ["FOO|x", [1, 2, 3, 4, 5], { ignoreCase: true }],
    ["foo$", [], { fixedStrings: true }],
    [String.raw`[^q]*x\s*`, [3]],
    [String.raw`(?s)o.[b-]`, [4, 5]],
    [String.raw`foo\s`, [1]],
    ["", [1, 2, 3, 4, 5]],
    [String.raw`x\n-`, ["3-4"], { multiline: true }],
    [String.raw`foo\nx`, ["2-3"], { multiline: true }],
    [String.raw`(?s)bar.*foob`, ["2-5"], { multiline: true }],
    ["(?x) f o o $ # a comment", [1, 2]],
    ["(?x) f o o # a comment", [1, 2, 4], { wordRegexp: true }],
    [String.raw`[[:alpha:]&&[^f]]{3}\x66?`, [2, 5]],
  ])("of %s are %j", async (pattern, lines, options) => {
    expect(await linesOf(text, pattern, options)).toEqual(lines);
  });

  it("are matched as ripgrep does where bytes are no UTF-8", async () => {
    const bytes = Buffer.concat([latin1("caf\u00e9 x\nfoo caf\u00e9\n"), Buffer.from("caé\n")]);
    expect(await linesOf(bytes, "caf")).toEqual([1, 2]);
    expect(await linesOf(bytes, "caf.")).toEqual([]);
    expect(await linesOf(bytes, "caf[^a]")).toEqual([]);
    expect(await linesOf(bytes, "é")).toEqual([3]);
    expect(await linesOf(bytes, "ca.$")).toEqual([3]);
    const { matches } = await grep([{ path: "a", bytes }], " x");
    expect(matches[0]).toMatchObject({ text: "café x", ranges: [[5, 7]], byteRanges: [[5, 7]] });
  });

  it("have columns in UTF-16 units, and in bytes", async () => {
    const { matches } = await grep([{ path: "a", bytes: "é😀x x\n" }], "x");
    expect(matches).toMatchObject([
      {
        ranges: [
          [4, 5],
          [6, 7],
        ],
        byteRanges: [
          [7, 8],
          [9, 10],
        ],
      },
    ]);
  });

  it("have columns in UTF-16 units also where these are one less than the bytes", async () => {
    const { matches } = await grep([{ path: "a", bytes: "é x\n" }], "x");
    expect(matches).toMatchObject([{ ranges: [[3, 4]], byteRanges: [[4, 5]] }]);
  });

  it("do not have a byte order mark", async () => {
    const { matches } = await grep([{ path: "a", bytes: "\ufefffoo\nbar" }], "^foo", { context: 1 });
    expect(matches).toMatchObject([{ line: 1, ranges: [[1, 4]], before: [], after: ["bar"] }]);
  });

  it("are shown around the first match where they are long", async () => {
    const { matches } = await grep([{ path: "a", bytes: `${"x".repeat(5_000)}needle${"y".repeat(5_000)}` }], "needle");
    const { text, textStart = 0, ranges } = matches[0] as FoundLine;
    expect(text).toHaveLength(1_000);
    const [from, to] = ranges[0] as [number, number];
    expect(text.slice(from - textStart, to - textStart)).toBe("needle");
  });

  it("are found across the blocks of a long text", async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => (i % 9_999 === 0 ? `needle ${i}` : `line ${i}`));
    const expected = lines.flatMap((line, i) => (line.startsWith("n") ? [i + 1] : []));
    expect(await linesOf(lines.join("\n"), "^n[e]+dle")).toEqual(expected);
    expect(await linesOf(lines.join("\n"), "needle")).toEqual(expected);
  });
});

describe("withheld lines", () => {
  const files: GivenFile[] = [{ path: "a", bytes: "one\n\ntwo\n\n", withheld: [[2, 2]] }];

  it("never match, and the answer says how many there are", async () => {
    const { matches, complete, coverage } = await grep(files, "^$");
    expect(matches.map(({ line }) => line)).toEqual([4]);
    expect({ complete, withheld: coverage.withheldLines }).toEqual({ complete: false, withheld: 1 });
    expect((await grep(files, String.raw`one\n\ntwo`, { multiline: true })).matches).toEqual([]);
  });
});

describe("an answer", () => {
  const files: GivenFile[] = [
    { path: "docs/a.md", bytes: "x\n" },
    { path: "src/b.ts", bytes: "x\nx\n" },
    { path: "src/a.ts", bytes: "x\n" },
    { path: "test/a.test.ts", bytes: "x\n" },
  ];
  const places = ({ matches }: Awaited<ReturnType<typeof grep>>) => matches.map(({ path, line }) => `${path}:${line}`);

  it("has sources first, and pages", async () => {
    const order = ["src/a.ts:1", "src/b.ts:1", "src/b.ts:2", "docs/a.md:1", "test/a.test.ts:1"];
    expect(places(await grep(files, "x"))).toEqual(order);
    const page = await grep(files, "x", { offset: 1, limit: 2 });
    expect(places(page)).toEqual(order.slice(1, 3));
    expect(page).toMatchObject({ total: { lines: 5, files: 4 }, truncated: true, complete: true });
    expect(places(await grep(files, "x", { include: ["docs"], limit: 1 }))).toEqual(["docs/a.md:1"]);
  });

  describe("in pages", () => {
    const many: GivenFile[] = Array.from({ length: 7 }, (_, i) => ({
      path: `${i % 3 === 0 ? "docs" : "src"}/${i}.ts`,
      bytes: Array.from({ length: i + 1 }, (_, k) => (k % 2 === 0 ? `x ${k}` : "y")).join("\n"),
    }));
    /** Texts that keep tallies as a service does, and note what is read. */
    function keeping(files: readonly GivenFile[]) {
      const kept = new Map<string, Tally>();
      const read: string[] = [];
      const plain = inMemory(files);
      const texts = inMemory(files, {
        tallies: { get: (key) => kept.get(key), set: (key, tally) => kept.set(key, tally) },
        read: (contents) => {
          read.push(...contents);
          return plain.read(contents);
        },
      });
      return { texts, read };
    }
    async function pages(texts: RevisionTexts, options: Partial<GrepRequest>) {
      const answers: Awaited<ReturnType<typeof grepUntimed>>[] = [];
      for (let offset = 0; answers.at(-1)?.truncated ?? true; offset += answers.at(-1)?.matches.length ?? 0)
        answers.push(await grepUntimed(texts, request("^x", { ...options, offset })));
      return answers;
    }

    it.each([{ limit: 1 }, { limit: 4 }, { limit: 5, context: 1 }, { limit: 100 }])(
      "of %j has each line once, with the same counts, and reads the files of the page alone",
      async (options) => {
        const { matches, ...whole } = await grepUntimed(inMemory(many), request("^x", { ...options, limit: 1_000 }));
        const { texts, read } = keeping(many);
        for (const answer of await pages(texts, options)) {
          const { total, coverage, complete } = answer;
          expect({ total, coverage, complete }).toEqual({
            total: whole.total,
            coverage: whole.coverage,
            complete: true,
          });
        }
        expect((await pages(texts, options)).flatMap((answer) => answer.matches)).toEqual(matches);
        expect((await pages(inMemory(many), options)).flatMap((answer) => answer.matches)).toEqual(matches);
        read.length = 0;
        await grepUntimed(texts, request("^x", { ...options, offset: 4, limit: 1 }));
        expect(read).toEqual([matches[4]?.path]);
      },
    );

    it("are incomplete where a text of theirs has gone since, and count it no longer", async () => {
      const files = [...many];
      const { texts } = keeping(files);
      await grepUntimed(texts, request("^x", { limit: 1 }));
      files.splice(1, 1, { path: "src/1.ts", content: "src/1.ts" });
      const page = await grepUntimed(texts, request("^x", { limit: 2 }));
      expect(page).toMatchObject({ complete: false, gaps: [{ path: "src/1.ts" }], total: { files: 6 } });
    });

    it("say the same of what is beyond the bytes that may be read, without counting again", async () => {
      const files = many.map(({ path }, i) => ({ path, bytes: `x ${i}\n${"y".repeat(1_000)}` }));
      const { texts, read } = keeping(files);
      const options = { maxBytes: 4_000 };
      const first = await grepUntimed(texts, request("^x", { limit: 2 }), options);
      expect(first).toMatchObject({ complete: false, coverage: { files: 4, notSearched: { budget: 3 } } });
      expect(read).toHaveLength(7);
      read.length = 0;
      expect(await grepUntimed(texts, request("^x", { limit: 2 }), options)).toEqual(first);
      expect(read).toEqual([...new Set(first.matches.map(({ path }) => path))]);
      expect(await grepUntimed(texts, request("^x", { limit: 2 }))).toMatchObject({ complete: true });
    });

    it("are counted again where the time was over before the bytes", async () => {
      const { texts, read } = keeping(many);
      let reads = 0;
      const late = await grepUntimed(texts, request("^x"), { now: () => reads++ * 1_000 });
      expect(late.coverage.notSearched).toEqual({ budget: expect.any(Number) });
      read.length = 0;
      expect(await grepUntimed(texts, request("^x"))).toMatchObject({ complete: true });
      expect(read.length).toBe(many.length);
    });

    it("count matches over several lines once", async () => {
      const { texts } = keeping([{ path: "a", bytes: "x\ny\nx\ny\n" }]);
      const [first, second, ...rest] = await pages(texts, { multiline: true, pattern: String.raw`x\ny`, limit: 1 });
      expect(first).toMatchObject({ matches: [{ line: 1, endLine: 2 }], total: { lines: 4 }, truncated: true });
      expect(second).toMatchObject({ matches: [{ line: 3, endLine: 4 }], total: { lines: 4 }, truncated: false });
      expect(rest).toEqual([]);
    });
  });

  it("counts files, and shortens to a budget of tokens", async () => {
    expect((await grep(files, "x", { count: true, limit: 2 })).files).toEqual([
      { revision: 0, path: "src/a.ts", lines: 1 },
      { revision: 0, path: "src/b.ts", lines: 2 },
    ]);
    expect(await grep(files, "x", { maxTokens: 25 })).toMatchObject({ truncated: true, total: { lines: 5 } });
  });

  it.each([
    "a",
    "e?",
    "^",
    "$",
    "^$",
    "a$",
    "x*",
    ".",
    String.raw`\w+\s*`,
    String.raw`\s+$`,
    String.raw`[^a]`,
    String.raw`\bfoo|o\b`,
    String.raw`(?x) fo # comment`,
    String.raw`(?i)F(o)+`,
    String.raw`\z`,
  ])("counts the same lines of %s whether they are shown or not", async (pattern) => {
    const texts = [
      "foo bar foo\n\naa\n  \nfoo",
      "foo\r\n\r\n a\r\nfoo o \r\n",
      Buffer.from("caf\xe9 foo\nfoo a a\n\n", "latin1"),
      "\n",
      "",
      "é foo\n\ud83d\ude00 a foo\n",
    ];
    const files = texts.map((bytes, i) => ({
      path: `src/${i}`,
      bytes,
      withheld: i === 0 ? [[2, 2] as [number, number]] : [],
    }));
    const flags: Partial<GrepRequest>[] = [{}, { wordRegexp: true }, { ignoreCase: true }];
    for (const own of flags) {
      const shown = await grep(files, pattern, { limit: 1_000, ...own });
      expect(shown.matches).toHaveLength(shown.total.lines);
      for (const options of [{ limit: 1 }, { filesOnly: true }, { offset: 1 }])
        expect((await grep(files, pattern, { ...own, ...options })).total).toEqual(shown.total);
    }
  });

  it("filters by path and language", async () => {
    expect((await grep(files, "x", { paths: ["src/**", "!**/b.ts"] })).coverage.files).toBe(1);
    const typed = files.map((file) => ({ ...file, language: file.path.endsWith(".ts") ? "typescript" : "markdown" }));
    expect((await grep(typed, "x", { languages: ["markdown"] })).total.files).toBe(1);
  });

  it("is incomplete where text was not searched, and says why", async () => {
    const left = (reason: string) => grep([...files, { path: "z", reason, state: "not_searched" }], "nowhere");
    expect(await left("binary")).toMatchObject({ complete: true, coverage: { files: 4, notSearched: { binary: 1 } } });
    expect(await left("too_large")).toMatchObject({ complete: false, gaps: [{ path: "z", reason: "too_large" }] });
    const missing = await grep([...files, { path: "z", content: "gone" }], "nowhere");
    expect(missing).toMatchObject({ complete: false, coverage: { files: 4, notSearched: { not_stored: 1 } } });
  });

  it("stops at its budget, and says so", async () => {
    const answer = await grepUntimed(inMemory(files), request("x"), { maxBytes: 3 });
    expect(answer.complete).toBe(false);
    expect(answer.coverage.notSearched.budget).toBe(2);
    expect(answer.total.lines).toBeGreaterThan(0);
  });
});

describe("a pattern", () => {
  it.each([
    ["foo(", /unclosed group at character 4; to find it as text, ask for fixed strings/],
    [String.raw`\w{1000}{10}`, /too much memory/],
    ["a{40000}{10}", /too much memory/],
    [String.raw`a\nb`, /line break/],
    [String.raw`[\n]`, /line break/],
    [String.raw`(a)\1`, /backreferences are not supported/],
  ])("%s is refused", async (pattern, message) => {
    await expect(grep([], pattern)).rejects.toThrow(message);
  });

  it.each([
    ["nested repetitions", "((((a*)*)*)*)*b"],
    ["optional parts", "(?:a?){300}a{300}"],
    ["alternatives", Array.from({ length: 800 }, (_, i) => `w${i}`).join("|")],
  ])("of %s takes linear time", async (_, pattern) => {
    const bytes = `${"a".repeat(50_000)}\n`.repeat(4);
    const startedAt = performance.now();
    await grep([{ path: "a", bytes }], pattern);
    expect(performance.now() - startedAt).toBeLessThan(2_500);
  });
});
