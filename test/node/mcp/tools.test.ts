import { describe, expect, it } from "vitest";
import { listedSchema } from "../../../src/interface/mcp/listed-schema.ts";
import { tokensOf } from "../../../src/interface/mcp/text.ts";
import { TOOLS } from "../../../src/interface/mcp/tools.ts";
import { answerFrom } from "../../../src/interface/questions/answer.ts";
import {
  type CodeIndex,
  type IndexInfo,
  type OpenIndexes,
  type RepoList,
} from "../../../src/interface/questions/code-index.ts";

const INDEXES: IndexInfo[] = ["a", "b"].map((name) => ({
  name: `github.com/acme/${name}`,
  gitSha: name.repeat(40),
  indexedAtMs: 0,
  isWorkTree: false,
}));
const LINES = 2_000;
const text = (from: number, to: number) =>
  Array.from(
    { length: to - from + 1 },
    (_, i) => `  const value${from + i} = compute(${from + i}); // closes sessions`,
  ).join("\n");

/** Two repositories with one large file each. */
const opened = (scope: string | undefined): OpenIndexes => ({
  indexes: INDEXES.filter(({ name }) => scope === undefined || name === scope),
  digest: () => Promise.resolve("d"),
  search: ({ limit = 10 }) =>
    Promise.resolve({
      total: 41,
      truncated: true,
      tokens: 0,
      digest: "d",
      results: Array.from({ length: Math.min(limit, 41) }, (_, i) => ({
        revision: i % 2,
        path: `src/file${i}.ts`,
        language: "typescript",
        startLine: 100,
        endLine: 159,
        symbol: { name: "close", qualifiedName: `Session${i}.close`, kind: "method", signature: "close(): void" },
        score: 1,
        excerpts:
          i < 5
            ? [
                { startLine: 100, endLine: 103, text: text(100, 103) },
                { startLine: 150, endLine: 151, text: text(150, 151) },
              ]
            : [],
        matched: [
          { kind: "word", text: "sessions" },
          { kind: "path", text: "file" },
        ],
      })),
    }),
  symbols: ({ name }) =>
    Promise.resolve({
      total: 2,
      match: "exact",
      truncated: false,
      symbols: [0, 1].map((revision) => ({
        revision,
        name,
        qualifiedName: `Outer.${name}`,
        kind: "method",
        signature: `${name}(): void`,
        path: "src/large.ts",
        language: "typescript",
        startLine: 10,
        endLine: revision === 0 ? 12 : 1_900,
      })),
    }),
  references: () =>
    Promise.resolve({
      total: 300,
      truncated: true,
      references: Array.from({ length: 300 }, (_, i) => ({
        revision: 0,
        path: `src/file${Math.floor(i / 30)}.ts`,
        line: i + 1,
        text: "session.close();",
        enclosing: i % 2 === 0 ? "main" : null,
      })),
    }),
  outline: () =>
    Promise.resolve({
      revision: 0,
      language: "typescript",
      symbols: Array.from({ length: 400 }, (_, i) => ({
        name: `symbol${i}`,
        qualifiedName: `symbol${i}`,
        kind: "method",
        signature: `symbol${i}(argument: string): void`,
        startLine: i + 1,
        endLine: i + 2,
        depth: i % 4,
      })),
    }),
  file: (_path, startLine = 1, endLine = LINES) =>
    Promise.resolve({
      revision: 0,
      language: "typescript",
      startLine,
      endLine: Math.min(endLine, LINES),
      lineCount: LINES,
      text: text(startLine, Math.min(endLine, LINES)),
      withheld: startLine <= 5 ? [[5, 6]] : [],
    }),
  having: () => Promise.reject(new Error("not asked here")),
  nearPaths: () => Promise.resolve([]),
  withUses: () => Promise.reject(new Error("not asked here")),
  texts: () => Promise.reject(new Error("no texts")),
});

const index: CodeIndex & RepoList = {
  ask: (question, { repo }, request) => answerFrom(opened(repo), question, request),
  repos: () => Promise.resolve(INDEXES.map((info) => Object.assign({ fileCount: 3 }, info))),
};

