import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

describe("Go", () => {
  const files = {
    "main.go": [
      "package app",
      "import (",
      '\tstore "example.com/me/app/v2/store"',
      '\t"net/http"',
      ")",
      "type App struct { store *store.Store; Base }",
      "func New() (*App, error) { return &App{}, nil }",
      "func (a *App) Run(x any) {",
      "\ta.store.Put()",
      "\ta.Log()",
      "\ta.stop()",
      "\tb, err := New()",
      "\tb.Run(err)",
      "\tswitch y := x.(type) {",
      "\tcase *App:",
      "\t\ty.stop()",
      "\t}",
      "\tx.Put()",
      "\thttp.Put()",
      "\thelper(len(nil))",
      "\thelper := func(int) {}",
      "\thelper(1)",
      "\tfor _, c := range store.All() { c.Put() }",
      "}",
    ].join("\n"),
    "other.go":
      "package app\ntype Base struct{}\nfunc (Base) Log() {}\nfunc (a *App) stop() {}\nfunc helper(n int) {}\n",
    "store/store.go":
      "package store\ntype Store struct{}\nfunc (s *Store) Put() {}\nfunc All() []*Store { return nil }\n",
    "http/put.go": "package http\nfunc Put() {}\n",
  };

  it("follows packages, receivers, fields, embedded types and first results", async () => {
    expect((await callsIn(files, "main.go")).filter((call) => !call.startsWith("len"))).toEqual([
      "Base@6 → other.go:2",
      "App@7 → main.go:6",
      "Put@9 → store/store.go:3",
      "Log@10 → other.go:3",
      "stop@11 → other.go:4",
      "New@12 → main.go:7",
      "Run@13 → main.go:8",
      "stop@16 → other.go:4",
      "Put@18 → outside",
      "Put@19 → none",
      "helper@20 → other.go:5",
      "helper@22 → none",
      "All@23 → store/store.go:4",
      "Put@23 → store/store.go:3",
    ]);
  });

  it("names the functions that several files of a package define, of which a system has one", async () => {
    const variants = {
      "a.go": "package p\nfunc f() { g() }\n",
      "a_unix.go": "package p\nfunc g() {}\n",
      "a_windows.go": "package p\nfunc g() {}\n",
    };
    expect(await callsIn(variants, "a.go")).toEqual(["g@2 → a_unix.go:2 | a_windows.go:2"]);
  });
});

describe("Java", () => {
  const store = [
    "package a.store;",
    "public class Store<T> extends Base {",
    "  public Store<T> put(T one) { return this; }",
    "  public void put(T one, int two) { put(one); }",
    "  public void get(int one) {}",
    "  public void get(long one) {}",
    "  public static Store<String> open() { return null; }",
    "  static class Inner { void run() {} }",
    "}",
  ].join("\n");
  const files = {
    "src/main/java/a/store/Store.java": store,
    "src/main/java/a/store/Base.java": "package a.store;\nclass Base {\n  void log() {}\n}\n",
    "src/main/java/b/Store.java": "package b;\nclass Store {\n  void log() {}\n}\n",
    "src/test/java/a/App.java": [
      "package a;",
      "import a.store.*;",
      "import static a.store.Store.open;",
      "import java.util.List;",
      "class App {",
      "  private final Store<String> store = new Store<>();",
      "  void run(List<Store> all, Store.Inner inner) {",
      "    this.store.put(null).put(null, 1);",
      "    store.get(1);",
      "    store.log();",
      "    open().log();",
      "    var made = open();",
      "    made.put(null);",
      "    inner.run();",
      "    for (Store each : all) each.log();",
      "    all.add(null);",
      "    run(all, inner);",
      "    new Store<String>() { void more() { log(); run(all, inner); } };",
      "  }",
      "}",
    ].join("\n"),
  };

  it("follows imports, fields, results, inherited members and overloads by the number of arguments", async () => {
    const main = "src/main/java/a/store";
    expect(await callsIn(files, "src/test/java/a/App.java")).toEqual([
      `Store@6 → ${main}/Store.java:2`,
      `put@8 → ${main}/Store.java:4`,
      `put@8 → ${main}/Store.java:3`,
      `get@9 → ${main}/Store.java:5`,
      `log@10 → ${main}/Base.java:3`,
      `log@11 → ${main}/Base.java:3`,
      `open@11 → ${main}/Store.java:7`,
      `open@12 → ${main}/Store.java:7`,
      `put@13 → ${main}/Store.java:3`,
      `run@14 → ${main}/Store.java:8`,
      `log@15 → ${main}/Base.java:3`,
      "add@16 → unknown",
      "run@17 → src/test/java/a/App.java:7",
      `Store@18 → ${main}/Store.java:2`,
      `log@18 → ${main}/Base.java:3`,
      "run@18 → src/test/java/a/App.java:7",
    ]);
  });
});

