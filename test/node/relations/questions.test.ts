import { describe, expect, it } from "vitest";
import { UsesIndex } from "../../../src/engines/relations/uses-index.ts";
import type { TextSource } from "../../../src/engines/search/types.ts";
import type { OpenIndexes } from "../../../src/interface/questions/code-index.ts";
import { relatedReferences } from "../../../src/interface/questions/relations/answer.ts";
import { CalleesFinder } from "../../../src/interface/questions/relations/callees.ts";
import { UsesFinder } from "../../../src/interface/questions/relations/callers.ts";
import type { FoundUse } from "../../../src/interface/questions/relations/found.ts";
import { importersOf } from "../../../src/interface/questions/relations/importers.ts";
import { indexOf, openedOf } from "./support.ts";

const shown = (uses: readonly FoundUse[]): string[] =>
  uses.map(
    ({ path, line, certainty, distance, target }) =>
      `${path}:${line} ${certainty} ${distance}${target ? ` → ${target.path}:${target.line}` : ""}`,
  );

async function callers(files: UsesIndex, name: string, depth = 1): Promise<UsesFinder & { uses: string[] }> {
  const finder = new UsesFinder(files, "callers");
  const uses = shown(await finder.find(await files.definitions(name), depth));
  return Object.assign(finder, { uses });
}

describe("questions about relations", () => {
  it("follow calls that go round in a circle once", async () => {
    const files = await indexOf({
      "a.ts": 'import { b } from "./b.ts";\nexport function a() {\n  b();\n}\n',
      "b.ts": 'import { a } from "./a.ts";\nexport function b() {\n  a();\n}\n',
    });
    expect((await callers(files, "a", 5)).uses).toEqual(["b.ts:3 certain 1 → a.ts:2", "a.ts:3 certain 2 → b.ts:2"]);
    const callees = await new CalleesFinder(files).find(
      (await files.definitions("a")).map((each) => Object.assign(each, { language: "typescript" })),
      5,
    );
    expect(shown(callees)).toEqual(["a.ts:3 certain 1 → b.ts:2", "b.ts:3 certain 2 → a.ts:2"]);
  });

  it("tell apart definitions of one line, as minified code has them", async () => {
    const files = await indexOf({
      "a.ts": "export function one() {} export function two() {}\n",
      "b.ts": 'import { two } from "./a.ts";\nexport function b() {\n  two();\n}\n',
      "c.ts": 'import { two as second } from "./a.ts";\nexport function c() {\n  second();\n}\n',
    });
    const called = async (name: string): Promise<(string | undefined)[]> => {
      const [definition] = await files.definitions(name);
      if (!definition) throw new Error(`${name} is not defined`);
      return (await new CalleesFinder(files).callsIn(definition)).map((use) => use.called?.name);
    };
    expect(await called("b")).toEqual(["two"]);
    // The alias names no definition, so none of the two is claimed.
    expect(await called("c")).toEqual([]);
  });

  it("look for definitions in one folder, where a package is one", async () => {
    const define = (name: string) => `package p\n\nfunc ${name}() {}\n`;
    const files = await indexOf({
      "top.go": define("Close"),
      "a/one.go": define("Close"),
      "a/two.go": define("close"),
      "a/inner/three.go": define("Close"),
      "ab/four.go": define("Close"),
    });
    const pathsOf = async (folder?: string) =>
      (await files.definitions("Close", "x.go", folder)).map(({ path }) => path);
    expect(await pathsOf("a")).toEqual(["a/one.go"]);
    expect(await pathsOf("")).toEqual(["top.go"]);
    expect(await pathsOf("b")).toEqual([]);
    expect(await pathsOf()).toEqual(["a/inner/three.go", "a/one.go", "ab/four.go", "top.go"]);
  });

  it("are as unsure as the least sure call on the way", async () => {
    const files = await indexOf({
      "a.ts": "export class Base {\n  go() {}\n}\nexport class Own extends Base {\n  go() {}\n}\n",
      "b.ts": 'import { Base } from "./a.ts";\nexport function b(base: Base) {\n  base.go();\n}\n',
      "c.ts": 'import { b } from "./b.ts";\nfunction c(x) {\n  b(x);\n}\n',
    });
    const own = (await files.definitions("go")).filter(({ startLine }) => startLine === 5);
    const uses = await new UsesFinder(files, "callers").find(own, 2);
    expect(shown(uses)).toEqual(["b.ts:3 likely 1 → a.ts:5", "c.ts:3 likely 2 → b.ts:2"]);
  });

  it("through an interface of TypeScript may be of a class that has its members without naming it", async () => {
    const files = await indexOf({
      "store.ts": [
        "export interface Store { save(key: string): void; close(): void }",
        "export class Named implements Store {",
        "  save(key: string) {}",
        "  close() {}",
        "}",
        "export class Fitting {",
        "  save(key: string) {}",
        "  close() {}",
        "}",
        "export class Other {",
        "  save(key: string) {}",
        "}",
      ].join("\n"),
      "use.ts":
        'import type { Store } from "./store.ts";\nexport function use(store: Store) {\n  store.save("a");\n}\n',
    });
    const callersAt = async (line: number) => {
      const own = (await files.definitions("save")).filter(({ startLine }) => startLine === line);
      return shown(await new UsesFinder(files, "callers").find(own, 1));
    };
    expect(await callersAt(3)).toEqual(["use.ts:3 likely 1 → store.ts:3"]);
    expect(await callersAt(7)).toEqual(["use.ts:3 name 1"]);
    expect(await callersAt(11)).toEqual([]);
  });

  it("through an interface are likely callers of what implements it, also where no rule is sure", async () => {
    const files = await indexOf({
      "Store.kt": [
        "package m",
        "interface Store {",
        "  fun save(key: String)",
        "}",
        "class Held : Store {",
        "  override fun save(key: String) {}",
        "}",
        "class Other {",
        "  fun save(key: String) {}",
        "}",
        "fun use(store: Store) {",
        '  store.save("a")',
        "}",
      ].join("\n"),
    });
    const callersAt = async (line: number) => {
      const own = (await files.definitions("save")).filter(({ startLine }) => startLine === line);
      return shown(await new UsesFinder(files, "callers").find(own, 1));
    };
    expect(await callersAt(6)).toEqual(["Store.kt:12 likely 1 → Store.kt:6"]);
    expect(await callersAt(9)).toEqual(["Store.kt:12 name 1"]);
  });

  it("know what imports a file by any of its names, and what imports a package", async () => {
    const files = await indexOf({
      "src/lib/index.ts": "export const x = 1;\n",
      "src/a.ts": 'import { x } from "./lib";\nimport "./lib/index.js";\nconst y = import("./lib/index.ts");\n',
      "src/b.js": 'const { x } = require("./lib");\nexport * from "./lib";\nimport React from "react/jsx";\n',
      "src/c.ts": 'import { x } from "./library";\nimport "reactive";\n',
      "p/__init__.py": "",
      "p/m.py": "",
      "p/n.py": "from . import m\nimport p.m\nfrom p.m import z\nfrom p import other\n",
    });
    expect(shown(await importersOf(files, "src/lib/index.ts"))).toEqual([
      "src/a.ts:1 certain 1",
      "src/a.ts:2 certain 1",
      "src/a.ts:3 certain 1",
      "src/b.js:1 certain 1",
      "src/b.js:2 certain 1",
    ]);
    expect(shown(await importersOf(files, "p/m.py"))).toEqual([1, 2, 3].map((line) => `p/n.py:${line} certain 1`));
    expect(shown(await importersOf(files, "react"))).toEqual(["src/b.js:3 certain 1"]);
  });
});

