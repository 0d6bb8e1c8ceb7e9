import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

it.each([
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
])("reads of properties call them (%s: %j)", async (extension, text, reads) => {
  const callers = await callersOf({ [`a.${extension}`]: text }, "total");
  expect(callers).toEqual(reads.map((read) => `a.${extension}:${read}`));
});
