import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detectLanguage } from "../../../src/engines/parsing/detect.ts";
import { FileBuilder } from "../../../src/engines/relations/file-builder.ts";
import { decodeUses } from "../../../src/engines/relations/stored-uses.ts";
import type { FileUses } from "../../../src/engines/relations/types.ts";
import { sharedParser } from "../parsing/support.ts";
import { callsIn } from "./support.ts";

async function usesOf(path: string, text: string): Promise<FileUses | undefined> {
  const bytes = Buffer.from(text);
  const language = detectLanguage(path, bytes);
  const { uses } = await (await sharedParser()).parse({ bytes, language: language as "typescript" });
  return uses && decodeUses(uses);
}

describe("TypeScript", () => {
  it("follows imports, aliases, namespaces and re-exports", async () => {
    const files = {
      "src/a.ts": "export function one() {}\nexport default class Two {}\n",
      "src/index.ts": 'export * from "./a.js";\nexport { one as uno } from "./a.ts";\n',
      "app.ts":
        'import Two, { one as first } from "./src/a";\nimport * as all from "./src";\nimport { uno } from "./src/index.js";\nimport { join } from "path";\nfirst();\nnew Two();\nall.one();\nuno();\njoin();\n',
    };
    expect(await callsIn(files, "app.ts")).toEqual([
      "first@5 → src/a.ts:1",
      "Two@6 → src/a.ts:2",
      "one@7 → src/a.ts:1",
      "uno@8 → src/a.ts:1",
      "join@9 → none",
    ]);
  });

  it("reads components of TSX, Vue and Svelte", async () => {
    const files = {
      "ui.tsx": "export const Box = () => <div>{own()}</div>;\nfunction own() {}\n",
      "app.tsx": 'import { Box } from "./ui";\nimport * as ui from "./ui";\nconst App = () => <Box><ui.Box /></Box>;\n',
      "App.vue":
        '<template>\n  <p>{{ own() }}</p>\n</template>\n<script setup lang="ts">\nimport { Box } from "./ui";\nBox();\n</script>\n',
      "App.svelte": '<script>\n  import { Box } from "./ui";\n  Box();\n</script>\n<p>text</p>\n',
    };
    expect(await callsIn(files, "ui.tsx")).toEqual(["own@1 → ui.tsx:2"]);
    expect(await callsIn(files, "app.tsx")).toEqual(["Box@3 → ui.tsx:1", "Box@3 → ui.tsx:1"]);
    // What no script binds may be a method of the component.
    expect(await callsIn(files, "App.vue")).toEqual(["own@2 → unknown", "Box@6 → ui.tsx:1"]);
    expect(await callsIn(files, "App.svelte")).toEqual(["Box@3 → ui.tsx:1"]);
  });

  it("takes call, apply and bind of a function for uses of it", async () => {
    const files = {
      "a.js": "export function one() {}\n",
      "b.js":
        'import { one } from "./a.js";\nclass B {\n  run(cb) {\n    one.call(this, 1);\n    cb.apply(this);\n    this.two.bind(this);\n  }\n  two() {}\n}\nObject.prototype.toString.call(1);\n',
    };
    const calls = (await callsIn(files, "b.js")).filter((call) => !/^(?:call|apply|bind)@/.test(call));
    expect(calls).toEqual(["one@4 → a.js:1", "cb@5 → none", "two@6 → b.js:8", "toString@10 → none"]);
  });

  it("knows parameters and variables that shadow a name", async () => {
    const text = "function f() {}\nfunction g(f) {\n  f();\n}\nfunction h() {\n  { const f = 1; }\n  f();\n}\n";
    expect(await callsIn({ "a.ts": text }, "a.ts")).toEqual(["f@3 → none", "f@7 → a.ts:1"]);
  });

  it("follows this, declared types, fields, constructions, returned types and base classes", async () => {
    const files = {
      "store.ts": "export class Base {\n  get() {}\n}\nexport class Store extends Base {\n  put() { this.get(); }\n}\n",
      "app.ts": [
        'import { Store } from "./store";',
        "function open(): Promise<Store> { return new Store(); }",
        "class App {",
        "  #own = new Store();",
        "  constructor(private readonly store: Store, other: any) {",
        "    this.store.put();",
        "    other.put();",
        "  }",
        "  async run(given: Store | undefined) {",
        "    this.#own.get();",
        "    given.put();",
        "    (await open()).put();",
        "    const made = new Store();",
        "    made.get();",
        "  }",
        "}",
      ].join("\n"),
    };
    expect(await callsIn(files, "store.ts")).toEqual(["Base@4 → store.ts:1", "get@5 → store.ts:2"]);
    expect((await callsIn(files, "app.ts")).filter((call) => !call.startsWith("Store"))).toEqual([
      "put@6 → store.ts:5",
      "put@7 → unknown",
      "get@10 → store.ts:2",
      "put@11 → store.ts:5",
      "put@12 → store.ts:5",
      "open@12 → app.ts:2",
      "get@14 → store.ts:2",
    ]);
  });

  it("tells a variable from its value, as receiver and as what is called", async () => {
    const files = {
      "a.ts": "export interface Run { now(): void }\nexport const run: Run = make();\nrun();\n",
      "b.ts": 'import { run } from "./a";\nrun();\nrun.now();\n',
    };
    expect(await callsIn(files, "a.ts")).toEqual(["make@2 → unknown", "run@3 → a.ts:2"]);
    expect(await callsIn(files, "b.ts")).toEqual(["run@2 → a.ts:2", "now@3 → a.ts:1"]);
  });

  it("abstains where a name is bound in several ways", async () => {
    const text = 'import { f } from "./b";\nvar f = g;\nf();\n';
    expect(await callsIn({ "a.ts": text, "b.ts": "export function f() {}" }, "a.ts")).toEqual(["f@3 → unknown"]);
  });
});