describe("importers over many repositories", () => {
  it("of a file are asked of those that have it; of a package of fifty that mention it, which the answer says", async () => {
    const files = await indexOf({ "src/a.ts": "export const a = 1;\n", "b.ts": 'import { a } from "./src/a.ts";\n' });
    const info = { gitSha: null, indexedAtMs: 0, isWorkTree: false };
    const opened: number[] = [];
    const team: Partial<OpenIndexes> = {
      indexes: Array.from({ length: 300 }, (_, i) => Object.assign({ name: `r${i}` }, info)),
      having: ([path = ""]) =>
        Promise.resolve(Array.from({ length: 300 }, (_, i) => (i === 250 && files.has(path) ? 1 : 0))),
      withUses: (revision, work) => (opened.push(revision), work(files, files)),
      nearPaths: () => Promise.resolve([]),
    };
    const ask = async (path: string) => {
      const request = { relation: "importers", path, limit: 50 } as const;
      const { references, total, truncated } = await relatedReferences(team as OpenIndexes, request);
      return [references.map((own) => `${own.revision}/${own.path}`), total, truncated];
    };
    expect(await ask("src/a.ts")).toEqual([["250/b.ts"], 1, false]);
    expect(opened).toEqual([250]);
    opened.length = 0;
    const mentioning = Array.from({ length: 60 }, (_, i) => 299 - i);
    const words: string[] = [];
    files.revisionsMentioning = (word) => (words.push(word), Promise.resolve(mentioning));
    expect(await ask("@acme/react-dom")).toEqual([[], 0, true]);
    expect(words).toEqual(["react"]);
    // The first one says which mention it.
    expect(opened).toEqual([0, ...mentioning.slice(0, 50)]);
    await expect(ask("src/none.ts")).rejects.toThrow(/src\/none\.ts/);
  });
});