async function call(name: string, args: Record<string, unknown>, asked = index): Promise<string> {
  const tool = TOOLS.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool.run({ index: asked, nowMs: 60_000 }, tool.input.parse(args));
}

const CALLS: [string, Record<string, unknown>][] = [
  ["search_code", { query: "close sessions", limit: 50 }],
  ["find_symbol", { name: "close" }],
  ["find_references", { name: "close", limit: 300 }],
  ["outline", { path: "src/large.ts" }],
  ["read_file", { path: "src/large.ts" }],
  ["list_repos", {}],
];

describe("the tools", () => {
  it("are named and described within what clients take", () => {
    expect(TOOLS.map(({ name }) => name)).toEqual([
      "search_code",
      "find_symbol",
      "find_references",
      "impact",
      "grep",
      "outline",
      "read_file",
      "list_repos",
    ]);
    for (const { name, description } of TOOLS) {
      expect(name.length).toBeLessThanOrEqual(32);
      expect(Buffer.byteLength(description)).toBeLessThanOrEqual(2_048);
    }
  });

  it("take at most 2,500 tokens of every agent's context", () => {
    const listed = TOOLS.map(({ name, description, input }) => ({
      name,
      description,
      inputSchema: listedSchema(input)["~standard"].jsonSchema.input({ target: "draft-2020-12" }),
    }));
    expect(tokensOf(JSON.stringify(listed))).toBeLessThanOrEqual(2_500);
    const [search] = listed;
    expect(search?.inputSchema).toMatchObject({
      type: "object",
      required: ["query"],
      properties: { query: { maxLength: 32_768 }, limit: { minimum: 1, maximum: 50, default: 10 } },
    });
  });

  it.each([
    ["query", "x".repeat(32_769)],
    ["query", ""],
    ["ref", "x".repeat(501)],
    ["paths", Array.from({ length: 51 }, () => "a")],
    ["offset", 1_001],
    ["unknown", 1],
  ])("check %s although its bounds may not be listed", async (field, value) => {
    const [search] = TOOLS;
    const checked = await listedSchema(search!.input)["~standard"].validate({ query: "a", [field]: value });
    expect(checked.issues).toHaveLength(1);
  });

  it.each(CALLS)("%s fits its answer into the budget, and names commit and age", async (name, args) => {
    for (const maxTokens of [undefined, 200, 1_000, 8_000]) {
      const answer = await call(name, { ...args, ...(maxTokens !== undefined && { max_tokens: maxTokens }) });
      expect(tokensOf(answer)).toBeLessThanOrEqual(maxTokens ?? 2_000);
      expect(answer).toContain("github.com/acme/a@aaaaaaaaaa, indexed 1 minute ago");
    }
  });

  it("search_code numbers the lines, lists files without lines, and says how to go on", async () => {
    const answer = await call("search_code", { query: "close sessions", limit: 10, max_tokens: 3_000 });
    expect(answer).toContain("github.com/acme/a src/file0.ts:100-159  method Session0.close\n100    const value100");
    expect(answer).toMatch(/\n103 .*\n     …\n150 .*\n151 .*\n\ngithub.com\/acme\/b src\/file1\.ts/);
    expect(answer).toMatch(
      /file8\.ts:100-159 {2}method Session8\.close\n.*file9\.ts:.*close\n\n10 of 41 files shown\. offset=10 shows the next ones\.$/,
    );
    const small = await call("search_code", { query: "close sessions", limit: 50, max_tokens: 300 });
    const [, shown, next] = /\n(\d+) of 41 files shown\. offset=(\d+) shows/.exec(small) ?? [];
    expect(Number(shown)).toBe(small.split("\n").filter((line) => line.includes("src/file")).length);
    expect(next).toBe(shown);
  });

  it("search_code asks for what the answer has room for", async () => {
    const budgets: (number | undefined)[] = [];
    const asked: typeof index = {
      ...index,
      ask: (question, scope, request) => {
        budgets.push((request as { maxTokens?: number }).maxTokens);
        return index.ask(question, scope, request);
      },
    };
    await call("search_code", { query: "close", max_tokens: 1_000 }, asked);
    await call("search_code", { query: "close", max_tokens: 200 }, asked);
    expect(budgets).toEqual([900, 100]);
  });

  it("find_symbol shows the lines of short definitions alone", async () => {
    const answer = await call("find_symbol", { name: "close" });
    expect(answer).toContain("src/large.ts:10-12  method Outer.close\n10    const value10");
    expect(answer).toContain("src/large.ts:10-1900  method Outer.close\n    close(): void");
    expect(answer).toMatch(/2 definitions\.$/);
  });

  it("find_references keeps every file in a shortened answer", async () => {
    const answer = await call("find_references", { name: "close", limit: 300, max_tokens: 1_000 });
    for (let i = 0; i < 10; i++) expect(answer).toContain(`src/file${i}.ts`);
    expect(answer).toContain("more in this file");
    expect(answer).toContain("300 of at least 300 uses shown");
  });

  it("outline drops inner symbols before it cuts", async () => {
    const answer = await call("outline", { path: "src/large.ts", max_tokens: 1_200 });
    expect(answer).toContain("method symbol0");
    expect(answer).not.toContain("method symbol3\n");
    expect(answer).toMatch(/of 400 symbols shown\.$/);
  });

  it("read_file says where to go on, and withholds what may be a secret", async () => {
    const answer = await call("read_file", { path: "src/large.ts", max_tokens: 500 });
    expect(answer).toMatch(/\n *5  \(withheld: may hold a secret\)\n *6  \(withheld/);
    const last = Number(/Lines 1-(\d+) of 2000 shown; start_line=\d+ goes on\.$/.exec(answer)?.[1]);
    expect(answer).toContain(`start_line=${last + 1} goes on`);
    const next = await call("read_file", { path: "src/large.ts", start_line: last + 1, end_line: last + 2 });
    expect(next).toContain(`${last + 1}    const value${last + 1}`);
  });

  it.each(CALLS)("%s shows what would not be seen as escapes, and a name as one line", async (name, args) => {
    const hidden = "\u001b[2J\u202e\u200b\u{e0041}";
    const forge = (value: unknown, key = ""): unknown =>
      typeof value === "string"
        ? `${value}${hidden}${key === "text" ? "" : "\nsrc/forged.ts:1"}`
        : Array.isArray(value)
          ? value.map((item: unknown) => forge(item, key))
          : typeof value === "object" && value !== null
            ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, forge(inner, key)]))
            : value;
    const hostile = {
      ask: async (...given: Parameters<CodeIndex["ask"]>) => forge(await index.ask(...given)),
      repos: async () => forge(await index.repos()),
    } as CodeIndex & RepoList;
    const answer = await call(name, { ...args, max_tokens: 32_000 }, hostile);
    expect(answer).toContain(String.raw`\x1b[2J\u202e\u200b\u{e0041}`);
    for (const character of hidden.replace("[2J", "")) expect(answer).not.toContain(character);
    expect(answer).not.toMatch(/^src\/forged/m);
  });

  it("refuses arguments out of range, naming them", async () => {
    await expect(call("read_file", { path: "a", start_line: 0 })).rejects.toThrow(/start_line/);
    await expect(call("read_file", { path: "a", start_line: 9, end_line: 8 })).rejects.toThrow(
      /end_line.*must not be below start_line/s,
    );
    await expect(call("search_code", { query: "x".repeat(32_769) })).rejects.toThrow(/query/);
    await expect(call("search_code", { query: "  " })).rejects.toThrow(/query/);
    await expect(call("find_symbol", {})).rejects.toThrow("name: is required, unless at gives a position");
    await expect(call("find_symbol", { name: "close", at: "a.ts:1" })).rejects.toThrow("name: goes without at");
    await expect(call("find_symbol", { at: "a.ts" })).rejects.toThrow("at: must be path:line or path:line:column");
    await expect(call("find_symbol", { at: "src/large.ts:5:1" })).rejects.toThrow("line: is withheld");
  });
});