describe("Python", () => {
  it("follows imports, relative ones, aliases, submodules and star imports", async () => {
    const files = {
      "pkg/__init__.py": "from .core import run\nfrom .more import *\n",
      "pkg/core.py": "def run():\n    pass\n",
      "pkg/more.py": "def extra():\n    pass\n",
      "app.py":
        "import pkg.core as c\nfrom pkg import run as start, core, extra\nimport os\nc.run()\nstart()\ncore.run()\nextra()\nos.remove()\nlen()\n",
    };
    expect(await callsIn(files, "app.py")).toEqual([
      "run@4 → pkg/core.py:1",
      "start@5 → pkg/core.py:1",
      "run@6 → pkg/core.py:1",
      "extra@7 → pkg/more.py:1",
      "remove@8 → none",
      "len@9 → none",
    ]);
  });

  it("ends where modules take each other over", async () => {
    const files = {
      "pkg/__init__.py": "from .errors import *\nfrom .networks import *\nfrom .types import *\n",
      "pkg/errors.py": "class Late(Exception):\n    pass\n",
      "pkg/networks.py": "from pkg import errors\nfrom .types import *\n",
      "pkg/types.py": "from pkg import errors\nfrom .networks import *\n",
      "app.py": "from pkg import errors\nraise errors.Late()\n",
    };
    expect(await callsIn(files, "app.py")).toEqual(["Late@2 → pkg/errors.py:1"]);
  });

  it("follows self, super, declared types and constructions", async () => {
    const text = [
      "class Base:",
      "    def get(self): pass",
      "class Store(Base):",
      "    def __init__(self, base: Base):",
      "        self.base = base",
      "    def put(self):",
      "        self.get()",
      "        super().get()",
      "        self.base.get()",
      "def use(a: 'Store', b):",
      "    a.put()",
      "    b.put()",
      "    c = Store(a)",
      "    c.put()",
    ].join("\n");
    expect(await callsIn({ "a.py": text }, "a.py")).toEqual([
      "Base@3 → a.py:1",
      "get@7 → a.py:2",
      "get@8 → a.py:2",
      "super@8 → none",
      "get@9 → a.py:2",
      "put@11 → a.py:6",
      "put@12 → unknown",
      "Store@13 → a.py:3",
      "put@14 → a.py:6",
    ]);
  });
});