describe("an index that is repaired while it is asked", () => {
  it("is read again, and the answer has each use once", async () => {
    const files = await indexOf({ "a.ts": "export const a = 1;\n", "b.ts": 'import { a } from "./a.ts";\n' });
    const repaired: Partial<OpenIndexes> = {
      indexes: [{ name: "r", gitSha: null, indexedAtMs: 0, isWorkTree: true }],
      having: () => Promise.resolve([1]),
      withUses: async (_, work) => {
        const lines = files.lines.bind(files);
        files.lines = () => Promise.reject(new Error("damaged"));
        await expect(work(files, files)).rejects.toThrow("damaged");
        files.lines = lines;
        return work(files, files);
      },
    };
    const request = { relation: "importers", path: "a.ts", limit: 50 } as const;
    const { references, total } = await relatedReferences(repaired as OpenIndexes, request);
    expect([references.map((own) => `${own.path}:${own.line}`), total]).toEqual([["b.ts:1"], 1]);
  });
});

describe("languages that do not call each other", () => {
  const files = {
    "split.cc": "namespace a {\nint split() { return 1; }\n}\n",
    "use.cc": "void use(X x) {\n  x.split();\n}\n",
    "total.c": "int total(void) {\n  return 1;\n}\n",
    "tool.py": "def tool(x):\n  x.split()\n  total()\n",
    "ffi.rs": "fn ffi() {\n  unsafe { total(); }\n}\n",
    "a.ts": "export function show() {}\n",
    "page.html": "<script>show();</script>\n<p>total() split()</p>\n",
    "changes.xml": "<action>show() of total() and split()</action>\n",
    "style.css": "a { color: show(1); }\n",
    Makefile: "all:\n\techo $(show) total() split() show()\n",
    "xs.pl": "total();\nshow();\n",
  };

  it("have no callers by name there, but for what languages call of C", async () => {
    const index = await indexOf(files);
    expect((await callers(index, "split")).uses).toEqual(["use.cc:2 name 1"]);
    expect((await callers(index, "total")).uses).toEqual(["ffi.rs:2 name 1", "xs.pl:1 name 1"]);
    expect((await callers(index, "show")).uses).toEqual(["page.html:1 name 1"]);
  });

  it("have no callees by name there", async () => {
    const index = await indexOf(files);
    const callees = async (name: string) => {
      const definitions = await index.definitions(name);
      const asked = definitions.map((each) => Object.assign(each, { language: index.language(each.path) }));
      return shown(await new CalleesFinder(index).find(asked, 1));
    };
    expect(await callees("tool")).toEqual([]);
    expect(await callees("ffi")).toEqual(["ffi.rs:2 name 1"]);
  });
});

describe("callers of a method", () => {
  it("are looked for first where its class is mentioned, however many files mention its name", async () => {
    const others = Array.from({ length: 1001 }, (_, i) => [`src/${i}.php`, "<?php\n$list->push(1);\n"] as const);
    const files = await indexOf({
      ...Object.fromEntries(others),
      "src/Queue.php": "<?php\nclass Queue {\n  static function push() {}\n}\n",
      "tests/QueueTest.php": "<?php\nQueue::push();\n",
    });
    const found = await callers(files, "push");
    expect(found.uses).toContain("tests/QueueTest.php:2 certain 1 → src/Queue.php:3");
    expect(found.truncated).toBe(true);
  });
});

describe("files in languages without rules", () => {
  it("take no places of files with rules, however many they are", async () => {
    const pages = Array.from({ length: 1001 }, (_, i) => [`docs/${i}.hs`, "# shown\n"] as const);
    const files = await indexOf({
      ...Object.fromEntries(pages),
      "src/a.ts": "export function shown() {}\n",
      "test/a.test.ts": 'import { shown } from "../src/a.ts";\nshown();\n',
    });
    const found = await callers(files, "shown");
    expect(found.uses).toEqual(["test/a.test.ts:2 certain 1 → src/a.ts:1"]);
    expect(found.truncated).toBe(true);
  });
});

