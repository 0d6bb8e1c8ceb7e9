import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

it.each<[extension: string, text: string, reads: string[], name?: string]>([
  [
    "py",
    "class A:\n    @property\n    def total(self):\n        return 1\n\n\ndef f(a):\n    return a.total\n",
    ["8 name"],
  ],
  [
    "py",
    "class A:\n    @functools.cached_property\n    @other\n    def total(self):\n        return 1\n\n    def f(self):\n        self.total = 2\n        return self.totals\n",
    ["8 name"],
  ],
  ["py", "class A:\n    @other\n    def total(self):\n        return 1\n\n\ndef f(a):\n    return a.total\n", []],
  [
    "ts",
    "class A {\n  static get total() {\n    return 1;\n  }\n}\nexport const f = (a) => a?.total + a.total;\n",
    ["6 name"],
  ],
  ["ts", "class A {\n  total() {\n    return 1;\n  }\n}\nexport const f = (a) => a.total;\n", []],
  ["cs", "class A {\n  public int total => 1;\n  int F(A a) {\n    return a.total;\n  }\n}\n", ["4 name"]],
  ["cs", "class A {\n  public int total = 1;\n  int F(A a) {\n    return a.total;\n  }\n}\n", []],
  [
    "cs",
    "class A {\n  public int Total => 1;\n  // Total\n  int F() => Total + 1;\n  A G() => new A { Total = 2 };\n}\n",
    ["4 name", "5 name"],
    "Total",
  ],
  [
    "swift",
    "struct A {\n  var total: Int { 1 }\n  func f() -> Int { total + 1 }\n  func g(total: Int) { f(total: 2) }\n}\nfunc h(a: A) { a.total }\n",
    ["3 name", "6 name"],
  ],
  ["swift", "struct A {\n  var total: Int = 1\n}\nfunc h(a: A) { a.total }\n", []],
  [
    "kt",
    "class A {\n  val total: Int\n    get() = 1\n  val other = 2\n}\nfun f(a: A) = a.total + a.other\n",
    ["6 name"],
  ],
  ["kt", "val A.total: Int get() = 1\nfun f(a: A) = a.total\n", ["2 name"]],
  [
    "dart",
    "class A {\n  int get total => 1;\n  int f() => total;\n}\nint g(A a) => a.total;\n",
    ["3 likely", "5 name"],
  ],
  [
    "php",
    "<?php\nclass A extends Model {\n  public function total(): HasMany\n  {\n    return $this->hasMany(B::class);\n  }\n  function f() {\n    return $this->total()->get();\n  }\n}\nfunction g($a) {\n  return $a->total;\n}\n",
    ["12 name", "8 certain"],
  ],
  [
    "php",
    "<?php\nclass A extends Model {\n  public function total()\n  {\n    return $this->hasMany(B::class);\n  }\n}\nfunction g($a) {\n  return $a->total;\n}\n",
    ["9 name"],
  ],
  ["php", "<?php\nclass A {\n  public function total(): int {}\n}\nfunction g($a) {\n  return $a->total;\n}\n", []],
])("reads of properties call them (%s: %j)", async (extension, text, reads, name = "total") => {
  const callers = await callersOf({ [`a.${extension}`]: text }, name);
  expect(callers).toEqual(reads.map((read) => `a.${extension}:${read}`));
});

it("lists the reads of a property where another definition of its name is called", async () => {
  const files = {
    "a.dart": "class A {\n  bool get done => true;\n}\nbool f(A a) => a.done;\n",
    "b.dart": "void g() {\n  bool done() => true;\n  done();\n}\n",
    "CHANGES.md": "Calls `a.done`.\n",
  };
  expect(await callersOf(files, "done")).toEqual(["a.dart:4 name", "b.dart:3 likely"]);
});