describe("C", () => {
  it("names the functions that several files define, of which a program has one", async () => {
    const files = {
      "unix.c": "int shut(int h) { return 1; }\nstatic int own(void) { return 1; }\nstruct s { int a; };\n",
      "win.c": "int shut(int h) { return 2; }\nint own(void) { return 2; }\nstruct s { int b; };\n",
      "use.c": "int use(void) {\n  own();\n  return shut(1);\n}\n",
    };
    expect(await callsIn(files, "use.c")).toEqual(["own@2 → win.c:2", "shut@3 → unix.c:1 | win.c:1"]);
    expect(
      await callsIn({ ...files, "unix.c": `${files["unix.c"]}int f(void) { return shut(2); }\n` }, "unix.c"),
    ).toEqual(["shut@4 → unix.c:1"]);
  });

  it("reads the code of grammars, and finds what they define", async () => {
    const files = {
      "parse.y":
        "%{\nstatic void own(int a);\n%}\n%%\nexpr: NUMBER { own($1); $$ = make(@$, $<n>1); }\n  ;\n%%\nint parse(void) {\n  return scan();\n}\nstatic void own(int a) {}\n",
      "scan.l": "%%\n[0-9]+  { return 1; }\n%%\nint scan(void) { return parse(); }\n",
      "make.c": "int make(int a, int b) {\n  return parse();\n}\n",
    };
    expect(await callsIn(files, "parse.y")).toEqual(["own@5 → parse.y:11", "make@5 → make.c:1", "scan@9 → scan.l:4"]);
    expect(await callsIn(files, "scan.l")).toEqual(["parse@4 → parse.y:8"]);
    expect(await callsIn(files, "make.c")).toEqual(["parse@2 → parse.y:8"]);
  });

  it("takes a macro on a line of its own for a statement", async () => {
    const files = {
      "a.c": "int size(void) { return 1; }\nvoid lock(int *m) {}\n",
      "b.c":
        "int f(int x) {\n  VARIABLES\n\n  lock(&x);\n  Py_BEGIN_ALLOW_THREADS\n  x = size();\n  long\n      other();\n  return x;\n}\n",
    };
    expect(await callsIn(files, "b.c")).toEqual(["lock@4 → a.c:2", "size@6 → a.c:1"]);
  });
});

describe("hostile sources", () => {
  it("ends in cyclic re-exports, bases and aliases", async () => {
    const files = {
      "a.ts":
        'export * from "./b";\nexport { x } from "./b";\nclass A extends B {}\nclass B extends A { m() { this.none(); } }\n',
      "b.ts": 'export * from "./a";\nexport { x } from "./a";\nimport { x as y } from "./a";\ny();\nx();\n',
    };
    expect(await callsIn(files, "b.ts")).toEqual(["y@4 → unknown", "x@5 → unknown"]);
    expect((await callsIn(files, "a.ts")).at(-1)).toBe("none@4 → unknown");
  });

  it("bounds uses, overloads and depth", async () => {
    const file = new FileBuilder();
    for (let i = 0; i < 60_000; i++) file.use("call", "f", 1, file.top, { is: "name", name: "f", scope: file.top });
    expect(file.finish().uses).toHaveLength(50_000);
    const overloads = await usesOf("a.ts", `${"function f(): void;\n".repeat(10_000)}f();\n`);
    expect(overloads?.uses).toMatchObject([{ meaning: { to: "local", line: 1 } }]);
    expect(await usesOf("a.ts", "f();".repeat(1_000_000))).toBeUndefined();
    const deep = await usesOf("a.py", `x = ${"f(".repeat(3_000)}${")".repeat(3_000)}\n`);
    expect(deep?.uses.length ?? 0).toBeLessThan(3_000);
  });

  it("reads whatever parses, and never says more than the files bind", async () => {
    const word = fc.constantFrom(
      "import",
      "from",
      "class",
      "def",
      "(",
      ")",
      ":",
      ".",
      "a",
      "b",
      "=",
      "\n",
      "    ",
      "{",
      "}",
      "new",
      "=>",
      "function",
      "export",
      "*",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 40 }),
        fc.constantFrom("a.ts", "a.js", "a.py"),
        async (words, path) => {
          const calls = await callsIn({ [path]: words.join(" ") }, path);
          for (const call of calls) expect(call).toMatch(/→ (?:a\.(?:ts|js|py):(?:\d+|module)|unknown|none|outside)$/);
        },
      ),
      { numRuns: 100 },
    );
  });
});
