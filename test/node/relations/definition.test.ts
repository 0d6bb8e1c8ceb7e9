import { describe, expect, it } from "vitest";
import { InvalidFieldError, NotFoundError, type OpenIndexes } from "../../../src/interface/questions/code-index.ts";
import { linesOfText } from "../../../src/interface/questions/file-lines.ts";
import { definitionsAt } from "../../../src/interface/questions/relations/definition.ts";
import { parsePosition } from "../../../src/interface/questions/relations/position.ts";
import { wordsOf } from "../../../src/interface/questions/relations/line-words.ts";
import { indexOf } from "./support.ts";

type Files = Readonly<Record<string, string>>;

/** The part of an index of the files that the question asks. */
async function opened(files: Files, withheld: [number, number][] = []): Promise<OpenIndexes> {
  const uses = await indexOf(files);
  const index: Partial<OpenIndexes> = {
    indexes: [{ name: "a", gitSha: null, indexedAtMs: 0, isWorkTree: true }],
    file: (path, start, end) => {
      const text = files[path];
      if (text === undefined) return Promise.resolve(undefined);
      const lineCount = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
      const lines = linesOfText({ bytes: Buffer.from(text), lineCount, withheld }, null, start, end);
      return Promise.resolve({ ...lines, revision: 0 });
    },
    nearPaths: () => Promise.resolve([]),
    withUses: (_, work) => work(uses, uses),
  };
  return index as OpenIndexes;
}

/** What is defined where `|` stands in one of the files, as `path:line certainty`. */
async function at(marked: Files): Promise<string[]> {
  const files = Object.fromEntries(Object.entries(marked).map(([path, text]) => [path, text.replace("|", "")]));
  const [path = "", text = ""] = Object.entries(marked).find(([, own]) => own.includes("|")) ?? [];
  const before = text.slice(0, text.indexOf("|")).split("\n");
  const request = { path, line: before.length, column: (before.at(-1) ?? "").length + 1 };
  return shown(await definitionsAt(await opened(files), request));
}

const shown = ({ definitions }: Awaited<ReturnType<typeof definitionsAt>>): string[] =>
  definitions.map(({ path, startLine, certainty }) => `${path}:${startLine} ${certainty}`);

const STORE = "export class Store {\n  get() {}\n}\nexport class Other {\n  get() {}\n}\nexport function open() {}\n";

