import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

const lines = (...all: string[]): string => all.join("\n");

describe("types that are inferred in TypeScript", () => {
  const types = lines(
    "export class Item { go() {} }", // 1
    "export interface Shelf { items: Item[]; byName: Map<string, Item>; first?: Item }",
    "export type Visit = (item: Item, at: number) => void;",
    "export function each(visit: (item: Item) => void) {}",
    "export function every(visit: Visit) {}",
    "export const make = () => new Item();",
    "export type Same = Shelf;",
  );

  it("follows elements, entries, parts and callbacks", async () => {
    const app = lines(
      'import { each, every, Item, make, type Same, type Shelf, type Visit } from "./types.ts";',
      "function run<T extends Item>(shelf: Shelf, same: Same, bound: T, later: Promise<Item>) {",
      "  for (const item of shelf.items) item.go();", // 3
      "  shelf.items[0]!.go();",
      "  shelf.items.filter(Boolean).at(0)?.go();",
      "  shelf.items.map((item) => item.go());",
      "  shelf.byName.get('a')?.go();", // 7
      "  for (const [name, item] of shelf.byName) item.go();",
      "  shelf.byName.forEach((item) => item.go());",
      "  each((item) => item.go());", // 10
      "  every((item) => item.go());",
      "  const visit: Visit = (item) => item.go();",
      "  same.first?.go();", // 13
      "  bound.go();",
      "  later.then((item) => item.go());",
      "  (shelf as any as Item).go();",
      "  const { first } = shelf; first.go();", // 17
      "  make().go();",
      "  shelf.items.reduce((sum, item) => item.go());", // 19
      "}",
    );
    const calls = await callsIn({ "types.ts": types, "app.ts": app }, "app.ts");
    const goes = calls.filter((call) => call.startsWith("go@"));
    expect(goes).toEqual([
      ...[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16].map((line) => `go@${line} → types.ts:1`),
      "go@17 → types.ts:1 likely",
      "go@18 → types.ts:1",
      "go@19 → types.ts:1",
    ]);
  });

  it("compares what a variable is given in turn, inside of functions too", async () => {
    const app = lines(
      'import { Item, make } from "./types.ts";', // 1
      "let shared;",
      "let cleared: Item | undefined;",
      "function open() { shared = new Item(); cleared = make(); }",
      "function close() { shared = null; }",
      "function run(given) {",
      "  shared.go();", // 7
      "  cleared?.go();",
      "  let two = new Item();",
      "  two = new Date();",
      "  two.go();", // 11
      "  let maybe = new Item();",
      "  maybe = given;",
      "  maybe.go();", // 14
      "}",
      "class Own { held: Item = make(); set(held) { this.held = held; this.held.go(); } }", // 16
    );
    const calls = await callsIn({ "types.ts": types, "app.ts": app }, "app.ts");
    expect(calls.filter((call) => call.startsWith("go@"))).toEqual([
      "go@7 → types.ts:1",
      "go@8 → types.ts:1",
      "go@11 → unknown",
      "go@14 → types.ts:1 likely",
      "go@16 → types.ts:1",
    ]);
  });

  it("follows members of objects, functions and prototypes", async () => {
    const app = lines(
      "const tools = { cut() {}, hit: function () { this.cut(); }, hold: () => {} };", // 1
      "tools.cut(); tools.hit(); tools.hold(); tools.lose();",
      "function Old() {}", // 3
      "Old.prototype.one = function () { this.two(); };",
      "Old.prototype.two = function () {};",
      "Old.make = function () { return new Old(); };", // 6
      "new Old().one();",
      "Old.make().two();",
    );
    expect(await callsIn({ "app.js": app }, "app.js")).toEqual([
      "cut@1 → app.js:1",
      "cut@2 → app.js:1",
      "hit@2 → app.js:1",
      "hold@2 → app.js:1",
      "lose@2 → unknown",
      "two@4 → app.js:5",
      "Old@6 → app.js:3",
      "one@7 → app.js:4",
      "Old@7 → app.js:3",
      "two@8 → app.js:5",
      "make@8 → app.js:6",
    ]);
  });

  it("follows what a module of CommonJS exports as a whole", async () => {
    const files = {
      "index.js": 'module.exports = require("./lib/express");\n',
      "lib/express.js": lines(
        "exports = module.exports = createApplication;", // 1
        "function createApplication() {}",
        "exports.Router = function () {};",
      ),
      "lib/app.js": "var app = exports = module.exports = {};\napp.init = function () { this.init(); };\n",
      "test/a.js": lines(
        'var express = require("../"), app = require("../lib/app");',
        "express();",
        "express.Router();",
        "app.init();",
        "app.absent();",
      ),
    };
    const calls = await callsIn(files, "test/a.js");
    expect(calls.filter((call) => !call.startsWith("require"))).toEqual([
      "express@2 → lib/express.js:2",
      "Router@3 → lib/express.js:3",
      "init@4 → lib/app.js:2",
      "absent@5 → unknown",
    ]);
    expect(await callsIn(files, "lib/app.js")).toEqual(["init@2 → lib/app.js:2"]);
  });

  it("ends for types that stand for one another, and for long chains", async () => {
    const app = lines(
      "type A = B; type B = A; type F = G; type G = F;",
      "function run(a: A, f: F) { a.go(); }",
      "const f: F = (x) => x.go();",
      `const far = a${".b()".repeat(500)};`,
      `const g = ${"(x) => f(".repeat(200)}1${")".repeat(200)};`,
    );
    const calls = await callsIn({ "app.ts": app }, "app.ts");
    expect(calls.slice(0, 2)).toEqual(["go@2 → unknown", "go@3 → unknown"]);
  });
});