describe("languages without rules", () => {
  it("call by name, prose and data do not", async () => {
    const files = await indexOf({
      "lib.c": "int total(void) {\n  return 1;\n}\n",
      "report.pl": "sub report {\n  print total();\n}\n",
      "README.md": "# Sums\n\nCall `total()` for a sum.\n",
      "data.json": '{ "formula": "total() + 1" }\n',
      "notes.txt": "total() is slow.\n",
    });
    expect((await callers(files, "total")).uses).toEqual(["report.pl:2 name 1"]);
  });
});

describe("what a question reads", () => {
  it("of a file is read once, whatever number of definitions it uses", async () => {
    const names = Array.from({ length: 30 }, (_, i) => `part${i}`);
    const files = await indexOf({
      "a.ts": names.map((name) => `export function ${name}() {}\n`).join(""),
      "b.ts": `import { ${names.join(", ")} } from "./a.ts";\n${names.map((name) => `${name}();\n`).join("")}`,
    });
    const loaded: string[] = [];
    const uses = files.uses.bind(files);
    files.uses = (path) => (loaded.push(path), uses(path));
    const all = (await Promise.all(names.map((name) => files.definitions(name)))).flat();
    files.resolve = () => Promise.resolve("unknown");
    expect(await new UsesFinder(files, "callers").find(all, 1)).toHaveLength(30);
    expect(loaded.filter((path) => path === "b.ts")).toEqual(["b.ts"]);
  });

  it("of configurations is known to the next one", async () => {
    const { index, texts } = await openedOf({
      "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }',
      "src/a.ts": "export const a = 1;\n",
      "b.ts": 'import { a } from "@/a";\n',
    });
    let reads = 0;
    const counted: TextSource = (wanted) => (reads++, texts(wanted));
    for (let question = 0; question < 3; question++)
      expect(shown(await importersOf(new UsesIndex(index, counted), "src/a.ts"))).toEqual(["b.ts:1 certain 1"]);
    expect(reads).toBe(1);
  });

  it("is only what mentions a file, and nothing of an empty one", async () => {
    const files = await indexOf({
      "a.py": "from base_part import x\n",
      "base_part.py": "",
      "c.py": `def c(): pass\n${"c()\n".repeat(30)}`,
      "d.py": "",
    });
    const loaded: string[] = [];
    const uses = files.uses.bind(files);
    files.uses = (path) => (loaded.push(path), uses(path));
    expect(shown(await importersOf(files, "base_part.py"))).toEqual(["a.py:1 certain 1"]);
    expect(loaded).toEqual(["a.py"]);
    // No file mentions the package.
    expect(await importersOf(files, "requests")).toEqual([]);
    expect(loaded).toEqual(["a.py"]);
    expect([files.unread.size, files.exhausted]).toEqual([0, false]);
  });

  it("is more than what it remembers at a time", async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `name_of_some_length_${i}()`).join("\n");
    const many = Object.fromEntries(
      Array.from({ length: 6 }, (_, i) => [`m${i}.py`, `import package_${i}\n${names}\n`]),
    );
    const files = await indexOf({ ...many, "z.py": "import wanted\n" });
    expect(shown(await importersOf(files, "wanted"))).toEqual(["z.py:1 certain 1"]);
    expect(files.exhausted).toBe(false);
    expect((await files.uses("m0.py"))?.imports).toEqual([{ module: "package_0", name: "*", line: 1 }]);
  });
});

describe("hostile sources", () => {
  it("with thousands of overloads and of calls list each line once", async () => {
    const calls = `${"f(someArgument); ".repeat(20)}\n`.repeat(300);
    const files = await indexOf({
      "a.ts": `${"export function f(): void;\n".repeat(2_000)}export function f() {}\n`,
      "b.ts": `import { f } from "./a.ts";\n${calls}`,
    });
    const found = await callers(files, "f");
    expect(found.uses).toHaveLength(300);
    expect(found.uses[0]).toBe("b.ts:2 certain 1 → a.ts:1");
    expect((await callers(files, "f", 5)).uses).toHaveLength(300);
  });

  it("that are too much for the parser count as files that were not read", async () => {
    const files = await indexOf({
      "a.ts": "export function f() {}\n",
      "b.ts": `import { f } from "./a.ts";\n${"f();".repeat(1_000_000)}\n`,
    });
    expect((await callers(files, "f")).uses).toEqual([]);
    expect([...files.unread]).toEqual(["b.ts"]);
  });

  it("with thousands of values of unknown classes are listed by name", async () => {
    const shadows = Array.from({ length: 5_000 }, (_, i) => `{ const x = new C${i}(); x.f(); }`).join("\n");
    const files = await indexOf({ "a.ts": "export class A {\n  f() {}\n}\n", "b.ts": shadows });
    const found = await callers(files, "f");
    expect(found.uses.length).toBe(5_000);
  });
});
