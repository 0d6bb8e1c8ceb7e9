import { beforeAll, describe, expect, it } from "vitest";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { detectLanguage } from "../../../src/engines/parsing/detect.ts";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { findSymbols } from "../../../src/engines/search/lookups.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { IMPACT, type Asked } from "../../../src/contract/questions.ts";
import type { IndexInfo, OpenIndexes } from "../../../src/interface/questions/code-index.ts";
import { TOOLS } from "../../../src/interface/mcp/tools.ts";
import type { ImpactAnswer } from "../../../src/interface/questions/impact/answer.ts";
import { impactOf } from "../../../src/interface/questions/impact/impact.ts";
import { sharedParser } from "../parsing/support.ts";
import { openFiles, segmentOf, sha256, textsOf } from "../retrieval/support.ts";

const FILES: Readonly<Record<string, string>> = {
  "src/cookie.ts":
    'import { sign } from "./signature.ts";\n\nexport function parseCookie(text: string): string {\n  return sign(text);\n}\n\nfunction inner(): number {\n  return 1;\n}\n',
  "src/signature.ts": "export function sign(text: string): string {\n  return text;\n}\n",
  "src/server.ts":
    'import { parseCookie } from "./cookie.ts";\n\nexport function handle(request: string): string {\n  return parseCookie(request);\n}\n',
  "test/cookie.test.ts":
    'import { parseCookie } from "../src/cookie.ts";\n\nfunction testParse(): void {\n  parseCookie("signed");\n}\n',
  "docs/guide.md": "# Guide\n\nNothing of this is about anything.\n",
  "docs/systems.md": "# Systems\n\n## Unix\n\nWorks.\n",
  "src/store.ts":
    "export class Store {\n  read(): string {\n    return cached();\n  }\n}\nexport class FileStore extends Store {\n  all(): string {\n    return this.drop();\n  }\n}\n",
  "src/uses-store.ts":
    'import { Store, openStore } from "./store.ts";\nimport { gone as lost } from "./deleted.ts";\nimport { kept } from "./signature.ts";\n\nexport function useStore(other: unknown): string {\n  const store = new Store();\n  store.drop();\n  openStore();\n  lost();\n  kept();\n  other.drop();\n  return store.read();\n}\n',
  "src/uses-tables.ts":
    'import { shift } from "./tables.ts";\n\nexport function table(text: string): string {\n  return shift(text);\n}\n',
  "src/moved.ts": "export function shift(text: string): string {\n  return text;\n}\n",
  "src/system.ts": 'export const systems = { of: "Unix" };\n',
};
const HISTORY = [["src/cookie.ts", "docs/guide.md"], ["src/cookie.ts", "docs/guide.md"], ["src/cookie.ts"]];
const PATCH = `--- a/src/cookie.ts
+++ b/src/cookie.ts
@@ -3,3 +3,3 @@
-export function parseCookie(text: string): string {
+export function parseCookie(text: string, signed: boolean): string {
   return sign(text);
 }
`;

/** Takes away functions and a method of a file, and a whole file. */
const REMOVAL = `--- a/src/store.ts
+++ b/src/store.ts
@@ -1,11 +1,5 @@
-export function openStore(): Store {
-}
-function cached(): string {
-}
 export class Store {
-  drop(): void {
-  }
   read(): string {
     return cached();
   }
 }
--- a/src/deleted.ts
+++ /dev/null
@@ -1,3 +0,0 @@
-// The function gone is not used.
-export function gone(): void {
-}
`;

let indexes: OpenIndexes;
let several: OpenIndexes;