describe("C", () => {
  it("follows functions of other files, except those that are static or defined several times, and fields", async () => {
    const files = {
      "a.c": [
        '#include "b.h"',
        "static int own(int x);",
        "int main(struct ops *o, int f(int)) {",
        "  own(1);",
        "  open_it(2);",
        "  hidden();",
        "  twice();",
        "  o->run(1);",
        "  f(1);",
        "  CHECK(1);",
        "}",
        "static int own(int x) { return x; }",
      ].join("\n"),
      "b.h": "#define CHECK(x) x\nstruct ops {\n  int (*run)(int);\n};\nint open_it(int);\n",
      "b.c":
        "int open_it(int x) { return x; }\nstatic void hidden(void) {}\n#ifdef A\nint twice() {}\n#else\nint twice() {}\n#endif\n",
    };
    expect(await callsIn(files, "a.c")).toEqual([
      "own@4 → a.c:12",
      "open_it@5 → b.c:1",
      "hidden@6 → outside",
      "twice@7 → unknown",
      "run@8 → b.h:3",
      "f@9 → none",
      "CHECK@10 → b.h:1",
    ]);
  });
});

describe("CommonJS", () => {
  it("follows what is exported and required by name", async () => {
    const files = {
      "a.js": "exports.one = function () {};\nmodule.exports.two = two;\nfunction two() {}\n",
      "b.js": "function three() {}\nmodule.exports = { three, four: three };\n",
      "app.js": [
        'const a = require("./a");',
        'var two = require("./a").two;',
        'const { three, four: other } = require("./b");',
        "a.one();",
        "two();",
        "three();",
        "other();",
        "a.absent();",
      ].join("\n"),
    };
    const calls = (await callsIn(files, "app.js")).filter((call) => !call.startsWith("require"));
    expect(calls).toEqual([
      "one@4 → a.js:1",
      "two@5 → a.js:3",
      "three@6 → b.js:1",
      "other@7 → b.js:1",
      "absent@8 → unknown",
    ]);
  });
});

describe("hostile sources", () => {
  const overloads = Array.from({ length: 2_000 }, (_, i) => `void f(T${i} x) {}`).join("\n");
  it.each([
    ["a.go", `package p\nfunc f() { ${"f();".repeat(4_000)} }\n`, "f@2 → a.go:2"],
    ["A.java", `class A {\n${overloads}\nvoid g() { f(1); }\n}\n`, "f@2002 → unknown"],
    ["a.c", `int f() {\n return ${"(".repeat(3_000)}f()${")".repeat(3_000)};\n}\n`, undefined],
    ["b.c", `int f() {\n return ${"f(".repeat(400)}1${")".repeat(400)};\n}\n`, "f@2 → b.c:1"],
  ])("are read within the limits: %s", async (path, text, expected) => {
    const calls = await callsIn({ [path]: text }, path);
    expect(calls.find((each) => each.startsWith("f@"))).toBe(expected);
  });
});

it("takes a file's ending for no property of every object", async () => {
  const tool = "#!/usr/bin/env python3\nfrom store import put\ndef run(): put()\nrun()\n";
  const calls = await callsIn({ "bin/tool.constructor": tool }, "bin/tool.constructor");
  expect(calls).toEqual(["put@3 → outside", "run@4 → bin/tool.constructor:3"]);
});