describe("the definition at a position", () => {
  it.each<[string, string, string[]]>([
    ["a call of a method", "function f(s: Store) {\n  s.g|et();\n}\n", ["store.ts:2 certain"]],
    ["directly behind a name", "open|();\n", ["store.ts:7 certain"]],
    ["a construction", "const store = new St|ore();\n", ["store.ts:1 certain"]],
    ["a base class", "class Own extends |Store {}\n", ["store.ts:1 certain"]],
    ["a definition itself", "function ow|n() {}\n", ["app.ts:2 certain"]],
    ["a type", "let x: |Store;\n", ["store.ts:1 likely"]],
    ["a key of the same name as a call", "const x = { op|en: open() };\n", ["store.ts:7 likely"]],
    ["the call beside a key of the same name", "const x = { open: op|en() };\n", ["store.ts:7 certain"]],
    [
      "calls of two methods of one name",
      "(s: Store, o: Other) => { s.g|et(); o.get(); };\n",
      ["store.ts:2 likely", "store.ts:5 likely"],
    ],
    ["a receiver without a type", "function f(x) {\n  x.g|et();\n}\n", ["store.ts:2 name", "store.ts:5 name"]],
    ["a parameter that is called", "function f(open) {\n  o|pen();\n}\n", []],
    ["a name of another package", 'import { join } from "node:path";\njo|in();\n', []],
  ])("of %s", async (_, text, expected) => {
    const app = `import { Store, Other, open } from "./store.ts"; ${text}`;
    // The import stands on its own line, as in most files.
    expect(await at({ "store.ts": STORE, "app.ts": app.replace("; ", ";\n") })).toEqual(expected);
  });

  it("of a name in an import, also of one that it gives another name", async () => {
    const files = (text: string) => ({ "store.ts": STORE, "app.ts": text });
    expect(await at(files('import { St|ore } from "./store.ts";\n'))).toEqual(["store.ts:1 certain"]);
    expect(await at(files('import { op|en as start } from "./store.ts";\n'))).toEqual(["store.ts:7 certain"]);
    expect(await at(files('import { open as st|art } from "./store.ts";\n'))).toEqual(["store.ts:7 certain"]);
  });

  it("of languages with and without rules", async () => {
    expect(await at({ "a.py": "class A:\n    def go(self):\n        self.g|o()\n" })).toEqual(["a.py:2 certain"]);
    expect(await at({ "a.go": "package a\n\nfunc run() {}\n\nfunc main() { r|un() }\n" })).toEqual(["a.go:3 certain"]);
    const python = "def go():\n    pass\n";
    expect(await at({ "a.lua": "function go()\nend\n\ng|o()\n", "b.py": python })).toEqual(["a.lua:1 likely"]);
    expect(await at({ "a.lua": "function go()\nend\n\nx.y.g|o()\n", "b.py": python })).toEqual([
      "a.lua:1 name",
      "b.py:1 name",
    ]);
  });

  it("counts columns in UTF-16 units", async () => {
    expect(await at({ "a.ts": 'function f(x?: string) {}\nconst s = "😀"; |f("😀");\n' })).toEqual(["a.ts:1 certain"]);
  });

  it("without a column is that of each name which the line calls or defines", async () => {
    const index = await opened({
      "store.ts": STORE,
      "a.ts": 'import { open, Store } from "./store.ts";\nopen(new Store(), 1);\n',
    });
    const answer = await definitionsAt(index, { path: "a.ts", line: 2 });
    expect(answer.names).toEqual(["open", "Store"]);
    expect(shown(answer)).toEqual(["store.ts:7 certain", "store.ts:1 certain"]);
    expect(answer.definitions[0]).toMatchObject({
      name: "open",
      kind: "function",
      language: "typescript",
      revision: 0,
    });
  });

  it("is refused where there is none, with what to give instead", async () => {
    const index = await opened({ "a.ts": "const x = 1;\n\nlet total = 2 + 3;\ntotal = 4;\n" }, [[1, 1]]);
    const asking = (line: number, column?: number) => definitionsAt(index, { path: "a.ts", line, column });
    await expect(asking(1, 7)).rejects.toThrow("line: is withheld, since it may hold a secret");
    await expect(asking(9)).rejects.toThrow("line: a.ts has 4 lines");
    await expect(asking(3, 13)).rejects.toThrow("column: no name stands there; the line has let at 1, total at 5");
    await expect(asking(4)).rejects.toThrow("column: is required, since nothing is called or defined there");
    await expect(asking(2, 1)).rejects.toThrow(InvalidFieldError);
    await expect(definitionsAt(index, { path: "b.ts", line: 1 })).rejects.toThrow(NotFoundError);
  });

  it("takes linear time on a line of a million names", () => {
    expect(wordsOf("f( ".repeat(500_000))).toHaveLength(500_000);
    expect(wordsOf("a".repeat(2_000_000))).toHaveLength(1);
  });
});

it("a position is a path, a line and perhaps a column", () => {
  expect(parsePosition("src/a.ts:10")).toEqual({ path: "src/a.ts", line: 10 });
  expect(parsePosition("src/a.ts:10:4")).toEqual({ path: "src/a.ts", line: 10, column: 4 });
  expect(parsePosition("C:\\a.ts:1:2:3")).toEqual({ path: "C:\\a.ts:1", line: 2, column: 3 });
  for (const text of ["src/a.ts", ":1", "a:0", "a:1:", "a:1:0", "a:1:x", `a${":1".repeat(100_000)}x`])
    expect(parsePosition(text)).toBeUndefined();
});

describe("a name that leads to no definition", () => {
  it.each([
    ["a.ts", 'import { useState } from "react";\nuseState(1);\n', ["react"]],
    ["a.ts", 'import { own } from "./own.ts";\nown(1);\n', ["./own.ts"]],
    ["a.py", "import os\nos.path.join(1)\n", ["os"]],
  ])("of %s is said to be of the module that it is imported from: %j", async (path, text, packages) => {
    const found = await definitionsAt(await opened({ [path]: text }), { path, line: 2 });
    expect(found.definitions).toEqual([]);
    expect(found.outside).toEqual(packages);
  });
});