beforeAll(async () => {
  const parser = await sharedParser();
  const given = Object.entries(FILES).map(([path, text]) => {
    return { path, text, language: detectLanguage(path, Buffer.from(text)) as LanguageId };
  });
  const analyses: Uint8Array[] = [];
  for (const { text, language } of given) {
    const parsed = await parser.parse({ bytes: Buffer.from(text), language });
    analyses.push(analyzeContent({ sha256: sha256(text), language, ...parsed }));
  }
  const index = await openFiles(given, [await segmentOf(buildSegment(analyses))]);
  const info: IndexInfo = { name: "a", gitSha: null, indexedAtMs: 0, isWorkTree: false };
  const unasked = () => Promise.reject(new Error("not asked"));
  indexes = {
    indexes: [info],
    digest: () => Promise.resolve(""),
    search: unasked,
    references: unasked,
    outline: unasked,
    texts: unasked,
    symbols: (request) => findSymbols(index, request, textsOf(given)),
    file: (path, start = 1, end = 1e9) => {
      const lines = FILES[path]?.split("\n");
      const text = lines?.slice(start - 1, end).join("\n");
      const range = { language: "", startLine: start, endLine: end, lineCount: lines?.length ?? 0, withheld: [] };
      return Promise.resolve(text === undefined ? undefined : { ...range, text, revision: 0 });
    },
    having: (paths) => Promise.resolve([paths.filter((path) => path in FILES).length]),
    nearPaths: () => Promise.resolve(["src/cookie.ts"]),
    withUses: (_, work) => {
      const files = new UsesIndex(index, textsOf(given));
      return work(files, files);
    },
  };
  several = {
    ...indexes,
    indexes: [info, { ...info, name: "b" }],
    having: (paths) => Promise.resolve([1, 2].map(() => paths.filter((path) => path in FILES).length)),
  };
});

const ask = (request: Asked<typeof IMPACT>, at: OpenIndexes = indexes): Promise<ImpactAnswer> => {
  const { depth, limit, maxTokens } = IMPACT;
  const defaults = { depth: depth.default, limit: limit.default, maxTokens: maxTokens.default };
  return impactOf(at, Object.assign(defaults, request));
};