describe("overloads of Java", () => {
  const store = lines(
    "package a;", // 1
    "import java.util.*;",
    "public class Store<T> {",
    "  void put(String s, Class<?> c) {}", // 4
    "  void put(String s, Type t) {}",
    "  void put(T one, int n) {}",
    "  void add(Object o) {}", // 7
    "  void add(Item i) {}",
    "  void all(String s, Object... rest) {}", // 9
    "  void one(List<Item> l) {}",
    "  void one(Item... l) {}", // 11
    "  static Store<String> of() { return null; }",
    "}",
  );

  it("are told apart by types that are written down, and called likely where these only fit", async () => {
    const app = lines(
      "package a;",
      "import java.util.*;",
      "class Item { void go() {} }", // 3
      "class App {",
      "  void run(Store<String> store, Item item, Other other, List<Item> items, Map<String, Item> byName) {",
      '    store.put("a", App.class);', // 6
      '    store.put("a", 1);',
      "    store.put(what(), what());",
      "    store.add(item);", // 9
      "    store.add(1);",
      '    store.all("a");', // 11
      '    store.all("a", 1, 2);',
      "    store.one(item);",
      "    for (var each : items) each.go();", // 14
      "    items.forEach(each -> each.go());",
      "    items.stream().filter(each -> true).findFirst().get().go();",
      "    byName.values().iterator().next().go();", // 17
      "    for (Map.Entry<String, Item> each : byName.entrySet()) each.getValue().go();",
      "  }",
      "}",
    );
    const calls = await callsIn({ "a/Store.java": store, "a/App.java": app }, "a/App.java");
    expect(calls.filter((call) => /^(?:put|add|all|one|go)@/.test(call))).toEqual([
      "put@6 → a/Store.java:4",
      "put@7 → a/Store.java:6 likely",
      "put@8 → unknown",
      "add@9 → a/Store.java:8",
      "add@10 → a/Store.java:7 likely",
      "all@11 → a/Store.java:9",
      "all@12 → a/Store.java:9",
      "one@13 → a/Store.java:11 likely",
      ...[14, 15, 16, 17, 18].map((line) => `go@${line} → a/App.java:3`),
    ]);
  });

  it("are compared by types with the names of properties of every object", async () => {
    const app = lines(
      "class App {", // 1
      "  void put(constructor a) {}",
      "  void put(toString a) {}", // 3
      "  void run(constructor a, toString b) { put(a); put(b); put(1); }",
      "}",
    );
    expect(await callsIn({ "App.java": app }, "App.java")).toEqual([
      "put@4 → App.java:2",
      "put@4 → App.java:3",
      "put@4 → unknown",
    ]);
  });

  it("are compared for many of them in little time", async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `  void put(T${i} t) {}`).join("\n");
    const calls = Array.from({ length: 200 }, () => "    put(1);").join("\n");
    const app = `class App {\n${many}\n  void run() {\n${calls}\n  }\n}\n`;
    const found = await callsIn({ "App.java": app }, "App.java");
    expect(found.filter((call) => call.endsWith("→ unknown"))).toHaveLength(200);
  });
});