describe("impact", () => {
  it("of files is that of the one repository that has them, however many there are", async () => {
    const many = Array.from({ length: 300 }, (_, i) => ({ ...(indexes.indexes[0] as IndexInfo), name: `r${i}` }));
    const opened: number[] = [];
    const team: OpenIndexes = {
      ...indexes,
      indexes: many,
      having: () => Promise.resolve(many.map((_, i) => (i === 299 ? 1 : 0))),
      withUses: (revision, work) => (opened.push(revision), indexes.withUses(0, work)),
    };
    expect((await ask({ paths: ["src/cookie.ts"] }, team)).revision).toBe(299);
    expect(opened).toEqual([299]);
  });

  it("of a moved file names the uses that import it from where it was", async () => {
    const moved = "rename from src/tables.ts\nrename to src/moved.ts";
    const { dependents, files } = await ask({ patch: `diff --git a/src/tables.ts b/src/moved.ts\n${moved}\n` });
    expect(dependents.map(({ path, line, because }) => `${path}:${line} ${because}`)).toEqual([
      "src/uses-tables.ts:4 uses `shift`, which is now in src/moved.ts (certain)",
    ]);
    expect(files[0]?.path).toBe("src/uses-tables.ts");
  });

  it("of a folder is that of its files", async () => {
    const paths = Object.keys(FILES)
      .filter((path) => path.startsWith("src/"))
      .sort();
    expect(await ask({ paths: ["src"] })).toEqual(await ask({ paths }));
    await expect(ask({ paths: ["sr"] })).rejects.toMatchObject({ field: "path" });
  });

  it("of a removal names the uses that are left, and what they lead to otherwise is none", async () => {
    const { changed, dependents, interfaces, files } = await ask({ patch: REMOVAL });
    expect(dependents.map(({ path, line, because }) => `${path}:${line} ${because}`)).toEqual([
      "src/uses-store.ts:8 uses `openStore`, which is removed (certain)",
      "src/uses-store.ts:7 uses `drop`, which is removed (certain)",
      "src/uses-store.ts:9 uses `gone`, which is removed (certain)",
      "src/store.ts:3 uses `cached`, which is removed (likely)",
      "src/store.ts:8 uses `drop`, which is removed (likely)",
      "src/uses-store.ts:11 uses `drop`, which is removed (by name only)",
    ]);
    // The class lost a method, of which its construction in line 6 of uses-store.ts knows nothing.
    expect(changed).toContainEqual({ path: "src/store.ts", symbol: "Store", kind: "class", line: 1 });
    expect(interfaces.filter(({ change }) => change === "removed").map(({ symbol }) => symbol)).toEqual([
      "openStore",
      "gone",
    ]);
    expect(files[0]).toMatchObject({ path: "src/uses-store.ts" });
    expect(files[0]?.because).toContain("uses `openStore`, which is removed (certain)");
  });

  it("of a patch names what it touches, what calls that, tests and the interface, before and after it is applied", async () => {
    const answer = await ask({ patch: PATCH });
    expect(answer.changed).toEqual([{ path: "src/cookie.ts", symbol: "parseCookie", kind: "function", line: 3 }]);
    expect(answer.interfaces).toEqual([{ path: "src/cookie.ts", symbol: "parseCookie", change: "changed" }]);
    expect(answer.dependents.map(({ path, line, certainty }) => [path, line, certainty])).toEqual([
      ["src/server.ts", 4, "certain"],
      ["test/cookie.test.ts", 4, "certain"],
    ]);
    expect(answer.tests).toMatchObject([{ path: "test/cookie.test.ts", symbol: "testParse", certainty: "certain" }]);
    expect(answer.files.map(({ path }) => path)).not.toContain("src/cookie.ts");
    expect(
      answer.files
        .slice(0, 3)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(["src/server.ts", "src/signature.ts", "test/cookie.test.ts"]);
    const reasons = Object.fromEntries(answer.files.map(({ path, because }) => [path, because]));
    expect(reasons["src/server.ts"]).toContain("calls `parseCookie` (certain)");
    expect(reasons["test/cookie.test.ts"]).toContain("is named like src/cookie.ts");
    expect(reasons["src/signature.ts"]).toContain("defines `sign`, which the change uses");
    const shared = Object.values(reasons).flatMap((each) => each.filter((reason) => reason.startsWith("shares ")));
    expect(new Set(shared)).toEqual(new Set(["shares the words cookie, parseCookie, parse", "shares the word text"]));
    expect(answer.usuallyTogether).toBeNull();
    // The same change, of which the index has the other side.
    const swapped = PATCH.replace("-export", "*export").replace("+export", "-export").replace("*export", "+export");
    const lines = swapped.split("\n");
    const reversed = [...lines.slice(0, 3), lines[4], lines[3], ...lines.slice(5)].join("\n");
    const after = await ask({ patch: reversed });
    expect([after.changed, after.interfaces]).toEqual([answer.changed, answer.interfaces]);
  });

  it("of a patch names files that mention what it adds or takes away, not what stays on its lines", async () => {
    const patch =
      "--- a/src/moved.ts\n+++ b/src/moved.ts\n@@ -2 +2 @@\n-  return other(text, cached);\n+  return lost(text, cached);\n";
    const { files } = await ask({ patch });
    const mentioning = files.filter(({ because }) => because.some((each) => each.startsWith("mentions ")));
    expect(mentioning.map(({ path, because }) => [path, because[0]])).toEqual([
      ["src/uses-store.ts", "mentions `lost`, which the change adds or takes away"],
      ["src/uses-tables.ts", "mentions `shift`, which the change defines or removes"],
    ]);
  });

  it("of a patch names a file that has the words of a line which the change takes away", async () => {
    const patch =
      "--- a/src/cookie.ts\n+++ b/src/cookie.ts\n@@ -20 +20 @@\n-  return shift(table(text));\n+  return text;\n";
    const { files } = await ask({ patch });
    const reasons = files.find(({ path }) => path === "src/uses-tables.ts")?.because;
    expect(reasons).toContain("has most words of the changed line `return shift(table(text));`");
    const added = await ask({
      patch: patch.replace("-  return shift", "+  return shift").replace("+  return text", "-  return text"),
    });
    expect(added.files.flatMap(({ because }) => because).filter((each) => each.includes("changed line"))).toEqual([]);
  });

  it("says what usually changed together, where a history is at hand", async () => {
    const answer = await ask({ paths: ["src/cookie.ts"] }, { ...indexes, history: () => Promise.resolve(HISTORY) });
    expect(answer.usuallyTogether).toEqual([{ path: "docs/guide.md", times: 2, of: 3 }]);
    const guide = answer.files.find(({ path }) => path === "docs/guide.md");
    expect(guide?.because).toContain("changed together in 2 of 3 commits");
    const unread = await ask({ paths: ["src/cookie.ts"] }, { ...indexes, history: () => Promise.resolve(undefined) });
    expect(unread.usuallyTogether).toBeNull();
  });

  it("of a definition is about that one", async () => {
    const answer = await ask({ name: "inner" });
    expect(answer.changed).toEqual([{ path: "src/cookie.ts", symbol: "inner", kind: "function", line: 7 }]);
    expect(answer.dependents).toEqual([]);
  });

  it("follows calls as far as it is asked to", async () => {
    const near = await ask({ name: "sign", depth: 1 });
    const far = await ask({ name: "sign", depth: 2 });
    expect(near.dependents.map(({ path, distance }) => [path, distance])).toEqual([["src/cookie.ts", 1]]);
    expect(far.dependents.map(({ path, distance }) => [path, distance])).toEqual([
      ["src/cookie.ts", 1],
      ["src/server.ts", 2],
      ["test/cookie.test.ts", 2],
    ]);
  });

  it("keeps to its bounds, and says so", async () => {
    const answer = await ask({ patch: PATCH, limit: 1 });
    expect(answer.files).toHaveLength(1);
    expect(answer.total.files).toBeGreaterThan(1);
    expect(answer.truncated).toBe(true);
    expect((await ask({ patch: PATCH, maxTokens: 1 })).files).toHaveLength(1);
  });

  it("of a new file goes by its words", async () => {
    const answer = await ask({ patch: "--- /dev/null\n+++ b/src/new.ts\n@@ -0,0 +1 @@\n+parseCookie(sign)\n" });
    expect(answer.changed).toEqual([{ path: "src/new.ts", symbol: null, kind: null, line: null }]);
    expect(answer.files.map(({ path }) => path)).toContain("src/cookie.ts");
  });

  it("takes no heading of a document for a name that code mentions", async () => {
    const reasonsOf = async (path: string, other: string) => {
      const { files } = await ask({ paths: [path] });
      return files.find((each) => each.path === other)?.because ?? [];
    };
    expect((await reasonsOf("docs/systems.md", "src/system.ts")).filter((each) => /defines/.test(each))).toEqual([]);
    const patch =
      '--- a/src/system.ts\n+++ b/src/system.ts\n@@ -1 +1 @@\n-old\n+export const systems = { of: "Unix" };\n';
    const { files } = await ask({ patch });
    expect(files.flatMap(({ because }) => because).filter((each) => /Unix/.test(each) && /defines/.test(each))).toEqual(
      [],
    );
  });

  it.each([
    [{}, "name: give exactly one"],
    [{ name: "sign", paths: ["src/cookie.ts"] }, "paths: give exactly one"],
    [{ paths: [] }, "paths: must not be empty"],
    [{ patch: "no patch" }, "patch: is no unified diff"],
    [{ paths: ["src/cooky.ts"] }, "path: the index has no file src/cooky.ts; similar: src/cookie.ts"],
  ])("says what is wrong with %j", async (request, message) => {
    await expect(ask(request)).rejects.toThrow(message);
  });

  it("takes a smaller patch as a tool, because requests of tools are smaller", () => {
    const tool = TOOLS.find(({ name }) => name === "impact");
    const isTaken = (length: number) => tool?.input.safeParse({ patch: "x".repeat(length) }).success;
    expect([isTaken(200_000), isTaken(200_001)]).toEqual([true, false]);
  });

  it("asks which repository is meant, where it may be several", async () => {
    await expect(ask({ paths: ["src/cookie.ts"] }, several)).rejects.toThrow("name one as repo: a, b");
    await expect(ask({ patch: PATCH }, several)).rejects.toThrow("name one as repo: a, b");
  });
});