describe("types that are inferred in Python and C++", () => {
  it("follows elements, entries, contexts and results", async () => {
    const app = lines(
      "class Item:", // 1
      "    def go(self): pass",
      "class Shelf:",
      "    items: list[Item]",
      "    by_name: dict[str, Item]",
      "    def first(self): return self.items[0]", // 6
      "def make():",
      "    return Item()",
      "def run(shelf: Shelf, maybe: Item | None):",
      "    for item in shelf.items: item.go()", // 10
      "    shelf.by_name['a'].go()",
      "    for name, each in shelf.by_name.items():",
      "        each.go()",
      "    shelf.first().go()", // 14
      "    make().go()",
      "    with make() as opened: opened.go()",
      "    maybe.go()", // 17
      "    for name in shelf.by_name: name.go()",
    );
    const calls = await callsIn({ "app.py": app }, "app.py");
    expect(calls.filter((call) => call.startsWith("go@"))).toEqual([
      "go@10 → app.py:2",
      "go@11 → app.py:2",
      "go@13 → app.py:2",
      "go@14 → app.py:2",
      "go@15 → app.py:2",
      "go@16 → app.py:2 likely",
      "go@17 → app.py:2",
      "go@18 → unknown",
    ]);
  });

  it("compares what a variable or field is given in turn", async () => {
    const app = lines(
      "from . import kit", // 1
      "from .kit import Item, make_item, other",
      "class Owner:",
      "    told: Item",
      "    def __init__(self, told, given: Item):",
      "        self.told = told", // 6
      "        self.later = None",
      "        self.mixed = given",
      "        self.mixed = other()",
      "        self.maybe = told.x",
      "        self.maybe = Item()",
      "    def open(self):",
      "        self.later = self.last = Item()", // 13
      "        self.told.go()",
      "        self.later.go()",
      "        self.last.go()",
      "        self.mixed.go()", // 17
      "        self.maybe.go()",
      "def run(owner: Owner, item=None, loose=None):",
      "    twice = Item(); twice.go()", // 20
      "    twice = Item(); twice.go()",
      "    if item is None: item = Item()",
      "    item.go()", // 23
      "    told = owner.told; told.go()",
      "    mixed = Item()",
      "    mixed = other()",
      "    mixed.go()", // 27
      "    turned = Item()",
      "    turned = turned.turn()",
      "    turned.go()", // 30
      "    kit.Item().go()",
    );
    const kit = "class Item:\n    def go(self): pass\ndef other(): pass\n";
    const package_ = "from . import kit\ndef run():\n    kit.other()\n";
    const files = { "p/app.py": app, "p/kit.py": kit, "p/__init__.py": package_ };
    const goes = (await callsIn(files, "p/app.py")).filter((call) => call.startsWith("go@"));
    expect(goes).toEqual([
      "go@14 → p/kit.py:2",
      "go@15 → p/kit.py:2",
      "go@16 → p/kit.py:2",
      "go@17 → unknown",
      "go@18 → p/kit.py:2 likely",
      "go@20 → p/kit.py:2",
      "go@21 → p/kit.py:2",
      "go@23 → p/kit.py:2 likely",
      "go@24 → p/kit.py:2",
      "go@27 → unknown",
      "go@30 → p/kit.py:2 likely",
      "go@31 → p/kit.py:2",
    ]);
    expect(await callsIn(files, "p/__init__.py")).toEqual(["other@3 → p/kit.py:3"]);
  });

  it("compares a bounded number of values, however they depend on each other", async () => {
    const given = Array.from({ length: 40 }, (_, i) =>
      Array.from({ length: 12 }, (_, j) => `    v${i + 1} = v${i}.f${j % 2}()`).join("\n"),
    );
    const app = lines("def run(v0):", ...given, "    v40.go()", "    last = Item()", "    last.go()");
    const calls = await callsIn({ "app.py": app, "b.py": "class Item:\n    def go(self): pass\n" }, "app.py");
    expect(calls.filter((call) => call.startsWith("go@"))).toHaveLength(2);
  });

  it("follows containers and iterators of C++, and a namespace of many files", async () => {
    const app = lines(
      "#include <vector>", // 1
      "namespace geo {",
      "struct Item { void go() {} };", // 3
      "struct Shelf { std::vector<Item*> items; std::map<int, std::unique_ptr<Item>> by; };",
      "void run(Shelf& shelf) {",
      "  for (auto& item : shelf.items) item->go();", // 6
      "  shelf.items[0]->go();",
      "  shelf.items.back()->go();",
      "  for (std::vector<Item*>::iterator i = shelf.items.begin(); i != shelf.items.end(); ++i) (*i)->go();",
      "  for (auto& entry : shelf.by) entry.second->go();", // 10
      "  auto found = shelf.by.find(1);",
      "  found->second->go();", // 12
      "}",
      "void Run(Shelf& shelf) { run(shelf); }",
      "}",
    );
    const others = Array.from({ length: 60 }, (_, i) => [`o${i}.cc`, `namespace geo { int v${i}; }\n`] as const);
    const calls = await callsIn({ "app.cc": app, ...Object.fromEntries(others) }, "app.cc");
    expect(calls.filter((call) => /^(?:go|run)@/.test(call))).toEqual([
      ...[6, 7, 8, 9, 10, 12].map((line) => `go@${line} → app.cc:3`),
      "run@14 → app.cc:5",
    ]);
  });
});
